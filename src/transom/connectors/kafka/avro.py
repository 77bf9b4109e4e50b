"""Records of Avro to rows, in plain Python; Spark's own reader decodes the same bytes by the same schema."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from transom.catalog.avro import UNITS, Leaf, Record
from transom.catalog.extents import Extent
from transom.catalog.extras import needed
from transom.catalog.servers import Kafka, Payload
from transom.catalog.ticks import read_value
from transom.connectors.payloads import LARGEST, Dead, Read, Reader
from transom.model.reasons import Reason
from transom.model.time import Calendar

_BROKEN = (EOFError, ValueError, LookupError, TypeError, ArithmeticError, MemoryError, RecursionError, struct.error)
"""What the library raises for bytes that are no record."""
_ZERO = datetime(1970, 1, 1, tzinfo=UTC)


class AvroReader(Reader):
    """How records of one extent are read."""

    def __init__(self, extent: Extent, calendar: Calendar, source: Kafka) -> None:
        super().__init__(extent, calendar, source.fields, source.time, Payload.AVRO)
        record = Record(source.schema or "")
        self._library = needed("fastavro", "avro", "avro")
        self._schema = self._library.parse_schema(json.loads(record.plain(decimals=False)))
        self._leaves = {name: record.leaf(path) for name, path in source.fields}
        self._clock = None if source.time is None else record.leaf(source.time)

    def rows(self, raw: bytes, known: Mapping[str, object], now: datetime) -> list[Read]:
        """The row of one record; `known` are attributes from elsewhere. Dead if it has none."""
        if len(raw) > LARGEST:
            raise Dead(Reason.SIZE, f"{len(raw)} bytes, at most {LARGEST}")
        content = self._record(raw)
        moment = None if self._clock is None else _at(content, self._clock)
        found = {name: _at(content, leaf) for name, leaf in self._leaves.items()}
        for value in (moment, *found.values()):
            _check_text(value)
        tick = None
        if self._clock is not None:
            tick = self._tick(_value(moment, self._clock, Reason.TIME))
        typed = {name: _value(value, self._leaves[name], Reason.TYPE) for name, value in found.items()}
        return [Read(tick, self._row({**known, **typed}, read_value, known))]

    def _record(self, raw: bytes) -> Any:
        """The content of a record; bytes behind it do not count, as with Spark."""
        try:
            content = self._library.schemaless_reader(
                io.BytesIO(raw), self._schema, handle_unicode_errors="surrogateescape"
            )
            if self._library.validate(content, self._schema, raise_errors=False):
                return content
        except _BROKEN as error:
            raise Dead(Reason.AVRO, str(error) or type(error).__name__) from None
        raise Dead(Reason.AVRO, "a value does not fit the schema")


def _at(content: Any, leaf: Leaf) -> Any:
    """What stands somewhere in a record; what is inside of nothing, or behind the end of a list, is nothing."""
    for step, name in leaf.steps:
        if content is None:
            return None
        if step == "item":
            content = content[int(name)] if int(name) < len(content) else None
        else:
            content = content.get(name)
    return content


def _check_text(value: object) -> None:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise Dead(Reason.BYTES, str(error)) from None


def _value(raw: Any, leaf: Leaf, reason: Reason) -> object:
    """A number or bytes as the instant or the decimal that they mean."""
    if raw is None:
        return None
    if leaf.kind == "decimal":
        return Decimal(int.from_bytes(raw, "big", signed=True)).scaleb(-leaf.scale)
    if leaf.kind not in UNITS:
        return raw
    try:
        return _ZERO + timedelta(microseconds=raw * UNITS[leaf.kind])
    except OverflowError:
        raise Dead(reason, f"{raw} of {leaf.kind} lies outside the calendar") from None
