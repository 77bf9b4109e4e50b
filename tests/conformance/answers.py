"""Answers of the W3C tests, and whether ours are the same: as bags or sequences, up to the names of blank nodes."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.terms import IRI, BlankNode, Literal, Term, Triple
from transom.model.rdf.values import NUMERIC, NumericValue, canonical_number, value_of

RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
GRAPHS = {"ttl": ox.RdfFormat.TURTLE, "rdf": ox.RdfFormat.RDF_XML, "nt": ox.RdfFormat.N_TRIPLES}
RESULTS = {
    "srx": ox.QueryResultsFormat.XML,
    "srj": ox.QueryResultsFormat.JSON,
    "tsv": ox.QueryResultsFormat.TSV,
}
Row = tuple[tuple[str, Term], ...]
"""The bindings of a solution, by name."""


@dataclass(frozen=True)
class Expected:
    """A truth value, a graph, or rows; rows are in order where the file numbers them.

    An untyped answer has the words of IRIs and literals, and does not say what they are.
    """

    truth: bool | None = None
    graph: frozenset[Triple] | None = None
    rows: tuple[Row, ...] = ()
    ordered: bool = False
    untyped: bool = False


def term(found: Any) -> Term:
    """A term of Oxigraph's as ours."""
    if isinstance(found, ox.NamedNode):
        return IRI(found.value)
    if isinstance(found, ox.BlankNode):
        return BlankNode(found.value)
    return Literal(found.value, found.datatype.value, found.language or "")


def read(path: Path) -> Expected:
    """The answer in a file."""
    ending = path.suffix.removeprefix(".")
    if ending in RESULTS:
        found = ox.parse_query_results(path.read_bytes(), RESULTS[ending])
        if isinstance(found, ox.QueryBoolean):
            return Expected(truth=bool(found))
        names = [variable.value for variable in found.variables]  # type: ignore[union-attr]
        rows = [{name: one[name] for name in names if one[name] is not None} for one in found]  # type: ignore[union-attr,index]
        return Expected(rows=tuple(_row(row) for row in rows))
    if ending == "csv":
        with path.open(encoding="utf-8", newline="") as file:
            return Expected(rows=tuple(map(_words, csv.DictReader(file))), untyped=True)
    statements = list(ox.parse(path=str(path), format=GRAPHS[ending], base_iri=path.as_uri()))
    return _described(statements)


def _row(bindings: dict[str, Any]) -> Row:
    return tuple(sorted((name, term(found)) for name, found in bindings.items()))


def _words(row: dict[str, str]) -> Row:
    """A row of CSV; an empty cell is unbound, a blank node has its label."""
    cells = (
        (name, BlankNode(cell[2:]) if cell.startswith("_:") else Literal(cell)) for name, cell in row.items() if cell
    )
    return tuple(sorted(cells))


def without_types(answer: Expected) -> Expected:
    """An answer as CSV has it."""
    rows = (tuple((name, _untyped(found)) for name, found in row) for row in answer.rows)
    return replace(answer, rows=tuple(rows), untyped=True)


def _untyped(found: Term) -> Term:
    match found:
        case IRI(value=value):
            return Literal(value)
        case Literal(lexical=lexical):
            return Literal(lexical)
        case BlankNode():
            return found


def _described(statements: list[Any]) -> Expected:
    """A graph, or an answer that a graph describes in the vocabulary of the tests."""
    about: dict[Any, dict[str, list[Any]]] = {}
    for one in statements:
        about.setdefault(one.subject, {}).setdefault(one.predicate.value, []).append(one.object)
    sets = [node for node in about.values() if any(one.value == RS + "ResultSet" for one in node.get(TYPE, []))]
    if not sets:
        return Expected(graph=frozenset(Triple(*map(term, (s.subject, s.predicate, s.object))) for s in statements))  # type: ignore[arg-type]
    if RS + "boolean" in sets[0]:
        return Expected(truth=sets[0][RS + "boolean"][0].value in ("true", "1"))
    solutions = [about.get(node, {}) for node in sets[0].get(RS + "solution", [])]
    ordered = bool(solutions) and all(RS + "index" in one for one in solutions)
    if ordered:
        solutions.sort(key=lambda one: int(one[RS + "index"][0].value))
    rows = []
    for one in solutions:
        bindings = [about[node] for node in one.get(RS + "binding", [])]
        rows.append(_row({b[RS + "variable"][0].value: b[RS + "value"][0] for b in bindings}))
    return Expected(rows=tuple(rows), ordered=ordered)


def of(answer: RdfAnswer) -> Expected:
    """Our answer over stored graphs: what is valid for ever."""
    match answer.kind:
        case "boolean":
            return Expected(truth=answer.truth[-1].value)
        case "triples":
            return Expected(graph=frozenset(one.payload for one in answer.triples))
        case "sequences":
            found = answer.sequences[-1].solutions if answer.sequences else ()
            return Expected(rows=tuple(tuple(sorted(one.bindings)) for one in found), ordered=True)
        case "solutions":
            rows = (tuple(sorted(one.payload.bindings)) for one in answer.solutions for _ in range(one.n))
            return Expected(rows=tuple(rows))


def same(ours: Expected, theirs: Expected, *, lax: bool = False) -> bool:
    """Whether two answers are the same; a lax one may have fewer of equal rows."""
    if theirs.untyped and not ours.untyped:
        ours = without_types(ours)
    if theirs.truth is not None or ours.truth is not None:
        return ours.truth == theirs.truth
    if theirs.graph is not None or ours.graph is not None:
        if ours.graph is None:
            return False
        return _canonical(_statements(ours.graph)) == _canonical(_statements(theirs.graph or ()))
    ordered = theirs.ordered and ours.ordered
    return _canonical(_as_graph(ours, ordered, lax)) == _canonical(_as_graph(theirs, ordered, lax))


def _statements(graph: Iterable[Triple]) -> Iterator[ox.Quad]:
    for one in graph:
        yield ox.Quad(_theirs(one.subject), _theirs(one.predicate), _theirs(one.object))


def _as_graph(answer: Expected, ordered: bool, lax: bool) -> Iterator[ox.Quad]:
    """Rows as statements about them: a node for each row that is different, with how often or where it stands."""
    numbers = list(enumerate(answer.rows)) if ordered else [(n, row) for row, n in Counter(answer.rows).items()]
    for place, (number, row) in enumerate(numbers):
        node = ox.BlankNode(f"row{place}")
        count = 1 if lax and not ordered else number
        yield ox.Quad(node, ox.NamedNode("row:number"), ox.Literal(count))
        for name, found in row:
            yield ox.Quad(node, ox.NamedNode(f"column:{name}"), _theirs(found))


def _canonical(statements: Iterable[ox.Quad]) -> set[ox.Quad]:
    dataset = ox.Dataset(statements)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return set(dataset)


def _theirs(found: Term) -> Any:
    """One of our terms as Oxigraph's; numbers in canonical form, since 2.0 and 2 are the same answer."""
    match found:
        case IRI(value=value):
            return ox.NamedNode(value)
        case BlankNode(label=label):
            return ox.BlankNode(f"b{label.encode().hex()}")
        case Literal(lexical=lexical, datatype=datatype, language=language):
            if language:
                return ox.Literal(lexical, language=language)
            value = value_of(found) if datatype in NUMERIC else None
            text = canonical_number(value) if isinstance(value, NumericValue) else lexical
            return ox.Literal(text, datatype=ox.NamedNode(datatype))
