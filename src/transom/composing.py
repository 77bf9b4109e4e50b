"""Queries over answers of other queries: their plans and their state, for the facade."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from transom.algebra.composed import Composed, composed_in
from transom.algebra.operator import Operator
from transom.algebra.state import NOTHING, Formula
from transom.catalog.extents import Extent

if TYPE_CHECKING:
    from transom.physical.node import Physical


def inner_state(plan: Operator) -> Formula:
    """The most rows that the queries behind the sources of a query must remember."""
    if not composed_in(plan):
        return NOTHING
    from transom.algebra.composed_bounds import inner_total

    return inner_total(plan)


def with_inner(
    plan: Physical,
    inner: Mapping[str, Composed],
    reads: Sequence[Extent],
    start: int,
    slack: int | None,
    kernel: bool,
    growing: Sequence[str],
    answers: Collection[str],
) -> Physical:
    """A plan for Spark with the plans of the queries behind its sources; not of those whose rows are handed over."""
    from transom.physical.compose import Composer
    from transom.spark.function_gaps import refuse_inner

    refuse_inner(inner.values())
    keys = {extent.name: extent.keys for extent in reads if extent.keys is not None}
    local = frozenset(extent.name for extent in reads if extent.holds_statements and extent.local)
    late = max((extent.lateness for extent in reads), default=0)
    open_ticks = late + 1 if slack is None else slack
    composer = Composer(inner, start, open_ticks, kernel, keys, frozenset(growing), frozenset(answers), local)
    return composer.composed(plan)
