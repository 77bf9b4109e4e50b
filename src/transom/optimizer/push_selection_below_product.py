"""Conditions on one side of a product are evaluated below it, on that side."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.expressions.expression import Expression, columns_read, conjunction, conjuncts
from transom.algebra.operator import Operator, Windows
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    WindowCrossProduct,
    WindowJoin,
    WindowSelect,
)
from transom.model.schema import Schema
from transom.optimizer.rule import RuleContext


def push_selection_below_product(op: Operator, context: RuleContext) -> Operator | None:
    """Split the condition above a product or join, and move each part that reads only one input to this input.

    A window that becomes empty still exists. Above a left, semi or anti join only conditions on the left side move,
    because the join does not change left tuples.
    """
    match op:
        case WindowSelect(input=WindowCrossProduct() as product, predicate=predicate):
            left, right, both = split_by_side(predicate, product.left.schema, product.right.schema)
            if not left and not right:
                return None
            pushed: Windows = WindowCrossProduct(select_if_any(product.left, left), select_if_any(product.right, right))
            return select_if_any(pushed, both)
        case WindowJoin(predicate=predicate) | RelationJoin(predicate=predicate, join_type=JoinType.INNER):
            left, right, both = split_by_side(predicate, op.left.schema, op.right.schema)
            if not left and not right:
                return None
            new_left, new_right = select_if_any(op.left, left), select_if_any(op.right, right)
            return replace(op, left=new_left, right=new_right, predicate=conjunction(both))
        case WindowSelect(input=RelationJoin() as join, predicate=predicate) if join.join_type is not JoinType.INNER:
            left, right, both = split_by_side(predicate, join.left.schema, join.right.schema)
            return select_if_any(replace(join, left=select_if_any(join.left, left)), [*right, *both]) if left else None
        case _:
            return None


def split_by_side(
    predicate: Expression, left: Schema, right: Schema
) -> tuple[list[Expression], list[Expression], list[Expression]]:
    """Split a join's condition into the parts that read only the left input, only the right input, and the others."""
    sides: tuple[list[Expression], list[Expression], list[Expression]] = ([], [], [])
    for part in conjuncts(predicate):
        reads = columns_read(part)
        if reads and reads <= set(left):
            sides[0].append(part)
        elif reads and reads <= set(right):
            sides[1].append(part)
        else:
            sides[2].append(part)
    return sides


def select_if_any(windows: Windows, parts: list[Expression]) -> Windows:
    """Filter windows by all conditions in `parts`; return the windows unchanged if there are none."""
    return WindowSelect(windows, conjunction(parts)) if parts else windows
