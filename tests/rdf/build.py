"""Plans over RDF written shortly, and inputs and answers in the form of the golden cases."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.rdf.stated import Stated, stated
from transom.algebra.expressions.expression import Aggregate, AggregateFunction, Column, Expression, NamedExpression
from transom.algebra.expressions.terms import as_type, term_call, term_literal, variable
from transom.algebra.operator import Stream, Windows
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TermPattern, TriplePattern
from transom.algebra.rdf.solutions import project
from transom.algebra.rdf.statements import element_window, matching_stream, range_window, rdf_stream
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.terms import DECIMAL, INTEGER, IRI, BlankNode, Literal, Term, Triple
from transom.model.types import Type

PREFIXES = {"": "http://ex/", "my": "http://my/", "wtur": "http://iec.org/61400-25/root/ln-classes/WTUR#"}
Window = tuple[int, int] | int | None
"""RANGE and SLIDE, or ELEMS, or none."""


def term(written: Any) -> Term:
    """A term as the golden cases write it; numbers are integers or decimals."""
    if isinstance(written, bool):
        raise TypeError("no truth values here")
    if isinstance(written, int):
        return Literal(str(written), INTEGER)
    if isinstance(written, float):
        return Literal(str(written), DECIMAL)
    if written.startswith("_:"):
        return BlankNode(written[2:])
    if written.startswith("<"):
        return IRI(written[1:-1])
    if written.startswith('"'):
        text, _, language = written[1:].rpartition('"')
        return Literal(text, language=language[1:])
    if re.fullmatch(r"-?\d+", written):
        return Literal(written, INTEGER)
    prefix, _, name = written.partition(":")
    return IRI(PREFIXES[prefix] + name)


def place(written: str) -> TermPattern:
    """A place of a pattern: a variable or a term."""
    return variable(written[1:]) if written.startswith("?") else term(written)


def v(names: str) -> tuple[Column, ...]:
    """Variables by their names."""
    return tuple(variable(name) for name in names.split())


def triple(pattern: str, on: Windows) -> TriplePattern:
    """A triple pattern over statements."""
    return TriplePattern(on, *map(place, pattern.split()))


def window(on: Stream, size: int | tuple[int, int]) -> Windows:
    """A window on a stream."""
    return element_window(on, size) if isinstance(size, int) else range_window(on, *size)


def windowed(pattern: str, on: Stream, size: int | tuple[int, int]) -> TriplePattern:
    """A pattern with a window of its own: one that counts, counts its solutions (R8)."""
    places = [place(written) for written in pattern.split()]
    return TriplePattern(window(matching_stream(on, places) if isinstance(size, int) else on, size), *places)


def bgp(patterns: str, size: Window = (10, 1), *, own: Window = None, on: Stream | Windows | None = None) -> Windows:
    """A basic graph pattern over the stream `s`: `size` is the window below the patterns, `own` one for each."""
    source = rdf_stream("s") if on is None else on
    lines = patterns.split(" . ")
    if isinstance(source, Windows):
        return BasicGraphPattern(tuple(triple(line, source) for line in lines))
    if own is not None:
        return BasicGraphPattern(tuple(windowed(line, source, own) for line in lines))
    below = window(source, size or (1, 1))
    return BasicGraphPattern(tuple(triple(line, below) for line in lines))


def path(subject: str, way: Any, object: str, on: Windows) -> Windows:
    """A path as a basic graph pattern."""
    return BasicGraphPattern((PathPattern(on, place(subject), way, place(object)),))


def select(names: str, below: Windows) -> Windows:
    """Some variables."""
    return project(below, v(names))


def call(function: str, *arguments: Expression | str | int) -> Expression:
    """A call; strings that begin with a question mark are variables, others terms."""
    return term_call(function, *map(expression, arguments))


def expression(written: Expression | str | int) -> Expression:
    """An expression, or the variable or constant that a word stands for."""
    if isinstance(written, str) and written.startswith("?"):
        return variable(written[1:])
    return term_literal(term(written)) if isinstance(written, str | int) else written


def condition(written: Expression) -> Expression:
    """An expression as a condition: the effective boolean value of a term."""
    return as_type(written, Type.BOOLEAN)


def item(column: Column, value: Expression) -> NamedExpression:
    """A variable and the expression that it stands for."""
    return NamedExpression(as_type(value, Type.TERM), column.attribute)


def aggregate_of(
    column: Column, function: str, argument: Expression | None = None, distinct: bool = False, separator: str = " "
) -> Aggregate:
    """An aggregate of terms, or of solutions."""
    given = None if argument is None else as_type(argument, Type.TERM)
    return Aggregate(AggregateFunction(function), given, column.attribute, distinct, separator)


def inputs(streams: Mapping[str, Sequence[Sequence[Any]]] | None = None, **graphs: Sequence[Sequence[Any]]) -> Stated:
    """Streams as rows of instant and terms, graphs as rows of terms."""
    return stated(
        {name: [(row[0], statement(row[1:])) for row in rows] for name, rows in (streams or {}).items()},
        {name: [statement(row) for row in rows] for name, rows in graphs.items()},
    )


def statement(row: Sequence[Any]) -> Triple:
    """A statement of three terms."""
    subject, predicate, object = map(term, row)
    assert isinstance(subject, IRI | BlankNode)
    assert isinstance(predicate, IRI)
    return Triple(subject, predicate, object)


def rows(answer: RdfAnswer) -> list[list[Any]]:
    """An answer as the rows of a golden case, terms as terms, for ever as `inf`."""

    def end(found: int | None) -> int | str:
        return "inf" if found is None else found

    solutions = [[s.start, end(s.end), s.n, *answer.terms(s.payload)] for s in answer.solutions]
    triples = [
        [s.start, end(s.end), s.n, s.payload.subject, s.payload.predicate, s.payload.object] for s in answer.triples
    ]
    sequences = [[s.start, end(s.end), [list(answer.terms(one)) for one in s.solutions]] for s in answer.sequences]
    return [*solutions, *triples, *sequences, *([t.start, end(t.end), t.value] for t in answer.truth)]


def wanted(kind: str, expected: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The rows of a golden case with their terms read."""
    if kind == "boolean":
        return [list(row) for row in expected]
    if kind == "sequences":
        return [[*row[:2], [[read(one) for one in line] for line in row[2]]] for row in expected]
    return [[*row[:3], *map(read, row[3:])] for row in expected]


def read(written: Any) -> Term | None:
    """A term of an answer, None where it is unbound."""
    return None if written is None else term(written)
