"""The answer of a SELECT query over RDF as rows: one whenever a solution begins to be valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.catalog.ticks import accepted
from transom.connectors.rdf_gather import gather_statements, sources_of
from transom.connectors.rows import Given, Origin, tagged
from transom.languages.known import query_text
from transom.languages.over_rdf import solutions_of
from transom.model.bag import Element
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.formats import snapshot, stretches
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import IRI, Literal, Term
from transom.model.types import Type, Value, read_text
from transom.reference.rdf.evaluate import evaluate


def read_solutions(extent: Extent, catalog: Catalog, until: int | None = None) -> list[Element]:
    """The elements of an extent whose source is a query over RDF, none later than `until`."""
    path, text = query_text(extent, catalog)
    plan = solutions_of(extent, catalog, path, text)
    answer = evaluate(plan, gather_statements(sources_of(plan, catalog), catalog))
    return tagged(extent, _rows(extent, answer), until)


def _rows(extent: Extent, answer: RdfAnswer) -> Iterator[Given]:
    before: Counter[Solution] = Counter()
    number = 0
    for start, _ in stretches(answer):
        left = before.copy()
        before = Counter()
        for solution in snapshot(answer, start):
            before[solution] += 1
            if left[solution] > 0:
                left[solution] -= 1
                continue
            number += 1
            origin = Origin(extent.name, number)
            cells = zip(answer.columns, answer.terms(solution), extent.schema, strict=True)
            yield Given(start, tuple(_value(name, term, a.type, origin) for name, term, a in cells), origin)


def _value(name: str, term: Term | None, kind: Type, origin: Origin) -> Value:
    """The value of a term: the characters of a literal as a value of that type, a name as text; unbound is NULL."""
    if term is None:
        return None
    text = term.value if isinstance(term, IRI) else term.lexical if isinstance(term, Literal) else str(term)
    try:
        return read_text(text, kind)
    except (ValueError, ArithmeticError):
        raise origin.error(f"?{name}: {term} is not of type {kind}", accepted(kind)) from None
