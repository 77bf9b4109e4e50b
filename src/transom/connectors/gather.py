"""All rows that a question is asked over: those that were handed over, and those of the catalog's sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent, Kind
from transom.connectors import open_stream, open_table
from transom.connectors.rows import check_span, elements, versions
from transom.errors import UsageError
from transom.model.bag import Element, Version
from transom.reference.sources import Inputs


def gather(
    reads: Sequence[Extent],
    catalog: Catalog,
    given: Mapping[str, Any] | None = None,
    until: int | None = None,
    *,
    start: int = 0,
    watch: Callable[[str], None] | None = None,
) -> Inputs:
    """What the reference engine evaluates over: the given rows, or those of the catalog's sources."""
    tell = watch or (lambda _: None)
    if given is not None and not isinstance(given, Mapping):
        raise UsageError("inputs are rows by extent", hint="write {'road': [(0, 1, 20)]}")
    rows_of = dict(given or {})
    for name in rows_of:
        if name not in catalog.extents and name not in catalog.rdf.extents:
            raise UsageError(f"inputs for {name}, which is no extent", hint=f"there is {', '.join(catalog.extents)}")
    check_span(start, until)
    streams: dict[str, list[Element]] = {}
    tables: dict[str, list[Version]] = {}
    for extent in reads:
        tell(f"reading {extent.name}")
        if extent.kind is Kind.STORED:
            if extent.name in rows_of:
                tables[extent.name] = versions(extent, rows_of[extent.name], until)
            else:
                tables[extent.name] = open_table(extent, catalog.calendar, catalog.folder, until)
        elif extent.name in rows_of:
            streams[extent.name] = elements(extent, rows_of[extent.name], catalog.calendar, until)
        else:
            streams[extent.name] = open_stream(extent, catalog.calendar, catalog.folder, until)
    if until is None:
        last = [e[-1].tick for e in streams.values() if e] + [v[-1].tick for v in tables.values() if v]
        until = max([start, *last])
    return Inputs(until, streams, tables, start, lambda op: tell(f"evaluating {type(op).__name__}"))
