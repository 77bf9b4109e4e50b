"""Generate the elements of a stream from a generator's settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.sources import Generator
from transom.connectors.generate.arrivals import arrival_ticks, is_missing
from transom.connectors.generate.draws import make_draw
from transom.connectors.generate.signals import make_signal
from transom.connectors.rows import Origin, SourceRow, ordered_elements
from transom.errors import UsageError
from transom.model.bag import Element
from transom.model.time import Calendar
from transom.model.types import Value

_GAPS = "/gaps"  # no attribute can have such a name
_ARRIVALS = "/arrivals"


def read_generated(extent: Extent, source: Generator, calendar: Calendar, until: int) -> list[Element]:
    """Generate the rows of a stream up to tick `until`; a greater `until` only adds rows."""
    rows: Iterator[SourceRow]
    if extent.kind is ExtentKind.SENSED:
        rows = (row for site in extent.sites for row in _readings(extent, source, calendar, site, until))
    else:
        rows = _arrivals(extent, source, calendar, until)
    return ordered_elements(extent, rows, until)


def _readings(extent: Extent, source: Generator, calendar: Calendar, site: Value, until: int) -> Iterator[SourceRow]:
    """Generate the rows of one site of a source that is read every `extent.every` ticks, up to tick `until`."""
    return _rows(extent, source, calendar, site, range(0, until + 1, extent.every or 1))


def _arrivals(extent: Extent, source: Generator, calendar: Calendar, until: int) -> Iterator[SourceRow]:
    """Generate a pushed (unscheduled) source's rows up to `until`; raise UsageError if it has no arrivals."""
    if source.arrivals is None:
        raise UsageError(f"nothing says when rows of {extent.name} arrive", hint="give arrivals: {every: 5 s}")
    ticks = arrival_ticks(source.arrivals, make_draw(source.seed, extent.name, "", _ARRIVALS), until)
    return _rows(extent, source, calendar, None, ticks)


def _rows(
    extent: Extent, source: Generator, calendar: Calendar, site: Value, ticks: Iterable[int]
) -> Iterator[SourceRow]:
    """Generate a row for each tick, except in gaps; `site` is the place of measurement (None: no sites).

    `site` is None for a pushed extent. Gaps do not change the values of other rows: missing rows draw theirs, too.
    """
    label = "" if site is None else site
    gap_draw = make_draw(source.seed, extent.name, label, _GAPS)
    signals = [
        make_signal(setting, attribute.type, site, make_draw(source.seed, extent.name, label, attribute.name), calendar)
        for setting, attribute in zip(source.signals, extent.schema)
    ]
    for number, tick in enumerate(ticks, 1):
        row = tuple(column(tick) for column in signals)
        if not is_missing(source.gaps, gap_draw, tick):
            yield SourceRow(tick, row, Origin(extent.name, number, "generated row"))
