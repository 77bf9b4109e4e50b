"""SPARQL's operators on solutions, written with those on relations."""

from __future__ import annotations

from collections.abc import Iterable

from transom.algebra.expressions import TRUE, Column, Expression, Item, Literal, unchanged
from transom.algebra.operator import Windows
from transom.algebra.relations import JoinType, RelationJoin, RelationUnion, WindowProject, restricts
from transom.model.types import Type


def variables(op: Windows) -> tuple[Column, ...]:
    """The variables that solutions can bind."""
    return tuple(map(Column, op.schema))


def project(input: Windows, kept: Iterable[Column]) -> WindowProject:
    """SELECT: some variables; one that the input lacks is unbound."""
    there = set(input.schema)
    found = (Item(v if v.attribute in there else Literal(None, Type.TERM), v.attribute) for v in kept)
    return WindowProject(input, tuple(found))


def extend(input: Windows, item: Item) -> WindowProject:
    """BIND: one more variable, unbound where its expression is an error."""
    return WindowProject(input, (*unchanged(input.schema), item))


def union(left: Windows, right: Windows) -> RelationUnion:
    """UNION: variables of one side only are unbound in solutions of the other."""
    return RelationUnion(left, right, by_name=True)


def join(left: Windows, right: Windows) -> RelationJoin:
    """Pairs of compatible solutions."""
    return RelationJoin(left, right, TRUE, natural=True)


def left_join(left: Windows, right: Windows, condition: Expression = TRUE) -> RelationJoin:
    """OPTIONAL: pairs of compatible solutions that fulfil a condition, and the left solutions without a pair."""
    return RelationJoin(left, right, condition, JoinType.LEFT, natural=True)


def minus(left: Windows, right: Windows) -> RelationJoin:
    """MINUS: the left solutions without a compatible one on the right that binds a variable in common."""
    return RelationJoin(left, right, TRUE, JoinType.ANTI, natural=True)


def unextended(op: Windows) -> Windows:
    """The solutions below one or several BINDs."""
    while isinstance(op, WindowProject) and not restricts(op):
        op = op.input
    return op
