"""Plans and state bounds of queries whose sources are other queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from transom.algebra.composition.composed_source import ComposedSource, composed_sources
from transom.algebra.operator import Operator
from transom.algebra.state.formula import ZERO, Formula
from transom.catalog.extent import Extent

if TYPE_CHECKING:
    from transom.physical.nodes.node import PhysicalNode


def inner_query_state(plan: Operator) -> Formula:
    """Return a bound on the rows in state of all inner queries that a plan reads; ZERO if there are none."""
    if not composed_sources(plan):
        return ZERO
    from transom.algebra.composition.bounds import inner_state_bound

    return inner_state_bound(plan)


def plan_inner_queries(
    plan: PhysicalNode,
    inner: Mapping[str, ComposedSource],
    extents: Sequence[Extent],
    start: int,
    open_ticks: int | None,
    kernel: bool,
    followed_tables: Sequence[str],
    given_extents: Collection[str],
) -> PhysicalNode:
    """Insert the plans of inner queries, but not of `given_extents`, into a plan; `open_ticks` None: lateness + 1.

    The run begins at tick `start`; `open_ticks` is how many ticks may be open at once. The rows of sources in
    `given_extents` are given by the caller, so their queries are not inlined.
    """
    from transom.physical.planner.composition import Composer
    from transom.spark.expressions.function_gaps import refuse_inner_queries

    refuse_inner_queries(inner.values())
    keys = {extent.name: extent.keys for extent in extents if extent.keys is not None}
    local = frozenset(extent.name for extent in extents if extent.holds_statements and extent.local)
    lateness = max((extent.lateness for extent in extents), default=0)
    slack = lateness + 1 if open_ticks is None else open_ticks
    composer = Composer(inner, start, slack, kernel, keys, frozenset(followed_tables), frozenset(given_extents), local)
    return composer.inline(plan)
