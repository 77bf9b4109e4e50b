"""SPARQL's operators on solutions, built from operators on relations."""

from __future__ import annotations

from collections.abc import Iterable

from transom.algebra.expressions.expression import TRUE, Column, Constant, Expression, NamedExpression, identity_items
from transom.algebra.operator import Windows
from transom.algebra.relations import JoinType, RelationJoin, RelationUnion, WindowProject, is_column_selection
from transom.model.types import Type


def variables(op: Windows) -> tuple[Column, ...]:
    """The SPARQL variables of an operator that produces solutions, one per column of its output."""
    return tuple(map(Column, op.schema))


def project(input: Windows, selected: Iterable[Column]) -> WindowProject:
    """SELECT: solutions restricted to the selected variables; one that the input lacks is always unbound."""
    available, unbound = set(input.schema), Constant(None, Type.TERM)
    items = (NamedExpression(v if v.attribute in available else unbound, v.attribute) for v in selected)
    return WindowProject(input, tuple(items))


def extend(input: Windows, item: NamedExpression) -> WindowProject:
    """BIND: add the variable that `item` names to each solution; unbound where its expression is an error."""
    return WindowProject(input, (*identity_items(input.schema), item))


def union(left: Windows, right: Windows) -> RelationUnion:
    """UNION: the bag union of solutions; a variable that only one input has is unbound in solutions of the other."""
    return RelationUnion(left, right, by_name=True)


def join(left: Windows, right: Windows) -> RelationJoin:
    """SPARQL's join of two groups: merged pairs of solutions that agree on every variable that both bind."""
    return RelationJoin(left, right, TRUE, natural=True)


def left_join(left: Windows, right: Windows, condition: Expression = TRUE) -> RelationJoin:
    """OPTIONAL: merged pairs of compatible solutions that meet a condition, and left solutions without such a pair."""
    return RelationJoin(left, right, condition, JoinType.LEFT, natural=True)


def minus(left: Windows, right: Windows) -> RelationJoin:
    """MINUS: left solutions for which no compatible right solution binds one of the same variables."""
    return RelationJoin(left, right, TRUE, JoinType.ANTI, natural=True)


def strip_binds(op: Windows) -> Windows:
    """The input of a chain of BINDs, all of them skipped; the operator itself if it is not a BIND."""
    while isinstance(op, WindowProject) and not is_column_selection(op):
        op = op.input
    return op
