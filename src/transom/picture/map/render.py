"""Render the map of a query: tracks of objects, regions, and the current window at a tick."""

from __future__ import annotations

from collections.abc import Sequence

from transom.algebra.operator import Plan
from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent
from transom.picture.map.chart import Colour, draw_map, html_page
from transom.picture.map.geojson import to_geojson
from transom.picture.map.tracks import gather_map_content
from transom.reference.sources import Inputs


def render_map(
    plan: Plan,
    inputs: Inputs,
    extents: Sequence[Extent],
    catalog: Catalog,
    *,
    at: int | None = None,
    colour: Colour = "object",
    title: str = "",
) -> tuple[str, str, str]:
    """Render a map as (SVG, HTML, GeoJSON) at tick `at` (None: last of the run); `colour` is by object or speed.

    `colour` is whether colours mean objects or speeds.
    """
    content = gather_map_content(plan, inputs, extents, catalog.regions, at)
    svg = draw_map(content, catalog.calendar, colour, title)
    return svg, html_page(svg, title), to_geojson(content, catalog.calendar)
