"""Addresses of servers that answers go to: taken apart whole, so that nothing in one is passed over in silence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from transom.catalog.kafka_options import PRODUCER, SECURITY, contradiction
from transom.catalog.references import has_open_secret, is_open_secret, is_reference, resolved
from transom.catalog.servers import Topic
from transom.catalog.tls import NAMES, Tls, tls_of
from transom.catalog.wording import did_you_mean
from transom.errors import UsageError

_REFERENCE = r"\$\{[^{}]*\}"
"""Braces stand nowhere else in an address, so that a text fits in one way at most."""
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
"""Hosts with ports, once references are out of the way."""
_LIBPQ = frozenset(
    """
    application_name channel_binding client_encoding connect_timeout gssencmode keepalives keepalives_count
    keepalives_idle keepalives_interval krbsrvname load_balance_hosts options require_auth service sslcert
    sslcertmode sslcompression sslcrl sslcrldir sslkey sslmode sslnegotiation sslrootcert sslsni
    ssl_max_protocol_version ssl_min_protocol_version target_session_attrs tcp_user_timeout
    """.split()  # noqa: SIM905 - a list of words
)
"""What libpq may be told beside host, port, user, password and database."""
_REFUSED = re.compile(
    r"certificate verify failed|certificate file|certificate for .* does not match|does not match host name"
    r"|does not support SSL|private key file|authentication failed|no pg_hba\.conf entry|no password supplied"
)


@dataclass(frozen=True, slots=True)
class Address:
    """An address in its parts; `password` is a reference, and `options` are those of the query string."""

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
        """The one host."""
        return re.sub(r":\d+\Z", "", self.hosts).strip("[]")

    @property
    def port(self) -> int | None:
        """The one port, if the address names one."""
        found = re.search(r":(\d+)\Z", self.hosts)
        return None if found is None else int(found[1])

    @property
    def name(self) -> str:
        """The path without the slashes around it."""
        return self.path.strip("/")

    def login(self) -> tuple[str | None, str | None]:
        """User and password, with their references resolved."""
        user = None if self.user is None else resolved(self.user)
        return user, None if self.password is None else resolved(self.password)


def read_address(text: str, form: str) -> Address:
    """An address in its parts; UsageError if it is none, or has a secret in it; `form` is what it should look like."""
    parts = _PARTS.fullmatch(text)
    if parts is None or re.search(r"[\s\x00-\x1f]", re.sub(_REFERENCE, "", text)):
        raise UsageError(f"an address is expected: {form}", hint=f"write {form}")
    user, password = parts["user"], parts["password"]
    if password and not is_reference(password):
        raise _secret(parts["scheme"])
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
    known = _HOSTS.fullmatch(re.sub(_REFERENCE, "reference", address.hosts)) is not None
    stray = "@" in address.path and address.scheme not in ("http", "https")  # what is before it may be a password
    if not known or stray or not 0 < (address.port or 1) < 65536:
        raise UsageError(f"an address is expected: {form}", hint=f"write {form}")
    return address


def kafka_topic(address: Address) -> Topic:
    """The topic that an address names."""
    _check(address, {*NAMES, *PRODUCER, *SECURITY})
    found = dict(address.options)
    if "key" in found:
        raise UsageError("for Kafka on Spark key and certificate are in one file", hint="write certificate=PATH")
    if (address.user is None) != (address.password is None):
        raise UsageError("a login is a user and a password", hint="write kafka://USER:${NAME}@HOST:PORT/TOPIC")
    tls = tls_of(found)
    rest = {name: value for name, value in found.items() if name not in NAMES}
    wrong = contradiction(rest, tls, address.user)
    if wrong is not None:
        _, message, hint = wrong
        raise UsageError(message, hint=hint.replace(": ", "="))
    return Topic(address.hosts, address.name, tuple(rest.items()), address.user, address.password, tls)


def database(address: Address) -> dict[str, str]:
    """What libpq is told of a database, with references; it checks certificates wherever TLS is asked for."""
    _check(address, {*NAMES, *_LIBPQ})
    found = dict(address.options)
    if any(name in found for name in NAMES) and any(name.startswith("ssl") for name in found):
        raise UsageError("ca and sslmode both say something of TLS", hint="leave out one of the two")
    if "sslrootcert" in found and "sslmode" not in found:
        raise UsageError("sslrootcert without sslmode checks nothing", hint="add sslmode=verify-full")
    rest = {name: value for name, value in found.items() if name not in NAMES}
    place = {"host": address.host, "port": str(address.port or ""), "dbname": address.name.partition("/")[0]}
    login = {"user": address.user or "", "password": address.password or ""}
    return {name: value for name, value in {**place, **login, **rest, **libpq_tls(tls_of(found))}.items() if value}


def libpq_tls(tls: Tls | None) -> dict[str, str]:
    """TLS in the words of libpq."""
    if tls is None:
        return {}
    found = {"sslmode": "verify-full", "sslrootcert": tls.ca or "system"}
    if tls.certificate is not None:
        found |= {"sslcert": tls.certificate, "sslkey": tls.key_file or ""}
    return found


def is_refusal(words: str) -> bool:
    """Whether libpq says that one side refuses the other, so that to try again does not help."""
    return _REFUSED.search(words) is not None


def broker_tls(address: Address) -> Tls | None:
    """The TLS of an MQTT broker; None for one without."""
    _check(address, NAMES)
    tls = tls_of(dict(address.options))
    if address.scheme == "mqtts":
        return tls or Tls()
    if tls is not None:
        raise UsageError("ca, certificate and key are for an address with TLS", hint="write mqtts://")
    return None


def hook_tls(address: Address) -> Tls | None:
    """The TLS of a webhook: its query string is the hook's own, so what is for us stands behind #."""
    if has_open_secret(address.query):
        raise _secret("webhook:https")
    inside = read_address(f"hook://x?{address.fragment}", "https://HOST/PATH#ca=PATH")
    _check(inside, NAMES)
    tls = tls_of(dict(inside.options))
    if tls is not None and address.scheme != "https":
        raise UsageError("ca, certificate and key are for an address with TLS", hint="write https://")
    return tls


def _check(address: Address, known: Iterable[str]) -> None:
    """UsageError for an option that nobody would use, one that is there twice, and a secret."""
    names = [name for name, _ in address.options]
    for name, value in address.options:
        if name in ("password", "user") or is_open_secret(name, value):
            raise _secret(address.scheme)
        if name not in known:
            raise UsageError(f"{address.scheme} has no option {name}", hint=did_you_mean(name, sorted(known)))
        if names.count(name) > 1:
            raise UsageError(f"the option {name} is there twice", hint="leave out one of the two")
        if not value:
            raise UsageError(f"the option {name} has no value", hint=f"write {name}=...")
    if address.fragment and address.scheme not in ("http", "https"):
        raise UsageError(f"nothing is known of #{address.fragment}", hint="leave it out")


def _secret(scheme: str) -> UsageError:
    hint = f"write a reference, in single quotes: '{scheme}://USER:${{NAME}}@HOST/...', or ${{file:PATH}}"
    return UsageError("a secret does not stand in an address", hint=hint)
