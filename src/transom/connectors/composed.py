"""What queries over answers of other queries are evaluated over: the answers of those, from the bottom up."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from transom.algebra.composed import Composed, composed_in, sources_of
from transom.algebra.composed_sources import ConstructedStream, RowStatements, SolutionStream
from transom.algebra.operator import Operator
from transom.catalog.catalog import Catalog
from transom.connectors.gather import gather
from transom.connectors.rdf_rows import begun_statements, row_statements, solution_rows
from transom.errors import RunWarning
from transom.model.bag import Element
from transom.reference.evaluate import evaluate_stream
from transom.reference.rdf.evaluate import evaluate
from transom.reference.sources import Inputs


def gather_composed(
    plan: Operator,
    catalog: Catalog,
    given: Mapping[str, Any] | None = None,
    until: int | None = None,
    *,
    start: int = 0,
    watch: Callable[[str], None] | None = None,
    now: datetime | None = None,
) -> Inputs:
    """What a query is evaluated over: given rows and statements, those of the catalog, and answers of inner queries."""
    handed = given if isinstance(given, Mapping) else {}
    known = catalog.sources
    reads = [known[name] for name in sources_of(plan, handed)]
    inputs = gather(reads, catalog, given, until, start=start, watch=watch, now=now)
    inner = {name: op for name, op in composed_in(plan).items() if name not in handed}
    return _with_answers(inner, catalog, replace(inputs, ends=True))


def _with_answers(inner: Mapping[str, Composed], catalog: Catalog, inputs: Inputs) -> Inputs:
    """Inputs with the answers of inner queries, each evaluated once, in the order in which they need each other.

    Rows that are rejected are warned of.
    """
    streams: dict[str, Sequence[Element]] = dict(inputs.streams)
    inputs = replace(inputs, streams=streams)
    for name, op in inner.items():
        if isinstance(op, RowStatements):
            streams[name] = row_statements(op, evaluate_stream(op.rows, inputs))
        elif isinstance(op, ConstructedStream):
            streams[name] = begun_statements(evaluate(op.question, inputs), inputs.start)
        elif isinstance(op, SolutionStream):
            extent = catalog.extents[name]
            streams[name], rejected = solution_rows(extent, evaluate(op.question, inputs), inputs.start)
            _warn(name, rejected)
    return inputs


def _warn(name: str, rejected: Sequence[str]) -> None:
    if rejected:
        warnings.warn(
            f"rejected: {len(rejected):,} rows of {name} (wrong type); the first is {rejected[0]}",
            RunWarning,
            stacklevel=4,
        )
