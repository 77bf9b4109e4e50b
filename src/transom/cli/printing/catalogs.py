"""What a catalog declares, as a table for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent
from transom.catalog.page import describe_source, timing_text
from transom.model.geometry.regions import Region
from transom.model.geometry.space import MICROMETRES

HEADER = ("extent", "kind", "column", "type", "meaning")
_UNIT_NAMES = {micrometres: name for name, micrometres in reversed(MICROMETRES.items())}


def ticks_line(catalog: Catalog) -> str:
    """Return a sentence that tells the length of a tick, and when tick 0 begins."""
    tick, calendar = catalog.calendar.describe(1), catalog.calendar
    epoch = f"tick 0 begins at {calendar.epoch:%Y-%m-%d %H:%M:%S} UTC" if calendar.has_epoch else "no epoch"
    return f"a tick is {tick}, {epoch}"


def catalog_rows(catalog: Catalog) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table of all extents: one for each column that a query can read, header first."""
    yield HEADER
    for extent in catalog.sources.values():
        kind = _kind(extent)
        if extent.holds_statements:
            yield extent.name, kind, "s, p, o", "term", _joined(_iri_text(extent), _source_text(extent))
            continue
        first = (extent.name, kind)
        if extent.is_stream:
            timing = timing_text(extent, catalog.calendar)
            yield *first, "tick", "integer", _joined(_time_text(extent), timing, _source_text(extent))
        else:
            yield *first, "", "", _joined(timing_text(extent, catalog.calendar), _source_text(extent))
        for attribute in extent.schema:
            yield "", "", attribute.name, str(attribute.type), _joined(*_meanings(extent, attribute.name))


def other_lines(catalog: Catalog) -> Iterator[str]:
    """Yield a line for each region and each parameter of a catalog; an empty line comes first."""
    lines = [
        *(f"region {region.name}: {_region_text(region)}" for region in catalog.regions.values()),
        *(f"parameter {name}: {value!r}" for name, value in catalog.parameters.items()),
    ]
    yield from ["", *lines] if lines else []


def catalog_fields(catalog: Catalog) -> dict[str, Any]:
    """Convert a catalog to a dictionary for JSON: its tick, epoch, extents, regions and parameters."""
    calendar = catalog.calendar
    return {
        "catalog": catalog.name,
        "tick": calendar.describe(1),
        "epoch": calendar.epoch.isoformat() if calendar.has_epoch else None,
        "extents": [_extent_fields(extent) for extent in catalog.sources.values()],
        "regions": [
            {"name": region.name, "on": "earth" if region.geodesic else "plane", "box": _box(region)}
            for region in catalog.regions.values()
        ],
        "parameters": {name: value if _is_json(value) else str(value) for name, value in catalog.parameters.items()},
    }


def _extent_fields(extent: Extent) -> dict[str, Any]:
    """Convert the declaration of an extent (source or table) to a dictionary for JSON."""
    return {
        "name": extent.name,
        "kind": str(extent.kind),
        "holds": "statements" if extent.holds_statements else "rows",
        "iri": extent.iri,
        "columns": [
            {"name": attribute.name, "type": str(attribute.type), "unit": _unit(extent, attribute.name)}
            for attribute in extent.schema
        ],
        "time": _time_column(extent),
        "object": extent.object,
        "source": describe_source(extent.source) or None,
    }


def _is_json(value: object) -> bool:
    """Whether a value is None, a boolean, a number or a string, which JSON can represent as it is."""
    return value is None or isinstance(value, bool | int | float | str)


def _joined(*parts: str) -> str:
    """Join texts by semicolons, leaving out the empty ones."""
    return "; ".join(part for part in parts if part)


def _kind(extent: Extent) -> str:
    """Return the kind of an extent as text: sensed, pushed or stored, or else RDF stream or RDF graph."""
    if extent.holds_statements:
        return "RDF stream" if extent.is_stream else "RDF graph"
    return str(extent.kind)


def _iri_text(extent: Extent) -> str:
    """Return the IRI of an RDF stream or graph in angle brackets, or `the default graph` if it has none."""
    return f"<{extent.iri}>" if extent.iri is not None else "the default graph"


def _source_text(extent: Extent) -> str:
    """Describe where the rows of an extent come from: its declared source, or else the caller's Python code."""
    return f"from {describe_source(extent.source)}" if extent.source is not None else "no source: give rows in Python"


def _time_column(extent: Extent) -> str | None:
    """Return the column of the source that holds the time of a row, also if it is the default of a file format."""
    return extent.declared_time_column if extent.is_stream and not extent.holds_statements else extent.time_column


def _time_text(extent: Extent) -> str:
    """Return which column of the source gives the tick of a row; empty if none does."""
    column = _time_column(extent)
    return "" if column is None else f"time of the row, column {column}"


def _unit(extent: Extent, column: str) -> str | None:
    """Return the unit of a column that holds a coordinate; None for other columns."""
    position = extent.position
    if position is None or column not in (position.x, position.y):
        return None
    return "degrees" if position.geodesic else _UNIT_NAMES.get(position.unit, f"{position.unit:,} um")


def _meanings(extent: Extent, column: str) -> Iterator[str]:
    """Yield a short text per role of a column: coordinate, id of a moving object, or site (a sensor's place)."""
    unit = _unit(extent, column)
    if unit is not None:
        yield f"position g, in {unit}"
    if column == extent.object:
        yield "identifies the object"
    if column == extent.site:
        yield f"site: {', '.join(map(str, extent.sites))}" if extent.sites else "site"


def _box(region: Region) -> list[float]:
    """Return the least and the greatest coordinates of a region: left, bottom, right, top."""
    return [region.box.left, region.box.bottom, region.box.right, region.box.top]


def _region_text(region: Region) -> str:
    """Describe a region: whether it is on the earth or on the plane, and the ranges of its coordinates."""
    left, bottom, right, top = (f"{coordinate:g}" for coordinate in _box(region))
    names = ("longitude", "latitude") if region.geodesic else ("x", "y")
    surface = "on the earth" if region.geodesic else "on the plane"
    return f"{surface}, {names[0]} {left} to {right}, {names[1]} {bottom} to {top}"
