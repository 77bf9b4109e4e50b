"""Resolve the sources of collected extents: which keys fit together, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.kafka_options import read_login
from transom.catalog.reading.located_values import read_text_at
from transom.catalog.reading.locations import EntryError, Location
from transom.catalog.reading.references import check_secret, has_open_secret, without_references
from transom.catalog.reading.ticks import read_interval, read_microseconds
from transom.catalog.reading.wording import did_you_mean, quoted
from transom.catalog.schema.servers import (
    HttpEntry,
    ModbusEntry,
    MqttEntry,
    OpcUaEntry,
    PolledEntry,
    PostgresEntry,
    RegisterEntry,
)
from transom.catalog.servers import (
    CollectedSource,
    Device,
    HttpPoll,
    HttpPush,
    KafkaTopic,
    LogLocation,
    Modbus,
    Mqtt,
    OpcUa,
    Payload,
    Postgres,
    Register,
    RegisterSpace,
    RegisterType,
)
from transom.catalog.tls import Tls, read_tls
from transom.model.time import Calendar
from transom.model.types import Type, Value, parse_value

RESERVED_COLUMNS = ("_seq", "_kind", "_tick", "_at", "_origin", "_token", "_raw", "_reason", "_words")
"""Columns of a log that no attribute may be named like."""

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+):([0-9]{1,5})\Z")
_TABLE = re.compile(r"\w+(\.\w+)?")
_DEADLINE = 500_000
_KAFKA, _LOG = "kafka://", re.compile(r"[A-Za-z0-9._-]{1,249}")
_BROKERS = ("mqtt://", "mqtts://")
_SECRET_HEADER = re.compile(r"authorization|cookie|key|token|secret|password", re.IGNORECASE)


def read_server(
    extent: Extent,
    entry: ModbusEntry | OpcUaEntry | HttpEntry | MqttEntry,
    at: Location,
    calendar: Calendar,
    catalog_folder: Path | None = None,
) -> CollectedSource:
    """Read the entry of a source that the collector reads; raise EntryError if the source does not suit the extent."""
    if extent.kind is ExtentKind.STORED:
        raise EntryError(
            "a stored extent cannot be read from a device or broker", at.at_key(), "declare it as sensed or pushed"
        )
    _check_reserved_columns(extent, at)
    log = _log(extent, entry, at, catalog_folder)
    match entry:
        case MqttEntry():
            return _mqtt(extent, entry, at, log, _read_tls(entry, at, catalog_folder))
        case HttpEntry() if entry.listen is not None:
            return _push(extent, entry, at, log, _read_tls(entry, at, catalog_folder))
        case ModbusEntry():
            registers = tuple(_register(name, register) for name, register in entry.registers.items())
            _check_coverage(extent, entry.registers, at.then("registers"))
            devices = _devices(extent, entry, at, check_host)
            return Modbus(devices, registers, _deadline(extent, entry, at, calendar), log)
        case OpcUaEntry():
            _check_coverage(extent, entry.nodes, at.then("nodes"))
            check_secret(entry.password, at.then("password"))
            devices = _devices(extent, entry, at, lambda url, url_at: _check_url(url, url_at, ("opc.tcp://",)))
            deadline = _deadline(extent, entry, at, calendar)
            tls = _read_tls(entry, at, catalog_folder)
            return OpcUa(devices, tuple(entry.nodes.items()), deadline, log, entry.user, entry.password, tls)
        case HttpEntry():
            for key in ("path", "token", "time"):
                if key in entry.model_fields_set:
                    raise EntryError(
                        f"{key} needs listen", at.then(key).at_key(), "leave it out, or add listen: HOST:PORT"
                    )
            devices = _devices(extent, entry, at, lambda url, url_at: _check_url(url, url_at, ("http://", "https://")))
            _check_tls_scheme(entry, [device.address for device in devices], "https://", at)
            fields = field_paths(extent, entry.fields, _polled_attributes(extent), at.then("fields"))
            headers = _headers(entry, at.then("headers"))
            deadline = _deadline(extent, entry, at, calendar)
            return HttpPoll(devices, fields, headers, deadline, log, _read_tls(entry, at, catalog_folder))


def _read_tls(
    entry: MqttEntry | HttpEntry | OpcUaEntry | PostgresEntry, at: Location, catalog_folder: Path | None
) -> Tls | None:
    """Read the TLS settings of a source; raise EntryError if a required certificate or authority is missing."""
    tls, tls_at = read_tls(entry.tls, at.then("tls"), catalog_folder), at.then("tls").at_key()
    if tls is None:
        return None
    if isinstance(entry, OpcUaEntry) and (tls.certificate is None or tls.ca is None):
        hint = "write tls: {ca: PATH, certificate: PATH, key: PATH}"
        raise EntryError("tls of OPC UA needs a ca and a certificate", tls_at, hint)
    if isinstance(entry, HttpEntry) and entry.listen is not None and tls.certificate is None:
        raise EntryError("a server with TLS needs a certificate", tls_at, "write tls: {certificate: PATH, key: PATH}")
    return tls


def _check_tls_scheme(entry: HttpEntry | MqttEntry, addresses: Iterable[str], scheme: str, at: Location) -> None:
    """Raise EntryError if `tls` is set although an address does not begin with `scheme`, such as https://."""
    if entry.tls is not None and not all(address.startswith(scheme) for address in addresses):
        raise EntryError("this address does not use TLS", at.then("tls").at_key(), f"write {scheme} in the address")


