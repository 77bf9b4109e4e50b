"""Equality, order and truth of terms as SPARQL 1.1 defines them; None is an error."""

from __future__ import annotations

import math
from decimal import Decimal

from transom.model.rdf.terms import BOOLEAN, IRI, BlankNode, Literal, Term, in_order
from transom.model.rdf.times import Instant, Span, earlier, same_time
from transom.model.rdf.values import NUMERIC, Number, Text, Value, value_of


def equal(one: Term, other: Term) -> bool | None:
    """`=`: whether two terms have the same value; an error for literals of which that is not known (W3C 17.4.1.7).

    Values of two kinds that are both known, a number and a string, are different.
    """
    if not isinstance(one, Literal) or not isinstance(other, Literal):
        return one == other
    left, right = value_of(one), value_of(other)
    if bool(one.language) != bool(other.language):
        return False
    if left is None or right is None:
        return True if one == other else None
    return same_value(left, right)


def same_value(left: Value, right: Value) -> bool | None:
    """Whether two values are the same; None where that hangs on a time zone not given."""
    match left, right:
        case Number(), Number():
            first, second = promoted(left, right)
            return first == second
        case Instant(), Instant() if left.datatype == right.datatype:
            return same_time(left, right)
        case Span(), Span():
            return (left.months, left.seconds) == (right.months, right.seconds)
        case _:
            return type(left) is type(right) and left == right


def less(one: Term, other: Term) -> bool | None:
    """`<`: on numbers, strings without a language, truth values, instants and durations; an error on all else."""
    if not isinstance(one, Literal) or not isinstance(other, Literal):
        return None
    match value_of(one), value_of(other):
        case Number() as left, Number() as right:
            small, large = promoted(left, right)
            return small < large
        case Text(text=left_text, language=""), Text(text=right_text, language=""):
            return left_text < right_text
        case bool() as first, bool() as second:
            return first < second
        case Instant() as earlier_one, Instant() as later_one if earlier_one.datatype == later_one.datatype:
            return earlier(earlier_one, later_one)
        case Span(months=0, seconds=one_second), Span(months=0, seconds=other_second):
            return one_second < other_second
        case Span(months=one_month, seconds=0), Span(months=other_month, seconds=0):
            return one_month < other_month
        case _:
            return None


def promoted(left: Number, right: Number) -> tuple[int | Decimal | float, int | Decimal | float]:
    """Two numbers as the same kind, the later one of theirs (W3C 17.3)."""
    kind = max(left.kind, right.kind)
    return left.to(kind).value, right.to(kind).value


def truth(term: Term) -> bool | None:
    """The effective boolean value (W3C 17.2.2); a truth value or number that is not well-formed is false."""
    if not isinstance(term, Literal):
        return None
    value = value_of(term)
    match value:
        case bool():
            return value
        case Number(value=number):
            return not (number == 0 or (isinstance(number, float) and math.isnan(number)))
        case Text(text=text):
            return text != ""
        case None if term.datatype == BOOLEAN or term.datatype in NUMERIC:
            return False
        case _:
            return None


def sort_key(term: Term | None) -> tuple[int, int, object]:
    """A key for ORDER BY (W3C 15.1): unbound, blank nodes, names, literals.

    SPARQL leaves the order among literals that `<` does not compare open; here numbers come first, by their exact size,
    then strings, strings with a language, truth values, instants, durations, and what is not known. NaN comes before
    all numbers.
    """
    match term:
        case None:
            return (0, 0, 0)
        case BlankNode(label=label):
            return (1, 0, label)
        case IRI(value=iri):
            return (2, 0, iri)
        case Literal():
            place, key = _of_value(value_of(term), term)
            return (3, place, key)


def _of_value(value: Value | None, literal: Literal) -> tuple[int, object]:
    match value:
        case Number(value=float() as number) if math.isnan(number):
            return 0, 0
        case Number(value=number):
            return 1, number
        case Text(text=text, language=""):
            return 2, text
        case Text(text=text, language=language):
            return 3, (text, language)
        case bool():
            return 4, value
        case Instant():
            return 5, (value.datatype, value.seconds)
        case Span():
            return 6, (value.months, value.seconds)
        case None:
            return 7, (literal.datatype, in_order(literal))
