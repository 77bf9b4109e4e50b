"""Serialization of machine state: a version byte, then JSON that keeps the type of every value."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from typing import Any

from transom.errors import DataError
from transom.model.bag import value_key
from transom.model.types import Value

VERSION = 1


def save(kind: str, content: Any) -> bytes:
    """Serialize state to bytes: a version byte, then JSON; `kind` is the name of the state machine that wrote it."""
    return bytes([VERSION]) + json.dumps([kind, content], separators=(",", ":")).encode("ascii")


def load(kind: str, state: bytes) -> Any:
    """Read content that `save` wrote; raises DataError if the machine name is not `kind` or the version is another."""
    if not state or state[0] != VERSION:
        version = state[0] if state else "nothing"
        raise DataError(f"the state of {kind} has version {version}, not {VERSION}", hint="start without the old state")
    name, content = json.loads(state[1:])
    if name != kind:
        raise DataError(f"the state of {name} was given to {kind}", hint="start without the old state")
    return content


def pack(row: tuple[Value, ...]) -> list[Any]:
    """Encode a row as a JSON array that keeps the type of every value, decimals and timestamps included."""
    return [_pack_value(value) for value in row]


def unpack(cells: list[Any]) -> tuple[Value, ...]:
    """Decode a row from the JSON array that `pack` returned."""
    return tuple(_unpack_value(cell) for cell in cells)


def pack_nested(value: Any) -> Any:
    """Encode a value, or nested tuples of values, as nested JSON lists that keep the type of every value."""
    return [pack_nested(part) for part in value] if isinstance(value, tuple) else _pack_value(value)


def unpack_nested(encoded: Any) -> Any:
    """Decode a value, or nested tuples of values, that `pack_nested` encoded."""
    return tuple(unpack_nested(part) for part in encoded) if isinstance(encoded, list) else _unpack_value(encoded)


def encode_json(value: Any) -> str:
    """Encode values, tuples and lists as JSON text that keeps the type of every value for `decode_json`."""
    return json.dumps(value, default=_pack_value, separators=(",", ":"))


def decode_json(text: str) -> Any:
    """Decode JSON text of `encode_json`, decimals and timestamps included; tuples come back as lists."""
    return json.loads(text, object_hook=_unpack_value)


def nested_tuple(value: Any) -> Any:
    """Convert nested lists, as JSON has them, to nested tuples, which are hashable; other values are unchanged."""
    return tuple([nested_tuple(v) if isinstance(v, list) else v for v in value]) if isinstance(value, list) else value


def sort_key(value: Any) -> Any:
    """Return the key by which `sorted` orders a value of any type, NULL, or nested tuples of these."""
    return (5, tuple(map(sort_key, value))) if isinstance(value, tuple) else value_key(value)


def _pack_value(value: Value) -> Any:
    """Encode a value for JSON: a decimal or timestamp becomes an object with one field, other values stay."""
    match value:
        case Decimal():
            return {"d": str(value)}
        case datetime():
            return {"t": value.isoformat()}
        case _:
            return value


def _unpack_value(encoded: Any) -> Value:
    """Decode a value that `_pack_value` encoded."""
    match encoded:
        case {"d": digits}:
            return Decimal(digits)
        case {"t": timestamp}:
            return datetime.fromisoformat(timestamp)
        case _:
            value: Value = encoded
            return value
