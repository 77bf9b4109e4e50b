"""The closed unions of operators, and walking them; nothing here names the fields of an operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import TypeAlias, get_args

from transom.algebra.relations import (
    RelationAntiJoin,
    RelationExcept,
    RelationIntersect,
    RelationJoin,
    RelationLeftJoin,
    RelationSemiJoin,
    RelationUnion,
    TrackAggregation,
    WindowAggregation,
    WindowCrossProduct,
    WindowDistinct,
    WindowFirst,
    WindowGrown,
    WindowJoin,
    WindowMerge,
    WindowProject,
    WindowSelect,
)
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive
from transom.algebra.streams import DStream, IStream, Renumber, RStream, StreamProject, StreamSelect, WithoutJumps
from transom.algebra.windows import Window

Stream: TypeAlias = (
    StreamAcquire | StreamReceive | StreamSelect | StreamProject | Renumber | WithoutJumps | RStream | IStream | DStream
)
"""Operators that produce tagged tuples."""

Relations: TypeAlias = (
    RelationJoin
    | RelationLeftJoin
    | RelationSemiJoin
    | RelationAntiJoin
    | RelationUnion
    | RelationExcept
    | RelationIntersect
)
"""Operators on two relations: one window per tick at the union of the instants, a side not started is empty (C16)."""

Windows: TypeAlias = (
    Window
    | WindowSelect
    | WindowProject
    | WindowAggregation
    | TrackAggregation
    | WindowDistinct
    | WindowFirst
    | WindowGrown
    | WindowMerge
    | WindowCrossProduct
    | WindowJoin
    | Relations
)
"""Operators that produce windows."""

Plan: TypeAlias = Stream | Windows
"""What a query is: either kind of stream."""

Operator: TypeAlias = Plan | StoredTable
"""Every operator."""

OPERATORS: tuple[type[Operator], ...] = (*get_args(Stream), *get_args(Windows), StoredTable)


def inputs(operator: Operator) -> tuple[Operator, ...]:
    """The operators directly below one."""
    values = (getattr(operator, field.name) for field in fields(operator))
    return tuple(value for value in values if isinstance(value, OPERATORS))


def with_inputs(operator: Operator, change: Callable[[Operator], Operator]) -> Operator:
    """The operator with `change` applied to those directly below it; itself if nothing changed."""
    changed: dict[str, Operator] = {}
    for field in fields(operator):
        value = getattr(operator, field.name)
        if isinstance(value, OPERATORS):
            new = change(value)
            if new is not value:
                changed[field.name] = new
    return replace(operator, **changed) if changed else operator  # type: ignore[arg-type]


def walk(operator: Operator) -> Iterator[Operator]:
    """The operator and all below it, top first."""
    yield operator
    for below in inputs(operator):
        yield from walk(below)


def is_stream(operator: Operator) -> bool:
    """Whether an operator produces tagged tuples rather than windows."""
    return isinstance(operator, get_args(Stream))


def keyed(windows: Windows) -> bool:
    """Whether windows come in one lineage per key, so that several of one tick stand beside each other (C14)."""
    match windows:
        case Window(key=key):
            return bool(key)
        case (
            WindowSelect(input=below)
            | WindowProject(input=below)
            | WindowAggregation(input=below)
            | TrackAggregation(input=below)
            | WindowDistinct(input=below)
            | WindowFirst(input=below)
            | WindowGrown(input=below)
        ):
            return keyed(below)
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return keyed(left) or keyed(right)
        case _:
            return False
