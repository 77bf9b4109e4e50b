"""Subqueries in conditions, and set operations: constructs over two relations without a join in FROM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from transom.algebra.expressions.expression import (
    TRUE,
    Cast,
    Column,
    Expression,
    NamedExpression,
    call,
    columns_read,
    rewrite,
)
from transom.algebra.operator import Windows
from transom.algebra.relations import (
    RelationExcept,
    RelationIntersect,
    RelationUnion,
    WindowDistinct,
    WindowMerge,
    WindowProject,
)
from transom.algebra.tree import is_keyed
from transom.errors import LanguageRule
from transom.languages.cql.syntax import SetOperation, SetOperator
from transom.languages.sql.scope import unique_attribute
from transom.languages.sql.syntax import Exists, InSubquery, Logic, Node, Unary
from transom.languages.sql.type_messages import same_type_hint, shorten, with_article
from transom.model.schema import Attribute, Schema
from transom.model.types import common_type


@dataclass(frozen=True, slots=True)
class SubqueryCondition:
    """A condition that becomes a semi join with the relation of a subquery, or an anti join if negated."""

    relation: Windows
    predicate: Expression
    negated: bool


def split_conditions(node: Node | None) -> tuple[list[Node], list[Node]]:
    """Split a condition at AND: first the other conditions, then those that are [NOT] EXISTS or [NOT] IN a subquery.

    Both lists are empty for None.
    """
    plain: list[Node] = []
    subquery_conditions: list[Node] = []
    pending = [] if node is None else [node]
    while pending:
        condition = pending.pop(0)
        if isinstance(condition, Logic) and condition.operator == "AND":
            pending = [*condition.operands, *pending]
        else:
            (subquery_conditions if is_subquery_condition(condition) else plain).append(condition)
    return plain, subquery_conditions


def is_subquery_condition(node: Node) -> bool:
    """Whether a condition of WHERE is `[NOT] x [NOT] IN (SELECT ...)` or `[NOT] EXISTS (SELECT ...)`."""
    while isinstance(node, Unary) and node.operator == "NOT":
        node = node.operand
    return isinstance(node, InSubquery | Exists)


def and_together(conditions: Sequence[Expression]) -> Expression | None:
    """Join boolean expressions by AND; returns None if there are none."""
    if not conditions:
        return None
    return conditions[0] if len(conditions) == 1 else call("AND", *conditions)


def reads_only(expression: Expression, attributes: frozenset[Attribute]) -> bool:
    """Whether an expression reads only columns in `attributes`."""
    return all(attribute in attributes for attribute in columns_read(expression))


def isolate_columns(plan: Windows, conditions: Sequence[Expression], negated: bool, number: int) -> SubqueryCondition:
    """Build the semi join (anti join if `negated`) of WHERE subquery `number`, with unique columns, on `conditions`.

    `conditions` are those of the join. `number` counts the subqueries of the query, which makes the names unique.
    """
    taken: set[str] = set()
    names: dict[Attribute, Attribute] = {}
    for attribute in plan.schema:
        names[attribute] = unique_attribute(Attribute(attribute.label, attribute.type, f"subquery {number}"), taken)
        taken.add(names[attribute].label)

    def rename_column(expression: Expression) -> Expression:
        """Replace a subquery's column in a join condition by its renamed column; other expressions are unchanged."""
        if isinstance(expression, Column) and expression.attribute in names:
            return Column(names[expression.attribute])
        return expression

    relation = WindowProject(plan, tuple(NamedExpression(Column(old), new) for old, new in names.items()))
    predicate = and_together([rewrite(condition, rename_column) for condition in conditions])
    return SubqueryCondition(relation, TRUE if predicate is None else predicate, negated)


def apply_set_operation(query: SetOperation, left: Windows, right: Windows) -> Windows:
    """Return the plan of UNION, EXCEPT or INTERSECT of two plans; LanguageRule if their columns do not match."""
    operator = query.combination.value
    if len(left.schema) != len(right.schema):
        raise LanguageRule(
            f"the sides of {operator} have {len(left.schema)} and {len(right.schema)} columns",
            span=query.word_span,
            hint="select the same number of columns on both sides",
        )
    attributes = []
    for first, second in zip(left.schema, right.schema, strict=True):
        common = common_type(first.type, second.type)
        if common is None:
            raise LanguageRule(
                f"{shorten(first.name)} is {with_article(first.type)} on one side of {operator} and "
                f"{with_article(second.type)} on the other",
                span=query.word_span,
                hint=same_type_hint([(shorten(first.name), first.type), (shorten(second.name), second.type)]),
            )
        attributes.append(Attribute(first.name, common, first.qualifier))
    target = Schema(tuple(attributes))
    left, right = widen_columns(left, target), widen_columns(right, target)
    match query.combination:
        case SetOperator.UNION:
            union = RelationUnion(left, right)
            return union if query.every else WindowDistinct(union)
        case SetOperator.EXCEPT:
            return RelationExcept(left if query.every else distinct_relation(left), right)
        case SetOperator.INTERSECT:
            intersection = RelationIntersect(left, right)
            return intersection if query.every else WindowDistinct(intersection)
        case _:
            assert_never(query.combination)


def widen_columns(plan: Windows, target: Schema) -> Windows:
    """Cast a plan's columns, in order, to those of `target`, with their names; unchanged if all types agree already."""
    if [a.type for a in plan.schema] == [a.type for a in target]:
        return plan
    items = [
        NamedExpression(Column(column) if column.type is new.type else Cast(Column(column), new.type), new)
        for column, new in zip(plan.schema, target, strict=True)
    ]
    return WindowProject(plan, tuple(items))


def distinct_relation(plan: Windows) -> Windows:
    """Remove duplicate rows from each window of a plan, after merging the windows of all partition keys."""
    return WindowDistinct(WindowMerge(plan) if is_keyed(plan) else plan)
