"""The closed unions of operators, and walking them; nothing here names the fields of an operator.

A `match` over `closed(operator)` is checked by mypy to know every operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import TypeAlias, get_args, overload

from transom.algebra.operator import Operator, Stream, Windows
from transom.algebra.relations import (
    RelationExcept,
    RelationIntersect,
    RelationJoin,
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
from transom.algebra.streams import (
    DStream,
    IStream,
    Renumber,
    RStream,
    StreamProject,
    StreamSelect,
    StreamUnion,
    WithoutJumps,
)
from transom.algebra.windows import Window

StreamOperator: TypeAlias = (
    StreamAcquire
    | StreamReceive
    | StreamSelect
    | StreamProject
    | StreamUnion
    | Renumber
    | WithoutJumps
    | RStream
    | IStream
    | DStream
)
"""Every operator that produces tagged tuples."""

Relations: TypeAlias = RelationJoin | RelationUnion | RelationExcept | RelationIntersect
"""Operators on two relations: one window per tick at the union of the instants, a side not started is empty (C16)."""

WindowsOperator: TypeAlias = (
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
"""Every operator that produces windows."""

OPERATORS: tuple[type[Operator], ...] = (*get_args(StreamOperator), *get_args(WindowsOperator), StoredTable)


@overload
def closed(operator: Stream) -> StreamOperator: ...
@overload
def closed(operator: Windows) -> WindowsOperator: ...
@overload
def closed(operator: Operator) -> StreamOperator | WindowsOperator | StoredTable: ...
def closed(operator: Operator) -> Operator:
    """The operator itself, as one of a closed union."""
    if not isinstance(operator, OPERATORS):
        raise TypeError(f"{type(operator).__name__} is not in the unions of operators")
    return operator


def inputs(operator: Operator) -> tuple[Operator, ...]:
    """The operators directly below one."""
    values = (getattr(operator, field.name) for field in fields(operator))
    several = (part for value in values for part in (value if isinstance(value, tuple) else (value,)))
    return tuple(part for part in several if isinstance(part, Operator))


def with_inputs(operator: Operator, change: Callable[[Operator], Operator]) -> Operator:
    """The operator with `change` applied to those directly below it; itself if nothing changed."""
    changed: dict[str, Operator | tuple[Operator, ...]] = {}
    for field in fields(operator):
        value = getattr(operator, field.name)
        if isinstance(value, Operator):
            new = change(value)
            if new is not value:
                changed[field.name] = new
        elif isinstance(value, tuple) and value and all(isinstance(part, Operator) for part in value):
            parts = tuple(map(change, value))
            if any(part is not before for part, before in zip(parts, value, strict=True)):
                changed[field.name] = parts
    return replace(operator, **changed) if changed else operator


def walk(operator: Operator) -> Iterator[Operator]:
    """The operator and all below it, top first."""
    yield operator
    for below in inputs(operator):
        yield from walk(below)


def is_stream(operator: Operator) -> bool:
    """Whether an operator produces tagged tuples rather than windows."""
    return isinstance(operator, Stream)


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
