"""Encode log entries as JSON, with the columns of a segment; NULLs are omitted, except in a row's values.

Numbers that JSON cannot represent are text: decimals, infinities. Instants are ISO 8601, bytes are base64.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from transom.catalog.extent import Extent
from transom.model.types import Type, Value

if TYPE_CHECKING:
    from transom.connectors.log.columns import LogRecord


def encode_record(extent: Extent, number: int, entry: LogRecord) -> bytes:
    """Encode an entry of a log, with its number, as JSON for a Kafka message."""
    log_columns: dict[str, object] = {
        "_seq": number,
        "_kind": entry.kind.value,
        "_tick": entry.tick,
        "_at": entry.at.isoformat(),
        "_origin": entry.origin,
        "_token": entry.token,
        "_raw": None if entry.raw is None else b64encode(entry.raw).decode("ascii"),
        "_reason": None if entry.reason is None else entry.reason.value,
        "_words": entry.detail,
    }
    columns = {name: value for name, value in log_columns.items() if value is not None}
    if entry.row is not None:
        columns |= {name: _to_json(value) for name, value in zip(extent.names, entry.row)}
    return json.dumps(columns, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")


def _to_json(value: Value) -> object:
    """Convert an attribute's value to JSON types: infinities, instants and decimals become text."""
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


def decode_record(extent: Extent, raw: bytes, columns: Iterable[str]) -> dict[str, object]:
    """Decode some columns of a log entry from the JSON of a Kafka message; raise ValueError if it is no log entry."""
    entry = json.loads(raw)
    if not isinstance(entry, dict) or type(entry.get("_seq")) is not int or not isinstance(entry.get("_kind"), str):
        raise ValueError("it has no number, or no kind")
    types = {attribute.name: attribute.type for attribute in extent.schema}
    return {name: _from_json(name, entry.get(name), types.get(name)) for name in columns}


def _from_json(name: str, value: object, kind: Type | None) -> object:
    """Convert the JSON value of a log column to a Python value; `kind` is its type if it is an attribute, else None.

    It inverts `_to_json`.
    """
    if value is None:
        return None
    if kind is Type.FLOAT and isinstance(value, str | int):
        return float(value)
    if kind is Type.DECIMAL and isinstance(value, str):
        return Decimal(value)
    if isinstance(value, str):
        if kind is Type.TIMESTAMP or name == "_at":
            return datetime.fromisoformat(value)
        if name == "_raw":
            return b64decode(value)
    return value
