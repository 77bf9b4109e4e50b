"""Parse the server addresses of sinks completely, so that no part of one is silently ignored."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from transom.catalog.kafka_options import PRODUCER, SECURITY, contradiction
from transom.catalog.reading.references import has_open_secret, is_open_secret, is_reference, resolve_references
from transom.catalog.reading.wording import did_you_mean
from transom.catalog.servers import KafkaTopic
from transom.catalog.tls import TLS_OPTIONS, Tls, tls_from_options
from transom.errors import UsageError

_REFERENCE = r"\$\{[^{}]*\}"
"""Braces occur nowhere else in an address, so a text matches in at most one way."""
_PARTS = re.compile(
    rf"(?P<scheme>[a-z]+)://"
    rf"(?:(?P<user>[^:@/?#]*)(?::(?P<password>{_REFERENCE}|[^@/?#]*))?@)?"
    rf"(?P<hosts>(?:{_REFERENCE}|[^@/?#{{}}])*)"
    rf"(?P<path>(?:/(?:{_REFERENCE}|[^?#{{}}])*)?)"
    rf"(?:\?(?P<query>(?:{_REFERENCE}|[^#{{}}])*))?"
    r"(?:#(?P<fragment>.*))?",
    re.DOTALL,
)
_HOSTS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\],]+)(:\d{1,5})?(,(\[[0-9A-Fa-f:.]+\]|[^:\[\],]+)(:\d{1,5})?)*")
"""Hosts with optional ports, after references are replaced."""
_LIBPQ = frozenset(
    """
    application_name channel_binding client_encoding connect_timeout gssencmode keepalives keepalives_count
    keepalives_idle keepalives_interval krbsrvname load_balance_hosts options require_auth service sslcert
    sslcertmode sslcompression sslcrl sslcrldir sslkey sslmode sslnegotiation sslrootcert sslsni
    ssl_max_protocol_version ssl_min_protocol_version target_session_attrs tcp_user_timeout
    """.split()  # noqa: SIM905 - a list of words
)
"""Options of libpq besides host, port, user, password and database."""
_REFUSED = re.compile(
    r"certificate verify failed|certificate file|certificate for .* does not match|does not match host name"
    r"|does not support SSL|private key file|authentication failed|no pg_hba\.conf entry|no password supplied"
)


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed address; `password` is a reference, and `options` are those of the query string."""

    scheme: str
    user: str | None
    password: str | None
    hosts: str
    path: str
    query: str
    options: tuple[tuple[str, str], ...]
    fragment: str

    @property
    def host(self) -> str:
        """The host name or IP address of the server, without brackets and port."""
        return re.sub(r":\d+\Z", "", self.hosts).strip("[]")

    @property
    def port(self) -> int | None:
        """The port number, or None if the address has none."""
        match = re.search(r":(\d+)\Z", self.hosts)
        return None if match is None else int(match[1])

    @property
    def name(self) -> str:
        """The path of the address, without slashes at its ends: a topic, or a database and a table."""
        return self.path.strip("/")

    def login(self) -> tuple[str | None, str | None]:
        """Return the user name and the password, with references to secrets resolved; None for a missing one."""
        user = None if self.user is None else resolve_references(self.user)
        return user, None if self.password is None else resolve_references(self.password)


def read_address(text: str, syntax: str) -> Address:
    """Parse an address such as kafka://HOST:PORT/TOPIC; if invalid, UsageError with `syntax`, the form to write.

    `syntax` is what the user should have written.
    """
    parts = _PARTS.fullmatch(text)
    if parts is None or re.search(r"[\s\x00-\x1f]", re.sub(_REFERENCE, "", text)):
        raise UsageError(f"an address is expected: {syntax}", hint=f"write {syntax}")
    user, password = parts["user"], parts["password"]
    if password and not is_reference(password):
        raise _secret_error(parts["scheme"])
    pairs = [pair.partition("=") for pair in (parts["query"] or "").split("&") if pair]
    options = tuple((unquote(name), unquote(value)) for name, _, value in pairs)
    address = Address(
        parts["scheme"],
        unquote(user) if user else None,
        password or None,
        parts["hosts"],
        parts["path"],
        parts["query"] or "",
        options,
        parts["fragment"] or "",
    )
    has_valid_hosts = _HOSTS.fullmatch(re.sub(_REFERENCE, "reference", address.hosts)) is not None
    # text before an @ in the path may be a password
    has_stray_login = "@" in address.path and address.scheme not in ("http", "https")
    if not has_valid_hosts or has_stray_login or not 0 < (address.port or 1) < 65536:
        raise UsageError(f"an address is expected: {syntax}", hint=f"write {syntax}")
    return address


