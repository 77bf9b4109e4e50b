"""Schemas of Avro: where in a record something is, and of which type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from transom.catalog.wording import did_you_mean, quoted
from transom.model.types import Type

UNITS = {
    "timestamp-millis": 1_000,
    "local-timestamp-millis": 1_000,
    "timestamp-micros": 1,
    "local-timestamp-micros": 1,
    "date": 86_400_000_000,
}
"""Numbers that are instants, and how many microseconds one of their units is."""
_WHOLE, _REAL, _TEXT = ("int", "long"), ("float", "double"), ("string", "enum")
_NUMBERS = (*_WHOLE, *_REAL, "decimal")
_SUITS: dict[Type, tuple[str, ...]] = {
    Type.INTEGER: _NUMBERS,
    Type.TIME: _NUMBERS,
    Type.FLOAT: _NUMBERS,
    Type.DECIMAL: (*_NUMBERS, "string"),
    Type.STRING: _TEXT,
    Type.BOOLEAN: ("boolean",),
    Type.TIMESTAMP: (*UNITS, "string"),
}
"""What the values of a type can be made of."""
TICKS = (*_WHOLE, *_REAL, "string", *UNITS)
"""What the tick of a row can be made of."""
_NAMED = ("record", "error", "enum", "fixed")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value in a record: the steps to it, each a `field`, an `item` or an `entry`; its kind; digits of a decimal."""

    steps: tuple[tuple[str, str], ...]
    kind: str
    precision: int = 0
    scale: int = 0


class Record:
    """The schema of a record; ValueError if the text is none."""

    def __init__(self, text: str) -> None:
        self.schema: object = json.loads(text)
        if not isinstance(self.schema, dict) or self.schema.get("type") != "record":
            raise ValueError("the schema is not that of a record")
        self._names: dict[str, object] = {}
        self._name(self.schema, "")

    def leaf(self, path: str) -> Leaf:
        """What stands at a path such as `body.temp` or `readings.0`; ValueError if it is no value."""
        here: object = self.schema
        steps: list[tuple[str, str]] = []
        for part in path.split("."):
            found = self._resolved(here)
            if found["type"] in ("record", "error"):
                fields = _fields(found)
                if part not in fields:
                    raise ValueError(f"no field {quoted(part)} in the schema; {did_you_mean(part, fields)}")
                steps, here = [*steps, ("field", part)], fields[part]
            elif found["type"] == "array" and part.isdecimal():
                steps, here = [*steps, ("item", part)], found["items"]
            elif found["type"] == "map":
                steps, here = [*steps, ("entry", part)], found["values"]
            else:
                raise ValueError(f"nothing is inside a value of type {found['type']}")
        return _leaf(tuple(steps), self._resolved(here))

    def suits(self, path: str, kind: Type) -> None:
        """ValueError unless values of a type can be made of what stands at a path."""
        found = self.leaf(path).kind
        if found not in _SUITS[kind]:
            raise ValueError(f"a value of type {found} is none of type {kind}")

    def plain(self, *, decimals: bool) -> str:
        """The same schema without logical types, perhaps but decimals: they change no byte of a record."""
        return json.dumps(_plain(self.schema, decimals))

    def _name(self, schema: object, space: str) -> None:
        """Remember the types that have names."""
        if isinstance(schema, list):
            for one in schema:
                self._name(one, space)
        elif isinstance(schema, dict):
            if schema.get("type") in _NAMED:
                name, own = str(schema.get("name", "")), str(schema.get("namespace", space))
                full = name if "." in name or not own else f"{own}.{name}"
                space = full.rpartition(".")[0]
                self._names |= {name.rpartition(".")[2]: schema, full: schema}
            for key in ("type", "items", "values"):
                self._name(schema.get(key), space)
            for kind in _fields(schema).values():
                self._name(kind, space)

    def _resolved(self, schema: object) -> Mapping[str, object]:
        """A type without its name and without NULL."""
        if isinstance(schema, list):
            others = [one for one in schema if one != "null"]
            if len(others) != 1:
                raise ValueError("a union of several types is no value")
            return self._resolved(others[0])
        if isinstance(schema, str):
            known = self._names.get(schema)
            return self._resolved(known) if known is not None else {"type": schema}
        if isinstance(schema, dict) and isinstance(schema.get("type"), dict | list):
            return self._resolved(schema["type"])
        if isinstance(schema, dict) and isinstance(schema.get("type"), str):
            known = self._names.get(schema["type"])
            return schema if known is None else self._resolved(known)
        raise ValueError("the schema has a place without a type")


def _fields(schema: Mapping[str, object]) -> dict[str, object]:
    """The fields of a record and their types."""
    given = schema.get("fields")
    fields = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    return {str(one["name"]): one["type"] for one in fields if "name" in one and "type" in one}


def _leaf(steps: tuple[tuple[str, str], ...], schema: Mapping[str, object]) -> Leaf:
    base, logical = str(schema["type"]), schema.get("logicalType")
    if logical == "decimal" and base in ("bytes", "fixed"):
        precision, scale = schema.get("precision"), schema.get("scale", 0)
        if isinstance(precision, int) and isinstance(scale, int) and 0 <= scale <= precision <= 38:
            return Leaf(steps, "decimal", precision, scale)
        raise ValueError("a decimal has at most 38 digits")
    if logical in UNITS and base in _WHOLE:
        return Leaf(steps, str(logical))
    if base in ("boolean", *_WHOLE, *_REAL, *_TEXT) and logical in (None, "uuid"):
        return Leaf(steps, base)
    raise ValueError(f"{logical or base} is no type of values")


def _plain(schema: object, decimals: bool) -> object:
    if isinstance(schema, list):
        return [_plain(one, decimals) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = decimals and schema.get("logicalType") == "decimal"
    return {
        key: _plain(value, decimals) if key in ("type", "items", "values", "fields") else value
        for key, value in schema.items()
        if kept or key not in ("logicalType", "precision", "scale")
    }
