"""State bounds in the terms of a catalog: what it declares gives numbers, what it does not becomes a hint."""

from __future__ import annotations

from transom.algebra.composed import composed_in
from transom.algebra.operator import Operator
from transom.algebra.state import (
    Arrivals,
    Formula,
    Hint,
    Knowledge,
    TableRows,
    Unbounded,
    bounded,
    missing,
    promises,
    rows,
    text,
)
from transom.algebra.state_bound import StateBound
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Kind


def bound_of(formula: Formula, catalog: Catalog, query: Operator | None = None) -> StateBound:
    """A bound on rows in words and, where everything is declared, as a number.

    If a query is given, it is in terms of the extents at its bottom.
    """
    if query is not None and composed_in(query):
        from transom.algebra.composed_bounds import expanded

        formula = expanded(formula, query)
    known = _knowledge(catalog)
    return StateBound(
        text(formula, catalog.calendar),
        rows(formula, known),
        bounded(formula, known),
        tuple(hint for gap in missing(formula, known) for hint in _hints(gap, catalog)),
        tuple(promises(formula, known)),
    )


def _knowledge(catalog: Catalog) -> Knowledge:
    """What a catalog declares about the sizes of its extents."""
    extents = catalog.sources
    hints = {(name, hint): getattr(extent, hint.value) for name, extent in extents.items() for hint in Hint}
    rates = {name: extent.arrival_rate for name, extent in extents.items()}
    return Knowledge(rates, {name: extent.rows for name, extent in extents.items()}, hints)


def _hints(gap: Arrivals | TableRows | Unbounded, catalog: Catalog) -> tuple[str, ...]:
    """The catalog entries that would close a gap in a bound."""
    match gap:
        case Unbounded(hints=hints):
            return hints
        case TableRows(extent=name):
            return (f"declare the size of {name}, for example `rows: 100`",)
        case Arrivals(extent=name):
            if catalog.sources[name].kind is Kind.SENSED:
                return (f"declare the sites of {name}, for example `sites: [1, 2]`",)
            return (f"declare the rate of {name}, for example `rate: 20 per min`",)
