"""All statements that a query over RDF is asked over: those that were given, and those of the catalog's sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from transom.algebra.rdf.statements import StoredGraph
from transom.algebra.rdf.tree import Question, walk
from transom.algebra.sources import StreamReceive
from transom.catalog.catalog import Catalog
from transom.catalog.rdf import RdfExtent
from transom.connectors.rdf_files import open_stream
from transom.connectors.rows import check_span
from transom.connectors.statements import graph_statements, open_graph, stream_statements
from transom.errors import UsageError
from transom.model.rdf.answer import Aside
from transom.model.rdf.terms import DATE_TIME, Literal, Triple
from transom.reference.rdf.statements import Inputs


@dataclass(frozen=True, slots=True)
class RdfInputs(Inputs):
    """Statements for the reference engine from `start` on, and the messages that gave none, by stream."""

    aside: Mapping[str, tuple[Aside, ...]] = field(default_factory=dict)
    start: int = 0


def sources_of(question: Question, catalog: Catalog) -> tuple[RdfExtent, ...]:
    """The streams and graphs that a question reads, each once."""
    names: list[str] = []
    for op in walk(question):
        if isinstance(op, StreamReceive):
            names.append(op.extent)
        elif isinstance(op, StoredGraph):
            names += op.extents
    return tuple(catalog.rdf.extents[name] for name in dict.fromkeys(names))


def gather_statements(
    sources: Sequence[RdfExtent],
    catalog: Catalog,
    given: Mapping[str, Iterable[object]] | None = None,
    until: int | None = None,
    *,
    start: int = 0,
    watch: Callable[[str], None] | None = None,
    now: datetime | None = None,
) -> RdfInputs:
    """What the reference engine evaluates over. Statements of streams before `start` do not count.

    Later ones than `until` do: they say when what is valid at `until` ends.
    """
    if given is not None and not isinstance(given, Mapping):
        raise UsageError("inputs are statements by extent", hint="write {'td': [(0, ':a', ':p', 1)]}")
    rows = dict(given or {})
    for name in rows:
        if name not in catalog.rdf.extents:
            known = ", ".join(catalog.rdf.extents)
            raise UsageError(f"inputs for {name}, which is no stream or graph", hint=f"there is {known}")
    check_span(start, until)
    streams: dict[str, list[tuple[int, Triple]]] = {}
    graphs: dict[str, Any] = {}
    aside: dict[str, tuple[Aside, ...]] = {}
    for extent in sources:
        name = extent.name
        if watch is not None:
            watch(f"reading {name}")
        if extent.is_stream:
            if name in rows:
                found = stream_statements(extent, rows[name], catalog)
            else:
                found, broken = open_stream(extent, catalog)
                aside |= {name: tuple(broken)} if broken else {}
            streams[name] = [one for one in found if one[0] >= start]
        elif name in rows:
            graphs[name] = graph_statements(extent, rows[name], catalog)
        else:
            graphs[name] = open_graph(extent, catalog.folder)
    moment = (now or datetime.now(UTC)).isoformat().replace("+00:00", "Z")
    return RdfInputs(streams, graphs, Literal(moment, DATE_TIME), aside, start)
