"""Answers of queries over RDF as streams: a row or a statement whenever a solution or a statement begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal

from transom.algebra.composed_sources import SUBJECT, RowStatements
from transom.algebra.rdf.forms import Construct, Template
from transom.algebra.sources import Values
from transom.algebra.terms import variable
from transom.catalog.extents import Extent
from transom.connectors.rows import Given, Origin, tagged
from transom.model.bag import Element
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.formats import snapshot, stretches
from transom.model.rdf.solutions import Solution
from transom.model.rdf.spelling import statement_row
from transom.model.rdf.terms import DATE_TIME, IRI, Literal, Term, Triple, boolean, integer
from transom.model.rdf.values import Kind, Number, number_literal
from transom.model.types import Type, Value, read_text
from transom.reference.rdf.evaluate import term_of as evaluated
from transom.reference.rdf.expressions import SolutionScope
from transom.reference.rdf.forms import construct


def solution_rows(extent: Extent, answer: RdfAnswer, start: int) -> tuple[list[Element], list[str]]:
    """Solutions as elements of an extent, when they begin; and in words which of them are no rows of it."""
    rows: list[Given] = []
    rejected: list[str] = []
    for number, (tick, solution) in enumerate(_beginnings(answer, start), 1):
        assert isinstance(solution, Solution)  # noqa: S101 - the answer is one of SELECT
        cells = zip(answer.columns, answer.terms(solution), extent.schema, strict=True)
        try:
            row = tuple(_value(name, term, attribute.type) for name, term, attribute in cells)
        except ValueError as error:
            rejected.append(f"row {number} of {extent.name}: {error}")
        else:
            rows.append(Given(tick, row, Origin(extent.name, number)))
    return tagged(extent, rows, None), rejected


def begun_statements(answer: RdfAnswer, start: int) -> list[Element]:
    """Statements with their ticks, when they begin to be valid."""
    begun = [(tick, one) for tick, one in _beginnings(answer, start) if isinstance(one, Triple)]
    return _stream(begun)


def row_statements(op: RowStatements, elements: list[Element]) -> list[Element]:
    """The rows of a stream as statements with their ticks, row by row, then in the order of the predicates."""
    names = [attribute.name for attribute in op.rows.schema]
    template = tuple(Template(SUBJECT, IRI(iri), variable(column)) for column, iri in op.predicates)
    made = Construct(Values((SUBJECT, *map(variable, names)), ()), template)
    found: list[tuple[int, Triple]] = []
    for element in elements:
        terms = tuple(None if cell is None else term_of(cell) for cell in element.row)
        subject = evaluated(op.subject, SolutionScope(dict(zip(names, terms, strict=True))))
        if subject is not None:
            found += [(element.tick, Triple(*row)) for row in construct(made, ((subject, *terms),))]  # type: ignore[arg-type]
    return _stream(found)


def _stream(statements: Sequence[tuple[int, Triple]]) -> list[Element]:
    return [Element(tick, number, statement_row(one)) for number, (tick, one) in enumerate(statements, 1)]


def term_of(given: Value) -> Term:
    """The term of a value: numbers in canonical form, times as dateTime, text as it is."""
    match given:
        case bool():
            return boolean(given)
        case int():
            return integer(given)
        case float():
            return number_literal(Number(Kind.DOUBLE, given))
        case Decimal():
            return number_literal(Number(Kind.DECIMAL, given))
        case datetime():
            return Literal(given.isoformat().replace("+00:00", "Z"), DATE_TIME)
        case _:
            return Literal(str(given))


def _beginnings(answer: RdfAnswer, start: int) -> Iterator[tuple[int, Solution | Triple]]:
    """What is valid and was not before, as often as it is more, with its tick; at `start` all begins that is valid."""
    before: Counter[Solution | Triple] = Counter()
    points = [at for at, _ in stretches(answer)]
    for point in sorted({start, *(at for at in points if at > start)}):
        left = before.copy()
        before = Counter()
        for one in _valid(answer, point):
            before[one] += 1
            if left[one] > 0:
                left[one] -= 1
            else:
                yield point, one


def _valid(answer: RdfAnswer, t: int) -> Sequence[Solution | Triple]:
    if answer.kind != "triples":
        return snapshot(answer, t)
    return [one.payload for one in answer.triples if one.at(t) for _ in range(one.n)]


def _value(name: str, term: Term | None, kind: Type) -> Value:
    """The value of a term: the characters of a literal as a value of that type, a name as text; unbound is NULL."""
    if term is None:
        return None
    text = term.value if isinstance(term, IRI) else term.lexical if isinstance(term, Literal) else str(term)
    try:
        return read_text(text, kind)
    except (ValueError, ArithmeticError):
        raise ValueError(f"?{name}: {term} is not of type {kind}") from None