def _headers(entry: HttpEntry, at: Location) -> tuple[tuple[str, str], ...]:
    """Return the headers of an HTTP request; raise EntryError if a secret is in plain text."""
    for name, value in entry.headers.items():
        if _SECRET_HEADER.search(name) and value == without_references(value):
            raise EntryError(
                "secrets must not be written in the catalog", at.then(name), "write ${NAME} or ${file:PATH}"
            )
    return tuple(entry.headers.items())


def read_postgres(
    extent: Extent, entry: PostgresEntry, at: Location, calendar: Calendar, catalog_folder: Path | None = None
) -> Postgres:
    """Read the `postgresql` entry of a stored table, which the collector reads from the database at intervals.

    Raise EntryError if the entry is invalid.
    """
    if extent.kind is not ExtentKind.STORED:
        raise EntryError(f"a {extent.kind} extent cannot be a database table", at.at_key(), "declare it as stored")
    _check_reserved_columns(extent, at)
    _check_url(entry.url, at.then("url"), ("postgresql://",))
    if not _TABLE.fullmatch(entry.table):
        raise EntryError(f"{quoted(entry.table)} is not a table", at.then("table"), "write tariff, or schema.tariff")
    check_secret(entry.password, at.then("password"))
    every = read_text_at(read_interval, entry.every, at.then("every"), calendar)
    columns = field_paths(extent, entry.fields, extent.names, at.then("fields"))
    tls, log = _read_tls(entry, at, catalog_folder), _log(extent, entry, at, catalog_folder)
    if tls is not None and re.search(r"[?&]ssl", entry.url):
        raise EntryError("the url and tls both configure TLS", at.then("tls").at_key(), "leave out one of the two")
    return Postgres(entry.url, entry.table, columns, every, entry.password, log, tls)


def _check_reserved_columns(extent: Extent, at: Location) -> None:
    """Raise EntryError if an attribute has the name of a column of the collector's log."""
    for attribute in extent.schema:
        if attribute.name in RESERVED_COLUMNS:
            raise EntryError(f"the log has a column {attribute.name} already", at.at_key(), "rename the attribute")


def _push(extent: Extent, entry: HttpEntry, at: Location, log: LogLocation, tls: Tls | None) -> HttpPush:
    """Read the `http` entry of a pushed stream: where the collector receives rows; it writes them to `log`."""
    check_pushed(extent, at)
    for key in ("devices", "server", "deadline", "headers"):
        if key in entry.model_fields_set:
            raise EntryError(
                f"{key} cannot be combined with listen", at.then(key).at_key(), f"leave out listen or {key}"
            )
    listen = entry.listen or ""
    check_host(listen, at.then("listen"))
    if not re.fullmatch(r"/[^\x00-\x20\x7f]*", entry.path):
        raise EntryError(f"{quoted(entry.path)} is not a path", at.then("path"), "write for example /events")
    check_secret(entry.token, at.then("token"))
    host, _, port = listen.rpartition(":")
    fields = field_paths(extent, entry.fields, extent.names, at.then("fields"))
    return HttpPush(host, int(port), entry.path, fields, entry.time, entry.token, log, tls)