def kafka_topic(address: Address) -> KafkaTopic:
    """Convert an address to the Kafka topic that it names; raise UsageError if its options are unknown or conflict."""
    _check_options(address, {*TLS_OPTIONS, *PRODUCER, *SECURITY})
    options = dict(address.options)
    if "key" in options:
        raise UsageError("key and certificate have to be in one file for Kafka on Spark", hint="write certificate=PATH")
    if (address.user is None) != (address.password is None):
        raise UsageError("a login needs a user and a password", hint="write kafka://USER:${NAME}@HOST:PORT/TOPIC")
    tls = tls_from_options(options)
    client_options = {name: value for name, value in options.items() if name not in TLS_OPTIONS}
    conflict = contradiction(client_options, tls, address.user)
    if conflict is not None:
        _, message, hint = conflict
        raise UsageError(message, hint=hint.replace(": ", "="))
    return KafkaTopic(address.hosts, address.name, tuple(client_options.items()), address.user, address.password, tls)


def libpq_parameters(address: Address) -> dict[str, str]:
    """Convert a PostgreSQL address to libpq connection parameters, in which references to secrets stay unresolved.

    TLS always verifies certificates. UsageError if its options are unknown or contradictory.
    """
    _check_options(address, {*TLS_OPTIONS, *_LIBPQ})
    options = dict(address.options)
    if any(name in options for name in TLS_OPTIONS) and any(name.startswith("ssl") for name in options):
        raise UsageError("ca and sslmode both configure TLS", hint="leave out one of the two")
    if "sslrootcert" in options and "sslmode" not in options:
        raise UsageError("sslrootcert without sslmode checks nothing", hint="add sslmode=verify-full")
    libpq_options = {name: value for name, value in options.items() if name not in TLS_OPTIONS}
    database = {"host": address.host, "port": str(address.port or ""), "dbname": address.name.partition("/")[0]}
    login = {"user": address.user or "", "password": address.password or ""}
    parameters = {**database, **login, **libpq_options, **libpq_tls(tls_from_options(options))}
    return {name: value for name, value in parameters.items() if value}


def libpq_tls(tls: Tls | None) -> dict[str, str]:
    """Convert TLS settings to libpq connection parameters such as sslmode; without settings (None), to none."""
    if tls is None:
        return {}
    parameters = {"sslmode": "verify-full", "sslrootcert": tls.ca or "system"}
    if tls.certificate is not None:
        parameters |= {"sslcert": tls.certificate, "sslkey": tls.key_file or ""}
    return parameters


def is_refused_connection(message: str) -> bool:
    """Whether a libpq error message says that TLS or the login was refused, so that retrying is pointless."""
    return _REFUSED.search(message) is not None


def broker_tls(address: Address) -> Tls | None:
    """Return the TLS settings in the address of an MQTT broker; None if it begins with mqtt://.

    An address that begins with mqtts:// and has no options means the default settings.
    """
    _check_options(address, TLS_OPTIONS)
    tls = tls_from_options(dict(address.options))
    if address.scheme == "mqtts":
        return tls or Tls()
    if tls is not None:
        raise UsageError("ca, certificate and key need an address with TLS", hint="write mqtts://")
    return None


def webhook_tls(address: Address) -> Tls | None:
    """Return the TLS settings that follow the # in a webhook's address, or None if there are none.

    The query string of the address belongs to the webhook itself.
    """
    if has_open_secret(address.query):
        raise _secret_error("webhook:https")
    fragment = read_address(f"hook://x?{address.fragment}", "https://HOST/PATH#ca=PATH")
    _check_options(fragment, TLS_OPTIONS)
    tls = tls_from_options(dict(fragment.options))
    if tls is not None and address.scheme != "https":
        raise UsageError("ca, certificate and key need an address with TLS", hint="write https://")
    return tls


def _check_options(address: Address, allowed: Iterable[str]) -> None:
    """Raise UsageError if an option of an address is not in `allowed`, is repeated or empty, or contains a secret."""
    names = [name for name, _ in address.options]
    for name, value in address.options:
        if name in ("password", "user") or is_open_secret(name, value):
            raise _secret_error(address.scheme)
        if name not in allowed:
            raise UsageError(f"{address.scheme} has no option {name}", hint=did_you_mean(name, sorted(allowed)))
        if names.count(name) > 1:
            raise UsageError(f"the option {name} is given twice", hint="leave out one of the two")
        if not value:
            raise UsageError(f"the option {name} has no value", hint=f"write {name}=...")
    if address.fragment and address.scheme not in ("http", "https"):
        raise UsageError(f"unknown fragment #{address.fragment}", hint="leave it out")


def _secret_error(scheme: str) -> UsageError:
    """Build the error for a plain-text secret in a `scheme` address; its hint writes a reference instead."""
    hint = f"write a reference, in single quotes: '{scheme}://USER:${{NAME}}@HOST/...', or ${{file:PATH}}"
    return UsageError("secrets must not be written in an address", hint=hint)
