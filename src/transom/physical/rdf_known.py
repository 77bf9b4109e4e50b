"""What is known of solutions before any is there: variables that are always bound, conditions that must all hold."""

from __future__ import annotations

from transom.algebra.expressions import AggregateFunction, Call, Column, Exists, Expression, Literal, conjuncts, parts
from transom.algebra.functions import Function
from transom.algebra.operator import Windows
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    RelationUnion,
    WindowAggregation,
    WindowDistinct,
    WindowProject,
    WindowSelect,
)
from transom.algebra.sequences import OrderBy, Slice
from transom.algebra.sources import Values
from transom.algebra.tree import pattern_of
from transom.errors import PlanError
from transom.physical.rdf_paths import repeats

OUTER = " outer "
"""What the names of keys hold: variables of the solution around the pattern of an EXISTS. No user writes a space."""


def is_outer(name: str) -> bool:
    """Whether a variable is such a key."""
    return OUTER in name


def bound(op: Windows) -> frozenset[str]:
    """The variables that every solution binds."""
    match op:
        case TriplePattern() | PathPattern() | BasicGraphPattern():
            return frozenset(op.schema.names)
        case RelationJoin(left=left, right=right, join_type=JoinType.INNER):
            return bound(left) | bound(right)
        case RelationJoin(left=left):
            return bound(left)
        case RelationUnion(left=left, right=right):
            return bound(left) & bound(right)
        case Values(rows=rows):
            return frozenset(n for n, *cells in zip(op.schema.names, *rows, strict=True) if None not in cells)
        case WindowProject(input=input, items=items):
            known = bound(input)
            return frozenset(item.attribute.name for item in items if _is_certain(item.expression, known))
        case WindowSelect(input=input) | WindowDistinct(input=input) | OrderBy(input=input) | Slice(input=input):
            return bound(input)
        case WindowAggregation(input=input, groups=groups, aggregates=aggregates):
            known = bound(input)
            found = [key.attribute for key in groups if _is_certain(key.expression, known)]
            found += [one.attribute for one in aggregates if one.function is AggregateFunction.COUNT]
            return frozenset(attribute.name for attribute in found)
        case _:
            raise PlanError(f"{type(op).__name__} gives no solutions")


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


def asked(condition: Expression) -> tuple[Windows, bool] | None:
    """The pattern of a condition that is EXISTS or NOT EXISTS and nothing else, and whether it must be there."""
    match condition:
        case Exists():
            return pattern_of(condition), True
        case Call(function=Function(name="NOT"), arguments=(Exists() as absent,)):
            return pattern_of(absent), False
        case _:
            return None


def has_exists(condition: Expression) -> bool:
    """Whether an expression asks for a pattern."""
    return any(isinstance(part, Exists) for part in parts(condition))


def plain_pattern(op: Windows) -> tuple[Windows, list[Expression]] | None:
    """A pattern without its own conditions, and these, where asking them of pairs means the same as inside EXISTS.

    Inside, variables of the solution around the pattern stand for their terms. Patterns and their joins and unions do
    not notice; what looks at whether a variable is bound does.
    """
    conditions: list[Expression] = []
    while isinstance(op, WindowSelect):
        if has_exists(op.predicate):
            return None
        conditions += conjuncts(op.predicate)
        op = op.input
    return (op, conditions) if _plain(op) else None


def _plain(op: Windows) -> bool:
    match op:
        case TriplePattern() | Values():
            return True
        case BasicGraphPattern(parts=several):
            return all(map(_plain, several))
        case PathPattern():
            return not repeats(op.path)
        case RelationJoin(left=left, right=right, join_type=JoinType.INNER) | RelationUnion(left=left, right=right):
            return _plain(left) and _plain(right)
        case _:
            return False
