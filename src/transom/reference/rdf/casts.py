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
from transom.model.rdf.times import Instant, XsdDuration
from transom.model.rdf.values import (
    NumericKind,
    NumericValue,
    StringValue,
    Value,
    number_as_string,
    shortest_digits,
    value_of,
)
from transom.reference.rdf.numbers import result_literal

_KINDS = {
    INTEGER: NumericKind.INTEGER,
    DECIMAL: NumericKind.DECIMAL,
    FLOAT: NumericKind.FLOAT,
    DOUBLE: NumericKind.DOUBLE,
}


def to_string(term: Term) -> Term | None:
    """xsd:string(): the text of an IRI, or a literal's value in canonical form; None if it has no such text."""
    if isinstance(term, IRI):
        return Literal(term.value)
    value = value_of(term) if isinstance(term, Literal) else None
    match value:
        case StringValue(language=""):
            return Literal(value.text)
        case bool():
            return Literal("true" if value else "false")
        case NumericValue():
            return Literal(number_as_string(value))
        case Instant() | XsdDuration():
            return Literal(str(value))
        case _:
            return None


def cast(term: Term, datatype: str) -> Term | None:
    """Cast a literal to a datatype; a string is parsed as that datatype; None if the cast is not possible."""
    if not isinstance(term, Literal):
        return None
    value = value_of(term)
    if isinstance(value, StringValue):
        value = value_of(Literal(value.text, datatype)) if not value.language else None
    if value is None:
        return None
    if datatype == BOOLEAN:
        return _to_boolean(value)
    if datatype in _KINDS:
        return _to_number(value, _KINDS[datatype])
    if datatype in (DATE_TIME, DATE, TIME):
        return _to_instant(value, datatype)
    return _to_duration(value, datatype)


def _to_boolean(value: Value) -> Term | None:
    """xsd:boolean(): a boolean itself; a number is true unless 0 or NaN; None for other values."""
    match value:
        case bool():
            return boolean(value)
        case NumericValue(value=number):
            return boolean(not (number == 0 or (isinstance(number, float) and math.isnan(number))))
        case _:
            return None


def _to_number(value: Value, kind: NumericKind) -> Term | None:
    """Convert a number or boolean to another kind of number; None if that kind cannot hold the value."""
    if isinstance(value, bool):
        return result_literal(NumericValue(NumericKind.INTEGER, int(value)).to(kind))
    if not isinstance(value, NumericValue):
        return None
    if isinstance(value.value, float) and kind <= NumericKind.DECIMAL:
        if not math.isfinite(value.value):
            return None
        value = NumericValue(NumericKind.DECIMAL, Decimal(shortest_digits(value)))
    return result_literal(value.to(kind))


def _to_instant(value: Value, datatype: str) -> Term | None:
    """Convert a date, time or dateTime to another of these datatypes; None if it lacks a date or time."""
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


def _to_duration(value: Value, datatype: str) -> Term | None:
    """Convert a duration to another duration datatype; None for other values.

    The result keeps the months, the seconds or both, as `datatype` has them.
    """
    if not isinstance(value, XsdDuration):
        return None
    months = value.months if datatype in (DURATION, YEAR_MONTH) else 0
    seconds = value.seconds if datatype in (DURATION, DAY_TIME) else Decimal(0)
    return Literal(str(XsdDuration(datatype, months, seconds)), datatype)
