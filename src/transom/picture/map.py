"""Maps: where objects went, the regions around them, and the window in force at a chosen tick."""

from __future__ import annotations

from collections.abc import Sequence

from transom.algebra.operator import Plan
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.picture.chart import Colour, draw_map, page
from transom.picture.features import features
from transom.picture.ways import gather
from transom.reference.sources import Inputs


def draw(
    plan: Plan,
    inputs: Inputs,
    extents: Sequence[Extent],
    catalog: Catalog,
    *,
    at: int | None = None,
    colour: Colour = "object",
    title: str = "",
) -> tuple[str, str, str]:
    """A map as SVG, as a page of HTML and as GeoJSON; none of them needs anything else."""
    ways = gather(plan, inputs, extents, catalog.regions, at)
    svg = draw_map(ways, catalog.calendar, colour, title)
    return svg, page(svg, title), features(ways, catalog.calendar)
