"""A stored table goes to the right of a product, where engines build what changes least."""

from __future__ import annotations

from transom.algebra.bounds import at_most_one_window_per_tick
from transom.algebra.expressions import unchanged
from transom.algebra.operator import Operator, Windows
from transom.algebra.relations import WindowCrossProduct, WindowJoin, WindowProject, WindowSelect
from transom.algebra.sources import StoredTable
from transom.algebra.windows import Window
from transom.optimizer.rule import Context


def table_on_the_right(op: Operator, context: Context) -> Operator | None:
    """Commute a product so that the scanned table stands on the right; a projection keeps the order of columns.

    Not where order is seen: pairs of windows of one tick come left-major, so with several windows per tick a
    commuted product is another stream of windows, and ISTREAM and DSTREAM of it other streams (S9, S10, S12); and the
    order of tuples inside a window decides the running index that a converter gives.
    """
    match op:
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            if not scans_table(left) or scans_table(right) or context.order_is_seen:
                return None
            if not (at_most_one_window_per_tick(left) and at_most_one_window_per_tick(right)):
                return None
            swapped: Windows = WindowCrossProduct(right, left)
            if isinstance(op, WindowJoin):
                swapped = WindowJoin(right, left, op.predicate)
            return WindowProject(swapped, unchanged(op.schema.attributes))
        case _:
            return None


def scans_table(windows: Windows) -> bool:
    """Whether windows are those of a stored table, selected and projected at most."""
    while isinstance(windows, WindowSelect | WindowProject):
        windows = windows.input
    return isinstance(windows, Window) and isinstance(windows.input, StoredTable)
