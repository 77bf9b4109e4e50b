"""SPARQL's operators on solutions, built from operators on relations."""

from __future__ import annotations

from collections.abc import Iterable

from transom.algebra.expressions.expression import TRUE, Column, Constant, Expression, NamedExpression, identity_items
from transom.algebra.operator import Windows
from transom.algebra.relations import JoinType, RelationJoin, RelationUnion, WindowProject, is_column_selection
from transom.model.types import Type


def variables(op: Windows) -> tuple[Column, ...]:
    """Return the SPARQL variables of an operator that produces solutions, one per column of its output."""
    return tuple(map(Column, op.schema))


def project(input: Windows, selected: Iterable[Column]) -> WindowProject:
    """Restrict solutions to the selected variables, as SELECT does; a variable that the input lacks is unbound."""
    available, unbound = set(input.schema), Constant(None, Type.TERM)
    items = (NamedExpression(v if v.attribute in available else unbound, v.attribute) for v in selected)
    return WindowProject(input, tuple(items))


def extend(input: Windows, item: NamedExpression) -> WindowProject:
    """Add a variable to each solution, as BIND does; it is unbound where its expression is an error."""
    return WindowProject(input, (*identity_items(input.schema), item))


def union(left: Windows, right: Windows) -> RelationUnion:
    """Combine two bags of solutions, as UNION does; variables that only one input has are unbound in the other's."""
    return RelationUnion(left, right, by_name=True)


def join(left: Windows, right: Windows) -> RelationJoin:
    """Join two groups of solutions: merge each pair that agrees on every variable that both bind."""
    return RelationJoin(left, right, TRUE, natural=True)


def left_join(left: Windows, right: Windows, condition: Expression = TRUE) -> RelationJoin:
    """Join solutions as OPTIONAL does: left solutions without a compatible partner are kept as they are.

    Partners must also meet the condition.
    """
    return RelationJoin(left, right, condition, JoinType.LEFT, natural=True)


def minus(left: Windows, right: Windows) -> RelationJoin:
    """Remove solutions as MINUS does: those for which a compatible right solution binds one of the same variables."""
    return RelationJoin(left, right, TRUE, JoinType.ANTI, natural=True)


def strip_binds(op: Windows) -> Windows:
    """Skip a chain of BINDs and return the operator below it; an operator that is no BIND is returned itself."""
    while isinstance(op, WindowProject) and not is_column_selection(op):
        op = op.input
    return op
