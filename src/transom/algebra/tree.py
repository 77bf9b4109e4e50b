"""The closed unions of operators, and walking them; nothing here names the fields of an operator.

A `match` over `closed(operator)` is checked by mypy to know every operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import TypeAlias, get_args, overload

from transom.algebra.expressions import Call, Exists, Expression, parts
from transom.algebra.operator import Operator, Stream, Windows
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern
from transom.algebra.rdf.statements import StoredGraph
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
from transom.algebra.sequences import OrderBy, Slice
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive, Values
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
from transom.errors import PlanError

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

OneWindow: TypeAlias = (
    WindowSelect | WindowProject | WindowAggregation | TrackAggregation | WindowDistinct | WindowFirst | OrderBy | Slice
)
"""Operators on one relation: each window follows from the window of the input alone."""

EachWindow: TypeAlias = OneWindow | WindowGrown | TriplePattern | PathPattern
"""Operators with at most one window for each window of their input."""

WindowsOperator: TypeAlias = (
    Window
    | EachWindow
    | WindowMerge
    | WindowCrossProduct
    | WindowJoin
    | Relations
    | Values
    | StoredGraph
    | BasicGraphPattern
)
"""Every operator that produces windows."""

Form: TypeAlias = Construct | Describe | Ask
"""Operators that end a query over RDF with something else than solutions."""

Question: TypeAlias = Windows | Form
"""What a query over RDF is."""

OPERATORS: tuple[type[Operator], ...] = (
    *get_args(StreamOperator),
    *get_args(WindowsOperator),
    StoredTable,
    *get_args(Form),
)


@overload
def closed(operator: Stream) -> StreamOperator: ...
@overload
def closed(operator: Windows) -> WindowsOperator: ...
@overload
def closed(operator: Operator) -> StreamOperator | WindowsOperator | StoredTable | Form: ...
def closed(operator: Operator) -> Operator:
    """The operator itself, as one of a closed union."""
    if not isinstance(operator, OPERATORS):
        raise TypeError(f"{type(operator).__name__} is not in the unions of operators")
    return operator


def inputs(operator: Operator) -> tuple[Operator, ...]:
    """The operators directly below one, those in the patterns of EXISTS included."""
    return tuple(below for found in _inside(operator) for below in _operators(found))


def _operators(found: Operator | Expression) -> list[Operator]:
    return [found] if isinstance(found, Operator) else [e.pattern for e in parts(found) if isinstance(e, Exists)]


def _inside(value: object) -> Iterator[Operator | Expression]:
    """The nearest operators and expressions in the fields of a value, and in tuples."""
    if isinstance(value, tuple):
        members = value
    elif type(value).__module__.startswith("transom.algebra") and is_dataclass(value):
        members = tuple(getattr(value, field.name) for field in fields(value))
    else:
        return
    for member in members:
        if isinstance(member, Operator | Expression):
            yield member
        else:
            yield from _inside(member)


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
    """The operator and all below it, top first; patterns of EXISTS are entered."""
    yield operator
    for below in inputs(operator):
        yield from walk(below)


def expressions_of(operator: Operator) -> Iterator[Expression]:
    """The expressions of an operator and all that is below them."""
    return (part for found in _inside(operator) if not isinstance(found, Operator) for part in parts(found))


def calls(operator: Operator) -> Iterator[Call]:
    """The calls of an operator and of all below it, top first; patterns of EXISTS are entered."""
    return (part for found in walk(operator) for part in expressions_of(found) if isinstance(part, Call))


def volatile_calls(operator: Operator) -> list[Call]:
    """Calls that depend on more than their arguments, which have no meaning over streams (R28)."""
    return [call for call in calls(operator) if call.function.volatile]


def reads_streams(operator: Operator) -> bool:
    """Whether an answer can change with time."""
    return any(isinstance(found, StreamReceive) for found in walk(operator))


def patterns_of(operator: Operator) -> list[Windows]:
    """The patterns that the expressions of an operator ask for with EXISTS."""
    return [pattern_of(part) for part in expressions_of(operator) if isinstance(part, Exists)]


def pattern_of(exists: Exists) -> Windows:
    """The pattern of an EXISTS."""
    if not isinstance(exists.pattern, Windows):
        raise PlanError("EXISTS asks for solutions")
    return exists.pattern


def is_stream(operator: Operator) -> bool:
    """Whether an operator produces tagged tuples rather than windows."""
    return isinstance(operator, Stream)


def keyed(windows: Windows) -> bool:
    """Whether windows come in one lineage per key, so that several of one tick stand beside each other (C14)."""
    match windows:
        case Window(key=key):
            return bool(key)
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return keyed(left) or keyed(right)
        case _:
            return isinstance(windows, EachWindow) and keyed(windows.input)
