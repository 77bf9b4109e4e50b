"""Subqueries in conditions, and queries combined as sets: what needs two relations and no join in FROM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from transom.algebra.expressions import TRUE, Cast, Column, Expression, Item, call, columns, rewrite
from transom.algebra.operator import Windows
from transom.algebra.relations import (
    RelationExcept,
    RelationIntersect,
    RelationUnion,
    WindowDistinct,
    WindowMerge,
    WindowProject,
)
from transom.algebra.tree import keyed
from transom.errors import LanguageRule
from transom.languages.cql.syntax import Combination, Combine
from transom.languages.sql.scope import unused
from transom.languages.sql.syntax import Exists, InQuery, Logic, Node, Unary
from transom.languages.sql.wording import a
from transom.model.schema import Attribute, Schema
from transom.model.types import common_type


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that asks whether another relation has a match, or has none."""

    relation: Windows
    predicate: Expression
    negated: bool


def conjuncts(node: Node | None) -> tuple[list[Node], list[Node]]:
    """The conditions of WHERE that are joined by AND: plain ones, and those that ask a subquery."""
    plain: list[Node] = []
    questions: list[Node] = []
    todo = [] if node is None else [node]
    while todo:
        one = todo.pop(0)
        if isinstance(one, Logic) and one.operator == "AND":
            todo = [*one.operands, *todo]
        else:
            (questions if asks(one) else plain).append(one)
    return plain, questions


def asks(node: Node) -> bool:
    """Whether a condition is [NOT] IN or [NOT] EXISTS of a subquery."""
    while isinstance(node, Unary) and node.operator == "NOT":
        node = node.operand
    return isinstance(node, InQuery | Exists)


def both(conditions: Sequence[Expression]) -> Expression | None:
    """Conditions joined by AND."""
    if not conditions:
        return None
    return conditions[0] if len(conditions) == 1 else call("AND", *conditions)


def reads_only(expression: Expression, attributes: frozenset[Attribute]) -> bool:
    """Whether an expression reads no other columns."""
    return all(attribute in attributes for attribute in columns(expression))


def set_apart(plan: Windows, conditions: Sequence[Expression], negated: bool, number: int) -> Condition:
    """A condition whose relation has columns that no other relation has."""
    taken: set[str] = set()
    names: dict[Attribute, Attribute] = {}
    for attribute in plan.schema:
        names[attribute] = unused(Attribute(attribute.label, attribute.type, f"subquery {number}"), taken)
        taken.add(names[attribute].label)

    def own(expression: Expression) -> Expression:
        if isinstance(expression, Column) and expression.attribute in names:
            return Column(names[expression.attribute])
        return expression

    relation = WindowProject(plan, tuple(Item(Column(old), new) for old, new in names.items()))
    predicate = both([rewrite(condition, own) for condition in conditions])
    return Condition(relation, TRUE if predicate is None else predicate, negated)


def combine(query: Combine, left: Windows, right: Windows) -> Windows:
    """UNION, EXCEPT and INTERSECT, with ALL as bags; the columns are called as on the left."""
    word = query.combination.value
    if len(left.schema) != len(right.schema):
        raise LanguageRule(
            f"{word} of {len(left.schema)} and {len(right.schema)} columns",
            span=query.word_span,
            hint="select as many columns on both sides",
        )
    kinds = []
    for first, second in zip(left.schema, right.schema, strict=True):
        kind = common_type(first.type, second.type)
        if kind is None:
            raise LanguageRule(
                f"{word} of {a(first.type)} and {a(second.type)} in column {first.label}",
                span=query.word_span,
                hint="make both of one type with CAST",
            )
        kinds.append(Attribute(first.name, kind, first.qualifier))
    wanted = Schema(tuple(kinds))
    left, right = widened(left, wanted), widened(right, wanted)
    match query.combination:
        case Combination.UNION:
            union = RelationUnion(left, right)
            return union if query.every else WindowDistinct(union)
        case Combination.EXCEPT:
            return RelationExcept(left if query.every else distinct(left), right)
        case Combination.INTERSECT:
            common = RelationIntersect(left, right)
            return common if query.every else WindowDistinct(common)
        case _:
            assert_never(query.combination)


def widened(plan: Windows, wanted: Schema) -> Windows:
    """A relation with columns of the types that both sides have in common."""
    if [a.type for a in plan.schema] == [a.type for a in wanted]:
        return plan
    items = [
        Item(Column(own) if own.type is new.type else Cast(Column(own), new.type), new)
        for own, new in zip(plan.schema, wanted, strict=True)
    ]
    return WindowProject(plan, tuple(items))


def distinct(plan: Windows) -> Windows:
    """Each tuple of a relation once, whatever keys it has."""
    return WindowDistinct(WindowMerge(plan) if keyed(plan) else plan)
