"""Attributes and schemas: the columns of the tuples of a stream or a window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from transom.errors import PlanError
from transom.model.types import Type

IMPLICIT_TAGS = ("tick", "index")
"""The implicit attributes of a tagged tuple (S35)."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One named and typed column; `qualifier` is the extent or alias it comes from, where there is one."""

    name: str
    type: Type
    qualifier: str | None = None

    @property
    def label(self) -> str:
        """The name as users write it: `qualifier.name`, or the name alone if the attribute has no qualifier."""
        return f"{self.qualifier}.{self.name}" if self.qualifier else self.name

    def __str__(self) -> str:
        """The qualified name and the type as text, such as `road.temp:integer`."""
        return f"{self.label}:{self.type}"


@dataclass(frozen=True, slots=True)
class Schema:
    """An ordered list of attributes, no two with the same qualifier and name."""

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        """Raise PlanError if two attributes have the same qualifier and name."""
        seen: set[tuple[str | None, str]] = set()
        for attribute in self.attributes:
            key = (attribute.qualifier, attribute.name)
            if key in seen:
                raise PlanError(f"two columns are called {attribute.label}")
            seen.add(key)

    def __iter__(self) -> Iterator[Attribute]:
        """Iterate over the attributes in order."""
        return iter(self.attributes)

    def __len__(self) -> int:
        """The number of attributes."""
        return len(self.attributes)

    def __add__(self, other: Schema) -> Schema:
        """Concatenate two schemas, such as those of a join's inputs; raise PlanError if they share an attribute."""
        return Schema(self.attributes + other.attributes)

    def __str__(self) -> str:
        """The attributes in parentheses, such as `(site:integer, temp:integer)`."""
        return "(" + ", ".join(map(str, self.attributes)) + ")"

    @property
    def names(self) -> tuple[str, ...]:
        """The attribute names in order, without qualifiers."""
        return tuple(attribute.name for attribute in self.attributes)

    def find(self, qualifier: str | None, name: str) -> list[Attribute]:
        """Return the attributes that `qualifier.name`, or `name` alone, can mean; several if it is ambiguous."""
        return [a for a in self.attributes if a.name == name and qualifier in (None, a.qualifier)]

    def position(self, attribute: Attribute) -> int:
        """The number of an attribute's column in a row, from 0; raises PlanError if the schema lacks the attribute."""
        for position, candidate in enumerate(self.attributes):
            if candidate == attribute:
                return position
        raise PlanError(f"no column {attribute} in {self}")

    def qualified(self, qualifier: str) -> Schema:
        """Return a copy of the schema in which all attributes have this qualifier, the alias of a table or subquery."""
        return Schema(tuple(Attribute(a.name, a.type, qualifier) for a in self.attributes))


def column_types(schema: Schema) -> tuple[Type, ...]:
    """The types of the attributes of a schema, in order."""
    return tuple(attribute.type for attribute in schema)


def unique_names(names: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Make names differ from each other and from `taken`, ignoring case, by appending underscores.

    Spark ignores case, and every engine names the columns of an answer alike.
    """
    seen, unique = {name.lower() for name in taken}, []
    for name in names:
        while name.lower() in seen:
            name += "_"
        seen.add(name.lower())
        unique.append(name)
    return unique


def merged_schema(left: Schema, right: Schema) -> Schema:
    """Merge the columns of two relations for a natural join: those of the left, then those that only the right has."""
    return Schema(tuple(dict.fromkeys((*left, *right))))
