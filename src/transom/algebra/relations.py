"""Operators on streams of windows: each window is treated as if it were a relation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from transom.algebra.check import check_items, check_predicate, check_reads
from transom.algebra.expressions import Aggregate, Expression, Item
from transom.model.schema import Schema

if TYPE_CHECKING:
    from transom.algebra.tree import Windows


@dataclass(frozen=True, slots=True)
class WindowSelect:
    """The tuples of each window for which a predicate is true.

    Meaning  filter inside each window; a window that loses all its tuples stays, empty.
    Bounds   the tick of a window does not change.
    Source   000 Fig. 4, Sec. 6.2.
    State    none.
    """

    input: Windows
    predicate: Expression

    def __post_init__(self) -> None:
        check_predicate(self.predicate, self.input.schema, on_stream=False)

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class WindowProject:
    """Each tuple of each window made into another by a list of expressions.

    Meaning  map inside each window; duplicates stay.
    Bounds   the tick of a window does not change.
    Source   000 Figs. 3, 4 projectOnWindow.
    State    none.
    """

    input: Windows
    items: tuple[Item, ...]

    def __post_init__(self) -> None:
        check_items(self.items, self.input.schema, on_stream=False)

    @property
    def schema(self) -> Schema:
        return Schema(tuple(item.attribute for item in self.items))


@dataclass(frozen=True, slots=True)
class WindowAggregation:
    """Aggregates over each window, or over each group of its tuples.

    Meaning  without groups one tuple per window, over no tuples too: COUNT 0, others NULL; with groups one tuple
             per group that has tuples (S14, S16), in the order of the group's values.
    Bounds   the tick of a window does not change.
    Source   000 Fig. 4 aggregateOverWindow.
    State    none.
    """

    input: Windows
    groups: tuple[Item, ...]
    aggregates: tuple[Aggregate, ...]

    def __post_init__(self) -> None:
        check_items(self.groups, self.input.schema, on_stream=False, may_be_empty=bool(self.aggregates))
        for aggregate in self.aggregates:
            if aggregate.argument is not None:
                check_reads(aggregate.argument, self.input.schema, on_stream=False)

    @property
    def schema(self) -> Schema:
        groups = tuple(item.attribute for item in self.groups)
        return Schema(groups + tuple(aggregate.attribute for aggregate in self.aggregates))


@dataclass(frozen=True, slots=True)
class WindowCrossProduct:
    """Every current window of one side paired with every current window of the other.

    Meaning  at each tick with a new window on some side, the windows of the last tick <= it of both sides are
             paired, left-major; a pair holds every tuple of one concatenated with every tuple of the other.
    Bounds   nothing before both sides have a window (S8); the pair's tick is the later of the two (S9).
    Source   000 Fig. 7.
    State    the current windows of both sides.
    """

    left: Windows
    right: Windows

    def __post_init__(self) -> None:
        _ = self.schema

    @property
    def schema(self) -> Schema:
        return self.left.schema + self.right.schema


@dataclass(frozen=True, slots=True)
class WindowJoin:
    """A cross product that keeps only the tuples for which a predicate is true.

    Meaning  WindowSelect(predicate, WindowCrossProduct(left, right)).
    Bounds   as the cross product; windows without a match are empty windows.
    Source   000 Sec. 6.2 ("rewrite selections over cross products into joins").
    State    the current windows of both sides.
    """

    left: Windows
    right: Windows
    predicate: Expression

    def __post_init__(self) -> None:
        check_predicate(self.predicate, self.schema, on_stream=False)

    @property
    def schema(self) -> Schema:
        return self.left.schema + self.right.schema
