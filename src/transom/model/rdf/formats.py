"""Answers over RDF as CSV, JSON lines, SPARQL results in JSON, N-Quads and JSON-LD, with their intervals."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence

from transom.errors import UsageError
from transom.model.rdf.abbreviate import display_term
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import IRI, LANG_STRING, RDF, STRING, BlankNode, Literal, Term
from transom.model.view import PRINT_ALL, PrintOptions

INTERVAL = "urn:transom:interval:"
"""IRI prefix of graphs that hold the statements of an interval; `urn:transom:interval:0:` has no end."""
_TYPE = IRI(RDF + "type")
Row = tuple[int, int | None, int, tuple[Term | bool | None, ...]]
"""Start, end, multiplicity, and the terms of a solution or a statement, or a boolean."""


def rows(answer: RdfAnswer) -> Iterator[Row]:
    """Flatten an answer to rows with start, end, multiplicity and terms; a sequence gives one row per solution."""
    for valid_solution in answer.solutions:
        terms = answer.terms(valid_solution.payload)
        yield valid_solution.start, valid_solution.end, valid_solution.n, terms
    for valid_triple in answer.triples:
        statement = valid_triple.payload
        triple = (statement.subject, statement.predicate, statement.object)
        yield valid_triple.start, valid_triple.end, valid_triple.n, triple
    for sequence in answer.sequences:
        for solution in sequence.solutions:
            yield sequence.start, sequence.end, 1, answer.terms(solution)
    for truth in answer.truth:
        yield truth.start, truth.end, 1, (truth.value,)


def table(answer: RdfAnswer, prefixes: Mapping[str, str], view: PrintOptions = PRINT_ALL) -> Iterator[tuple[str, ...]]:
    """Yield the header and rows of a text table for people: interval, multiplicity, and terms shortened by prefixes."""
    yield ("start", "end", "n", *answer.value_columns)
    previous: object = None
    for start, end, n, terms in rows(answer):
        bounds = (view.cell(start), "∞" if end is None else view.cell(end))
        if answer.sequences:
            bounds = ("", "") if previous == (start, end) else bounds
            previous = (start, end)
        cells = (str(term).lower() if isinstance(term, bool) else display_term(term, prefixes) for term in terms)
        yield (*bounds, str(n), *cells)


def lines(
    format: str, answer: RdfAnswer, start: int, until: int | None, view: PrintOptions = PRINT_ALL
) -> Iterator[str]:
    """Write an answer as csv, jsonl, json, nq or jsonld, for ticks from `start` to `until` inclusive (None: no end)."""
    if format == "json":
        return results_lines(answer, start, until, view)
    part = answer.during(start, until)
    if format in ("csv", "jsonl"):
        return csv_lines(part, view) if format == "csv" else json_lines(part, view)
    return quad_lines(part) if format == "nq" else json_ld_lines(part)


def csv_lines(answer: RdfAnswer, view: PrintOptions = PRINT_ALL) -> Iterator[str]:
    """Write an answer as CSV with a header, terms as N-Triples; unbound variables and open ends are empty fields."""
    yield _csv(("start", "end", "n", *answer.value_columns))
    for start, end, n, terms in rows(answer):
        yield _csv((view.value(start), _end(end, view), n, *map(term_cell, terms)))


def _end(end: int | None, view: PrintOptions) -> int | str | None:
    """Format the end of an interval as a tick number or ISO 8601 instant, as `view` says; None if it is open."""
    return None if end is None else view.value(end)


def json_lines(answer: RdfAnswer, view: PrintOptions = PRINT_ALL) -> Iterator[str]:
    """Write an answer as JSON lines: start, end (null if open), multiplicity, and the bound terms as N-Triples."""
    for start, end, n, terms in rows(answer):
        bound = {name: term_cell(term) for name, term in zip(answer.columns, terms, strict=True) if term is not None}
        times = {"start": view.value(start), "end": _end(end, view)}
        yield _json({**times, "n": n, **({"ask": terms[0]} if answer.truth else {"row": bound})})


def results_lines(
    answer: RdfAnswer, first: int = 0, last: int | None = None, view: PrintOptions = PRINT_ALL
) -> Iterator[str]:
    """Yield SPARQL Results JSON for ticks `first` to `last` (None: no end), a line per period without changes."""
    if answer.kind == "triples":
        raise UsageError("statements are no SPARQL results", hint="write them as nq or jsonld")
    for truth in answer.during(first, last).truth:
        times = {"start": view.value(truth.start), "end": _end(truth.end, view)}
        yield _json({**times, "head": {}, "boolean": truth.value})
    if answer.kind == "boolean":
        return
    for start, end in constant_periods(answer):
        if (end is not None and end <= first) or (last is not None and start > last):
            continue
        bindings = [_json_bindings(answer, solution) for solution in snapshot(answer, start)]
        head = {"vars": list(answer.columns)}
        times = {"start": view.value(start), "end": _end(end, view)}
        yield _json({**times, "head": head, "results": {"bindings": bindings}})


def quad_lines(answer: RdfAnswer) -> Iterator[str]:
    """Write statements as N-Quads, without multiplicities, each in a graph that is named for its validity interval."""
    _only_statements(answer, "N-Quads")
    for interval in answer.triples:
        yield f"{str(interval.payload)[:-2]} <{_interval_graph(interval.start, interval.end)}> ."


def json_ld_lines(answer: RdfAnswer) -> Iterator[str]:
    """Write statements as expanded JSON-LD: one document per validity interval, with a graph named for the interval."""
    _only_statements(answer, "JSON-LD")
    graphs: dict[str, dict[str, dict[str, object]]] = {}
    for interval in answer.triples:
        nodes = graphs.setdefault(_interval_graph(interval.start, interval.end), {})
        subject, predicate = _json_ld_id(interval.payload.subject), interval.payload.predicate
        node = nodes.setdefault(subject, {"@id": subject})
        is_type = predicate == _TYPE and not isinstance(interval.payload.object, Literal)
        values = node.setdefault("@type" if is_type else predicate.value, [])
        assert isinstance(values, list)  # noqa: S101 - only "@id" holds no list, and no predicate is called so
        values.append(_json_ld_id(interval.payload.object) if is_type else _json_ld_value(interval.payload.object))
    for name, nodes in graphs.items():
        yield _json([{"@id": name, "@graph": list(nodes.values())}])


def constant_periods(answer: RdfAnswer) -> list[tuple[int, int | None]]:
    """List the periods, from tick 0 on, in which the answer does not change, as (start, end); the last end is None."""
    spans = [(start, end) for start, end, _, _ in rows(answer)]
    spans += [(sequence.start, sequence.end) for sequence in answer.sequences]
    points = sorted({0, *(start for start, _ in spans), *(end for _, end in spans if end is not None)})
    return list(zip(points, (*points[1:], None), strict=True))


def snapshot(answer: RdfAnswer, t: int) -> list[Solution]:
    """Return the solutions that are valid at tick `t`, each repeated according to its multiplicity."""
    solutions = [interval.payload for interval in answer.solutions if interval.at(t) for _ in range(interval.n)]
    for sequence in answer.sequences:
        if sequence.start <= t and (sequence.end is None or t < sequence.end):
            solutions += sequence.solutions
    return solutions


def term_cell(term: Term | bool | None) -> str | None:
    """Format a term as N-Triples, or a boolean as `true` or `false`; return None for an unbound variable."""
    return None if term is None else str(term).lower() if isinstance(term, bool) else str(term)


def _json_bindings(answer: RdfAnswer, solution: Solution) -> dict[str, dict[str, str]]:
    """Return the bindings of a solution as in SPARQL Results JSON; unbound variables are left out."""
    bindings: dict[str, dict[str, str]] = {}
    for name, term in zip(answer.columns, answer.terms(solution), strict=True):
        match term:
            case IRI(value=value):
                bindings[name] = {"type": "uri", "value": value}
            case BlankNode(label=label):
                bindings[name] = {"type": "bnode", "value": label}
            case Literal(lexical=lexical, datatype=datatype, language=language):
                bindings[name] = {"type": "literal", "value": lexical}
                if language:
                    bindings[name]["xml:lang"] = language
                elif datatype != STRING:
                    bindings[name]["datatype"] = datatype
            case None:
                pass
    return bindings


def _only_statements(answer: RdfAnswer, format: str) -> None:
    """Raise UsageError, naming the format, if the answer does not consist of RDF statements."""
    if answer.kind != "triples":
        raise UsageError(f"only statements can be written as {format}", hint="ask with CONSTRUCT or DESCRIBE")


def _interval_graph(start: int, end: int | None) -> str:
    """Return the IRI of the graph that holds the statements with this validity interval (`end` None: open)."""
    return f"{INTERVAL}{start}:{'' if end is None else end}"


def _json_ld_id(term: Term) -> str:
    """Return the JSON-LD identifier of a node: the IRI itself, or `_:label` for a blank node."""
    return term.value if isinstance(term, IRI) else str(term)


def _json_ld_value(term: Term) -> dict[str, str]:
    """Convert a term to JSON-LD: a literal to a value object, other terms to a reference to the node."""
    match term:
        case Literal(lexical=lexical, datatype=datatype, language=language):
            kind = {"@language": language} if datatype == LANG_STRING else {"@type": datatype}
            return {"@value": lexical, **({} if datatype == STRING else kind)}
        case IRI() | BlankNode():
            return {"@id": _json_ld_id(term)}


def _csv(values: Sequence[object]) -> str:
    """Format values as one CSV line; None is an empty field."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(["" if value is None else value for value in values])
    return text.getvalue()


def _json(value: object) -> str:
    """Format a value as JSON on one line, with characters beyond ASCII as they are."""
    return json.dumps(value, ensure_ascii=False)
