"""Convert user-supplied RDF terms, Python values or SPARQL text, to canonical form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from transom.catalog.reading.ticks import HintedError
from transom.catalog.reading.wording import display_value
from transom.connectors.rows import Origin
from transom.errors import QueryError
from transom.languages.sparql.single_terms import read_term
from transom.model.rdf.ntriples import encode_term
from transom.model.rdf.terms import DATE_TIME, DECIMAL, DOUBLE, IRI, BlankNode, Literal, Term, boolean, integer


def term_text(value: object, prefixes: Mapping[str, str]) -> str:
    """Convert a term, a Python value or SPARQL text, whose names `prefixes` expand, to an RDF term in N-Triples.

    HintedError if it is not a term.
    """
    return encode_term(_term(value, prefixes))


def _term(value: object, prefixes: Mapping[str, str]) -> Term:
    """Convert a term, a Python value or SPARQL text, whose names `prefixes` expand, to an RDF term, or HintedError."""
    match value:
        case IRI() | BlankNode() | Literal():
            return value
        case bool():
            return boolean(value)
        case int():
            return integer(value)
        case Decimal() if value.is_finite():
            return Literal(f"{value:f}", DECIMAL)
        case float():
            return Literal({"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(repr(value), repr(value)), DOUBLE)
        case datetime():
            return Literal(value.isoformat().replace("+00:00", "Z"), DATE_TIME)
        case str():
            try:
                return read_term(value, prefixes)
            except QueryError as error:
                raise HintedError(error.message, error.hint or "terms are written as in SPARQL") from None
        case _:
            raise HintedError(
                f"{display_value(value)} is no term", 'write for example <http://example.org/a>, 1.5 or "text"'
            )


def check_statement(row: Sequence[object], origin: Origin) -> None:
    """Raise DataError if the subject of a statement is a literal or the predicate is not an IRI."""
    subject, predicate = str(row[0]), str(row[1])
    if subject.startswith('"'):
        raise origin.error(f"{subject} cannot be a subject", "a subject is an IRI or a blank node")
    if not predicate.startswith("<"):
        raise origin.error(f"{predicate} cannot be a predicate", "a predicate is an IRI")
