"""Answers over RDF as text: CSV, JSON lines, SPARQL results in JSON, N-Quads and JSON-LD, each with its intervals."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence

from transom.errors import UsageError
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.short import short
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import IRI, LANG_STRING, RDF, STRING, BlankNode, Literal, Term

INTERVAL = "urn:transom:interval:"
"""The beginning of the names of graphs that hold statements for an interval; `urn:transom:interval:0:` never ends."""
_TYPE = IRI(RDF + "type")
Row = tuple[int, int | None, int, tuple[Term | bool | None, ...]]
"""From when, up to when, how often, and the terms of a solution or a statement, or a truth value."""


def rows(answer: RdfAnswer) -> Iterator[Row]:
    """The rows of an answer; a sequence gives its solutions in its order."""
    for one in answer.solutions:
        yield one.start, one.end, one.n, answer.terms(one.payload)
    for stated in answer.triples:
        triple = stated.payload
        yield stated.start, stated.end, stated.n, (triple.subject, triple.predicate, triple.object)
    for sequence in answer.sequences:
        for solution in sequence.solutions:
            yield sequence.start, sequence.end, 1, answer.terms(solution)
    for truth in answer.truth:
        yield truth.start, truth.end, 1, (truth.value,)


def table(answer: RdfAnswer, prefixes: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """The header, and rows for people: when, how often, and terms as prefixes shorten them."""
    yield ("start", "end", "n", *answer.columns)
    previous: object = None
    for start, end, n, terms in rows(answer):
        when = (str(start), "∞" if end is None else str(end))
        if answer.sequences:
            when = ("", "") if previous == (start, end) else when
            previous = (start, end)
        yield (*when, str(n), *(str(t).lower() if isinstance(t, bool) else short(t, prefixes) for t in terms))


def lines(form: str, whole: RdfAnswer, start: int, until: int | None) -> Iterator[str]:
    """What of an answer is valid between two instants, in a format: csv, jsonl, json, nq or jsonld."""
    if form == "json":
        return results_lines(whole, start, until)
    written = {"csv": csv_lines, "jsonl": json_lines, "nq": quad_lines, "jsonld": json_ld_lines}
    return written[form](whole.during(start, until))


def csv_lines(answer: RdfAnswer) -> Iterator[str]:
    """A header and a line per row; terms as N-Triples writes them, an empty cell for unbound and for an open end."""
    yield _csv(("start", "end", "n", *answer.columns))
    for start, end, n, terms in rows(answer):
        yield _csv((start, end, n, *map(cell, terms)))


def json_lines(answer: RdfAnswer) -> Iterator[str]:
    """One object per row: start, end (null for ever), n, and what is bound, terms as N-Triples writes them."""
    for start, end, n, terms in rows(answer):
        bound = {name: cell(term) for name, term in zip(answer.columns, terms, strict=True) if term is not None}
        yield _json({"start": start, "end": end, "n": n, **({"ask": terms[0]} if answer.truth else {"row": bound})})


def results_lines(answer: RdfAnswer, first: int = 0, last: int | None = None) -> Iterator[str]:
    """SPARQL 1.1 Query Results JSON: one document per stretch of time in which the answer stays the same."""
    if answer.kind == "triples":
        raise UsageError("statements are no SPARQL results", hint="write them as nq or jsonld")
    for truth in answer.during(first, last).truth:
        yield _json({"start": truth.start, "end": truth.end, "head": {}, "boolean": truth.value})
    if answer.kind == "boolean":
        return
    for start, end in stretches(answer):
        if (end is not None and end <= first) or (last is not None and start > last):
            continue
        bindings = [_bindings(answer, one) for one in snapshot(answer, start)]
        head = {"vars": list(answer.columns)}
        yield _json({"start": start, "end": end, "head": head, "results": {"bindings": bindings}})


def quad_lines(answer: RdfAnswer) -> Iterator[str]:
    """N-Quads: every statement in a graph that is named for its interval; how often it is valid is not said."""
    _only_statements(answer, "N-Quads")
    for one in answer.triples:
        yield f"{str(one.payload)[:-2]} <{_graph(one.start, one.end)}> ."


def json_ld_lines(answer: RdfAnswer) -> Iterator[str]:
    """JSON-LD in expanded form: one document per interval, its statements in a graph that is named for it."""
    _only_statements(answer, "JSON-LD")
    graphs: dict[str, dict[str, dict[str, object]]] = {}
    for one in answer.triples:
        nodes = graphs.setdefault(_graph(one.start, one.end), {})
        subject, predicate = _id(one.payload.subject), one.payload.predicate
        node = nodes.setdefault(subject, {"@id": subject})
        kind = predicate == _TYPE and not isinstance(one.payload.object, Literal)
        values = node.setdefault("@type" if kind else predicate.value, [])
        assert isinstance(values, list)  # noqa: S101 - only "@id" holds no list, and no predicate is called so
        values.append(_id(one.payload.object) if kind else _value(one.payload.object))
    for name, nodes in graphs.items():
        yield _json([{"@id": name, "@graph": list(nodes.values())}])


def stretches(answer: RdfAnswer) -> list[tuple[int, int | None]]:
    """The times from 0 on in which nothing changes."""
    spans = [(start, end) for start, end, _, _ in rows(answer)] + [(one.start, one.end) for one in answer.sequences]
    points = sorted({0, *(start for start, _ in spans), *(end for _, end in spans if end is not None)})
    return list(zip(points, (*points[1:], None), strict=True))


def snapshot(answer: RdfAnswer, t: int) -> list[Solution]:
    """The solutions that are valid at an instant, each as often as it is."""
    found = [one.payload for one in answer.solutions if one.at(t) for _ in range(one.n)]
    for sequence in answer.sequences:
        if sequence.start <= t and (sequence.end is None or t < sequence.end):
            found += sequence.solutions
    return found


def cell(term: Term | bool | None) -> str | None:
    """A term as N-Triples writes it; a truth value as `true` or `false`."""
    return None if term is None else str(term).lower() if isinstance(term, bool) else str(term)


def _bindings(answer: RdfAnswer, solution: Solution) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for name, term in zip(answer.columns, answer.terms(solution), strict=True):
        match term:
            case IRI(value=value):
                found[name] = {"type": "uri", "value": value}
            case BlankNode(label=label):
                found[name] = {"type": "bnode", "value": label}
            case Literal(lexical=lexical, datatype=datatype, language=language):
                found[name] = {"type": "literal", "value": lexical}
                if language:
                    found[name]["xml:lang"] = language
                elif datatype != STRING:
                    found[name]["datatype"] = datatype
            case None:
                pass
    return found


def _only_statements(answer: RdfAnswer, format: str) -> None:
    if answer.kind != "triples":
        raise UsageError(f"only statements can be written as {format}", hint="ask with CONSTRUCT or DESCRIBE")


def _graph(start: int, end: int | None) -> str:
    return f"{INTERVAL}{start}:{'' if end is None else end}"


def _id(term: Term) -> str:
    return term.value if isinstance(term, IRI) else str(term)


def _value(term: Term) -> dict[str, str]:
    match term:
        case Literal(lexical=lexical, datatype=datatype, language=language):
            kind = {"@language": language} if datatype == LANG_STRING else {"@type": datatype}
            return {"@value": lexical, **({} if datatype == STRING else kind)}
        case IRI() | BlankNode():
            return {"@id": _id(term)}


def _csv(values: Sequence[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(["" if value is None else value for value in values])
    return text.getvalue()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
