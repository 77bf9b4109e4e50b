"""A selection of a selection becomes one selection."""

from __future__ import annotations

from transom.algebra.expressions.expression import conjunction, conjuncts
from transom.algebra.operator import Operator
from transom.algebra.relations import WindowSelect
from transom.algebra.streams import StreamSelect
from transom.optimizer.rule import RuleContext


def merge_selections(op: Operator, context: RuleContext) -> Operator | None:
    """Merge two consecutive selections into one selection, which checks both conditions."""
    match op:
        case StreamSelect(input=StreamSelect(input=below, predicate=inner), predicate=outer):
            return StreamSelect(below, conjunction([*conjuncts(inner), *conjuncts(outer)]))
        case WindowSelect(input=WindowSelect(input=windows, predicate=inner), predicate=outer):
            return WindowSelect(windows, conjunction([*conjuncts(inner), *conjuncts(outer)]))
        case _:
            return None
