"""Which engines run a query, found by planning it and without running anything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from transom.errors import Unsupported
from transom.shown import ENGINES, Engine, Engines


def engines_of(known: Mapping[Engine, Unsupported], plan: Callable[[Collection[str] | None], object]) -> Engines:
    """The engines that run a query; of some it is `known` that they refuse it.

    `plan` plans the query for a live run, or for a replay if its argument is None.
    """
    refusals, replay_only = dict(known), False
    if "spark" not in refusals:
        try:
            plan(())
        except Unsupported as gap:
            refusals["spark"] = gap
            replay_only = _plans(plan)
    runs = tuple(one for one in ENGINES if one not in refusals or (one == "spark" and replay_only))
    return Engines(runs, refusals, replay_only)


def _plans(plan: Callable[[None], object]) -> bool:
    """Whether Spark replays a query."""
    try:
        plan(None)
    except Unsupported:
        return False
    return True
