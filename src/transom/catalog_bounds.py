"""Evaluate state bounds with the statistics of a catalog; missing declarations become hints."""

from __future__ import annotations

from transom.algebra.composition.composed_source import composed_sources
from transom.algebra.operator import Operator
from transom.algebra.state.bound import MANY_ROWS, StateBound
from transom.algebra.state.formula import (
    Arrivals,
    DeclaredStatistics,
    Formula,
    Hint,
    TableRows,
    Unbounded,
    evaluate_rows,
    formula_text,
    is_bounded,
    largest_part,
    missing_declarations,
    unverified_hints,
)
from transom.catalog.catalog import Catalog
from transom.catalog.extent import ExtentKind


def bound_from_catalog(formula: Formula, catalog: Catalog, query: Operator | None = None) -> StateBound:
    """Evaluate a state bound's formula with the catalog's sizes; inner queries of `query`, if given, are expanded.

    With `query`, sources that are queries themselves are expanded to the extents that they read.
    """
    if query is not None and composed_sources(query):
        from transom.algebra.composition.bounds import expand_bound

        formula = expand_bound(formula, query)
    statistics = _declared_sizes(catalog)
    rows = evaluate_rows(formula, statistics)
    return StateBound(
        formula_text(formula, catalog.calendar),
        rows,
        is_bounded(formula, statistics),
        tuple(hint for gap in missing_declarations(formula, statistics) for hint in _declaration_hints(gap, catalog)),
        tuple(unverified_hints(formula, statistics)),
        largest_part(formula, statistics, catalog.calendar) if rows is not None and rows > MANY_ROWS else None,
    )


def _declared_sizes(catalog: Catalog) -> DeclaredStatistics:
    """Return the rates, row counts and hints that a catalog declares for its extents."""
    extents = catalog.sources
    hints = {(name, hint): getattr(extent, hint.value) for name, extent in extents.items() for hint in Hint}
    rates = {name: extent.arrival_rate for name, extent in extents.items()}
    return DeclaredStatistics(rates, {name: extent.rows for name, extent in extents.items()}, hints)


def _declaration_hints(gap: Arrivals | TableRows | Unbounded, catalog: Catalog) -> tuple[str, ...]:
    """Return hints on which catalog entries would make a state bound finite or known; `gap` is what it lacks now."""
    match gap:
        case Unbounded(hints=hints):
            return hints
        case TableRows(extent=name):
            return (f"declare the size of {name}, for example `rows: 100`",)
        case Arrivals(extent=name):
            if catalog.sources[name].kind is ExtentKind.SENSED:
                return (f"declare the sites of {name}, for example `sites: [1, 2]`",)
            return (f"declare the rate of {name}, for example `rate: 20 per min`",)
