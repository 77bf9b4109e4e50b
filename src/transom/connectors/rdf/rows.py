"""Convert RDF answers to streams: a row or statement when a solution or statement becomes valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal

from transom.algebra.composition.sources import SUBJECT, RowStatements
from transom.algebra.expressions.terms import variable
from transom.algebra.rdf.forms import Construct, TripleTemplate
from transom.algebra.sources import Values
from transom.catalog.extent import Extent
from transom.connectors.rows import Origin, SourceRow, ordered_elements
from transom.model.bag import Element
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.formats import constant_periods, snapshot
from transom.model.rdf.ntriples import statement_row
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import DATE_TIME, IRI, Literal, Term, Triple, boolean, integer
from transom.model.rdf.values import NumericKind, NumericValue, number_literal
from transom.model.types import Type, Value, parse_value
from transom.reference.rdf.evaluate import term_of as evaluated
from transom.reference.rdf.expressions import SolutionContext
from transom.reference.rdf.forms import construct


def solution_rows(extent: Extent, answer: RdfAnswer, start: int) -> tuple[list[Element], list[str]]:
    """Convert SELECT solutions valid from tick `start` on to rows; also return a text per solution of wrong type.

    A solution becomes an element at the tick from which it is valid, or at `start` if that is earlier. Also returned
    are messages on solutions whose terms do not fit the attributes' types.
    """
    rows: list[SourceRow] = []
    rejected: list[str] = []
    for number, (tick, solution) in enumerate(_beginnings(answer, start), 1):
        assert isinstance(solution, Solution)  # noqa: S101 - the answer is one of SELECT
        cells = zip(answer.columns, answer.terms(solution), extent.schema, strict=True)
        try:
            row = tuple(_value(name, term, attribute.type) for name, term, attribute in cells)
        except ValueError as error:
            rejected.append(f"row {number} of {extent.name}: {error}")
        else:
            rows.append(SourceRow(tick, row, Origin(extent.name, number)))
    return ordered_elements(extent, rows, None), rejected


def starting_statements(answer: RdfAnswer, start: int) -> list[Element]:
    """Convert the statements of a CONSTRUCT query to a stream: each comes when it becomes valid, from tick `start` on.

    What is valid before `start` begins there.
    """
    beginnings = _beginnings(answer, start)
    return _stream([(tick, statement) for tick, statement in beginnings if isinstance(statement, Triple)])


def row_statements(op: RowStatements, elements: list[Element]) -> list[Element]:
    """Convert the rows of a stream to RDF statements: one per row and predicate of the catalog's template."""
    names = [attribute.name for attribute in op.rows.schema]
    template = tuple(TripleTemplate(SUBJECT, IRI(iri), variable(column)) for column, iri in op.predicates)
    construction = Construct(Values((SUBJECT, *map(variable, names)), ()), template)
    statements: list[tuple[int, Triple]] = []
    for element in elements:
        terms = tuple(None if cell is None else value_term(cell) for cell in element.row)
        subject = evaluated(op.subject, SolutionContext(dict(zip(names, terms, strict=True))))
        if subject is not None:
            statements += [(element.tick, Triple(*row)) for row in construct(construction, ((subject, *terms),))]  # type: ignore[arg-type]
    return _stream(statements)


def _stream(statements: Sequence[tuple[int, Triple]]) -> list[Element]:
    """Number pairs of tick and triple, in their order from 1, as the elements of a stream."""
    return [Element(tick, number, statement_row(statement)) for number, (tick, statement) in enumerate(statements, 1)]


def value_term(value: Value) -> Term:
    """Convert an attribute's value to an RDF literal: numbers in canonical form, timestamps as xsd:dateTime."""
    match value:
        case bool():
            return boolean(value)
        case int():
            return integer(value)
        case float():
            return number_literal(NumericValue(NumericKind.DOUBLE, value))
        case Decimal():
            return number_literal(NumericValue(NumericKind.DECIMAL, value))
        case datetime():
            return Literal(value.isoformat().replace("+00:00", "Z"), DATE_TIME)
        case _:
            return Literal(str(value))


def _beginnings(answer: RdfAnswer, start: int) -> Iterator[tuple[int, Solution | Triple]]:
    """Yield each solution or triple that becomes valid from tick `start` on, with that tick.

    It is repeated as often as it occurs. At `start` these are all that are valid.
    """
    currently_valid: Counter[Solution | Triple] = Counter()
    change_ticks = [tick for tick, _ in constant_periods(answer)]
    for change_tick in sorted({start, *(tick for tick in change_ticks if tick > start)}):
        unmatched = currently_valid.copy()
        currently_valid = Counter()
        for payload in _valid(answer, change_tick):
            currently_valid[payload] += 1
            if unmatched[payload] > 0:
                unmatched[payload] -= 1
            else:
                yield change_tick, payload


def _valid(answer: RdfAnswer, tick: int) -> Sequence[Solution | Triple]:
    """Return the solutions or triples of an answer that are valid at a tick, repeated as often as they occur."""
    if answer.kind != "triples":
        return snapshot(answer, tick)
    return [timed.payload for timed in answer.triples if timed.at(tick) for _ in range(timed.n)]


def _value(name: str, term: Term | None, kind: Type) -> Value:
    """Convert the RDF term of a variable to a value of a type; an unbound variable (None) becomes NULL.

    ValueError if the text does not fit the type.
    """
    if term is None:
        return None
    text = term.value if isinstance(term, IRI) else term.lexical if isinstance(term, Literal) else str(term)
    try:
        return parse_value(text, kind)
    except (ValueError, ArithmeticError):
        raise ValueError(f"?{name}: {term} is not of type {kind}") from None
