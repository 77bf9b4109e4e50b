"""Resolve the Kafka source of an extent: attributes from message payloads and from their envelopes."""

from __future__ import annotations

import re
from pathlib import Path

from transom.catalog.avro import TICK_TYPES, RecordSchema
from transom.catalog.extent import Extent
from transom.catalog.kafka_options import read_login
from transom.catalog.reading.locations import EntryError, Location
from transom.catalog.reading.wording import did_you_mean, quoted
from transom.catalog.resolve.server import check_attribute, check_host, check_pushed, field_paths
from transom.catalog.schema.servers import KafkaEntry, TopicEntry
from transom.catalog.servers import Kafka, Payload
from transom.model.types import Type

HEADER_PREFIX = "header."
"""The prefix of a header's name in an envelope."""
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_ENVELOPE = "write key, timestamp, or header.NAME"
_PAYLOAD_OF_KEY = {"columns": ("columns", Payload.CSV), "record": ("schema", Payload.AVRO)}


def read_kafka(extent: Extent, entry: KafkaEntry, at: Location, catalog_folder: Path | None = None) -> Kafka:
    """Read the `kafka` entry of a pushed stream; raise EntryError if its settings conflict or contain a secret."""
    check_pushed(extent, at)
    _check_topic(entry, at)
    tls = read_login(entry, at, catalog_folder)
    payload = Payload(entry.payload)
    for field, (key, required_payload) in _PAYLOAD_OF_KEY.items():
        if field in entry.model_fields_set and payload is not required_payload:
            raise EntryError(f"{key} is for payload: {required_payload.value}", at.then(key).at_key(), "leave it out")
    for name, envelope_field in entry.envelope.items():
        _check_envelope(extent, entry, name, envelope_field, at)
    payload_attributes = [name for name in extent.names if name not in entry.envelope]
    fields = field_paths(extent, entry.fields, payload_attributes, at.then("fields"))
    columns = _columns(entry, fields, at) if payload is Payload.CSV else ()
    schema = _schema(extent, entry, fields, at, catalog_folder) if payload is Payload.AVRO else None
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


def read_rdf_topic(
    entry: TopicEntry, payload: Payload, time_predicate: str | None, at: Location, catalog_folder: Path | None = None
) -> Kafka:
    """Read the `kafka` entry of an RDF stream with messages in format `payload`; `time_predicate` states times.

    `time_predicate` is the predicate of their times, if any.
    """
    _check_topic(entry, at)
    options, tls = tuple(entry.options.items()), read_login(entry, at, catalog_folder)
    login = {"user": entry.user, "password": entry.password, "tls": tls}
    return Kafka(entry.servers, entry.topic, (), time_predicate, options, entry.dead, payload, **login)  # type: ignore[arg-type]


def _check_topic(entry: KafkaEntry | TopicEntry, at: Location) -> None:
    """Raise EntryError unless the servers and the name of a topic are valid."""
    for server in entry.servers.split(","):
        check_host(server.strip(), at.then("servers"))
    if not _TOPIC.fullmatch(entry.topic):
        raise EntryError(f"{quoted(entry.topic)} is not a topic", at.then("topic"), "use letters, digits, . _ and -")


def _check_envelope(extent: Extent, entry: KafkaEntry, attribute_name: str, message_part: str, at: Location) -> None:
    """Raise EntryError unless `message_part` (`key`, `timestamp` or `header.NAME`) can fill the attribute."""
    field_at = at.then("envelope", attribute_name)
    check_attribute(extent, attribute_name, field_at.at_key())
    if attribute_name in entry.fields:
        raise EntryError(f"{attribute_name} is in the fields already", field_at.at_key(), "leave out one of the two")
    is_header = message_part.startswith(HEADER_PREFIX) and message_part != HEADER_PREFIX
    if message_part not in ("key", "timestamp") and not is_header:
        raise EntryError(f"a message has no {quoted(message_part)}", field_at, _ENVELOPE)
    kind = next(attribute.type for attribute in extent.schema if attribute.name == attribute_name)
    if message_part == "timestamp" and kind is not Type.TIMESTAMP:
        raise EntryError(
            f"the time of the broker is a timestamp, and {attribute_name} is of type {kind}",
            field_at,
            f"declare {attribute_name} as timestamp",
        )


def _columns(entry: KafkaEntry, fields: tuple[tuple[str, str], ...], at: Location) -> tuple[str, ...]:
    """Return a CSV message's column names in order; EntryError if one of `fields` (attribute, column) is missing.

    `fields` are pairs of attribute and column.
    """
    columns = tuple(column for _, column in fields) if entry.columns is None else tuple(entry.columns)
    hint = "list the cells in their order: columns: [at, line, watts]" if entry.columns is None else None
    for index, column in enumerate(columns):
        if column in columns[:index]:
            column_at = at.then("fields") if entry.columns is None else at.then("columns", index)
            raise EntryError(f"two cells are called {quoted(column)}", column_at, hint or "give one another name")
    if entry.time is not None and entry.time not in columns:
        raise EntryError(f"no cell {quoted(entry.time)}", at.then("time"), hint or did_you_mean(entry.time, columns))
    for name, column in fields:
        if column not in columns:
            column_at = at.then("fields", name) if name in entry.fields else at.then("columns").at_key()
            raise EntryError(f"no cell {quoted(column)} for {name}", column_at, did_you_mean(column, columns))
    return columns


def _schema(
    extent: Extent, entry: KafkaEntry, fields: tuple[tuple[str, str], ...], at: Location, catalog_folder: Path | None
) -> str:
    """Read the text of an Avro schema; raise EntryError if it lacks one of `fields` (attribute, path) or the time.

    `fields` are pairs of attribute and path in the record.
    """
    schema_at = at.then("schema")
    if entry.record is None:
        raise EntryError(
            "Avro cannot be read without its schema", at.then("payload"), "name its file: schema: power.avsc"
        )
    try:
        text = ((catalog_folder or Path()) / entry.record).read_text("utf-8-sig")
        record = RecordSchema(text)
    except FileNotFoundError as error:
        raise EntryError(f"no file {quoted(entry.record)}", schema_at, "a path is relative to the catalog") from error
    except (OSError, ValueError, RecursionError) as error:
        hint = "give a file with the schema of a record, in JSON"
        raise EntryError(f"cannot read {quoted(entry.record)}", schema_at, hint, str(error)) from error
    kinds = {attribute.name: attribute.type for attribute in extent.schema}
    for name, path in fields:
        field_at = at.then("fields", name) if name in entry.fields else schema_at
        try:
            record.check_type(path, kinds[name])
        except ValueError as error:
            hint = "say where it is: fields: {watts: body.watts}"
            raise EntryError(f"the schema has no field for {name}", field_at, hint, str(error)) from error
    try:
        if entry.time is not None and record.leaf(entry.time).kind not in TICK_TYPES:
            raise ValueError(f"a value of type {record.leaf(entry.time).kind} is not a time")
    except ValueError as error:
        raise EntryError(
            "this field of the schema is not a time",
            at.then("time"),
            "name a field with a tick or an instant",
            str(error),
        ) from error
    return text
