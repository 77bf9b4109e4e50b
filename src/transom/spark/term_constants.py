"""Comparing a term with a number that the query says, on Spark: the filter that is asked most, kept small."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

from transom.model.rdf.values import DIGITS, PLACES, Kind, Number
from transom.spark.sql import F, Sql, let
from transom.spark.term_spelling import end, is_literal
from transom.spark.term_values import UNIT, exact, kind_of_end, read_float, read_point, whole_of, words

COMPARED: dict[str, Callable[..., object]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
}
"""How the number of a term is compared with the constant."""


def against(term: Sql, sign: str, constant: Number) -> Sql:
    """Whether the number of a term compares so with a constant; NULL where the term is no number."""

    def read(said: Sql, ended: Sql, kind: Sql) -> Sql:
        single = read_float(said).cast("float").cast("double")
        return (
            F.when(kind == int(Kind.INTEGER), _wholes(whole_of(said, ended), sign, constant))
            .when(kind == int(Kind.DECIMAL), _points(read_point(said), sign, constant))
            .when(kind == int(Kind.FLOAT), _floats(single, sign, constant, Kind.FLOAT))
            .when(kind == int(Kind.DOUBLE), _floats(read_float(said), sign, constant, Kind.DOUBLE))
        )

    ended = end(term)
    return F.when(is_literal(term), let([words(term, ended), ended, kind_of_end(ended)], read))


def _said(own: Sql, sign: str, constant: Sql) -> Sql:
    found = COMPARED[sign](own, constant)
    assert isinstance(found, Sql)  # noqa: S101 - operators of Sql give Sql
    return found


def _known(own: Sql, truth: object) -> Sql:
    """A truth value that is the same for all numbers."""
    return F.when(own.isNotNull(), F.lit(bool(truth)))


def _wholes(own: Sql, sign: str, constant: Number) -> Sql:
    """Integers: those below a decimal that is not whole are those up to its whole part."""
    if constant.kind >= Kind.FLOAT:
        return _floats(own.cast("double"), sign, constant, Kind.INTEGER)
    value = Fraction(constant.value)
    down = math.floor(value)
    if value == down:
        return _said(own, sign, exact(down))
    if sign == "=":
        return let([own], lambda number: _known(number, False))
    return own <= exact(down) if sign in ("<", "<=") else own > exact(down)


def _points(own: Sql, sign: str, constant: Number) -> Sql:
    """Decimals, as whole numbers of their last place."""
    if constant.kind >= Kind.FLOAT:
        about = F.concat(own.cast("string"), F.lit(f"E-{PLACES}")).try_cast("double")
        return _floats(about, sign, constant, Kind.DECIMAL)
    units = int(Fraction(constant.value) * UNIT)
    if abs(units) < 10**DIGITS:
        return _said(own, sign, exact(units))
    return let([own], lambda number: _known(number, COMPARED[sign](0, units)))


def _floats(own: Sql, sign: str, constant: Number, kind: Kind) -> Sql:
    """Floats, both as the later kind of the two; NaN compares with nothing."""
    later = max(kind, constant.kind)
    wanted = constant.to(later).as_float()
    near = own.cast("float").cast("double") if kind < later is Kind.FLOAT else own
    if math.isnan(wanted):
        return let([near], lambda number: _known(number, False))
    return let([near], lambda number: F.when(number.isNotNull(), _said(number, sign, F.lit(wanted)) & ~F.isnan(number)))
