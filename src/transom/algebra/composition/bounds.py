"""State bounds of composed queries: the plan of an inner query bounds what arrives from it (E8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from transom.algebra.composition.composed_source import ComposedSource, composed_sources
from transom.algebra.composition.sources import ConstructedStream, RowStatements, SolutionStream
from transom.algebra.operator import Operator
from transom.algebra.rdf.forms import Construct
from transom.algebra.state import bounds
from transom.algebra.state.formula import (
    Arrivals,
    CeilDivision,
    Formula,
    HintedBound,
    Minimum,
    Product,
    RowCount,
    Sum,
    ceil_divide,
    minimum,
    plus,
    times,
)


def inner_state_bound(query: Operator) -> Formula:
    """Return a bound on the rows in the state of all inner queries, whose answers `query` reads as sources."""
    return plus(*map(_source_state, composed_sources(query).values()))


def _source_state(source: ComposedSource) -> Formula:
    """Return a bound on the rows in the state of the inner query whose answer a source reads."""
    if isinstance(source, RowStatements):
        return bounds.plan_state(source.rows)
    if isinstance(source, SolutionStream | ConstructedStream):
        return bounds.plan_state(source.inner_query)
    raise TypeError(f"{type(source).__name__} has no inner query")


def expand_bound(formula: Formula, query: Operator) -> Formula:
    """Rewrite a state bound of `query` so that it no longer depends on the rates of inner queries.

    Each rate is replaced by a formula over the sources that the inner query reads.
    """
    return _expand_arrivals(formula, composed_sources(query))


def _expand_arrivals(formula: Formula, inner: Mapping[str, ComposedSource]) -> Formula:
    """Replace the arrivals from inner queries in a formula by their bounds; `inner` maps source names to sources."""
    match formula:
        case Arrivals(extent=extent, span=span) if extent in inner:
            return _expand_arrivals(_inner_arrivals(inner[extent], span), inner)
        case Sum(parts=parts):
            return plus(*(_expand_arrivals(part, inner) for part in parts))
        case Product(parts=parts):
            return times(*(_expand_arrivals(part, inner) for part in parts))
        case Minimum(parts=parts):
            return minimum(*(_expand_arrivals(part, inner) for part in parts))
        case CeilDivision(operand=operand, divisor=divisor):
            return ceil_divide(_expand_arrivals(operand, inner), divisor)
        case HintedBound(operand=operand):
            return replace(formula, operand=_expand_arrivals(operand, inner))
        case _:
            return formula


def _inner_arrivals(source: ComposedSource, span: int) -> Formula:
    """Return a bound on the rows or statements that an inner query emits in any `span` consecutive ticks.

    At every tick, at most the rows that are valid at it can start.
    """
    if isinstance(source, RowStatements):
        return times(RowCount(len(source.predicates)), bounds.arrivals(source.rows, span))
    if isinstance(source, SolutionStream):
        return times(RowCount(span), bounds.window_size(source.inner_query))
    if not isinstance(source, ConstructedStream):
        raise TypeError(f"{type(source).__name__} has no inner query")
    if isinstance(source.inner_query, Construct):
        return times(RowCount(span * len(source.inner_query.template)), bounds.window_size(source.inner_query.input))
    return times(RowCount(span), bounds.window_size(source.inner_query.statements))
