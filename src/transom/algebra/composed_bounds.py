"""State bounds of queries over answers of others: what arrives from another query follows from that query (E8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from transom.algebra import bounds
from transom.algebra.composed import Composed, composed_in
from transom.algebra.composed_sources import ConstructedStream, RowStatements, SolutionStream
from transom.algebra.operator import Operator
from transom.algebra.rdf.forms import Construct
from transom.algebra.state import Arrivals, Formula, Hinted, Least, Number, Share, Sum, Times, least, plus, share, times


def inner_total(query: Operator) -> Formula:
    """The most rows that the queries behind the sources of a query must remember."""
    return plus(*map(_total, composed_in(query).values()))


def _total(op: Composed) -> Formula:
    if isinstance(op, RowStatements):
        return bounds.total(op.rows)
    if isinstance(op, SolutionStream | ConstructedStream):
        return bounds.total(op.question)
    raise TypeError(f"{type(op).__name__} is no answer of a query")


def expanded(formula: Formula, query: Operator) -> Formula:
    """A bound in terms of the extents at the bottom of a query."""
    return _expanded(formula, composed_in(query))


def _expanded(formula: Formula, inner: Mapping[str, Composed]) -> Formula:
    match formula:
        case Arrivals(extent=extent, span=span) if extent in inner:
            return _expanded(_arrivals(inner[extent], span), inner)
        case Sum(parts=parts):
            return plus(*(_expanded(part, inner) for part in parts))
        case Times(parts=parts):
            return times(*(_expanded(part, inner) for part in parts))
        case Least(parts=parts):
            return least(*(_expanded(part, inner) for part in parts))
        case Share(of=of, divisor=divisor):
            return share(_expanded(of, inner), divisor)
        case Hinted(of=of):
            return replace(formula, of=_expanded(of, inner))
        case _:
            return formula


def _arrivals(op: Composed, span: int) -> Formula:
    """The most rows or statements that a query brings in any span of ticks.

    At every tick at most those begin that are valid then.
    """
    if isinstance(op, RowStatements):
        return times(Number(len(op.predicates)), bounds.arrivals(op.rows, span))
    if isinstance(op, SolutionStream):
        return times(Number(span), bounds.size(op.question))
    if not isinstance(op, ConstructedStream):
        raise TypeError(f"{type(op).__name__} is no answer of a query")
    if isinstance(op.question, Construct):
        return times(Number(span * len(op.question.template)), bounds.size(op.question.input))
    return times(Number(span), bounds.size(op.question.statements))
