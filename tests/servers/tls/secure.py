"""A private certificate authority, and servers with its certificates: right ones, expired ones, for another host.

Nothing here is shared with Transom: certificates are made with `cryptography`, servers are told of them in their own
words. Each server has the same three doors, so that a test goes through the same cases for all of them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from examples.plant import servers
from tests.servers.start import ended, free_port, installed, listens, wait_for

USER = "eng"
WORD = "s3cret-of-tls"
"""The password of the user, which no log, plan, checkpoint, error or list of processes may show."""
DOORS = ("right", "expired", "elsewhere")


class Authority:
    """Issues certificates; `path` is its own."""

    def __init__(self, folder: Path, name: str, key: rsa.RSAPrivateKey) -> None:
        self._folder = folder
        self._key = key
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
        builder = _builder(self._name, self._name, key, timedelta(days=-1), timedelta(days=30))
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        builder = builder.add_extension(usage, critical=True)
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        certificate = builder.add_extension(identifier, critical=False).sign(key, hashes.SHA256())
        self.path = folder / f"{name}.pem"
        self.path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, key: rsa.RSAPrivateKey, *, host: str = "127.0.0.1", expired: bool = False) -> Path:
        """A file with a key and its certificate; the key is also in NAME.key, the certificate in NAME.crt."""
        ago = timedelta(days=-20 if expired else -1)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = _builder(subject, self._name, key, ago, timedelta(days=-1 if expired else 30))
        names = [_name(host), x509.UniformResourceIdentifier(f"urn:transom:tests:{name}")]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        usage = x509.KeyUsage(True, True, True, True, False, False, False, False, False)
        builder = builder.add_extension(usage, critical=True)
        both = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
        builder = builder.add_extension(both, critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        certificate = builder.add_extension(issuer, critical=False).sign(self._key, hashes.SHA256())
        plain = serialization.NoEncryption()
        secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
        shown = certificate.public_bytes(serialization.Encoding.PEM)
        for ending, content in ((".key", secret), (".crt", shown), (".pem", secret + shown)):
            path = self._folder / f"{name}{ending}"
            path.write_bytes(content)
            path.chmod(0o600)
        return self._folder / f"{name}.pem"


def _builder(
    subject: x509.Name, issuer: x509.Name, key: rsa.RSAPrivateKey, begin: timedelta, end: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(now + begin).not_valid_after(now + end)


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


class Certificates(NamedTuple):
    """Files: authorities have a certificate, the others a key and a certificate in one file."""

    ca: Path
    other_ca: Path
    right: Path
    expired: Path
    elsewhere: Path
    client: Path


def certificates(folder: Path) -> Certificates:
    """All certificates of a session."""
    key, other = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
    authority = Authority(folder, "plant-ca", key)
    return Certificates(
        authority.path,
        Authority(folder, "other-ca", other).path,
        authority.issue("right", other),
        authority.issue("expired", other, expired=True),
        authority.issue("elsewhere", other, host="elsewhere.example.org"),
        authority.issue("client", other),
    )


class Listeners:
    """Further listeners of a Kafka: one for each certificate, with a login, and one that wants a certificate."""

    def __init__(self, made: Certificates) -> None:
        self.made = made
        self.ports = {name: free_port() for name in (*DOORS, "mutual")}

    def settings(self, port: int, other: int) -> str:
        """Lines of the broker's settings."""
        places = [f"{name.upper()}://127.0.0.1:{number}" for name, number in self.ports.items()]
        kinds = [f"{name.upper()}:{'SSL' if name == 'mutual' else 'SASL_SSL'}" for name in self.ports]
        first = f"PLAINTEXT://127.0.0.1:{port}"
        lines = [
            f"listeners={','.join([first, f'CONTROLLER://127.0.0.1:{other}', *places])}",
            f"advertised.listeners={','.join([first, *places])}",
            f"listener.security.protocol.map={','.join(['PLAINTEXT:PLAINTEXT', 'CONTROLLER:PLAINTEXT', *kinds])}",
        ]
        for name in self.ports:
            own = f"listener.name.{name}."
            shown = self.made.right if name == "mutual" else getattr(self.made, name)
            lines += [f"{own}ssl.keystore.type=PEM", f"{own}ssl.keystore.location={shown}"]
            module = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
            lines += [f"{own}sasl.enabled.mechanisms=SCRAM-SHA-512", f"{own}scram-sha-512.sasl.jaas.config={module}"]
        lines += ["listener.name.mutual.ssl.client.auth=required", "listener.name.mutual.ssl.truststore.type=PEM"]
        lines += [f"listener.name.mutual.ssl.truststore.location={self.made.ca}"]
        return "\n".join(lines) + "\n"


