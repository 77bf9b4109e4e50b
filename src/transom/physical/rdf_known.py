"""What is known of solutions before any is there: variables that are always bound, conditions that must all hold."""

from __future__ import annotations

from typing import assert_never

from transom.algebra.expressions import AggregateFunction, Call, Column, Exists, Expression, Literal, conjuncts, parts
from transom.algebra.functions import Function
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
from transom.algebra.rdf.tree import closed, pattern_of
from transom.physical.rdf_paths import repeats

OUTER = " outer "
"""What the names of keys hold: variables of the solution around the pattern of an EXISTS. No user writes a space."""


def is_outer(name: str) -> bool:
    """Whether a variable is such a key."""
    return OUTER in name


def names(variables: tuple[Column, ...]) -> tuple[str, ...]:
    """The names of variables."""
    return tuple(variable.name for variable in variables)


def bound(op: Solutions) -> frozenset[str]:
    """The variables that every solution binds."""
    match op := closed(op):
        case TriplePattern() | PathPattern() | BasicGraphPattern():
            return frozenset(names(op.variables))
        case Join(left=left, right=right):
            return bound(left) | bound(right)
        case LeftJoin(left=left) | Minus(left=left):
            return bound(left)
        case Union(left=left, right=right):
            return bound(left) & bound(right)
        case Values(variables=variables, rows=rows):
            sure = (name for place, name in enumerate(names(variables)) if all(row[place] is not None for row in rows))
            return frozenset(sure)
        case Extend(input=input, item=item):
            known = bound(input)
            return known | ({item.attribute.name} if _is_certain(item.expression, known) else set())
        case Project(input=input, variables=variables):
            return bound(input) & set(names(variables))
        case Filter(input=input) | Distinct(input=input) | OrderBy(input=input) | Slice(input=input):
            return bound(input)
        case Aggregation(input=input, keys=keys, aggregates=aggregates):
            known = bound(input)
            found = [key.attribute for key in keys if _is_certain(key.expression, known)]
            found += [one.attribute for one in aggregates if one.function is AggregateFunction.COUNT]
            return frozenset(attribute.name for attribute in found)
        case _:
            assert_never(op)


def _is_certain(expression: Expression, known: frozenset[str]) -> bool:
    """Whether an expression is never an error, given the variables that are always bound."""
    match expression:
        case Literal(value=value):
            return value is not None
        case Column(name=name):
            return name in known
        case Call(function=Function(name="COALESCE"), arguments=arguments):
            return any(_is_certain(argument, known) for argument in arguments)
        case _:
            return False


def asked(condition: Expression) -> tuple[Solutions, bool] | None:
    """The pattern of a condition that is EXISTS or NOT EXISTS and nothing else, and whether it must be there."""
    match condition:
        case Exists():
            return pattern_of(condition), True
        case Call(function=Function(name="NOT"), arguments=(Exists() as absent,)):
            return pattern_of(absent), False
        case _:
            return None


def has_exists(condition: Expression | None) -> bool:
    """Whether an expression asks for a pattern."""
    return condition is not None and any(isinstance(part, Exists) for part in parts(condition))


def plain_pattern(op: Solutions) -> tuple[Solutions, list[Expression]] | None:
    """A pattern without its own conditions, and these, where asking them of pairs means the same as inside EXISTS.

    Inside, variables of the solution around the pattern stand for their terms. Patterns and their joins and unions do
    not notice; what looks at whether a variable is bound does.
    """
    conditions: list[Expression] = []
    while isinstance(op, Filter):
        if has_exists(op.condition):
            return None
        conditions += conjuncts(op.condition)
        op = op.input
    return (op, conditions) if _plain(op) else None


def _plain(op: Solutions) -> bool:
    match op:
        case TriplePattern() | Values():
            return True
        case BasicGraphPattern(parts=several):
            return all(map(_plain, several))
        case PathPattern():
            return not repeats(op.path)
        case Join(left=left, right=right) | Union(left=left, right=right):
            return _plain(left) and _plain(right)
        case _:
            return False
