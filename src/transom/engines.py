"""Which engines run a query over rows, found by planning it and without running anything."""

from __future__ import annotations

from collections.abc import Callable, Collection

from transom.errors import Unsupported
from transom.shown import Engines


def of_rows(plan: Callable[[Collection[str] | None], object]) -> Engines:
    """The engines that run a query over rows; the reference engine runs all of them.

    `plan` plans the query for a live run, or for a replay if its argument is None.
    """
    try:
        plan(())
    except Unsupported as gap:
        refused = gap
    else:
        return Engines(("reference", "spark"))
    try:
        plan(None)
    except Unsupported:
        return Engines(("reference",), {"spark": refused})
    return Engines(("reference", "spark"), {"spark": refused}, replay_only=True)
