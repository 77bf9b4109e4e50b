"""Casts of SPARQL 1.1 (W3C 17.5), by the rules of XPath; None is an error."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

from transom.model.rdf.terms import (
    BOOLEAN,
    DATE,
    DATE_TIME,
    DAY_TIME,
    DECIMAL,
    DOUBLE,
    DURATION,
    FLOAT,
    INTEGER,
    IRI,
    TIME,
    YEAR_MONTH,
    Literal,
    Term,
    boolean,
)
from transom.model.rdf.times import Instant, Span
from transom.model.rdf.values import Kind, Number, Text, Value, as_text, shortest, value_of
from transom.reference.rdf.numbers import literal

_KINDS = {INTEGER: Kind.INTEGER, DECIMAL: Kind.DECIMAL, FLOAT: Kind.FLOAT, DOUBLE: Kind.DOUBLE}


def to_string(term: Term) -> Term | None:
    """The characters of a name, or of a value in its canonical form; a number without needless exponent."""
    if isinstance(term, IRI):
        return Literal(term.value)
    value = value_of(term) if isinstance(term, Literal) else None
    match value:
        case Text(language=""):
            return Literal(value.text)
        case bool():
            return Literal("true" if value else "false")
        case Number():
            return Literal(as_text(value))
        case Instant() | Span():
            return Literal(str(value))
        case _:
            return None


def cast(term: Term, datatype: str) -> Term | None:
    """A value as one of another datatype; a string is read as if it were written so."""
    if not isinstance(term, Literal):
        return None
    value = value_of(term)
    if isinstance(value, Text):
        value = value_of(Literal(value.text, datatype)) if not value.language else None
    if value is None:
        return None
    if datatype == BOOLEAN:
        return _to_boolean(value)
    if datatype in _KINDS:
        return _to_number(value, _KINDS[datatype])
    if datatype in (DATE_TIME, DATE, TIME):
        return _to_instant(value, datatype)
    return _to_span(value, datatype)


def _to_boolean(value: Value) -> Term | None:
    match value:
        case bool():
            return boolean(value)
        case Number(value=number):
            return boolean(not (number == 0 or (isinstance(number, float) and math.isnan(number))))
        case _:
            return None


def _to_number(value: Value, kind: Kind) -> Term | None:
    if isinstance(value, bool):
        return literal(Number(Kind.INTEGER, int(value)).to(kind))
    if not isinstance(value, Number):
        return None
    if isinstance(value.value, float) and kind <= Kind.DECIMAL:
        if not math.isfinite(value.value):
            return None
        value = Number(Kind.DECIMAL, Decimal(shortest(value)))
    return literal(value.to(kind))


def _to_instant(value: Value, datatype: str) -> Term | None:
    if not isinstance(value, Instant):
        return None
    if value.datatype != datatype:
        if value.datatype == TIME or (value.datatype == DATE and datatype == TIME):
            return None
        value = replace(value, datatype=datatype)
        if datatype == TIME:
            value = replace(value, year=1972, month=12, day=31)
        if datatype == DATE:
            value = replace(value, hour=0, minute=0, second=Decimal(0))
    return Literal(str(value), datatype)


def _to_span(value: Value, datatype: str) -> Term | None:
    if not isinstance(value, Span):
        return None
    months = value.months if datatype in (DURATION, YEAR_MONTH) else 0
    seconds = value.seconds if datatype in (DURATION, DAY_TIME) else Decimal(0)
    return Literal(str(Span(datatype, months, seconds)), datatype)
