"""Which engines run a query over rows, found by planning it and without running anything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from transom.catalog.extents import Extent
from transom.catalog.sources import FromQuery
from transom.errors import Unsupported
from transom.physical import gaps
from transom.shown import Engines


def of_rows(
    sources: Sequence[Extent],
    plan: Callable[[Collection[str] | None], object],
    locate: Callable[[Unsupported, Sequence[str]], Unsupported],
) -> Engines:
    """The engines that run a query over rows; the reference engine runs all of them.

    `plan` plans the query for a live run, or for a replay if its argument is None. `locate` lets a refusal point into
    the text of the query.
    """
    from_rdf = [extent.name for extent in sources if isinstance(extent.source, FromQuery)]
    if from_rdf:
        return Engines(("reference",), {"spark": locate(gaps.RDF_SOURCE.refusal(), from_rdf)})
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
