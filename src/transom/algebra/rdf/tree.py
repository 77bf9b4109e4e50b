"""The closed unions of operators on statements and solutions, and walking them; nothing here names a field.

A `match` over `closed(operator)` is checked by mypy to know every operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TypeAlias, get_args, overload

from transom.algebra.operator import Operator, Windows
from transom.algebra.rdf.expressions import Call, Exists
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.functions import FUNCTIONS
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
    Reduced,
    Slice,
    Union,
    Values,
)
from transom.algebra.rdf.statements import StoredGraph
from transom.algebra.relations import RelationUnion
from transom.algebra.sources import StreamReceive
from transom.algebra.windows import Window

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
    | Reduced
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


def nodes(value: object) -> Iterator[Operator | Call]:
    """The nearest operators and calls inside a value: in fields, in tuples and in expressions, EXISTS included."""
    if isinstance(value, tuple):
        for part in value:
            yield from nodes(part)
    elif isinstance(value, Operator | Call):
        yield value
    elif type(value).__module__.startswith("transom.algebra") and is_dataclass(value):  # no operator is in the others
        for field in fields(value):
            yield from nodes(getattr(value, field.name))


def walk_all(operator: Operator | Call) -> Iterator[Operator | Call]:
    """An operator, and all operators and calls below it, top first; patterns of EXISTS are entered."""
    yield operator
    for field in fields(operator):
        for below in nodes(getattr(operator, field.name)):
            yield from walk_all(below)


def walk(operator: Operator) -> Iterator[Operator]:
    """The operator and all below it, top first; patterns of EXISTS are entered."""
    return (found for found in walk_all(operator) if not isinstance(found, Call))


def inputs(operator: Operator) -> tuple[Operator, ...]:
    """The operators directly below one, those in the patterns of EXISTS included."""
    return tuple(found for field in fields(operator) for found in _below(getattr(operator, field.name)))


def _below(value: object) -> Iterator[Operator]:
    for found in nodes(value):
        if isinstance(found, Call):
            yield from _below(found.arguments)
        else:
            yield found


def reads_streams(operator: Operator) -> bool:
    """Whether an answer can change with time."""
    return any(isinstance(found, StreamReceive) for found in walk(operator))


def volatile_calls(operator: Operator) -> list[Call]:
    """Calls that are no function of their arguments, which have no meaning over streams (R28)."""
    return [found for found in walk_all(operator) if isinstance(found, Call) and FUNCTIONS[found.function].volatile]


def patterns_of(operator: Operator) -> list[Solutions]:
    """The patterns that the expressions of an operator ask for with EXISTS."""
    found: list[Solutions] = []
    for field in fields(operator):
        value = getattr(operator, field.name)
        if not isinstance(value, Operator):
            found += _asked(value)
    return found


def _asked(value: object) -> Iterator[Solutions]:
    """The patterns inside an expression, or inside a tuple or a value that holds expressions."""
    if isinstance(value, Exists):
        yield value.pattern
    elif isinstance(value, tuple):
        for part in value:
            yield from _asked(part)
    elif is_dataclass(value) and not isinstance(value, Operator):
        for field in fields(value):
            yield from _asked(getattr(value, field.name))
