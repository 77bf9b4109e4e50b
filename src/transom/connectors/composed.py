"""What queries over answers of other queries are evaluated over: the answers of those, from the bottom up."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from transom.algebra.composed import Composed, composed_in, sources_of
from transom.algebra.composed_sources import ConstructedStream, RowStatements, SolutionStream
from transom.algebra.operator import AnyOperator
from transom.catalog.catalog import Catalog
from transom.catalog.rdf import RdfExtent
from transom.connectors.gather import gather
from transom.connectors.rdf_files import open_stream
from transom.connectors.rdf_rows import begun_statements, row_statements, solution_rows
from transom.connectors.statements import graph_statements, open_graph, stream_statements
from transom.errors import RunWarning
from transom.model.rdf.answer import Aside
from transom.model.rdf.terms import DATE_TIME, Literal
from transom.reference.evaluate import evaluate_stream
from transom.reference.rdf.evaluate import evaluate
from transom.reference.rdf.statements import Inputs as RdfInputs
from transom.reference.sources import Inputs


@dataclass(frozen=True, slots=True)
class Statements:
    """What streams deliver and graphs hold, and the messages that could not be read, by stream."""

    inputs: RdfInputs
    aside: Mapping[str, tuple[Aside, ...]] = field(default_factory=dict)

    @property
    def last(self) -> int:
        """The last instant at which a statement comes."""
        return max((tick for given in self.inputs.streams.values() for tick, _ in given), default=0)


def read_statements(
    reads: Sequence[RdfExtent], catalog: Catalog, given: Mapping[str, Iterable[Any]], now: datetime | None = None
) -> Statements:
    """The statements that are given, or those of the catalog's files."""
    streams: dict[str, Any] = {}
    graphs: dict[str, Any] = {}
    aside: dict[str, tuple[Aside, ...]] = {}
    for extent in reads:
        if extent.is_stream:
            if extent.name in given:
                streams[extent.name] = stream_statements(extent, given[extent.name], catalog)
            else:
                streams[extent.name], broken = open_stream(extent, catalog)
                aside |= {extent.name: tuple(broken)} if broken else {}
        elif extent.name in given:
            graphs[extent.name] = graph_statements(extent, given[extent.name], catalog)
        else:
            graphs[extent.name] = open_graph(extent, catalog.folder)
    moment = (now or datetime.now(UTC)).isoformat().replace("+00:00", "Z")
    return Statements(RdfInputs(streams, graphs, Literal(moment, DATE_TIME)), aside)


def gather_all(
    plan: AnyOperator,
    catalog: Catalog,
    given: Mapping[str, Any] | None = None,
    until: int | None = None,
    *,
    start: int = 0,
    now: datetime | None = None,
    watch: Callable[[str], None] | None = None,
) -> tuple[Inputs, Statements]:
    """What a query is evaluated over: given rows and statements, those of the catalog's sources, and inner answers.

    Without `until`, the rows end with the last tick of any source.
    """
    handed = given if isinstance(given, Mapping) else {}
    names = sources_of(plan, handed)
    extents, rdf = catalog.extents, catalog.rdf.extents
    rows = gather([extents[n] for n in names if n in extents], catalog, given, until, start=start, watch=watch)
    facts = read_statements([rdf[name] for name in names if name in rdf], catalog, handed, now)
    if until is None:
        rows = replace(rows, until=max(rows.until, facts.last))
    inner = {name: op for name, op in composed_in(plan).items() if name not in handed}
    if not inner:
        return rows, facts
    rows, found = with_answers(inner, catalog, rows, facts.inputs)
    return rows, replace(facts, inputs=found)


def with_answers(
    inner: Mapping[str, Composed], catalog: Catalog, rows: Inputs, statements: RdfInputs
) -> tuple[Inputs, RdfInputs]:
    """Inputs with the answers of inner queries, each evaluated once, in the order in which they need each other.

    Statements before the start of `rows` are not read. Rows that are rejected are warned of.
    """
    streams = dict(rows.streams)
    facts = {name: [one for one in delivered if one[0] >= rows.start] for name, delivered in statements.streams.items()}
    rows, statements = replace(rows, streams=streams), replace(statements, streams=facts)
    for name, op in inner.items():
        if isinstance(op, RowStatements):
            facts[name] = row_statements(op, evaluate_stream(op.input, rows))
        elif isinstance(op, ConstructedStream):
            facts[name] = begun_statements(evaluate(op.question, statements), rows.start)
        elif isinstance(op, SolutionStream):
            extent = catalog.extents[name]
            streams[name], rejected = solution_rows(extent, evaluate(op.question, statements), rows.start)
            _warn(name, rejected)
    return rows, statements


def _warn(name: str, rejected: Sequence[str]) -> None:
    if rejected:
        warnings.warn(
            f"rejected: {len(rejected):,} rows of {name} (wrong type); the first is {rejected[0]}",
            RunWarning,
            stacklevel=4,
        )
