"""What a condition says about one side of a product is decided on that side."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.expressions import Expression, columns, conjunction, conjuncts
from transom.algebra.operator import Operator, Windows
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    WindowCrossProduct,
    WindowJoin,
    WindowSelect,
)
from transom.model.schema import Schema
from transom.optimizer.rule import Context


def push_selection_below_product(op: Operator, context: Context) -> Operator | None:
    """Move the parts of a condition that read one side of a product below it; empty windows stay windows.

    From above an outer, a semi or an anti join only to the left, whose tuples it gives as they are.
    """
    match op:
        case WindowSelect(input=WindowCrossProduct() as product, predicate=predicate):
            left, right, both = split(predicate, product.left.schema, product.right.schema)
            if not left and not right:
                return None
            pushed: Windows = WindowCrossProduct(select(product.left, left), select(product.right, right))
            return select(pushed, both)
        case WindowJoin(predicate=predicate) | RelationJoin(predicate=predicate, join_type=JoinType.INNER):
            left, right, both = split(predicate, op.left.schema, op.right.schema)
            if not left and not right:
                return None
            one, other = select(op.left, left), select(op.right, right)
            return replace(op, left=one, right=other, predicate=conjunction(both))
        case WindowSelect(input=RelationJoin() as join, predicate=predicate) if join.join_type is not JoinType.INNER:
            left, right, both = split(predicate, join.left.schema, join.right.schema)
            return select(replace(join, left=select(join.left, left)), [*right, *both]) if left else None
        case _:
            return None


def split(
    predicate: Expression, left: Schema, right: Schema
) -> tuple[list[Expression], list[Expression], list[Expression]]:
    """The parts of a condition that read the left only, the right only, and both or none."""
    sides: tuple[list[Expression], list[Expression], list[Expression]] = ([], [], [])
    for part in conjuncts(predicate):
        reads = columns(part)
        if reads and reads <= set(left):
            sides[0].append(part)
        elif reads and reads <= set(right):
            sides[1].append(part)
        else:
            sides[2].append(part)
    return sides


def select(windows: Windows, parts: list[Expression]) -> Windows:
    """A selection, where there is something to select by."""
    return WindowSelect(windows, conjunction(parts)) if parts else windows
