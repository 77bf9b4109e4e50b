"""Read the attributes of an extent: valid names and types, no duplicates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from transom.catalog.reading.locations import EntryError, Location
from transom.catalog.reading.wording import did_you_mean, display_value, quoted
from transom.model.schema import Attribute, Schema
from transom.model.types import DECLARABLE, TYPE_SYNONYMS, Type

NAME_HINT = "use letters from a to z, digits and underscores, not beginning with a digit"
"""A hint with the syntax of names."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_TYPES = {str(kind): kind for kind in DECLARABLE}


@dataclass(frozen=True, slots=True)
class ColumnDeclaration:
    """A declared attribute: the text of its name and type, with their locations."""

    name: str
    name_at: Location
    type: str
    type_at: Location


def check_name(name: str, at: Location, role: str) -> None:
    """Raise EntryError unless a name has valid characters; `role`, such as `an extent`, is what the error calls it.

    `role`, such as `an extent`, says in the error what has the name.
    """
    if not _NAME.match(name):
        raise EntryError(f"{quoted(name)} cannot be the name of {role}", at, NAME_HINT)


def read_type(name: str, at: Location) -> Type:
    """Return the type with this name in catalogs; raise EntryError, with a suggestion, if there is none."""
    kind = _TYPES.get(name)
    if kind is None:
        synonym = TYPE_SYNONYMS.get(name.lower())
        hint = f"did you mean {synonym}?" if synonym else did_you_mean(name, _TYPES)
        raise EntryError(f"no type {quoted(name)}", at, hint)
    return kind


def read_schema(extent: str, columns: Sequence[ColumnDeclaration], at: Location) -> Schema:
    """Build the schema of an extent; raise EntryError if column names are invalid or differ only in case."""
    if not columns:
        raise EntryError("this extent has no attributes", at, "write for example (site:integer, temp:float)")
    taken: dict[str, str] = {}
    attributes: list[Attribute] = []
    for column in columns:
        check_name(column.name, column.name_at, "an attribute")
        earlier = taken.get(column.name.lower())
        if earlier is not None:
            hint = (
                "give them names that differ in more than upper and lower case"
                if earlier != column.name
                else "leave out one of the two"
            )
            raise EntryError(f"the attribute {column.name} is declared twice", column.name_at, hint)
        taken[column.name.lower()] = column.name
        attributes.append(Attribute(column.name, read_type(column.type, column.type_at), extent))
    return Schema(tuple(attributes))


def read_columns(entries: object, at: Location) -> list[ColumnDeclaration]:
    """Read the declared attributes of an extent, such as `{site: integer}`; raise EntryError for other data.

    The form `[site:integer]` is allowed too.
    """
    if isinstance(entries, dict):
        return [_typed_column(name, kind, at.then(name)) for name, kind in entries.items()]
    if isinstance(entries, list | tuple):
        return [_parse_column(column, at.then(index)) for index, column in enumerate(entries)]
    raise EntryError(
        f"expected attributes, not {display_value(entries)}",
        at,
        "write {site: integer, temp: float} or [site:integer, temp:float]",
    )


def _typed_column(name: object, kind: object, at: Location) -> ColumnDeclaration:
    """Read an attribute from a YAML entry, name: type; raise EntryError if the type is not text."""
    if not isinstance(kind, str):
        raise EntryError(f"expected a type, not {display_value(kind)}", at, f"the types are {', '.join(_TYPES)}")
    return ColumnDeclaration(str(name), at.at_key(), kind, at)


def _parse_column(column: object, at: Location) -> ColumnDeclaration:
    """Read an attribute from an item of a list: the text `site:integer`, or a mapping of one key."""
    if isinstance(column, dict) and len(column) == 1:  # - site: integer
        [(name, kind)] = column.items()
        return _typed_column(name, kind, at.then(name))
    if not isinstance(column, str) or ":" not in column:
        raise EntryError(f"expected name:type, not {display_value(column)}", at, "write for example site:integer")
    colon = column.index(":")
    name, name_at = _trim(column, 0, colon, at)
    kind, kind_at = _trim(column, colon + 1, len(column), at)
    return ColumnDeclaration(name, name_at, kind, kind_at)


def _trim(text: str, start: int, end: int, at: Location) -> tuple[str, Location]:
    """Return `text[start:end]` without spaces around it, and its location; `at` is that of the whole text."""
    piece = text[start:end].strip()
    start = text.find(piece, start)
    return piece, at.within(start, start + len(piece))
