"""Relations as sequences: an order, and a part of what is in order."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.check import check_reads
from transom.algebra.expressions import Column, Expression
from transom.algebra.operator import Windows
from transom.algebra.relations import WindowDistinct, WindowProject, restricts
from transom.errors import PlanError
from transom.model.schema import Schema


@dataclass(frozen=True, slots=True)
class SortKey:
    """One key of an order; errors come first, as if unbound."""

    expression: Expression
    descending: bool = False

    def __str__(self) -> str:
        return f"{'DESC' if self.descending else 'ASC'}({self.expression})"


@dataclass(frozen=True, slots=True)
class OrderBy(Windows):
    """The tuples of each window as a sequence.

    Meaning  sorted by the keys, in SPARQL's order of terms; ties by the terms of `ties`, column by column (R16).
    Bounds   without keys the order is that of the ties alone: any order would do, and this one is always the same.
    Source   002 Sec. 4 (tolist, order by); W3C 15.1.
    State    what is valid of the input.
    """

    input: Windows
    keys: tuple[SortKey, ...]
    ties: tuple[Column, ...]

    def __post_init__(self) -> None:
        for key in self.keys:
            check_reads(key.expression, self.input.schema, on_stream=False)

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class Slice(Windows):
    """A part of the sequence of each window.

    Meaning  without the first `offset` tuples, and at most `limit` of the others.
    Bounds   its input is in order: an OrderBy, or WindowProject and WindowDistinct over it.
    Source   002 Sec. 4 (slice).
    State    what is valid of the input.
    """

    input: Windows
    offset: int = 0
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.offset < 0 or (self.limit is not None and self.limit < 0):
            raise PlanError("a part of a sequence has no negative length")
        if not ordered(self.input):
            raise PlanError("a part of something without an order; an OrderBy without keys gives it one")

    @property
    def schema(self) -> Schema:
        return self.input.schema


def ordered(op: object) -> bool:
    """Whether the tuples of a relation are a sequence."""
    match op:
        case WindowProject(input=below):
            return restricts(op) and ordered(below)
        case WindowDistinct(input=below) | Slice(input=below):
            return ordered(below)
        case _:
            return isinstance(op, OrderBy)
