"""A catalog as an HTML table, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from transom.catalog.extent import Extent
from transom.catalog.servers import Kafka
from transom.catalog.sources import Files, FileVersions, FromQuery, Generator, Source, Table
from transom.model.time import Calendar

_HEADINGS = ("extent", "kind", "attributes", "comes", "sites", "source")


def catalog_table(extents: Iterable[Extent], calendar: Calendar) -> str:
    """Return an HTML table of extents, one row each, for notebooks; all user text is escaped."""
    head = "".join(f"<th>{heading}</th>" for heading in _HEADINGS)
    rows = "".join(_row(extent, calendar) for extent in extents)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _row(extent: Extent, calendar: Calendar) -> str:
    """Return an extent as a row of the HTML table that notebooks show."""
    attributes = ", ".join(f"{a.name}:{a.type}" for a in extent.schema)
    sites = ", ".join(map(str, extent.sites))
    cells = (
        extent.name,
        str(extent.kind),
        attributes,
        timing_text(extent, calendar),
        sites,
        describe_source(extent.source),
    )
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def timing_text(extent: Extent, calendar: Calendar) -> str:
    """Describe how often rows of an extent arrive, or how many rows a table has; empty if unknown."""
    if extent.every is not None:
        return f"every {calendar.describe(extent.every)}"
    if extent.rate is not None:
        return f"at most {extent.rate.rows} per {calendar.describe(extent.rate.ticks)}"
    return f"at most {extent.rows} rows" if extent.rows is not None else ""


def describe_source(source: Source | None) -> str:
    """Return a short description of a source for users, such as its paths or its topic; empty if there is none."""
    match source:
        case None:
            return ""
        case Files(paths=paths):
            return ", ".join(paths)
        case FileVersions(versions=versions):
            return ", ".join(path for _, path in versions)
        case Table(versions=versions):
            return f"{sum(len(version.rows) for version in versions)} rows in the catalog"
        case Generator(seed=seed):
            return f"generated from seed {seed}"
        case FromQuery(path=path):
            return f"the query {path}"
        case Kafka(servers=servers, topic=topic):
            return f"the topic {topic} of {servers}"
        case _:
            return f"collected by {type(source).__name__}"