def add_user(port: int) -> None:
    """Let Kafka know the user."""
    from confluent_kafka.admin import AdminClient, ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

    admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"})
    how = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    change = UserScramCredentialUpsertion(USER, how, WORD.encode())
    for done in admin.alter_user_scram_credentials([change]).values():
        done.result(20)


@contextlib.contextmanager
def mosquitto(folder: Path, made: Certificates) -> Iterator[dict[str, int]]:
    """An MQTT broker with a listener for each certificate, and one that wants a certificate instead of a password."""
    ports = {name: free_port() for name in (*DOORS, "mutual")}
    folder.mkdir(parents=True)
    lines = ["per_listener_settings true\n", "user root\n" if os.geteuid() == 0 else ""]
    for name, port in ports.items():
        shown = made.right if name == "mutual" else getattr(made, name)
        files = f"certfile {shown.with_suffix('.crt')}\nkeyfile {shown.with_suffix('.key')}\n"
        login = f"allow_anonymous false\npassword_file {folder}/passwd\n"
        if name == "mutual":
            login = f"cafile {made.ca}\nrequire_certificate true\nuse_identity_as_username true\n"
        lines.append(f"listener {port} 127.0.0.1\n{files}{login}")
    (folder / "conf").write_text("".join(lines))
    with installed():
        command = [servers.program("mosquitto_passwd"), "-b", "-c", str(folder / "passwd"), USER, WORD]
        subprocess.run(command, check=True)
        broker = servers.detached([servers.program("mosquitto"), "-c", str(folder / "conf")], folder / "log")
    try:
        wait_for(lambda: all(listens(port) for port in ports.values()), 10, "mosquitto")
        yield ports
    finally:
        ended(broker)


class Database:
    """A cluster of PostgreSQL that shows one of the certificates; new connections see the one that is shown last."""

    def __init__(self, port: int, made: Certificates) -> None:
        import psycopg

        self.port = port
        self._made = made
        self._connection = psycopg.connect(f"postgresql://test@127.0.0.1:{port}/postgres", autocommit=True)
        (where,) = self._connection.execute("SHOW data_directory").fetchone() or ("",)
        self._folder = Path(where)
        rules = self._folder / "pg_hba.conf"
        rules.write_text(f"hostssl all {USER} all scram-sha-256\nhostnossl all {USER} all reject\n" + rules.read_text())
        self._connection.execute("SET password_encryption = 'scram-sha-256'")
        self._connection.execute(f"CREATE ROLE {USER} SUPERUSER LOGIN PASSWORD '{WORD}'")
        self.show("right")

    def close(self) -> None:
        """Hang up; the cluster goes on."""
        self._connection.close()

    def show(self, door: str) -> None:
        """Show another certificate from now on."""
        for ending in (".crt", ".key"):
            path = self._folder / f"tls{ending}"
            shutil.copy(getattr(self._made, door).with_suffix(ending), path)
            path.chmod(0o600)
            if os.geteuid() == 0:
                shutil.chown(path, "postgres", "postgres")
        for setting in ("ssl_cert_file = 'tls.crt'", "ssl_key_file = 'tls.key'", "ssl = on"):
            self._connection.execute(f"ALTER SYSTEM SET {setting}")
        self._connection.execute("SELECT pg_reload_conf()")
        wait_for(lambda: self._shown() == self._serial(door), 10, "the certificate")

    def _serial(self, door: str) -> int:
        return x509.load_pem_x509_certificate(getattr(self._made, door).with_suffix(".crt").read_bytes()).serial_number

    def _shown(self) -> int:
        """The number of the certificate that a new connection gets."""
        import socket
        import ssl
        import struct

        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with socket.create_connection(("127.0.0.1", self.port), 5) as plain:
            plain.sendall(struct.pack("!ii", 8, 80877103))  # SSLRequest of PostgreSQL's protocol
            if plain.recv(1) != b"S":
                return 0
            with context.wrap_socket(plain) as one:
                return x509.load_der_x509_certificate(one.getpeercert(binary_form=True) or b"").serial_number
