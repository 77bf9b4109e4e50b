"""Equality, order and effective boolean value of terms by SPARQL 1.1; None is an error."""

from __future__ import annotations

import math
from decimal import Decimal

from transom.model.rdf.terms import BOOLEAN, IRI, BlankNode, Literal, Term, term_order_key
from transom.model.rdf.times import Instant, XsdDuration, is_before, is_same_instant
from transom.model.rdf.values import NUMERIC, NumericValue, StringValue, Value, value_of


def terms_equal(left: Term, right: Term) -> bool | None:
    """Compare two terms by value, as SPARQL's `=` does; None (an error) for literals of unknown value (W3C 17.4.1.7).

    Values of different known kinds, such as a number and a string, are not equal.
    """
    if not isinstance(left, Literal) or not isinstance(right, Literal):
        return left == right
    left_value, right_value = value_of(left), value_of(right)
    if bool(left.language) != bool(right.language):
        return False
    if left_value is None or right_value is None:
        return True if left == right else None
    return values_equal(left_value, right_value)


def values_equal(left: Value, right: Value) -> bool | None:
    """Whether two literal values are equal; None if that depends on a missing time zone."""
    match left, right:
        case NumericValue(), NumericValue():
            left_number, right_number = promote_numbers(left, right)
            return left_number == right_number
        case Instant(), Instant() if left.datatype == right.datatype:
            return is_same_instant(left, right)
        case XsdDuration(), XsdDuration():
            return (left.months, left.seconds) == (right.months, right.seconds)
        case _:
            return type(left) is type(right) and left == right


def term_less_than(left: Term, right: Term) -> bool | None:
    """Compare two terms as SPARQL's `<` does; None (an error) for terms that have no order.

    Ordered are numbers, strings without a language, booleans, instants and durations.
    """
    if not isinstance(left, Literal) or not isinstance(right, Literal):
        return None
    match value_of(left), value_of(right):
        case NumericValue() as left_number, NumericValue() as right_number:
            left_operand, right_operand = promote_numbers(left_number, right_number)
            return left_operand < right_operand
        case StringValue(text=left_text, language=""), StringValue(text=right_text, language=""):
            return left_text < right_text
        case bool() as left_boolean, bool() as right_boolean:
            return left_boolean < right_boolean
        case Instant() as left_instant, Instant() as right_instant if left_instant.datatype == right_instant.datatype:
            return is_before(left_instant, right_instant)
        case XsdDuration(months=0, seconds=left_seconds), XsdDuration(months=0, seconds=right_seconds):
            return left_seconds < right_seconds
        case XsdDuration(months=left_months, seconds=0), XsdDuration(months=right_months, seconds=0):
            return left_months < right_months
        case _:
            return None


def promote_numbers(left: NumericValue, right: NumericValue) -> tuple[int | Decimal | float, int | Decimal | float]:
    """Convert two numbers to the wider of their types (integer, decimal, float, double) for an operator (W3C 17.3)."""
    kind = max(left.kind, right.kind)
    return left.to(kind).value, right.to(kind).value


def effective_boolean_value(term: Term) -> bool | None:
    """Return the truth value of a term that is used as a condition (W3C 17.2.2); None, an error, if it has none.

    An ill-formed boolean or number is false.
    """
    if not isinstance(term, Literal):
        return None
    value = value_of(term)
    match value:
        case bool():
            return value
        case NumericValue(value=number):
            return not (number == 0 or (isinstance(number, float) and math.isnan(number)))
        case StringValue(text=text):
            return text != ""
        case None if term.datatype == BOOLEAN or term.datatype in NUMERIC:
            return False
        case _:
            return None


def sort_key(term: Term | None) -> tuple[int, int, object]:
    """Return the sort key of a term for ORDER BY (W3C 15.1): unbound (None), then blank nodes, IRIs and literals.

    SPARQL does not define the order of literals that `<` does not compare; here numbers come first, by their exact
    value, then strings, strings with a language, booleans, instants, durations, and literals of unknown value. NaN
    comes before all numbers.
    """
    match term:
        case None:
            return (0, 0, 0)
        case BlankNode(label=label):
            return (1, 0, label)
        case IRI(value=iri):
            return (2, 0, iri)
        case Literal():
            rank, key = _literal_sort_key(value_of(term), term)
            return (3, rank, key)


def _literal_sort_key(value: Value | None, literal: Literal) -> tuple[int, object]:
    """Return a literal's sort key for ORDER BY: the rank of its value's type (None: unknown value), then the value.

    An unknown value is None.
    """
    match value:
        case NumericValue(value=float() as number) if math.isnan(number):
            return 0, 0
        case NumericValue(value=number):
            return 1, number
        case StringValue(text=text, language=""):
            return 2, text
        case StringValue(text=text, language=language):
            return 3, (text, language)
        case bool():
            return 4, value
        case Instant():
            return 5, (value.datatype, value.seconds)
        case XsdDuration():
            return 6, (value.months, value.seconds)
        case None:
            return 7, (literal.datatype, term_order_key(literal))
