"""Attributes and schemas: what the tuples of a stream or a window look like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from transom.errors import PlanError
from transom.model.types import Type

IMPLICIT = ("tick", "index")
"""The implicit attributes of a tagged tuple (S35)."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One named and typed column; `qualifier` is the extent or alias it comes from, where there is one."""

    name: str
    type: Type
    qualifier: str | None = None

    @property
    def label(self) -> str:
        """The name as a query would write it in full."""
        return f"{self.qualifier}.{self.name}" if self.qualifier else self.name

    def __str__(self) -> str:
        return f"{self.label}:{self.type}"


@dataclass(frozen=True, slots=True)
class Schema:
    """An ordered list of attributes, no two with the same qualifier and name."""

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        seen: set[tuple[str | None, str]] = set()
        for attribute in self.attributes:
            key = (attribute.qualifier, attribute.name)
            if key in seen:
                raise PlanError(f"two columns are called {attribute.label}")
            seen.add(key)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def __add__(self, other: Schema) -> Schema:
        return Schema(self.attributes + other.attributes)

    def __str__(self) -> str:
        return "(" + ", ".join(map(str, self.attributes)) + ")"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(attribute.name for attribute in self.attributes)

    def find(self, qualifier: str | None, name: str) -> list[Attribute]:
        """The attributes that a written name can mean; more than one makes the name ambiguous (S21)."""
        return [a for a in self.attributes if a.name == name and qualifier in (None, a.qualifier)]

    def position(self, attribute: Attribute) -> int:
        """Where an attribute stands; PlanError if it is not there."""
        for place, own in enumerate(self.attributes):
            if own == attribute:
                return place
        raise PlanError(f"no column {attribute} in {self}")

    def qualified(self, qualifier: str) -> Schema:
        """The same columns under an alias."""
        return Schema(tuple(Attribute(a.name, a.type, qualifier) for a in self.attributes))
