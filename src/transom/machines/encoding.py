"""The state of a machine as bytes: a version first, then JSON in which every value keeps its type."""

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
    """State as bytes; `kind` is the name of the machine."""
    return bytes([VERSION]) + json.dumps([kind, content], separators=(",", ":")).encode("ascii")


def load(kind: str, state: bytes) -> Any:
    """What `save` was given; DataError for the state of another machine or version."""
    if not state or state[0] != VERSION:
        found = state[0] if state else "nothing"
        raise DataError(f"the state of {kind} has version {found}, not {VERSION}", hint="start without the old state")
    name, content = json.loads(state[1:])
    if name != kind:
        raise DataError(f"the state of {name} was given to {kind}", hint="start without the old state")
    return content


def pack(row: tuple[Value, ...]) -> list[Any]:
    """A row for JSON."""
    return [_pack(value) for value in row]


def unpack(cells: list[Any]) -> tuple[Value, ...]:
    """The row that was packed."""
    return tuple(_unpack(cell) for cell in cells)


def pack_deep(value: Any) -> Any:
    """A value, or a tuple of values and tuples, for JSON."""
    return [pack_deep(part) for part in value] if isinstance(value, tuple) else _pack(value)


def unpack_deep(cell: Any) -> Any:
    """The value or tuple that was packed."""
    return tuple(unpack_deep(part) for part in cell) if isinstance(cell, list) else _unpack(cell)


def dump(value: Any) -> str:
    """Rows, or anything made of values, tuples and lists, as JSON in which every value keeps its type."""
    return json.dumps(value, default=_pack, separators=(",", ":"))


def undump(text: str) -> Any:
    """What was dumped; tuples come back as lists."""
    return json.loads(text, object_hook=_unpack)


def deep_tuple(value: Any) -> Any:
    """Lists in lists as tuples in tuples."""
    return tuple([deep_tuple(v) if isinstance(v, list) else v for v in value]) if isinstance(value, list) else value


def sort_key(value: Any) -> Any:
    """A key that puts values and tuples of values in order, as `row_key` does for rows."""
    return (5, tuple(map(sort_key, value))) if isinstance(value, tuple) else value_key(value)


def _pack(value: Value) -> Any:
    match value:
        case Decimal():
            return {"d": str(value)}
        case datetime():
            return {"t": value.isoformat()}
        case _:
            return value


def _unpack(cell: Any) -> Value:
    match cell:
        case {"d": digits}:
            return Decimal(digits)
        case {"t": moment}:
            return datetime.fromisoformat(moment)
        case _:
            value: Value = cell
            return value
