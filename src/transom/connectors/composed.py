"""What queries over answers of other queries are evaluated over: the answers of those, from the bottom up."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from transom.algebra.composed import Composed, composed_in, sources_of
from transom.algebra.composed_sources import ConstructedStream, RowStatements, SolutionStream
from transom.algebra.operator import Operator
from transom.catalog.catalog import Catalog
from transom.connectors.gather import gather
from transom.connectors.rdf_gather import RdfInputs, gather_statements
from transom.connectors.rdf_rows import begun_statements, row_statements, solution_rows
from transom.errors import RunWarning
from transom.model.bag import Element, Version
from transom.model.rdf.terms import Triple
from transom.reference.evaluate import evaluate_stream
from transom.reference.rdf.evaluate import evaluate
from transom.reference.sources import Inputs


@dataclass(frozen=True, slots=True)
class MixedInputs(Inputs):
    """Rows for the reference engine, among them the answers of inner queries; `graphs` are what those read.

    `streams` also has the statements that inner queries read, under the names of their streams.
    """

    graphs: Mapping[str, Sequence[Triple]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MixedRdfInputs(RdfInputs):
    """Statements for the reference engine, among them those of inner queries; `tables` are what those read.

    `streams` also has the rows that inner queries read, which come to an end at `until`.
    """

    tables: Mapping[str, Sequence[Version]] = field(default_factory=dict)
    until: int | None = None


def gather_rows(
    plan: Operator,
    catalog: Catalog,
    given: Mapping[str, Any] | None = None,
    until: int | None = None,
    *,
    start: int = 0,
    watch: Callable[[str], None] | None = None,
) -> Inputs:
    """What a query over rows is evaluated over: given rows and statements, those of the catalog, and inner answers."""
    rows, facts = _gathered(plan, catalog, given, until, start, watch, None)
    streams: dict[str, Any] = {**facts.streams, **rows.streams}
    return MixedInputs(rows.until, streams, rows.tables, rows.start, rows.watch, rows.reject, facts.graphs)


def gather_facts(
    plan: Operator,
    catalog: Catalog,
    given: Mapping[str, Any] | None = None,
    until: int | None = None,
    *,
    start: int = 0,
    watch: Callable[[str], None] | None = None,
    now: datetime | None = None,
) -> RdfInputs:
    """The same for a query over RDF."""
    rows, facts = _gathered(plan, catalog, given, until, start, watch, now)
    streams: dict[str, Any] = {**rows.streams, **facts.streams}
    return MixedRdfInputs(streams, facts.graphs, facts.now, facts.aside, start, rows.tables, rows.until)


def _gathered(
    plan: Operator,
    catalog: Catalog,
    given: Mapping[str, Any] | None,
    until: int | None,
    start: int,
    watch: Callable[[str], None] | None,
    now: datetime | None,
) -> tuple[Inputs, RdfInputs]:
    """Without `until`, the rows end with the last tick of any source."""
    handed = given if isinstance(given, Mapping) else {}
    names = sources_of(plan, handed)
    extents, rdf = catalog.extents, catalog.rdf.extents
    own = {name: rows for name, rows in handed.items() if name not in rdf}
    rows = gather([extents[n] for n in names if n in extents], catalog, own, until, start=start, watch=watch)
    told = {name: rows for name, rows in handed.items() if name in rdf}
    facts = gather_statements(
        [rdf[n] for n in names if n in rdf], catalog, told, until, start=start, watch=watch, now=now
    )
    if until is None:
        last = max((tick for delivered in facts.streams.values() for tick, _ in delivered), default=start)
        rows = replace(rows, until=max(rows.until, last))
    inner = {name: op for name, op in composed_in(plan).items() if name not in handed}
    return _with_answers(inner, catalog, rows, facts)


def _with_answers(
    inner: Mapping[str, Composed], catalog: Catalog, rows: Inputs, statements: RdfInputs
) -> tuple[Inputs, RdfInputs]:
    """Inputs with the answers of inner queries, each evaluated once, in the order in which they need each other.

    Rows that are rejected are warned of.
    """
    streams: dict[str, Sequence[Element]] = dict(rows.streams)
    facts = dict(statements.streams)
    rows, statements = replace(rows, streams=streams), replace(statements, streams=facts)
    for name, op in inner.items():
        if isinstance(op, RowStatements):
            facts[name] = row_statements(op, evaluate_stream(op.rows, rows))
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
