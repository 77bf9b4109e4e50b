"""Decode Avro records into rows in plain Python; Spark decodes the same bytes with the same schema."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from transom.catalog.avro import TIMESTAMP_UNITS, RecordField, RecordSchema
from transom.catalog.extent import Extent
from transom.catalog.extras import require_library
from transom.catalog.reading.ticks import read_value
from transom.catalog.servers import Kafka, Payload
from transom.connectors.payloads import MAX_MESSAGE_BYTES, DecodedRow, MessageReader, RejectError
from transom.model.reject_reason import RejectReason
from transom.model.time import Calendar

_DECODE_ERRORS = (
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    ArithmeticError,
    MemoryError,
    RecursionError,
    struct.error,
)
"""What fastavro raises for bytes that are not a valid record."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class AvroReader(MessageReader):
    """Decodes the Avro records of one extent."""

    def __init__(self, extent: Extent, calendar: Calendar, source: Kafka) -> None:
        """Create a decoder of Avro messages with the source's schema; raise UsageError without the Avro library."""
        super().__init__(extent, calendar, source.fields, source.time, Payload.AVRO)
        record = RecordSchema(source.schema or "")
        self._library = require_library("fastavro", "avro", "avro")
        self._schema = self._library.parse_schema(json.loads(record.plain(decimals=False)))
        self._leaves = {name: record.leaf(path) for name, path in source.fields}
        self._clock = None if source.time is None else record.leaf(source.time)

    def rows(self, raw: bytes, envelope: Mapping[str, object], now: datetime) -> list[DecodedRow]:
        """Decode an Avro message to one row, with attributes of `envelope`; RejectError if unfit; `now` is unused.

        `envelope` holds the attributes that are outside the payload, such as Kafka headers.
        """
        if len(raw) > MAX_MESSAGE_BYTES:
            raise RejectError(RejectReason.SIZE, f"{len(raw)} bytes, at most {MAX_MESSAGE_BYTES}")
        content = self._record(raw)
        time_value = None if self._clock is None else _field_value(content, self._clock)
        values = {name: _field_value(content, leaf) for name, leaf in self._leaves.items()}
        for value in (time_value, *values.values()):
            _check_text(value)
        tick = None
        if self._clock is not None:
            tick = self._tick(_logical_value(time_value, self._clock, RejectReason.TIME))
        typed = {name: _logical_value(value, self._leaves[name], RejectReason.TYPE) for name, value in values.items()}
        return [DecodedRow(tick, self._row({**envelope, **typed}, read_value, envelope))]

    def _record(self, raw: bytes) -> Any:
        """Decode an Avro record, ignoring trailing bytes; raise RejectError if it does not fit the schema."""
        try:
            content = self._library.schemaless_reader(
                io.BytesIO(raw), self._schema, handle_unicode_errors="surrogateescape"
            )
            if self._library.validate(content, self._schema, raise_errors=False):
                return content
        except _DECODE_ERRORS as error:
            raise RejectError(RejectReason.AVRO, str(error) or type(error).__name__) from None
        raise RejectError(RejectReason.AVRO, "a value does not fit the schema")


def _field_value(value: Any, leaf: RecordField) -> Any:
    """Return the value of a (nested) field in an Avro record; None if a parent is null or an array too short."""
    for step, name in leaf.steps:
        if value is None:
            return None
        if step == "item":
            value = value[int(name)] if int(name) < len(value) else None
        else:
            value = value.get(name)
    return value


def _check_text(value: object) -> None:
    """Raise RejectError if a value is text with invalid Unicode; other values are accepted."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise RejectError(RejectReason.BYTES, str(error)) from None


def _logical_value(raw: Any, leaf: RecordField, reason: RejectReason) -> object:
    """Convert an Avro value to its logical type, such as timestamp; raise RejectError(`reason`) if out of range.

    Other values are unchanged. The RejectError has `reason`.
    """
    if raw is None:
        return None
    if leaf.kind == "decimal":
        return Decimal(int.from_bytes(raw, "big", signed=True)).scaleb(-leaf.scale)
    if leaf.kind not in TIMESTAMP_UNITS:
        return raw
    try:
        return _EPOCH + timedelta(microseconds=raw * TIMESTAMP_UNITS[leaf.kind])
    except OverflowError:
        raise RejectError(reason, f"{raw} of {leaf.kind} lies outside the calendar") from None
