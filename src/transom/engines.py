"""Find the engines that run a query by planning it, without running it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from transom.errors import Unsupported
from transom.reports import ENGINE_NAMES, Engine, Engines


def find_engines(
    refusals: Mapping[Engine, Unsupported], make_plan: Callable[[Collection[str] | None], object]
) -> Engines:
    """Return which engines run a query, and why others do not; `make_plan` gets caller-opened sources, None to replay.

    `refusals` are those found before planning. `make_plan` plans the query for a live run, or for a replay if its
    argument is None.
    """
    refused, replay_only = dict(refusals), False
    if "spark" not in refused:
        try:
            make_plan(())
        except Unsupported as gap:
            refused["spark"] = gap
            replay_only = _can_replay(make_plan)
    runs = tuple(engine for engine in ENGINE_NAMES if engine not in refused or (engine == "spark" and replay_only))
    return Engines(runs, refused, replay_only)


def _can_replay(make_plan: Callable[[None], object]) -> bool:
    """Whether Spark can run a query as a replay, which is so if `make_plan(None)` does not raise Unsupported."""
    try:
        make_plan(None)
    except Unsupported:
        return False
    return True
