"""The source of one extent where it is a topic of Kafka: what is in the values of messages, and what beside them."""

from __future__ import annotations

import re
from pathlib import Path

from transom.catalog.avro import TICKS, Record
from transom.catalog.extents import Extent
from transom.catalog.kafka_options import read_login
from transom.catalog.places import At, Misfit
from transom.catalog.server_entries import _fields, _host, _known, _only_pushed
from transom.catalog.server_shapes import KafkaEntry, TopicEntry
from transom.catalog.servers import Kafka, Payload
from transom.catalog.wording import did_you_mean, quoted
from transom.model.types import Type

HEADER = "header."
"""What stands before the name of a header."""
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_ENVELOPE = "write key, timestamp, or header.NAME"
_ONLY = {"columns": ("columns", Payload.CSV), "record": ("schema", Payload.AVRO)}


def read_kafka(extent: Extent, entry: KafkaEntry, at: At, folder: Path | None = None) -> Kafka:
    """The settings of a Kafka topic; what looks like a secret among the options is a reference."""
    _only_pushed(extent, at)
    _check_topic(entry, at)
    tls = read_login(entry, at, folder)
    payload = Payload(entry.payload)
    for own, (key, only) in _ONLY.items():
        if own in entry.model_fields_set and payload is not only:
            raise Misfit(f"{key} is for payload: {only.value}", at.then(key).at_key(), "leave it out")
    for name, what in entry.envelope.items():
        _outside(extent, entry, name, what, at)
    asked = [name for name in extent.names if name not in entry.envelope]
    fields = _fields(extent, entry.fields, asked, at.then("fields"))
    columns = _columns(entry, fields, at) if payload is Payload.CSV else ()
    schema = _schema(extent, entry, fields, at, folder) if payload is Payload.AVRO else None
    return Kafka(
        entry.servers,
        entry.topic,
        fields,
        entry.time,
        tuple(entry.options.items()),
        entry.dead,
        payload,
        columns,
        tuple(entry.envelope.items()),
        schema,
        entry.user,
        entry.password,
        tls,
    )


def read_rdf_topic(entry: TopicEntry, payload: Payload, time: str | None, at: At, folder: Path | None = None) -> Kafka:
    """The settings of a topic whose messages are statements of RDF; `time` is the predicate that states their times."""
    _check_topic(entry, at)
    options, tls = tuple(entry.options.items()), read_login(entry, at, folder)
    login = {"user": entry.user, "password": entry.password, "tls": tls}
    return Kafka(entry.servers, entry.topic, (), time, options, entry.dead, payload, **login)  # type: ignore[arg-type]


def _check_topic(entry: KafkaEntry | TopicEntry, at: At) -> None:
    for server in entry.servers.split(","):
        _host(server.strip(), at.then("servers"))
    if not _TOPIC.fullmatch(entry.topic):
        raise Misfit(f"{quoted(entry.topic)} is not a topic", at.then("topic"), "use letters, digits, . _ and -")


def _outside(extent: Extent, entry: KafkaEntry, name: str, what: str, at: At) -> None:
    """One attribute that is not in the value of a message."""
    here = at.then("envelope", name)
    _known(extent, name, here.at_key())
    if name in entry.fields:
        raise Misfit(f"{name} is in the fields already", here.at_key(), "leave out one of the two")
    if what not in ("key", "timestamp") and not (what.startswith(HEADER) and what != HEADER):
        raise Misfit(f"a message has no {quoted(what)}", here, _ENVELOPE)
    kind = next(attribute.type for attribute in extent.schema if attribute.name == name)
    if what == "timestamp" and kind is not Type.TIMESTAMP:
        raise Misfit(f"the stamp of the broker is a timestamp, and {name} is of type {kind}", here, "declare it so")


def _columns(entry: KafkaEntry, fields: tuple[tuple[str, str], ...], at: At) -> tuple[str, ...]:
    """The cells of a line of CSV: those that are listed, else the attributes in their order."""
    columns = tuple(column for _, column in fields) if entry.columns is None else tuple(entry.columns)
    hint = "list the cells in their order: columns: [at, line, watts]" if entry.columns is None else None
    for place, column in enumerate(columns):
        if column in columns[:place]:
            here = at.then("fields") if entry.columns is None else at.then("columns", place)
            raise Misfit(f"two cells are called {quoted(column)}", here, hint or "call them differently")
    if entry.time is not None and entry.time not in columns:
        raise Misfit(f"no cell {quoted(entry.time)}", at.then("time"), hint or did_you_mean(entry.time, columns))
    for name, column in fields:
        if column not in columns:
            here = at.then("fields", name) if name in entry.fields else at.then("columns").at_key()
            raise Misfit(f"no cell {quoted(column)} for {name}", here, did_you_mean(column, columns))
    return columns


def _schema(extent: Extent, entry: KafkaEntry, fields: tuple[tuple[str, str], ...], at: At, folder: Path | None) -> str:
    """The text of the schema, in which the time and every attribute have a field of a type that suits them."""
    here = at.then("schema")
    if entry.record is None:
        raise Misfit("Avro has no meaning without its schema", at.then("payload"), "name its file: schema: power.avsc")
    try:
        text = ((folder or Path()) / entry.record).read_text("utf-8-sig")
        record = Record(text)
    except FileNotFoundError as error:
        raise Misfit(f"no file {quoted(entry.record)}", here, "a path is relative to the catalog") from error
    except (OSError, ValueError, RecursionError) as error:
        hint = "give a file with the schema of a record, in JSON"
        raise Misfit(f"cannot read {quoted(entry.record)}", here, hint, str(error)) from error
    kinds = {attribute.name: attribute.type for attribute in extent.schema}
    for name, path in fields:
        place = at.then("fields", name) if name in entry.fields else here
        try:
            record.suits(path, kinds[name])
        except ValueError as error:
            hint = "say where it is: fields: {watts: body.watts}"
            raise Misfit(f"nothing for {name} in the schema", place, hint, str(error)) from error
    try:
        if entry.time is not None and record.leaf(entry.time).kind not in TICKS:
            raise ValueError(f"a value of type {record.leaf(entry.time).kind} is no time")
    except ValueError as error:
        raise Misfit(
            "no time in the schema", at.then("time"), "name a field with a tick or an instant", str(error)
        ) from error
    return text
