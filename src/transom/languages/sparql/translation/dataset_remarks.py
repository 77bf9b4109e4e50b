"""Warnings about GRAPH patterns that never match, because the dataset of the query lacks their graph."""

from __future__ import annotations

from collections.abc import Iterator

from transom.catalog.rdf import Rdf
from transom.catalog.reading.wording import nearest
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.scope import find_nodes
from transom.languages.sparql.translation.dataset import translate_dataset
from transom.languages.sparql.translation.names import NameResolver
from transom.languages.sql.select import Remark
from transom.model.time import Calendar


def unread_graph_patterns(
    form: syntax.Form, names: NameResolver, rdf: Rdf, calendar: Calendar
) -> Iterator[syntax.GraphPattern]:
    """Yield the patterns `GRAPH name { ... }` of a query that never match: no source in the dataset has the name.

    `GRAPH ?g` never matches if the dataset names no source at all.
    """
    named = translate_dataset(form, names, rdf, calendar).named
    for pattern in find_nodes(form, syntax.GraphPattern):
        if not named if isinstance(pattern.name, terms.Variable) else names.iri(pattern.name).value not in named:
            yield pattern


def graph_remarks(form: syntax.Form, names: NameResolver, rdf: Rdf, calendar: Calendar) -> Iterator[Remark]:
    """Yield a warning for each GRAPH pattern of a query that never matches, with the clause that is missing."""
    for pattern in unread_graph_patterns(form, names, rdf, calendar):
        if isinstance(pattern.name, terms.Variable):
            clause = "FROM NAMED" if form.sources else "a graph with an IRI in the catalog"
            yield Remark(f"GRAPH ?{pattern.name.name} matches nothing without {clause}", pattern.name.span)
            continue
        iri = names.iri(pattern.name).value
        yield Remark(
            f"GRAPH <{iri}> matches nothing: the query does not read this graph{_mend(iri, form, rdf)}",
            pattern.name.span,
        )


def _mend(iri: str, form: syntax.Form, rdf: Rdf) -> str:
    """Return how to make GRAPH read an IRI, as the end of a warning: a clause to add, or a similar IRI; may be empty.

    A catalog graph that has the IRI is always read if the query has no FROM clause.
    """
    if rdf.find(iri, stream=False) is not None:
        return f"; add FROM NAMED <{iri}>"
    if rdf.find(iri, stream=True) is not None:
        return f"; add FROM NAMED STREAM <{iri}> with a window"
    similar = nearest(iri, sorted(extent.iri for extent in rdf.extents.values() if extent.iri is not None))
    return f"; did you mean <{similar}>?" if similar else "; the catalog has no such graph"
