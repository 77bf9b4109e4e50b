"""Options of the Kafka clients: known names, secrets, and conflicts with `tls`, `user` and `password`.

This covers both clients: Java's, which Spark uses, and librdkafka for everything else. Java's client ignores unknown
options, so a misspelled one for TLS or a login is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from transom.catalog.reading.locations import EntryError, Location
from transom.catalog.reading.references import check_secret, is_open_secret
from transom.catalog.reading.wording import did_you_mean
from transom.catalog.schema.servers import KafkaEntry, LogEntry, TopicEntry
from transom.catalog.tls import Tls, read_tls

_JAVA = """
security.protocol security.providers
sasl.mechanism sasl.jaas.config sasl.client.callback.handler.class sasl.login.callback.handler.class sasl.login.class
sasl.kerberos.service.name sasl.kerberos.kinit.cmd sasl.kerberos.ticket.renew.window.factor
sasl.kerberos.ticket.renew.jitter sasl.kerberos.min.time.before.relogin sasl.login.refresh.window.factor
sasl.login.refresh.window.jitter sasl.login.refresh.min.period.seconds sasl.login.refresh.buffer.seconds
sasl.login.connect.timeout.ms sasl.login.read.timeout.ms sasl.login.retry.backoff.ms sasl.login.retry.backoff.max.ms
sasl.oauthbearer.token.endpoint.url sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name
sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer
sasl.oauthbearer.client.credentials.client.id sasl.oauthbearer.client.credentials.client.secret
sasl.oauthbearer.scope
ssl.protocol ssl.provider ssl.cipher.suites ssl.enabled.protocols ssl.keystore.type ssl.keystore.location
ssl.keystore.password ssl.key.password ssl.keystore.key ssl.keystore.certificate.chain ssl.truststore.certificates
ssl.truststore.type ssl.truststore.location ssl.truststore.password ssl.keymanager.algorithm
ssl.trustmanager.algorithm ssl.endpoint.identification.algorithm ssl.secure.random.implementation
ssl.engine.factory.class
"""
_LIBRDKAFKA = """
sasl.mechanisms sasl.username sasl.password sasl.kerberos.principal sasl.kerberos.keytab sasl.oauthbearer.config
sasl.oauthbearer.method sasl.oauthbearer.client.id sasl.oauthbearer.client.secret sasl.oauthbearer.extensions
ssl.ca.location ssl.ca.pem ssl.crl.location ssl.certificate.location ssl.certificate.pem ssl.key.location ssl.key.pem
ssl.curves.list ssl.sigalgs.list ssl.providers enable.ssl.certificate.verification enable.sasl.oauthbearer.unsecure.jwt
"""
SECURITY = frozenset(f"{_JAVA}{_LIBRDKAFKA}".split())
"""All known options for TLS and logins."""
_PRODUCER = """
batch.size buffer.memory client.id compression.type connections.max.idle.ms delivery.timeout.ms linger.ms max.block.ms
max.in.flight.requests.per.connection max.request.size metadata.max.age.ms receive.buffer.bytes
reconnect.backoff.max.ms reconnect.backoff.ms request.timeout.ms retries retry.backoff.max.ms retry.backoff.ms
send.buffer.bytes
"""
PRODUCER = frozenset(_PRODUCER.split())
"""Other options that a sink accepts; `acks` is always all."""
MECHANISM = "SCRAM-SHA-512"
"""The default login mechanism, unless `sasl.mechanism` is set."""
_FAMILY = re.compile(r"(security|sasl|ssl|enable\.ssl|enable\.sasl)\.")
_LOGIN = ("sasl.username", "sasl.password", "sasl.jaas.config")
_FILES = (
    *("ssl.ca.location", "ssl.ca.pem", "ssl.certificate.location", "ssl.key.location"),
    *("ssl.truststore.location", "ssl.truststore.certificates", "ssl.keystore.location"),
)


def protocol(*, tls: bool, has_login: bool) -> str:
    """Return Kafka's `security.protocol`, such as SASL_SSL, for a connection with or without TLS and a login."""
    return f"{'SASL_' if has_login else ''}{'SSL' if tls else 'PLAINTEXT'}"


def contradiction(options: Mapping[str, str], tls: Tls | None, user: str | None) -> tuple[str, str, str] | None:
    """Return (name, message, hint) of the first unknown Kafka option, or one that conflicts with `tls` or `user`.

    Returns its name, an error message and a hint; None if there is no conflict.
    """
    declared = options.get("security.protocol", protocol(tls=tls is not None, has_login=user is not None))
    uses_tls, uses_login = declared.endswith("SSL"), declared.startswith("SASL_")
    needed = protocol(tls=uses_tls or tls is not None, has_login=uses_login or user is not None)
    hint = f"write security.protocol: {needed}"
    for name in options:
        if _FAMILY.match(name) and name not in SECURITY:
            return name, f"no option of Kafka is called {name}", did_you_mean(name, sorted(SECURITY)) or "leave it out"
        if tls is not None and name in _FILES:
            return name, f"tls and {name} both name files", "leave out one of the two"
        if user is not None and name in _LOGIN:
            return name, f"user and {name} both set the login", "leave out one of the two"
        if name.startswith("ssl.") and not uses_tls:
            hint = f"write security.protocol: {protocol(tls=True, has_login=uses_login)}"
            return name, f"{name} is for TLS, and the connection is without", hint
        if name.startswith("sasl.") and not uses_login:
            hint = f"write security.protocol: {protocol(tls=uses_tls, has_login=True)}"
            return name, f"{name} is for a login, and the connection is without", hint
    if (tls is not None and not uses_tls) or (user is not None and not uses_login):
        missing = "without TLS" if tls is not None and not uses_tls else "without a login"
        return "security.protocol", f"security.protocol: {declared} is {missing}", hint
    return None


def read_login(entry: KafkaEntry | TopicEntry | LogEntry, at: Location, catalog_folder: Path | None) -> Tls | None:
    """Check the login, options and TLS of a Kafka entry; return its TLS settings, or raise EntryError.

    A secret in plain text is an EntryError too.
    """
    check_secret(entry.password, at.then("password"))
    if (entry.user is None) != (entry.password is None):
        key = "user" if entry.password is None else "password"
        raise EntryError(
            f"a login needs a user and a password, not {key} alone",
            at.then(key).at_key(),
            "add user and password: ${NAME}",
        )
    for name, value in entry.options.items():
        if is_open_secret(name, value):
            raise EntryError("secrets must not be written in the catalog", at.then("options", name), "write ${NAME}")
    tls = read_tls(entry.tls, at.then("tls"), catalog_folder)
    if tls is not None and tls.key is not None:
        hint = "put key and certificate into one file: certificate: PATH"
        raise EntryError(
            "key and certificate have to be in one file for Kafka on Spark", at.then("tls", "key").at_key(), hint
        )
    conflict = contradiction(entry.options, tls, entry.user)
    if conflict is not None:
        name, message, hint = conflict
        raise EntryError(message, at.then("options", name).at_key(), hint)
    return tls
