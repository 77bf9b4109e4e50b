"""Avro schemas: the path and the type of a field in a record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from transom.catalog.reading.wording import did_you_mean, quoted
from transom.model.types import Type

TIMESTAMP_UNITS = {
    "timestamp-millis": 1_000,
    "local-timestamp-millis": 1_000,
    "timestamp-micros": 1,
    "local-timestamp-micros": 1,
    "date": 86_400_000_000,
}
"""Logical types that are instants, with their unit in microseconds."""
_WHOLE, _REAL, _TEXT = ("int", "long"), ("float", "double"), ("string", "enum")
_NUMBERS = (*_WHOLE, *_REAL, "decimal")
_ACCEPTED_TYPES: dict[Type, tuple[str, ...]] = {
    Type.INTEGER: _NUMBERS,
    Type.TIME: _NUMBERS,
    Type.FLOAT: _NUMBERS,
    Type.DECIMAL: (*_NUMBERS, "string"),
    Type.STRING: _TEXT,
    Type.BOOLEAN: ("boolean",),
    Type.TIMESTAMP: (*TIMESTAMP_UNITS, "string"),
}
"""The Avro types from which values of each type can be read."""
TICK_TYPES = (*_WHOLE, *_REAL, "string", *TIMESTAMP_UNITS)
"""The Avro types from which the tick of a row can be read."""
_NAMED = ("record", "error", "enum", "fixed")


@dataclass(frozen=True, slots=True)
class RecordField:
    """A value in a record: its path of `field`, `item` or `entry` steps, its type, and a decimal's digits."""

    steps: tuple[tuple[str, str], ...]
    kind: str
    precision: int = 0
    scale: int = 0


class RecordSchema:
    """The Avro schema of a record; ValueError if the text is not one."""

    def __init__(self, text: str) -> None:
        """Parse an Avro record schema from its JSON text; raise ValueError if it is not a record schema."""
        self.schema: object = json.loads(text)
        if not isinstance(self.schema, dict) or self.schema.get("type") != "record":
            raise ValueError("the schema is not the schema of a record")
        self._names: dict[str, object] = {}
        self._collect_names(self.schema, "")

    def leaf(self, path: str) -> RecordField:
        """Find the scalar field at a path such as `body.temp` or `readings.0`; raise ValueError if there is none."""
        schema: object = self.schema
        steps: list[tuple[str, str]] = []
        for part in path.split("."):
            resolved = self._resolve(schema)
            if resolved["type"] in ("record", "error"):
                fields = _fields(resolved)
                if part not in fields:
                    raise ValueError(f"no field {quoted(part)} in the schema; {did_you_mean(part, fields)}")
                steps, schema = [*steps, ("field", part)], fields[part]
            elif resolved["type"] == "array" and part.isdecimal():
                steps, schema = [*steps, ("item", part)], resolved["items"]
            elif resolved["type"] == "map":
                steps, schema = [*steps, ("entry", part)], resolved["values"]
            else:
                raise ValueError(f"nothing is inside a value of type {resolved['type']}")
        return _record_field(tuple(steps), self._resolve(schema))

    def check_type(self, path: str, kind: Type) -> None:
        """Raise ValueError unless the field at a path can be read as values of the type `kind`."""
        avro_type = self.leaf(path).kind
        if avro_type not in _ACCEPTED_TYPES[kind]:
            raise ValueError(f"a value of type {avro_type} is not of type {kind}")

    def plain(self, *, decimals: bool) -> str:
        """Return the schema as JSON without logical types; decimal types are kept only if `decimals` is True.

        Both schemas describe the same encoded bytes.
        """
        return json.dumps(_without_logical_types(self.schema, decimals))

    def _collect_names(self, schema: object, namespace: str) -> None:
        """Record an Avro schema's named types by short and full name; `namespace` is the enclosing one."""
        if isinstance(schema, list):
            for member in schema:
                self._collect_names(member, namespace)
        elif isinstance(schema, dict):
            if schema.get("type") in _NAMED:
                name, own_namespace = str(schema.get("name", "")), str(schema.get("namespace", namespace))
                full = name if "." in name or not own_namespace else f"{own_namespace}.{name}"
                namespace = full.rpartition(".")[0]
                self._names |= {name.rpartition(".")[2]: schema, full: schema}
            for key in ("type", "items", "values"):
                self._collect_names(schema.get(key), namespace)
            for kind in _fields(schema).values():
                self._collect_names(kind, namespace)

    def _resolve(self, schema: object) -> Mapping[str, object]:
        """Replace a type name by its definition, and a union with null by the other type of the union.

        Raise ValueError for any other union.
        """
        if isinstance(schema, list):
            types = [member for member in schema if member != "null"]
            if len(types) != 1:
                raise ValueError("a union of several types cannot be read")
            return self._resolve(types[0])
        if isinstance(schema, str):
            named = self._names.get(schema)
            return self._resolve(named) if named is not None else {"type": schema}
        if isinstance(schema, dict) and isinstance(schema.get("type"), dict | list):
            return self._resolve(schema["type"])
        if isinstance(schema, dict) and isinstance(schema.get("type"), str):
            named = self._names.get(schema["type"])
            return schema if named is None else self._resolve(named)
        raise ValueError("a part of the schema has no type")


def _fields(schema: Mapping[str, object]) -> dict[str, object]:
    """Return the schemas of a record's fields by field name; empty if `schema` is not of a record."""
    declared = schema.get("fields")
    fields = [entry for entry in declared if isinstance(entry, dict)] if isinstance(declared, list) else []
    return {str(entry["name"]): entry["type"] for entry in fields if "name" in entry and "type" in entry}


def _record_field(steps: tuple[tuple[str, str], ...], schema: Mapping[str, object]) -> RecordField:
    """Describe the scalar field of type `schema` at a path; `steps`: pairs (field, item or entry; name or index).

    Raise ValueError if the type is not scalar.
    """
    base, logical = str(schema["type"]), schema.get("logicalType")
    if logical == "decimal" and base in ("bytes", "fixed"):
        precision, scale = schema.get("precision"), schema.get("scale", 0)
        if isinstance(precision, int) and isinstance(scale, int) and 0 <= scale <= precision <= 38:
            return RecordField(steps, "decimal", precision, scale)
        raise ValueError("a decimal has at most 38 digits")
    if logical in TIMESTAMP_UNITS and base in _WHOLE:
        return RecordField(steps, str(logical))
    if base in ("boolean", *_WHOLE, *_REAL, *_TEXT) and logical in (None, "uuid"):
        return RecordField(steps, base)
    raise ValueError(f"{logical or base} is no type of values")


def _without_logical_types(schema: object, decimals: bool) -> object:
    """Copy an Avro schema without its logical types; decimal types are kept if `decimals` is True."""
    if isinstance(schema, list):
        return [_without_logical_types(member, decimals) for member in schema]
    if not isinstance(schema, dict):
        return schema
    is_decimal = decimals and schema.get("logicalType") == "decimal"
    return {
        key: _without_logical_types(value, decimals) if key in ("type", "items", "values", "fields") else value
        for key, value in schema.items()
        if is_decimal or key not in ("logicalType", "precision", "scale")
    }
