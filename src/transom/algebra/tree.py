"""Closed unions of all operators, and generic tree walks that name no fields of an operator.

A `match` over `narrow(operator)` lets mypy check that every operator is handled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import TypeAlias, get_args, overload

from transom.algebra.expressions.expression import Call, Exists, Expression, subexpressions
from transom.algebra.operator import Operator, Stream, Windows
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern
from transom.algebra.rdf.statements import StoredGraph
from transom.algebra.relations import (
    RelationExcept,
    RelationIntersect,
    RelationJoin,
    RelationUnion,
    SuppressUnchanged,
    TrackAggregation,
    WindowAggregation,
    WindowCrossProduct,
    WindowDistinct,
    WindowJoin,
    WindowMerge,
    WindowProject,
    WindowSelect,
    WindowTopK,
)
from transom.algebra.sequences import OrderBy, Slice
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive, Values
from transom.algebra.streams import (
    DStream,
    IStream,
    Renumber,
    RStream,
    SpeedLimit,
    StreamProject,
    StreamSelect,
    StreamUnion,
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
    | SpeedLimit
    | RStream
    | IStream
    | DStream
)
"""Every operator that produces tagged tuples."""

RelationOperator: TypeAlias = RelationJoin | RelationUnion | RelationExcept | RelationIntersect
"""Operators on two relations: one window at each tick of either side; a side without a window yet is empty (C16)."""

WindowwiseOperator: TypeAlias = (
    WindowSelect | WindowProject | WindowAggregation | TrackAggregation | WindowDistinct | WindowTopK | OrderBy | Slice
)
"""Operators on one relation: each output window depends on one input window only."""

UnaryWindowOperator: TypeAlias = WindowwiseOperator | SuppressUnchanged | TriplePattern | PathPattern
"""Operators with at most one window for each window of their input."""

WindowsOperator: TypeAlias = (
    Window
    | UnaryWindowOperator
    | WindowMerge
    | WindowCrossProduct
    | WindowJoin
    | RelationOperator
    | Values
    | StoredGraph
    | BasicGraphPattern
)
"""Every operator that produces windows."""

QueryForm: TypeAlias = Construct | Describe | Ask
"""Operators that end a query over RDF without producing solutions: CONSTRUCT, DESCRIBE and ASK."""

RdfPlan: TypeAlias = Windows | QueryForm
"""The plan of a query over RDF."""

OPERATORS: tuple[type[Operator], ...] = (
    *get_args(StreamOperator),
    *get_args(WindowsOperator),
    StoredTable,
    *get_args(QueryForm),
)


@overload
def narrow(operator: Stream) -> StreamOperator:
    """Return the operator unchanged, but typed as the union of all stream operators, for an exhaustive `match`."""


@overload
def narrow(operator: Windows) -> WindowsOperator:
    """Return the operator unchanged, but typed as the union of all operators of windows, for an exhaustive `match`."""


@overload
def narrow(operator: Operator) -> StreamOperator | WindowsOperator | StoredTable | QueryForm:
    """Return the operator unchanged, but typed as the union of all operators, for an exhaustive `match`."""


def narrow(operator: Operator) -> Operator:
    """Return the operator unchanged, but typed as the union of all operator classes; raise TypeError if unknown."""
    if not isinstance(operator, OPERATORS):
        raise TypeError(f"{type(operator).__name__} is not in the unions of operators")
    return operator


def inputs(operator: Operator) -> tuple[Operator, ...]:
    """Return the operators that an operator reads, including the patterns of EXISTS in its expressions."""
    return tuple(child for member in _members(operator) for child in _operators_in(member))


def _operators_in(member: Operator | Expression) -> list[Operator]:
    """Return the input operators in a field's value: the value itself, or the EXISTS patterns of an expression."""
    if isinstance(member, Operator):
        return [member]
    return [part.pattern for part in subexpressions(member) if isinstance(part, Exists)]


def _members(value: object) -> Iterator[Operator | Expression]:
    """Yield the outermost operators and expressions in a node's fields, also inside tuples and helper dataclasses."""
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
            yield from _members(member)


def with_inputs(operator: Operator, change: Callable[[Operator], Operator]) -> Operator:
    """Apply `change` to the direct inputs of an operator, except EXISTS patterns, and return the new operator.

    If no input changes, it is the operator itself.
    """
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
    """Yield an operator, then its inputs recursively, and EXISTS patterns; but not queries that are used as sources."""
    yield operator
    for child in inputs(operator):
        yield from walk(child)


def expressions_of(operator: Operator) -> Iterator[Expression]:
    """Yield all expressions of this operator alone, not of its inputs, with their subexpressions."""
    expressions = (member for member in _members(operator) if not isinstance(member, Operator))
    return (part for expression in expressions for part in subexpressions(expression))


def calls(operator: Operator) -> Iterator[Call]:
    """Yield all function calls in an operator tree in pre-order, including the patterns of EXISTS."""
    return (part for node in walk(operator) for part in expressions_of(node) if isinstance(part, Call))


def volatile_calls(operator: Operator) -> list[Call]:
    """List the calls whose result may vary for equal arguments, such as NOW; streaming refuses them (R28)."""
    return [call for call in calls(operator) if call.function.volatile]


def reads_streams(operator: Operator) -> bool:
    """Whether a plan reads a stream that can deliver rows at any time, so that its answer can change over time."""
    return any(isinstance(node, StreamReceive) for node in walk(operator))


def exists_patterns(operator: Operator) -> list[Windows]:
    """List the patterns of all EXISTS in the expressions of this operator alone."""
    return [pattern_of_exists(part) for part in expressions_of(operator) if isinstance(part, Exists)]


def pattern_of_exists(exists: Exists) -> Windows:
    """Return the pattern of an EXISTS as an operator; raise PlanError if it does not produce solutions."""
    if not isinstance(exists.pattern, Windows):
        raise PlanError("the pattern of EXISTS must produce solutions")
    return exists.pattern


def is_stream(operator: Operator) -> bool:
    """Whether an operator produces a stream of tuples rather than windows."""
    return isinstance(operator, Stream)


def is_keyed(windows: Windows) -> bool:
    """Whether windows are kept per key, so that one tick can have a current window for each key (C14)."""
    match windows:
        case Window(key=key):
            return bool(key)
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return is_keyed(left) or is_keyed(right)
        case _:
            return isinstance(windows, UnaryWindowOperator) and is_keyed(windows.input)
