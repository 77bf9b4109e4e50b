"""The answer of a SELECT query over RDF as rows: one whenever a solution begins to be valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from transom.algebra.rdf.operator import Solutions
from transom.algebra.rdf.statements import StoredGraph
from transom.algebra.rdf.tree import walk
from transom.algebra.sources import StreamReceive
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.catalog.ticks import accepted
from transom.connectors.rdf_files import open_stream
from transom.connectors.rows import Given, Origin, tagged
from transom.connectors.statements import open_graph
from transom.languages.known import query_text
from transom.languages.over_rdf import solutions_of
from transom.model.bag import Element
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.formats import snapshot, stretches
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import DATE_TIME, IRI, Literal, Term
from transom.model.types import Type, Value, read_text
from transom.reference.rdf.evaluate import evaluate
from transom.reference.rdf.statements import Inputs


def read_solutions(extent: Extent, catalog: Catalog, until: int | None = None) -> list[Element]:
    """The elements of an extent whose source is a query over RDF, none later than `until`."""
    path, text = query_text(extent, catalog)
    plan = solutions_of(extent, catalog, path, text)
    answer = evaluate(plan, _inputs(plan, catalog))
    return tagged(extent, _rows(extent, answer), until)


def _inputs(plan: Solutions, catalog: Catalog) -> Inputs:
    """What the catalog's files hold of all that a query reads."""
    known = catalog.rdf.extents
    streams = {
        op.extent: open_stream(known[op.extent], catalog)[0] for op in walk(plan) if isinstance(op, StreamReceive)
    }
    names = dict.fromkeys(name for op in walk(plan) if isinstance(op, StoredGraph) for name in op.extents)
    graphs = {name: open_graph(known[name], catalog.folder) for name in names}
    return Inputs(streams, graphs, Literal(datetime.now(UTC).isoformat().replace("+00:00", "Z"), DATE_TIME))


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
