"""A condition on a product becomes a join (Sec. 6.2 of the SNEEql document)."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.expressions.expression import columns_read, conjunction, conjuncts
from transom.algebra.operator import Operator
from transom.algebra.relations import JoinType, RelationJoin, WindowCrossProduct, WindowJoin, WindowSelect
from transom.optimizer.rule import RuleContext


def product_to_join(op: Operator, context: RuleContext) -> Operator | None:
    """Merge a selection into the product or inner join below it, which becomes a join with this condition."""
    match op:
        case WindowSelect(input=WindowCrossProduct(left=left, right=right), predicate=predicate):
            reads = columns_read(predicate)
            if reads & set(left.schema) and reads & set(right.schema):
                return WindowJoin(left, right, predicate)
            return None
        case WindowSelect(input=WindowJoin(left=left, right=right, predicate=inner), predicate=predicate):
            return WindowJoin(left, right, conjunction([*conjuncts(inner), *conjuncts(predicate)]))
        case WindowSelect(input=RelationJoin(join_type=JoinType.INNER) as join, predicate=predicate):
            return replace(join, predicate=conjunction([*conjuncts(join.predicate), *conjuncts(predicate)]))
        case _:
            return None
