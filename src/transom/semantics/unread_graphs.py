"""Finds a predicate in the graphs and streams of a catalog that a query does not read, for a warning."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cache

from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent
from transom.catalog.sources import Files
from transom.errors import TransomError
from transom.model.rdf.ntriples import decode_term
from transom.model.rdf.terms import IRI


def predicates_of(statements: Iterable[tuple[object, ...]]) -> set[str]:
    """Return the IRIs of the predicates in rows (s, p, o) of terms in N-Triples syntax; other text is kept as it is."""
    return {_iri_of_text(str(text)) for text in {row[1] for row in statements}}


def declared_predicates(extent: Extent) -> Collection[str]:
    """Return the predicates that the catalog lists for an extent of statements; none if it has no list."""
    return extent.predicates or ()


def declared_or_read_predicates(catalog: Catalog) -> Callable[[Extent], Collection[str]]:
    """Return a function that gives an extent's predicates: those of the catalog's list, else those in a graph's files.

    The function reads the files of a stored graph at most once. A graph whose files cannot be read has no predicates,
    because the query does not read it either.
    """

    @cache
    def predicates(name: str) -> Collection[str]:
        """Return the predicates of the extent with this name."""
        extent = catalog.rdf.extents[name]
        if extent.predicates is not None or extent.is_stream or not isinstance(extent.source, Files):
            return declared_predicates(extent)
        from transom.connectors import open_table

        try:
            versions = open_table(extent, catalog.calendar, catalog.folder)
        except (TransomError, OSError):
            return ()
        return predicates_of(row for version in versions for row in version.rows)

    return lambda extent: predicates(extent.name)


def missing_clause(
    predicate: str,
    catalog: Catalog,
    read: Collection[str],
    predicates: Callable[[Extent], Collection[str]],
    *,
    has_from: bool,
) -> str | None:
    """Say where a predicate occurs beside the extents `read`, and which clause reads it; None if it occurs nowhere.

    `predicates` gives the predicates of an extent. `has_from` says whether the query has a FROM clause.
    """
    for extent in catalog.rdf.extents.values():
        if extent.name in read or predicate not in predicates(extent):
            continue
        if extent.iri is None:
            return "the catalog's default graph, which a query with FROM does not read: give the graph an IRI"
        if extent.is_stream:
            clause = f"add FROM STREAM <{extent.iri}> with a window"
        else:
            clause = f"add FROM <{extent.iri}>" if has_from else f"write GRAPH <{extent.iri}> {{ ... }}"
        return f"<{extent.iri}>, which the query does not read: {clause}"
    return None


def _iri_of_text(text: str) -> str:
    """Return the IRI that an N-Triples term denotes; any other text is returned unchanged."""
    term = decode_term(text)
    return term.value if isinstance(term, IRI) else text
