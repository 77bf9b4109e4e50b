"""Static analysis of solutions: variables that are always bound, and EXISTS patterns in conditions."""

from __future__ import annotations

from transom.algebra.expressions.expression import (
    AggregateFunction,
    Call,
    Column,
    Constant,
    Exists,
    Expression,
    conjuncts,
    subexpressions,
)
from transom.algebra.expressions.functions import Function
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
from transom.algebra.tree import pattern_of_exists
from transom.errors import PlanError
from transom.physical.rdf.paths import has_repetition

OUTER_MARKER = " outer "
"""Part of the names of keys, the outer variables of an EXISTS pattern; users cannot write names with spaces."""


def is_outer_key(name: str) -> bool:
    """Whether a column's `name` marks it as a key column, which has the term of a variable from outside an EXISTS."""
    return OUTER_MARKER in name


def bound_variables(op: Windows) -> frozenset[str]:
    """The variables that every solution of a relation binds; raises PlanError if the operator yields no solutions."""
    match op:
        case TriplePattern() | PathPattern() | BasicGraphPattern():
            return frozenset(op.schema.names)
        case RelationJoin(left=left, right=right, join_type=JoinType.INNER):
            return bound_variables(left) | bound_variables(right)
        case RelationJoin(left=left):
            return bound_variables(left)
        case RelationUnion(left=left, right=right):
            return bound_variables(left) & bound_variables(right)
        case Values(rows=rows):
            return frozenset(n for n, *cells in zip(op.schema.names, *rows, strict=True) if None not in cells)
        case WindowProject(input=input, items=items):
            bound = bound_variables(input)
            return frozenset(item.attribute.name for item in items if _is_certain(item.expression, bound))
        case WindowSelect(input=input) | WindowDistinct(input=input) | OrderBy(input=input) | Slice(input=input):
            return bound_variables(input)
        case WindowAggregation(input=input, groups=groups, aggregates=aggregates):
            bound = bound_variables(input)
            attributes = [key.attribute for key in groups if _is_certain(key.expression, bound)]
            attributes += [
                aggregate.attribute for aggregate in aggregates if aggregate.function is AggregateFunction.COUNT
            ]
            return frozenset(attribute.name for attribute in attributes)
        case _:
            raise PlanError(f"{type(op).__name__} does not give solutions")


def _is_certain(expression: Expression, bound: frozenset[str]) -> bool:
    """Whether an expression has a value in every solution, provided that all of them bind the variables `bound`."""
    match expression:
        case Constant(value=value):
            return value is not None
        case Column(name=name):
            return name in bound
        case Call(function=Function(name="COALESCE"), arguments=arguments):
            return any(_is_certain(argument, bound) for argument in arguments)
        case _:
            return False


def exists_pattern(condition: Expression) -> tuple[Windows, bool] | None:
    """Return (pattern, True) for EXISTS and (pattern, False) for NOT EXISTS; None for other conditions."""
    match condition:
        case Exists():
            return pattern_of_exists(condition), True
        case Call(function=Function(name="NOT"), arguments=(Exists() as absent,)):
            return pattern_of_exists(absent), False
        case _:
            return None


def has_exists(condition: Expression) -> bool:
    """Whether a filter condition contains EXISTS or NOT EXISTS."""
    return any(isinstance(part, Exists) for part in subexpressions(condition))


def plain_pattern(op: Windows) -> tuple[Windows, list[Expression]] | None:
    """Split an EXISTS pattern into a relation that can be joined directly, and its filters; None if impossible.

    The conditions are to be checked on pairs of solutions. Inside EXISTS, variables of the outer solution are replaced
    by their terms. That does not affect patterns and their joins and unions; it does affect operators that test whether
    a variable is bound.
    """
    conditions: list[Expression] = []
    while isinstance(op, WindowSelect):
        if has_exists(op.predicate):
            return None
        conditions += conjuncts(op.predicate)
        op = op.input
    return (op, conditions) if _is_plain_pattern(op) else None


def _is_plain_pattern(op: Windows) -> bool:
    """Whether an EXISTS pattern has only triple patterns, VALUES, joins and unions, which can be joined directly."""
    match op:
        case TriplePattern() | Values():
            return True
        case BasicGraphPattern(parts=parts):
            return all(map(_is_plain_pattern, parts))
        case PathPattern():
            return not has_repetition(op.path)
        case RelationJoin(left=left, right=right, join_type=JoinType.INNER) | RelationUnion(left=left, right=right):
            return _is_plain_pattern(left) and _is_plain_pattern(right)
        case _:
            return False