def _mqtt(extent: Extent, entry: MqttEntry, at: Location, log: LogLocation, tls: Tls | None) -> Mqtt:
    """Build the MQTT source of a pushed stream from its `mqtt` entry; EntryError if the entry is invalid."""
    check_pushed(extent, at)
    topic_at = at.then("topic")
    _check_url(entry.broker, at.then("broker"), _BROKERS)
    if re.search(r"[/?#]", without_references(entry.broker).partition("://")[2].rstrip("/")):
        hint = "write mqtt://HOST:PORT; topic, user and tls are entries"
        raise EntryError(f"{quoted(entry.broker)} is more than a host and a port", at.then("broker"), hint)
    _check_tls_scheme(entry, [entry.broker], _BROKERS[1], at)
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
    topic_attributes = [name for _, name in source.levels]
    for name in topic_attributes:
        check_attribute(extent, name, topic_at)
        if topic_attributes.count(name) > 1:
            raise EntryError(f"{name} occurs twice in the topic", topic_at, "leave out one of the two")
    if not entry.topic or "{" in source.filter or re.search(r"[^/]#|#.|[^/]\+|\+[^/]", source.filter):
        hint = "write for example plant/{line}/temp; + and # are whole levels, # the last"
        raise EntryError(f"{quoted(entry.topic)} is not a topic", topic_at, hint)
    payload_attributes = [name for name in extent.names if name not in topic_attributes]
    if source.payload is Payload.VALUE and len(payload_attributes) != 1:
        hint = "put the others into the topic, or use payload: json"
        raise EntryError(
            f"payload: value is one attribute, and {len(payload_attributes)} are not in the topic",
            at.then("payload"),
            hint,
        )
    if source.payload is Payload.VALUE and entry.time is not None:
        raise EntryError("payload: value has no field with the time", at.then("time").at_key(), "leave it out")
    if source.payload is Payload.SENML and entry.time is not None:
        raise EntryError("the records of SenML have their time already", at.then("time").at_key(), "leave it out")
    return replace(source, fields=field_paths(extent, entry.fields, payload_attributes, at.then("fields")))


def _log(
    extent: Extent, entry: PolledEntry | MqttEntry | PostgresEntry, at: Location, catalog_folder: Path | None = None
) -> LogLocation:
    """Return where the collector writes an extent's log: a folder (by default `log/NAME`) or a Kafka topic."""
    if entry.log is None:
        return f"log/{extent.name}"
    address, options, log_at = entry.log.address, entry.log.options, at.then("log")
    if not address.startswith(_KAFKA):
        for key in ("options", "user", "password", "tls"):
            if key in entry.log.model_fields_set:
                message = f"{key} {'are' if key == 'options' else 'is'} for a log in Kafka"
                raise EntryError(
                    message, log_at.then(key).at_key(), "leave them out" if key == "options" else "leave it out"
                )
        if "://" in address:
            hint = "write a folder, or kafka://HOST:PORT/TOPIC"
            raise EntryError(f"{quoted(address)} cannot be the location of a log", log_at.then("address"), hint)
        return address
    servers, _, topic = address.removeprefix(_KAFKA).partition("/")
    for server in servers.split(","):
        check_host(server.strip(), log_at.then("address"))
    if not _LOG.fullmatch(topic):
        hint = "write kafka://HOST:PORT/TOPIC, the topic with letters, digits, . _ and -"
        raise EntryError(f"{quoted(topic)} is not a topic", log_at.then("address"), hint)
    tls = read_login(entry.log, log_at, catalog_folder)
    return KafkaTopic(servers, topic, tuple(options.items()), entry.log.user, entry.log.password, tls)


def check_pushed(extent: Extent, at: Location) -> None:
    """Raise EntryError unless an extent is declared as pushed (messages are sent to it, it is not polled)."""
    if extent.kind is not ExtentKind.PUSHED:
        hint = "declare it as pushed; sensed extents are polled: modbus, opcua, http"
        raise EntryError(f"messages come to a pushed extent, not to a {extent.kind} one", at.at_key(), hint)


def _polled_attributes(extent: Extent) -> tuple[str, ...]:
    """Return the attributes that are read from a device: all except the one with the site (its place)."""
    return tuple(name for name in extent.names if name != extent.site)


