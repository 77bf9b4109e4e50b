"""Compare terms with a constant number on Spark: the most common filter, kept small."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

from transom.model.rdf.values import DIGITS, PLACES, NumericKind, NumericValue
from transom.spark.expressions.sql import F, Sql, let
from transom.spark.rdf.terms.spelling import LiteralSuffix, TermText, is_literal, literal_suffix
from transom.spark.rdf.terms.values import (
    UNIT,
    ScaledDecimal,
    exact,
    numeric_kind,
    read_bounded_integer,
    read_decimal,
    read_float,
    trimmed_lexical,
)

COMPARISONS: dict[str, Callable[..., object]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
}
"""Comparison operators, with the term on the left."""


def compare_with_constant(term: TermText, comparison: str, constant: NumericValue) -> Sql:
    """Compare the number in a term with a constant, by an operator such as `<=`; NULL if the term is not a number."""

    def read(text: Sql, suffix: LiteralSuffix, kind: Sql) -> Sql:
        """Compare the number in a literal's text with the constant; `kind` says integer, decimal or float."""
        single = read_float(text).cast("float").cast("double")
        return (
            F.when(
                kind == int(NumericKind.INTEGER),
                _compare_integers(read_bounded_integer(text, suffix), comparison, constant),
            )
            .when(kind == int(NumericKind.DECIMAL), _compare_decimals(read_decimal(text), comparison, constant))
            .when(kind == int(NumericKind.FLOAT), _compare_floats(single, comparison, constant, NumericKind.FLOAT))
            .when(
                kind == int(NumericKind.DOUBLE),
                _compare_floats(read_float(text), comparison, constant, NumericKind.DOUBLE),
            )
        )

    suffix = literal_suffix(term)
    return F.when(is_literal(term), let([trimmed_lexical(term, suffix), suffix, numeric_kind(suffix)], read))


def _compare(number: Sql, comparison: str, constant: Sql) -> Sql:
    """Apply a comparison operator, such as `<=`, to two expressions."""
    result = COMPARISONS[comparison](number, constant)
    assert isinstance(result, Sql)  # noqa: S101 - operators of Sql give Sql
    return result


def _constant_truth(number: Sql, truth: object) -> Sql:
    """Return the boolean constant `truth`, but NULL where `number` is NULL; for results known in advance."""
    return F.when(number.isNotNull(), F.lit(bool(truth)))


def _compare_integers(integer: Sql, comparison: str, constant: NumericValue) -> Sql:
    """Whether an integer and a constant number of any kind satisfy `comparison`, an operator such as `<=`."""
    if constant.kind >= NumericKind.FLOAT:
        return _compare_floats(integer.cast("double"), comparison, constant, NumericKind.INTEGER)
    value = Fraction(constant.value)
    floor = math.floor(value)
    if value == floor:
        return _compare(integer, comparison, exact(floor))
    if comparison == "=":
        return let([integer], lambda number: _constant_truth(number, False))
    return integer <= exact(floor) if comparison in ("<", "<=") else integer > exact(floor)


def _compare_decimals(decimal: ScaledDecimal, comparison: str, constant: NumericValue) -> Sql:
    """Whether a decimal, in units of 10^-18, and a constant number satisfy the operator `comparison`."""
    if constant.kind >= NumericKind.FLOAT:
        nearest_float = F.concat(decimal.cast("string"), F.lit(f"E-{PLACES}")).try_cast("double")
        return _compare_floats(nearest_float, comparison, constant, NumericKind.DECIMAL)
    units = int(Fraction(constant.value) * UNIT)
    if abs(units) < 10**DIGITS:
        return _compare(decimal, comparison, exact(units))
    return let([decimal], lambda number: _constant_truth(number, COMPARISONS[comparison](0, units)))


def _compare_floats(value: Sql, comparison: str, constant: NumericValue, kind: NumericKind) -> Sql:
    """Apply `comparison`, such as `<=`, to a float and a constant, both promoted to the same kind; false for NaN.

    `kind` is the kind of the number from which the float was read.
    """
    promoted_kind = max(kind, constant.kind)
    target = constant.to(promoted_kind).as_float()
    promoted = value.cast("float").cast("double") if kind < promoted_kind is NumericKind.FLOAT else value
    if math.isnan(target):
        return let([promoted], lambda number: _constant_truth(number, False))
    return let(
        [promoted],
        lambda number: F.when(number.isNotNull(), _compare(number, comparison, F.lit(target)) & ~F.isnan(number)),
    )
