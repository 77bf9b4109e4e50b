"""The attributes of an extent: names, types, and no name twice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from transom.catalog.places import At, Misfit
from transom.catalog.wording import did_you_mean, quoted, show
from transom.model.schema import Attribute, Schema
from transom.model.types import DECLARABLE, TYPE_SYNONYMS, Type

NAMES = "use letters from a to z, digits and underscores, and no digit in front"
"""What names are made of, as a hint."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_TYPES = {str(kind): kind for kind in DECLARABLE}


@dataclass(frozen=True, slots=True)
class Column:
    """An attribute as written: its name and its type, each with its place."""

    name: str
    name_at: At
    type: str
    type_at: At


def check_name(name: str, at: At, what: str) -> None:
    """Misfit unless a name is letters, digits and underscores, with no digit in front."""
    if not _NAME.match(name):
        raise Misfit(f"{quoted(name)} cannot be the name of {what}", at, NAMES)


def read_type(name: str, at: At) -> Type:
    """The type of that name; Misfit with the name that was probably meant otherwise."""
    kind = _TYPES.get(name)
    if kind is None:
        synonym = TYPE_SYNONYMS.get(name.lower())
        hint = f"did you mean {synonym}?" if synonym else did_you_mean(name, _TYPES)
        raise Misfit(f"no type {quoted(name)}", at, hint)
    return kind


def read_schema(extent: str, columns: Sequence[Column], at: At) -> Schema:
    """The schema that columns make; names may not differ in upper and lower case alone."""
    if not columns:
        raise Misfit("an extent has at least one attribute", at, "write for example (site:integer, temp:float)")
    seen: dict[str, str] = {}
    attributes: list[Attribute] = []
    for column in columns:
        check_name(column.name, column.name_at, "an attribute")
        twin = seen.get(column.name.lower())
        if twin is not None:
            why = "upper and lower case do not tell names apart" if twin != column.name else "leave out one of the two"
            raise Misfit(f"the attribute {column.name} is declared twice", column.name_at, why)
        seen[column.name.lower()] = column.name
        attributes.append(Attribute(column.name, read_type(column.type, column.type_at), extent))
    return Schema(tuple(attributes))


def listed_columns(entries: object, at: At) -> list[Column]:
    """Columns from `{site: integer}` or from `[site:integer]`."""
    if isinstance(entries, dict):
        return [_entry(name, kind, at.then(name)) for name, kind in entries.items()]
    if isinstance(entries, list | tuple):
        return [_pair(words, at.then(place)) for place, words in enumerate(entries)]
    raise Misfit(
        f"expected attributes, not {show(entries)}",
        at,
        "write {site: integer, temp: float} or [site:integer, temp:float]",
    )


def _entry(name: object, kind: object, at: At) -> Column:
    if not isinstance(kind, str):
        raise Misfit(f"expected a type, not {show(kind)}", at, f"the types are {', '.join(_TYPES)}")
    return Column(str(name), at.at_key(), kind, at)


def _pair(words: object, at: At) -> Column:
    if isinstance(words, dict) and len(words) == 1:  # - site: integer
        [(name, kind)] = words.items()
        return _entry(name, kind, at.then(name))
    if not isinstance(words, str) or ":" not in words:
        raise Misfit(f"expected name:type, not {show(words)}", at, "write for example site:integer")
    colon = words.index(":")
    name, name_at = _trimmed(words, 0, colon, at)
    kind, kind_at = _trimmed(words, colon + 1, len(words), at)
    return Column(name, name_at, kind, kind_at)


def _trimmed(words: str, start: int, end: int, at: At) -> tuple[str, At]:
    """Some of the words without the space around them."""
    piece = words[start:end].strip()
    start = words.find(piece, start)
    return piece, at.within(start, start + len(piece))