def _devices(
    extent: Extent, entry: PolledEntry, at: Location, check: Callable[[str, Location], None]
) -> tuple[Device, ...]:
    """Build the device of each site; EntryError if a site has none; `check` raises it for an invalid address.

    The devices have the order of the sites.
    """
    if extent.kind is not ExtentKind.SENSED:
        raise EntryError(
            f"devices are polled for a sensed extent, not for a {extent.kind} one", at.at_key(), "declare it as sensed"
        )
    if (entry.devices is None) == (entry.server is None):
        raise EntryError(
            "a source has either devices or a server", at, "write devices: {1: ADDRESS}, or server: ADDRESS"
        )
    if entry.server is not None:
        key_at = at.then("server")
        check(entry.server, key_at)
        if not extent.sites and "{site}" in entry.server:
            raise EntryError("the extent has no sites", key_at, "list them: sites: [1, 2]")
        sites = extent.sites or (None,)
        return tuple(Device(site, entry.server.replace("{site}", str(site))) for site in sites)
    declared = entry.devices or {}
    key_at = at.then("devices")
    site_attribute = next((a for a in extent.schema if a.name == extent.site), None)
    if site_attribute is None or not extent.sites:
        raise EntryError(
            "devices are by site, and the extent has no sites", key_at.at_key(), "list them: sites: [1, 2]"
        )
    device_of_site: dict[object, Device] = {}
    for key, device in declared.items():
        device_at = key_at.then(key)
        site = _site(key, site_attribute.type)
        if site not in extent.sites:
            raise EntryError(f"{quoted(key)} is not a site", device_at.at_key(), "list it under sites")
        check(device.address, device_at)
        device_of_site[site] = Device(site, device.address, device.unit)
    for site in extent.sites:
        if site not in device_of_site:
            raise EntryError(f"no device for the site {quoted(site)}", key_at.at_key(), "add it, or leave out the site")
    return tuple(device_of_site[site] for site in extent.sites)


def _site(key: str | int, kind: Type) -> Value:
    """Convert a device's key to a value of type `kind` of the site (place) attribute; None if it does not fit."""
    try:
        return parse_value(str(key), kind)
    except (ValueError, ArithmeticError):
        return None


def _register(name: str, entry: RegisterEntry) -> Register:
    """Build the Modbus register of an attribute from its catalog entry."""
    number = RegisterType.BIT if entry.space in ("coil", "discrete") else RegisterType(entry.number)
    return Register(name, entry.address, number, RegisterSpace(entry.space), entry.scale, entry.offset)


def _check_coverage(extent: Extent, declared: Mapping[str, object], at: Location) -> None:
    """Raise EntryError unless `declared` has each attribute but the site (sensor place) as key, and no others."""
    for name in declared:
        check_attribute(extent, name, at.then(name).at_key())
    missing = [name for name in _polled_attributes(extent) if name not in declared]
    if missing:
        raise EntryError(
            f"no entry for {', '.join(missing)}", at.at_key(), "add one for every attribute, except the site"
        )


def field_paths(
    extent: Extent, path_of_attribute: Mapping[str, str], needed_attributes: Iterable[str], at: Location
) -> tuple[tuple[str, str], ...]:
    """Return (attribute, payload path) per needed attribute: as in `path_of_attribute`, else the attribute's name.

    Raise EntryError if `path_of_attribute` has unknown attributes.
    """
    for name in path_of_attribute:
        check_attribute(extent, name, at.then(name).at_key())
    return tuple((name, path_of_attribute.get(name, name)) for name in needed_attributes)


def check_attribute(extent: Extent, name: str, at: Location) -> None:
    """Raise EntryError with a suggestion if an extent lacks an attribute."""
    if name not in extent.names:
        raise EntryError(f"no attribute {quoted(name)}", at, did_you_mean(name, extent.names))


def _deadline(extent: Extent, entry: PolledEntry, at: Location, calendar: Calendar) -> int:
    """Return how many microseconds a device has to answer: as declared, at most the extent's polling interval."""
    every = (extent.every or 1) * calendar.length
    if entry.deadline is None:
        return min(_DEADLINE, every)
    deadline_at = at.then("deadline")
    microseconds = read_text_at(lambda text, _: read_microseconds(text), entry.deadline, deadline_at, calendar)
    if not 1000 <= microseconds <= every:
        raise EntryError(
            "a deadline is at least 1 ms and at most the interval of the extent",
            deadline_at,
            "write for example 500 ms",
        )
    return microseconds


def check_host(text: str, at: Location) -> None:
    """Raise EntryError unless `text` is HOST:PORT."""
    match = _HOST.match(text)
    if not match or not 0 < int(match[2]) < 65536:
        raise EntryError(f"{quoted(text)} is not a host and a port", at, "write for example 10.0.0.1:502")


def _check_url(text: str, at: Location, schemes: tuple[str, ...]) -> None:
    """Raise EntryError unless `text` is an address with one of the schemes and without a secret in plain text."""
    remainder = next((text.removeprefix(scheme) for scheme in schemes if text.startswith(scheme)), "")
    if not remainder or re.search(r"\s", text):
        raise EntryError(f"{quoted(text)} is not an address", at, f"write for example {schemes[0]}plant:1234")
    login, query = remainder.partition("/")[0].rpartition("@")[0], remainder.partition("?")[2]
    if ":" in login or re.search(r"(^|&)(ssl)?password=", query) or has_open_secret(query):
        raise EntryError(
            "secrets must not be written in the catalog",
            at,
            "leave it out of the address, and add user and password: ${NAME}",
        )
