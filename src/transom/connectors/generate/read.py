"""Settings of a generator to the elements of a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transom.catalog.extents import Extent, Kind
from transom.catalog.sources import Generate
from transom.connectors.generate.arrivals import arrival_ticks, is_missing
from transom.connectors.generate.draws import draws
from transom.connectors.generate.signals import signal
from transom.connectors.rows import Given, Origin, tagged
from transom.errors import UsageError
from transom.model.bag import Element
from transom.model.time import Calendar
from transom.model.types import Value

_GAPS = "/gaps"  # no attribute can have such a name
_ARRIVALS = "/arrivals"


def read_generated(extent: Extent, source: Generate, calendar: Calendar, until: int) -> list[Element]:
    """The stream up to `until`: what is generated up to an earlier tick is the beginning of it."""
    rows: Iterator[Given]
    if extent.kind is Kind.SENSED:
        rows = (given for site in extent.sites for given in _readings(extent, source, calendar, site, until))
    else:
        rows = _arrivals(extent, source, calendar, until)
    return tagged(extent, rows, until)


def _readings(extent: Extent, source: Generate, calendar: Calendar, site: Value, until: int) -> Iterator[Given]:
    return _rows(extent, source, calendar, site, range(0, until + 1, extent.every or 1))


def _arrivals(extent: Extent, source: Generate, calendar: Calendar, until: int) -> Iterator[Given]:
    if source.arrivals is None:
        raise UsageError(f"nothing says when rows of {extent.name} arrive", hint="give arrivals: {every: 5 s}")
    ticks = arrival_ticks(source.arrivals, draws(source.seed, extent.name, "", _ARRIVALS), until)
    return _rows(extent, source, calendar, None, ticks)


def _rows(extent: Extent, source: Generate, calendar: Calendar, site: Value, ticks: Iterable[int]) -> Iterator[Given]:
    """A row for each tick. A missing row takes its values all the same, so that gaps change no other row."""
    label = "" if site is None else site
    lost = draws(source.seed, extent.name, label, _GAPS)
    columns = [
        signal(setting, attribute.type, site, draws(source.seed, extent.name, label, attribute.name), calendar)
        for setting, attribute in zip(source.signals, extent.schema)
    ]
    for number, tick in enumerate(ticks, 1):
        row = tuple(column(tick) for column in columns)
        if not is_missing(source.gaps, lost, tick):
            yield Given(tick, row, Origin(extent.name, number, "generated row"))
