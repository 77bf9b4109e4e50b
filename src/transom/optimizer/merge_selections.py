"""Two selections, one on the other, become one."""

from __future__ import annotations

from transom.algebra.expressions import conjunction, conjuncts
from transom.algebra.operator import Operator
from transom.algebra.relations import WindowSelect
from transom.algebra.streams import StreamSelect
from transom.optimizer.rule import Context


def merge_selections(op: Operator, context: Context) -> Operator | None:
    """Select p of select q is select q AND p: a tuple passes both or neither."""
    match op:
        case StreamSelect(input=StreamSelect(input=below, predicate=inner), predicate=outer):
            return StreamSelect(below, conjunction([*conjuncts(inner), *conjuncts(outer)]))
        case WindowSelect(input=WindowSelect(input=windows, predicate=inner), predicate=outer):
            return WindowSelect(windows, conjunction([*conjuncts(inner), *conjuncts(outer)]))
        case _:
            return None
