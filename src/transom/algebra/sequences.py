"""Operators on ordered relations: ORDER BY, and LIMIT with OFFSET."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.check import check_reads
from transom.algebra.expressions.expression import Column, Expression
from transom.algebra.operator import Windows
from transom.algebra.relations import WindowDistinct, WindowProject, is_column_selection
from transom.errors import PlanError
from transom.model.schema import Schema
from transom.record import Record


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class SortKey(Record):
    """One expression of ORDER BY with its direction; where it is an error, a row sorts as if a variable was unbound."""

    expression: Expression
    descending: bool = False

    def __str__(self) -> str:
        """The ORDER BY expression with its direction as text: `ASC(expression)` or `DESC(expression)`."""
        return f"{'DESC' if self.descending else 'ASC'}({self.expression})"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class OrderBy(Windows):
    """The tuples of each window, sorted.

    Meaning  tuples are sorted by the keys of ORDER BY, in SPARQL's order of terms. Tuples with equal keys are sorted by
             the columns in `ties`, from the first column to the last (R16).
    Bounds   if there are no keys, the tuples are sorted only by `ties`. So every run returns the same order.
    Source   002 Sec. 4 (tolist, order by); W3C 15.1.
    State    the valid solutions of its input.
    """

    input: Windows
    keys: tuple[SortKey, ...]
    ties: tuple[Column, ...]

    def __post_init__(self) -> None:
        """Raise PlanError unless the ORDER BY expressions read only columns of the input."""
        for key in self.keys:
            check_reads(key.expression, self.input.schema, on_stream=False)

    @property
    def schema(self) -> Schema:
        """The columns of the input, unchanged."""
        return self.input.schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Slice(Windows):
    """A range of the sorted tuples of each window.

    Meaning  the operator leaves out the first `offset` tuples, and keeps at most `limit` of the others.
    Bounds   the input must be sorted: an OrderBy, or a WindowProject or WindowDistinct over an OrderBy.
    Source   002 Sec. 4 (slice).
    State    the valid solutions of its input.
    """

    input: Windows
    offset: int = 0
    limit: int | None = None

    def __post_init__(self) -> None:
        """Raise PlanError unless offset and limit are at least 0 and the input is ordered."""
        if self.offset < 0 or (self.limit is not None and self.limit < 0):
            raise PlanError("a part of a sequence has no negative length")
        if not is_ordered(self.input):
            raise PlanError("a slice of windows without an order; an OrderBy without keys gives them one")

    @property
    def schema(self) -> Schema:
        """The columns of the input, unchanged."""
        return self.input.schema


def is_ordered(op: object) -> bool:
    """Whether an operator's windows are ordered, by an OrderBy that may be below SELECT, DISTINCT or LIMIT."""
    match op:
        case WindowProject(input=input):
            return is_column_selection(op) and is_ordered(input)
        case WindowDistinct(input=input) | Slice(input=input):
            return is_ordered(input)
        case _:
            return isinstance(op, OrderBy)
