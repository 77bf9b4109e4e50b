"""Render the map of a query: tracks of objects, regions, the current window at a tick, and the rows of the answer."""

from __future__ import annotations

from collections.abc import Sequence

from transom.algebra.operator import Plan
from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent
from transom.model.answer import Answer
from transom.picture.map.chart import draw_map, map_frame
from transom.picture.map.colours import Colour
from transom.picture.map.geojson import to_geojson
from transom.picture.map.page import html_page
from transom.picture.map.tracks import gather_map_content
from transom.reference.sources import Inputs


def render_map(
    plan: Plan,
    inputs: Inputs,
    extents: Sequence[Extent],
    catalog: Catalog,
    *,
    answer: Answer | None = None,
    optimized_plan: Plan | None = None,
    at: int | None = None,
    colour: Colour = "object",
    title: str = "",
) -> tuple[str, str, str]:
    """Return a map at tick `at` (None: the last) as SVG, HTML and GeoJSON texts, with rings at the rows of `answer`.

    The rows of `answer` are marked where they are; the `optimized_plan` plan shows whether the query is about one
    object. `colour` is whether colours mean objects or speeds.
    """
    content = gather_map_content(plan, inputs, extents, catalog, at, answer, optimized_plan)
    calendar, frame = catalog.calendar, map_frame(content, catalog.calendar)
    svg = draw_map(content, frame, calendar, colour, title)
    page = html_page(svg, content, frame, calendar, colour, title)
    return svg, page, to_geojson(content, calendar)
