"""Inputs of composed queries: inner queries are evaluated first, and their answers become streams."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from transom.algebra.composition.composed_source import ComposedSource, composed_sources, sources_of
from transom.algebra.composition.sources import ConstructedStream, RowStatements, SolutionStream
from transom.algebra.operator import Operator
from transom.catalog.catalog import Catalog
from transom.connectors.gather import gather_inputs
from transom.connectors.rdf.rows import row_statements, solution_rows, starting_statements
from transom.errors import RunWarning
from transom.model.bag import Element
from transom.reference.evaluate import evaluate_stream
from transom.reference.rdf.evaluate import evaluate
from transom.reference.sources import Inputs


def gather_composed_inputs(
    plan: Operator,
    catalog: Catalog,
    user_inputs: Mapping[str, Any] | None = None,
    until: int | None = None,
    *,
    start: int = 0,
    report_progress: Callable[[str], None] | None = None,
    result_of_now: datetime | None = None,
) -> Inputs:
    """Gather a run's inputs for ticks `start` to `until`, evaluating inner queries; `result_of_now`: value of NOW().

    The run is from tick `start` to `until`. `result_of_now` is the result of NOW(); `report_progress` gets progress
    lines.
    """
    rows_by_name = user_inputs if isinstance(user_inputs, Mapping) else {}
    extents = [catalog.sources[name] for name in sources_of(plan, rows_by_name)]
    inputs = gather_inputs(
        extents, catalog, user_inputs, until, start=start, report_progress=report_progress, result_of_now=result_of_now
    )
    inner = {name: op for name, op in composed_sources(plan).items() if name not in rows_by_name}
    return _with_answers(inner, catalog, replace(inputs, ends=True))


def _with_answers(inner: Mapping[str, ComposedSource], catalog: Catalog, inputs: Inputs) -> Inputs:
    """Evaluate the queries in `inner`, by source, in order; return `inputs` with each answer as a stream.

    Warns about rejected rows.
    """
    streams: dict[str, Sequence[Element]] = dict(inputs.streams)
    inputs = replace(inputs, streams=streams)
    for name, op in inner.items():
        if isinstance(op, RowStatements):
            streams[name] = row_statements(op, evaluate_stream(op.rows, inputs))
        elif isinstance(op, ConstructedStream):
            streams[name] = starting_statements(evaluate(op.inner_query, inputs), inputs.start)
        elif isinstance(op, SolutionStream):
            extent = catalog.extents[name]
            streams[name], rejected = solution_rows(extent, evaluate(op.inner_query, inputs), inputs.start)
            _warn(name, rejected)
    return inputs


def _warn(name: str, rejected: Sequence[str]) -> None:
    """Warn that some rows of the inner query `name` do not fit its types; nothing happens if `rejected` is empty."""
    if rejected:
        warnings.warn(
            f"rejected: {len(rejected):,} rows of {name} (wrong type); the first is {rejected[0]}",
            RunWarning,
            stacklevel=4,
        )
