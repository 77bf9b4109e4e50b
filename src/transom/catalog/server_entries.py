"""The source of one extent where the collector acquires it: which entries fit together, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from transom.catalog.checked import worded
from transom.catalog.extents import Extent, Kind
from transom.catalog.kafka_options import read_login
from transom.catalog.places import At, Misfit
from transom.catalog.references import check_secret, has_open_secret, without_references
from transom.catalog.server_shapes import (
    HttpEntry,
    ModbusEntry,
    MqttEntry,
    OpcUaEntry,
    PolledEntry,
    PostgresEntry,
    RegisterEntry,
)
from transom.catalog.servers import (
    Collected,
    Device,
    HttpPoll,
    HttpPush,
    Modbus,
    Mqtt,
    Number,
    OpcUa,
    Payload,
    Place,
    Postgres,
    Register,
    Space,
    Topic,
)
from transom.catalog.ticks import read_interval, read_microseconds
from transom.catalog.tls import Tls, read_tls
from transom.catalog.wording import did_you_mean, quoted
from transom.model.time import Calendar
from transom.model.types import Type, Value, read_text

KEPT = ("_seq", "_kind", "_tick", "_at", "_origin", "_token", "_raw", "_reason", "_words")
"""Columns that a log has of its own."""

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+):([0-9]{1,5})\Z")
_TABLE = re.compile(r"\w+(\.\w+)?")
_DEADLINE = 500_000
_KAFKA, _LOG = "kafka://", re.compile(r"[A-Za-z0-9._-]{1,249}")
_BROKERS = ("mqtt://", "mqtts://")
_SECRET_HEADER = re.compile(r"authorization|cookie|key|token|secret|password", re.IGNORECASE)


def read_server(
    extent: Extent,
    entry: ModbusEntry | OpcUaEntry | HttpEntry | MqttEntry,
    at: At,
    calendar: Calendar,
    folder: Path | None = None,
) -> Collected:
    """The settings that an entry describes; Misfit where it does not fit the extent."""
    if extent.kind is Kind.STORED:
        raise Misfit("a stored extent is no stream", at.at_key(), "declare it as sensed or pushed")
    _unreserved(extent, at)
    log = _log(extent, entry, at, folder)
    match entry:
        case MqttEntry():
            return _mqtt(extent, entry, at, log, _secured(entry, at, folder))
        case HttpEntry() if entry.listen is not None:
            return _push(extent, entry, at, log, _secured(entry, at, folder))
        case ModbusEntry():
            found = tuple(_register(name, one) for name, one in entry.registers.items())
            _covered(extent, entry.registers, at.then("registers"))
            return Modbus(_devices(extent, entry, at, _host), found, _deadline(extent, entry, at, calendar), log)
        case OpcUaEntry():
            _covered(extent, entry.nodes, at.then("nodes"))
            check_secret(entry.password, at.then("password"))
            devices = _devices(extent, entry, at, lambda text, here: _url(text, here, ("opc.tcp://",)))
            deadline = _deadline(extent, entry, at, calendar)
            tls = _secured(entry, at, folder)
            return OpcUa(devices, tuple(entry.nodes.items()), deadline, log, entry.user, entry.password, tls)
        case HttpEntry():
            for key in ("path", "token", "time"):
                if key in entry.model_fields_set:
                    raise Misfit(f"{key} is for what is sent to listen", at.then(key).at_key(), "leave it out")
            devices = _devices(extent, entry, at, lambda text, here: _url(text, here, ("http://", "https://")))
            _with_tls(entry, [device.address for device in devices], "https://", at)
            fields = _fields(extent, entry.fields, _asked(extent), at.then("fields"))
            headers = _headers(entry, at.then("headers"))
            deadline = _deadline(extent, entry, at, calendar)
            return HttpPoll(devices, fields, headers, deadline, log, _secured(entry, at, folder))


def _secured(entry: MqttEntry | HttpEntry | OpcUaEntry | PostgresEntry, at: At, folder: Path | None) -> Tls | None:
    """The TLS of a source; Misfit where something is missing that it cannot do without."""
    tls, here = read_tls(entry.tls, at.then("tls"), folder), at.then("tls").at_key()
    if tls is None:
        return None
    if isinstance(entry, OpcUaEntry) and (tls.certificate is None or tls.ca is None):
        hint = "write tls: {ca: PATH, certificate: PATH, key: PATH}"
        raise Misfit("both sides of OPC UA have a certificate", here, hint)
    if isinstance(entry, HttpEntry) and entry.listen is not None and tls.certificate is None:
        raise Misfit("a server shows a certificate", here, "write tls: {certificate: PATH, key: PATH}")
    return tls


def _with_tls(entry: HttpEntry | MqttEntry, addresses: Iterable[str], scheme: str, at: At) -> None:
    """Misfit if TLS is described for an address that is without."""
    if entry.tls is not None and not all(address.startswith(scheme) for address in addresses):
        raise Misfit("tls is for an address with TLS", at.then("tls").at_key(), f"write {scheme} in the address")


def _headers(entry: HttpEntry, at: At) -> tuple[tuple[str, str], ...]:
    """What is sent with a request; Misfit if a secret is written out."""
    for name, value in entry.headers.items():
        if _SECRET_HEADER.search(name) and value == without_references(value):
            raise Misfit("a secret does not stand in a catalog", at.then(name), "write ${NAME} or ${file:PATH}")
    return tuple(entry.headers.items())


def read_postgres(
    extent: Extent, entry: PostgresEntry, at: At, calendar: Calendar, folder: Path | None = None
) -> Postgres:
    """The settings of a table that is scanned."""
    if extent.kind is not Kind.STORED:
        raise Misfit(f"a {extent.kind} extent is no table", at.at_key(), "declare it as stored")
    _unreserved(extent, at)
    _url(entry.url, at.then("url"), ("postgresql://",))
    if not _TABLE.fullmatch(entry.table):
        raise Misfit(f"{quoted(entry.table)} is not a table", at.then("table"), "write tariff, or schema.tariff")
    check_secret(entry.password, at.then("password"))
    every = worded(read_interval, entry.every, at.then("every"), calendar)
    columns = _fields(extent, entry.fields, extent.names, at.then("fields"))
    tls, log = _secured(entry, at, folder), _log(extent, entry, at, folder)
    if tls is not None and re.search(r"[?&]ssl", entry.url):
        raise Misfit("the url and tls both say something of TLS", at.then("tls").at_key(), "leave out one of the two")
    return Postgres(entry.url, entry.table, columns, every, entry.password, log, tls)


def _unreserved(extent: Extent, at: At) -> None:
    for attribute in extent.schema:
        if attribute.name in KEPT:
            raise Misfit(f"the log has a column {attribute.name} of its own", at.at_key(), "rename the attribute")


def _push(extent: Extent, entry: HttpEntry, at: At, log: Place, tls: Tls | None) -> HttpPush:
    _only_pushed(extent, at)
    for key in ("devices", "server", "deadline", "headers"):
        if key in entry.model_fields_set:
            raise Misfit(f"{key} is for what is fetched", at.then(key).at_key(), "leave out listen, or this")
    listen = entry.listen or ""
    _host(listen, at.then("listen"))
    if not re.fullmatch(r"/[^\x00-\x20\x7f]*", entry.path):
        raise Misfit(f"{quoted(entry.path)} is not a path", at.then("path"), "write for example /events")
    check_secret(entry.token, at.then("token"))
    host, _, port = listen.rpartition(":")
    fields = _fields(extent, entry.fields, extent.names, at.then("fields"))
    return HttpPush(host, int(port), entry.path, fields, entry.time, entry.token, log, tls)


def _mqtt(extent: Extent, entry: MqttEntry, at: At, log: Place, tls: Tls | None) -> Mqtt:
    _only_pushed(extent, at)
    here = at.then("topic")
    _url(entry.broker, at.then("broker"), _BROKERS)
    if re.search(r"[/?#]", without_references(entry.broker).partition("://")[2].rstrip("/")):
        hint = "write mqtt://HOST:PORT; topic, user and tls are entries"
        raise Misfit(f"{quoted(entry.broker)} is more than a host and a port", at.then("broker"), hint)
    _with_tls(entry, [entry.broker], _BROKERS[1], at)
    check_secret(entry.password, at.then("password"))
    source = Mqtt(
        entry.broker,
        entry.topic,
        Payload(entry.payload),
        (),
        entry.time,
        entry.user,
        entry.password,
        entry.client or f"transom-{extent.name}",
        5 if entry.version == "5" else 4,
        log,
        tls,
    )
    named = [name for _, name in source.levels]
    for name in named:
        _known(extent, name, here)
        if named.count(name) > 1:
            raise Misfit(f"{name} stands twice in the topic", here, "leave out one of the two")
    if not entry.topic or "{" in source.filter or re.search(r"[^/]#|#.|[^/]\+|\+[^/]", source.filter):
        hint = "write for example plant/{line}/temp; + and # stand alone, # at the end"
        raise Misfit(f"{quoted(entry.topic)} is not a topic", here, hint)
    left = [name for name in extent.names if name not in named]
    if source.payload is Payload.VALUE and len(left) != 1:
        hint = "put the others into the topic, or use payload: json"
        raise Misfit(f"a value is one attribute, and {len(left)} are not in the topic", at.then("payload"), hint)
    if source.payload is Payload.VALUE and entry.time is not None:
        raise Misfit("a value has no field with the time", at.then("time").at_key(), "leave it out")
    if source.payload is Payload.SENML and entry.time is not None:
        raise Misfit("the records of SenML have their time already", at.then("time").at_key(), "leave it out")
    return replace(source, fields=_fields(extent, entry.fields, left, at.then("fields")))


def _log(extent: Extent, entry: PolledEntry | MqttEntry | PostgresEntry, at: At, folder: Path | None = None) -> Place:
    """Where the log is: a folder, or a topic of Kafka."""
    if entry.log is None:
        return f"log/{extent.name}"
    address, options, here = entry.log.address, entry.log.options, at.then("log")
    if not address.startswith(_KAFKA):
        for key in ("options", "user", "password", "tls"):
            if key in entry.log.model_fields_set:
                what = f"{key} {'are' if key == 'options' else 'is'} for a log in Kafka"
                raise Misfit(what, here.then(key).at_key(), "leave them out" if key == "options" else "leave it out")
        if "://" in address:
            hint = "write a folder, or kafka://HOST:PORT/TOPIC"
            raise Misfit(f"{quoted(address)} is no place for a log", here.then("address"), hint)
        return address
    servers, _, topic = address.removeprefix(_KAFKA).partition("/")
    for server in servers.split(","):
        _host(server.strip(), here.then("address"))
    if not _LOG.fullmatch(topic):
        hint = "write kafka://HOST:PORT/TOPIC, the topic with letters, digits, . _ and -"
        raise Misfit(f"{quoted(topic)} is not a topic", here.then("address"), hint)
    tls = read_login(entry.log, here, folder)
    return Topic(servers, topic, tuple(options.items()), entry.log.user, entry.log.password, tls)


def _only_pushed(extent: Extent, at: At) -> None:
    if extent.kind is not Kind.PUSHED:
        hint = "declare it as pushed; sensed extents are asked: modbus, opcua, http"
        raise Misfit(f"messages come to a pushed extent, not to a {extent.kind} one", at.at_key(), hint)


def _asked(extent: Extent) -> tuple[str, ...]:
    """The attributes that a device is asked for: all but the site."""
    return tuple(name for name in extent.names if name != extent.site)


def _devices(extent: Extent, entry: PolledEntry, at: At, check: Callable[[str, At], None]) -> tuple[Device, ...]:
    """A device for each site."""
    if extent.kind is not Kind.SENSED:
        raise Misfit(f"devices are asked for a sensed extent, not for a {extent.kind} one", at.at_key(), "declare it")
    if (entry.devices is None) == (entry.server is None):
        raise Misfit("a source has either devices or a server", at, "write devices: {1: ADDRESS}, or server: ADDRESS")
    if entry.server is not None:
        here = at.then("server")
        check(entry.server, here)
        if not extent.sites and "{site}" in entry.server:
            raise Misfit("the extent has no sites", here, "list them: sites: [1, 2]")
        sites = extent.sites or (None,)
        return tuple(Device(site, entry.server.replace("{site}", str(site))) for site in sites)
    given = entry.devices or {}
    here = at.then("devices")
    holder = next((a for a in extent.schema if a.name == extent.site), None)
    if holder is None or not extent.sites:
        raise Misfit("devices are by site, and the extent has no sites", here.at_key(), "list them: sites: [1, 2]")
    found: dict[object, Device] = {}
    for key, device in given.items():
        place = here.then(key)
        site = _site(key, holder.type)
        if site not in extent.sites:
            raise Misfit(f"{quoted(key)} is not a site", place.at_key(), "list it under sites")
        check(device.address, place)
        found[site] = Device(site, device.address, device.unit)
    for site in extent.sites:
        if site not in found:
            raise Misfit(f"no device for the site {quoted(site)}", here.at_key(), "add it, or leave out the site")
    return tuple(found[site] for site in extent.sites)


def _site(key: str | int, kind: Type) -> Value:
    """The site that a key stands for; keys are text."""
    try:
        return read_text(str(key), kind)
    except (ValueError, ArithmeticError):
        return None


def _register(name: str, entry: RegisterEntry) -> Register:
    number = Number.BIT if entry.space in ("coil", "discrete") else Number(entry.number)
    return Register(name, entry.address, number, Space(entry.space), entry.scale, entry.offset)


def _covered(extent: Extent, given: Mapping[str, object], at: At) -> None:
    """Every attribute but the site is given once, and no other."""
    for name in given:
        _known(extent, name, at.then(name).at_key())
    missing = [name for name in _asked(extent) if name not in given]
    if missing:
        raise Misfit(f"nothing for {', '.join(missing)}", at.at_key(), "every attribute but the site is asked for")


def _fields(extent: Extent, given: Mapping[str, str], asked: Iterable[str], at: At) -> tuple[tuple[str, str], ...]:
    """Where in a payload each attribute is: by default under its own name."""
    for name in given:
        _known(extent, name, at.then(name).at_key())
    return tuple((name, given.get(name, name)) for name in asked)


def _known(extent: Extent, name: str, at: At) -> None:
    if name not in extent.names:
        raise Misfit(f"no attribute {quoted(name)}", at, did_you_mean(name, extent.names))


def _deadline(extent: Extent, entry: PolledEntry, at: At, calendar: Calendar) -> int:
    every = (extent.every or 1) * calendar.length
    if entry.deadline is None:
        return min(_DEADLINE, every)
    here = at.then("deadline")
    micro = worded(lambda text, _: read_microseconds(text), entry.deadline, here, calendar)
    if not 1000 <= micro <= every:
        raise Misfit("a deadline is between 1 ms and the interval of acquisition", here, "write for example 500 ms")
    return micro


def _host(text: str, at: At) -> None:
    found = _HOST.match(text)
    if not found or not 0 < int(found[2]) < 65536:
        raise Misfit(f"{quoted(text)} is not a host and a port", at, "write for example 10.0.0.1:502")


def _url(text: str, at: At, schemes: tuple[str, ...]) -> None:
    rest = next((text.removeprefix(scheme) for scheme in schemes if text.startswith(scheme)), "")
    if not rest or re.search(r"\s", text):
        raise Misfit(f"{quoted(text)} is not an address", at, f"write for example {schemes[0]}plant:1234")
    login, query = rest.partition("/")[0].rpartition("@")[0], rest.partition("?")[2]
    if ":" in login or re.search(r"(^|&)(ssl)?password=", query) or has_open_secret(query):
        raise Misfit("a secret does not stand in a catalog", at, "give user and password: ${NAME} beside the address")
