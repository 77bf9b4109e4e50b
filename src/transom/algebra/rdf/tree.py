"""The closed unions of operators on statements and solutions, and walking them; nothing here names a field.

A `match` over `closed(operator)` is checked by mypy to know every operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TypeAlias, get_args, overload

from transom.algebra.expressions import Call, Exists, Expression, parts
from transom.algebra.operator import Operator, Windows
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.operator import Solutions
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern
from transom.algebra.rdf.solutions import (
    Aggregation,
    Distinct,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Project,
    Slice,
    Union,
    Values,
)
from transom.algebra.rdf.statements import StoredGraph
from transom.algebra.relations import RelationUnion
from transom.algebra.sources import StreamReceive
from transom.algebra.windows import Window
from transom.errors import PlanError

StatementsOperator: TypeAlias = Window | RelationUnion | StoredGraph
"""Every operator that gives windows of statements."""

SolutionsOperator: TypeAlias = (
    TriplePattern
    | PathPattern
    | BasicGraphPattern
    | Filter
    | Union
    | Join
    | LeftJoin
    | Minus
    | Extend
    | Values
    | Aggregation
    | Project
    | Distinct
    | OrderBy
    | Slice
)
"""Every operator that gives solutions."""

Form: TypeAlias = Construct | Describe | Ask
"""Operators that end a query with something else than solutions."""

Question: TypeAlias = Solutions | Form
"""What a query over RDF is."""

OPERATORS: tuple[type[Operator], ...] = tuple(
    dict.fromkeys((*get_args(StatementsOperator), *get_args(SolutionsOperator), *get_args(Form)))
)


@overload
def closed(operator: Windows) -> StatementsOperator: ...
@overload
def closed(operator: Solutions) -> SolutionsOperator: ...
@overload
def closed(operator: Operator) -> StatementsOperator | SolutionsOperator | Form: ...
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


def reads_streams(operator: Operator) -> bool:
    """Whether an answer can change with time."""
    return any(isinstance(found, StreamReceive) for found in walk(operator))


def volatile_calls(operator: Operator) -> list[Call]:
    """Calls that depend on more than their arguments, which have no meaning over streams (R28)."""
    return [call for call in calls(operator) if call.function.volatile]


def patterns_of(operator: Operator) -> list[Solutions]:
    """The patterns that the expressions of an operator ask for with EXISTS."""
    return [pattern_of(part) for part in expressions_of(operator) if isinstance(part, Exists)]


def pattern_of(exists: Exists) -> Solutions:
    """The pattern of an EXISTS."""
    if not isinstance(exists.pattern, Solutions):
        raise PlanError("EXISTS asks for solutions")
    return exists.pattern
