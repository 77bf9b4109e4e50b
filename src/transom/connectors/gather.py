"""All rows that a question is asked over: those that were handed over, and those of the catalog's sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent, Kind
from transom.connectors import open_stream, open_table
from transom.connectors.rows import check_span, elements, versions
from transom.connectors.statements import graph_statements, stream_statements
from transom.errors import UsageError
from transom.model.bag import Element, Version
from transom.model.rdf.answer import Aside
from transom.model.rdf.terms import DATE_TIME, Literal
from transom.reference.sources import Inputs


def gather(
    reads: Sequence[Extent],
    catalog: Catalog,
    given: Mapping[str, Any] | None = None,
    until: int | None = None,
    *,
    start: int = 0,
    watch: Callable[[str], None] | None = None,
    now: datetime | None = None,
) -> Inputs:
    """What the reference engine evaluates over: the given rows, or those of the catalog's sources.

    Without `until` the rows end with the last tick of any source.
    """
    tell = watch or (lambda _: None)
    rows_of = _handed(given, reads, catalog)
    check_span(start, until)
    streams: dict[str, list[Element]] = {}
    tables: dict[str, list[Version]] = {}
    aside: dict[str, tuple[Aside, ...]] = {}
    for extent in reads:
        name, calendar, rejected = extent.name, catalog.calendar, list[Aside]()
        tell(f"reading {name}")
        if extent.kind is Kind.STORED:
            if name not in rows_of:
                tables[name] = open_table(extent, calendar, catalog.folder, until)
            elif extent.holds_statements:
                tables[name] = graph_statements(extent, rows_of[name], catalog.rdf.prefixes)
            else:
                tables[name] = versions(extent, rows_of[name], until)
        elif name not in rows_of:
            streams[name] = open_stream(extent, calendar, catalog.folder, until, rejected)
            aside |= {name: tuple(rejected)} if rejected else {}
        elif extent.holds_statements:
            streams[name] = stream_statements(extent, rows_of[name], calendar, catalog.rdf.prefixes)
        else:
            streams[name] = elements(extent, rows_of[name], calendar, until)
        if extent.holds_statements and extent.is_stream:
            streams[name] = [one for one in streams[name] if one.tick >= start]
    if until is None:
        last = [e[-1].tick for e in streams.values() if e] + [v[-1].tick for v in tables.values() if v]
        until = max([start, *last])
    ends = any(not extent.holds_statements for extent in reads)
    moment = Literal((now or datetime.now(UTC)).isoformat().replace("+00:00", "Z"), DATE_TIME)

    def evaluating(op: object) -> None:
        tell(f"evaluating {type(op).__name__}")

    return Inputs(until, streams, tables, start, evaluating, ends=ends, now=moment, aside=aside)


def _handed(given: Mapping[str, Any] | None, reads: Sequence[Extent], catalog: Catalog) -> dict[str, Any]:
    """The rows that were handed over; UsageError where they are those of no extent."""
    if given is not None and not isinstance(given, Mapping):
        if any(extent.holds_statements for extent in reads):
            raise UsageError("inputs are statements by extent", hint="write {'td': [(0, ':a', ':p', 1)]}")
        raise UsageError("inputs are rows by extent", hint="write {'road': [(0, 1, 20)]}")
    known = catalog.sources
    for name in given or {}:
        if name not in known:
            raise UsageError(f"inputs for {name}, which is no extent", hint=f"there is {', '.join(known)}")
    return dict(given or {})
