"""Terms of RDF as people give them: values of Python's, and texts as SPARQL writes them, in canonical spelling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from transom.catalog.ticks import Hinted
from transom.catalog.wording import show
from transom.connectors.rows import Origin
from transom.errors import QueryError
from transom.languages.sparql.written import read_term
from transom.model.rdf.spelling import encode
from transom.model.rdf.terms import DATE_TIME, DECIMAL, DOUBLE, IRI, BlankNode, Literal, Term, boolean, integer


def term_text(given: object, prefixes: Mapping[str, str]) -> str:
    """A term in its canonical spelling: one of the model's, a value of Python's, or text as SPARQL writes terms."""
    return encode(_term(given, prefixes))


def _term(given: object, prefixes: Mapping[str, str]) -> Term:
    match given:
        case IRI() | BlankNode() | Literal():
            return given
        case bool():
            return boolean(given)
        case int():
            return integer(given)
        case Decimal() if given.is_finite():
            return Literal(f"{given:f}", DECIMAL)
        case float():
            return Literal({"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(repr(given), repr(given)), DOUBLE)
        case datetime():
            return Literal(given.isoformat().replace("+00:00", "Z"), DATE_TIME)
        case str():
            try:
                return read_term(given, prefixes)
            except QueryError as error:
                raise Hinted(error.message, error.hint or "terms are written as in SPARQL") from None
        case _:
            raise Hinted(f"{show(given)} is no term", 'write for example <http://example.org/a>, 1.5 or "text"')


def check_statement(row: Sequence[object], origin: Origin) -> None:
    """Refuse a row of terms whose subject or predicate is of a kind that none can be."""
    subject, predicate = str(row[0]), str(row[1])
    if subject.startswith('"'):
        raise origin.error(f"{subject} cannot be a subject", "a subject is an IRI or a blank node")
    if not predicate.startswith("<"):
        raise origin.error(f"{predicate} cannot be a predicate", "a predicate is an IRI")
