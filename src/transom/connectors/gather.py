"""Gather the input rows of a query: those that the caller passes, and those of the catalog's sources."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent, ExtentKind
from transom.connectors import open_stream, open_table
from transom.connectors.frames import frame_rows
from transom.connectors.rdf.statements import graph_statements, stream_statements
from transom.connectors.rows import check_span, elements, versions
from transom.errors import UsageError
from transom.model.bag import Element, TableVersion
from transom.model.rdf.answer import RejectedMessage
from transom.model.rdf.terms import DATE_TIME, Literal
from transom.reference.rejections import Rejections
from transom.reference.sources import Inputs


def gather_inputs(
    extents: Sequence[Extent],
    catalog: Catalog,
    user_inputs: Mapping[str, Any] | None = None,
    until: int | None = None,
    *,
    start: int = 0,
    report_progress: Callable[[str], None] | None = None,
    result_of_now: datetime | None = None,
) -> Inputs:
    """Gather inputs for ticks `start` to `until` (None: end of data) from caller or catalog; `result_of_now`: NOW().

    The run is from tick `start` to `until`; without `until`, the inputs end at the last tick of any source.
    `report_progress` gets progress lines.
    """
    notify = report_progress or (lambda _: None)
    rows_of = _user_rows(user_inputs, extents, catalog)
    check_span(start, until)
    streams: dict[str, list[Element]] = {}
    tables: dict[str, list[TableVersion]] = {}
    rejected_by_extent: dict[str, tuple[RejectedMessage, ...]] = {}
    for extent in extents:
        name, calendar, rejected = extent.name, catalog.calendar, list[RejectedMessage]()
        notify(f"reading {name}")
        if extent.kind is ExtentKind.STORED:
            if name not in rows_of:
                tables[name] = open_table(extent, calendar, catalog.folder, until)
            elif extent.holds_statements:
                tables[name] = graph_statements(extent, rows_of[name], catalog.rdf.prefixes)
            else:
                tables[name] = versions(extent, rows_of[name], until)
        elif name not in rows_of:
            streams[name] = open_stream(extent, calendar, catalog.folder, until, rejected)
            rejected_by_extent |= {name: tuple(rejected)} if rejected else {}
        elif extent.holds_statements:
            streams[name] = stream_statements(extent, rows_of[name], calendar, catalog.rdf.prefixes)
        else:
            streams[name] = elements(extent, rows_of[name], calendar, until)
        if extent.holds_statements and extent.is_stream:
            streams[name] = [element for element in streams[name] if element.tick >= start]
    if until is None:
        last = [e[-1].tick for e in streams.values() if e] + [v[-1].tick for v in tables.values() if v]
        until = max([start, *last])
    ends = any(not extent.holds_statements for extent in extents)
    moment = Literal((result_of_now or datetime.now(UTC)).isoformat().replace("+00:00", "Z"), DATE_TIME)

    reports, rejections = _Reports(notify, until), Rejections()
    return Inputs(
        until,
        streams,
        tables,
        start,
        reports.operator,
        rejections.add,
        rejections,
        reports.tick,
        ends=ends,
        now=moment,
        rejected=rejected_by_extent,
    )


class _Reports:
    """Tells the caller which operator is evaluated, and once a second at which tick its evaluation is."""

    def __init__(self, notify: Callable[[str], None], until: int) -> None:
        """Prepare to report the progress of a run, which ends at tick `until`, by calling `notify`."""
        self._notify, self._until = notify, until
        self._last = time.monotonic()

    def operator(self, op: object) -> None:
        """Report that the reference engine begins to evaluate an operator."""
        self._notify(f"evaluating {type(op).__name__}")

    def tick(self, tick: int) -> None:
        """Report the tick of the window that is evaluated, unless the last report was less than a second ago."""
        if time.monotonic() - self._last >= 1:
            self._last = time.monotonic()
            self._notify(f"evaluating, tick {tick:,} of {self._until:,}")


def _user_rows(user_inputs: Mapping[str, Any] | None, extents: Sequence[Extent], catalog: Catalog) -> dict[str, Any]:
    """Return the caller's rows by the name of source or table; raise UsageError if a name is unknown."""
    if user_inputs is not None and not isinstance(user_inputs, Mapping):
        if any(extent.holds_statements for extent in extents):
            raise UsageError("inputs are statements by extent", hint="write {'td': [(0, ':a', ':p', 1)]}")
        raise UsageError("inputs are rows by extent", hint="write {'road': [(0, 1, 20)]}")
    for name in user_inputs or {}:
        if name not in catalog.sources:
            raise UsageError(f"inputs for {name}, which is no extent", hint=f"there is {', '.join(catalog.sources)}")
    sources, calendar = catalog.sources, catalog.calendar
    return {name: frame_rows(sources[name], rows, calendar) for name, rows in (user_inputs or {}).items()}
