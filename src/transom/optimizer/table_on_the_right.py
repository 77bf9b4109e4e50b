"""Stored tables move to the right of a product, where engines build the side that changes least."""

from __future__ import annotations

from transom.algebra.expressions.expression import identity_items
from transom.algebra.operator import Operator, Windows
from transom.algebra.relations import WindowCrossProduct, WindowJoin, WindowProject, WindowSelect
from transom.algebra.sources import StoredTable
from transom.algebra.state.bounds import at_most_one_window_per_tick
from transom.algebra.windows import Window
from transom.optimizer.rule import RuleContext


def table_on_the_right(op: Operator, context: RuleContext) -> Operator | None:
    """Swap the inputs of a product if the left one is a table; a projection then restores the order of the columns.

    Not if the order is visible: pairs of windows of one tick come left-major, so with several windows per tick a
    commuted product is a different stream of windows, with a different ISTREAM and DSTREAM (S9, S10, S12). The order of
    tuples inside a window decides the running index that a converter assigns.
    """
    match op:
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            if not scans_table(left) or scans_table(right) or context.order_matters:
                return None
            if not (at_most_one_window_per_tick(left) and at_most_one_window_per_tick(right)):
                return None
            swapped: Windows = WindowCrossProduct(right, left)
            if isinstance(op, WindowJoin):
                swapped = WindowJoin(right, left, op.predicate)
            return WindowProject(swapped, identity_items(op.schema.attributes))
        case _:
            return None


def scans_table(windows: Windows) -> bool:
    """Whether a relation is a stored table, possibly below selections and projections."""
    while isinstance(windows, WindowSelect | WindowProject):
        windows = windows.input
    return isinstance(windows, Window) and isinstance(windows.input, StoredTable)
