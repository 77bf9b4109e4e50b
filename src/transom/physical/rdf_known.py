"""What is known of solutions before any is there: variables that are always bound, conditions that must all hold."""

from __future__ import annotations

from typing import assert_never

from transom.algebra.rdf.expressions import Call, Constant, Exists, Expression, parts
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
from transom.algebra.rdf.tree import closed
from transom.algebra.rdf.variable import Variable
from transom.physical.rdf_paths import repeats

OUTER = " outer "
"""What the names of keys hold: variables of the solution around the pattern of an EXISTS. No user writes a space."""


def is_outer(name: str) -> bool:
    """Whether a variable is such a key."""
    return OUTER in name


def names(variables: tuple[Variable, ...]) -> tuple[str, ...]:
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
        case Extend(input=input, binding=binding):
            known = bound(input)
            return known | ({binding.variable.name} if _is_certain(binding.expression, known) else set())
        case Project(input=input, variables=variables):
            return bound(input) & set(names(variables))
        case (
            Filter(input=input)
            | Distinct(input=input)
            | Reduced(input=input)
            | OrderBy(input=input)
            | Slice(input=input)
        ):
            return bound(input)
        case Aggregation(input=input, keys=keys, aggregates=aggregates):
            known = bound(input)
            found = [key.variable for key in keys if _is_certain(key.expression, known)]
            return frozenset(names((*found, *(one.variable for one in aggregates if one.function == "COUNT"))))
        case _:
            assert_never(op)


def _is_certain(expression: Expression, known: frozenset[str]) -> bool:
    """Whether an expression is never an error, given the variables that are always bound."""
    match expression:
        case Constant():
            return True
        case Variable(name=name):
            return name in known
        case Call(function="COALESCE", arguments=arguments):
            return any(_is_certain(argument, known) for argument in arguments)
        case _:
            return False


def conjuncts(condition: Expression) -> list[Expression]:
    """The conditions that must all be true for one to be true."""
    if isinstance(condition, Call) and condition.function == "&&":
        return [one for side in condition.arguments for one in conjuncts(side)]
    return [condition]


def conjunction(conditions: list[Expression]) -> Expression | None:
    """One condition of several; None of none."""
    found: Expression | None = None
    for one in conditions:
        found = one if found is None else Call("&&", (found, one))
    return found


def asked(condition: Expression) -> tuple[Solutions, bool] | None:
    """The pattern of a condition that is EXISTS or NOT EXISTS and nothing else, and whether it must be there."""
    if isinstance(condition, Exists):
        return condition.pattern, True
    if isinstance(condition, Call) and condition.function == "!" and isinstance(condition.arguments[0], Exists):
        return condition.arguments[0].pattern, False
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
