"""Entries of a log as JSON, the same columns as in a segment: what is nothing is left out, but for values of a row.

Numbers that JSON cannot keep are text: decimals, infinities. Instants are ISO 8601, bytes are base64.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from transom.catalog.extents import Extent
from transom.model.types import Type, Value

if TYPE_CHECKING:
    from transom.connectors.log.columns import Entry


def encode(extent: Extent, number: int, entry: Entry) -> bytes:
    """One entry, with its number."""
    own: dict[str, object] = {
        "_seq": number,
        "_kind": entry.kind.value,
        "_tick": entry.tick,
        "_at": entry.at.isoformat(),
        "_origin": entry.origin,
        "_token": entry.token,
        "_raw": None if entry.raw is None else b64encode(entry.raw).decode("ascii"),
        "_reason": None if entry.reason is None else entry.reason.value,
        "_words": entry.words,
    }
    found = {name: value for name, value in own.items() if value is not None}
    if entry.row is not None:
        found |= {name: _written(value) for name, value in zip(extent.names, entry.row)}
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")


def _written(value: Value) -> object:
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


def decode(extent: Extent, raw: bytes, columns: Iterable[str]) -> dict[str, object]:
    """Some columns of an entry, with the values that a segment would give; ValueError if it is none."""
    found = json.loads(raw)
    if not isinstance(found, dict) or type(found.get("_seq")) is not int or not isinstance(found.get("_kind"), str):
        raise ValueError("it has no number, or no kind")
    types = {attribute.name: attribute.type for attribute in extent.schema}
    return {name: _read(name, found.get(name), types.get(name)) for name in columns}


def _read(name: str, value: object, kind: Type | None) -> object:
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
