"""What scalar functions and aggregates compute, row by row."""

from __future__ import annotations

import functools
import itertools
import operator
import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

import transom
from transom.algebra.expressions.expression import (
    Aggregate,
    AggregateFunction,
    Call,
    Case,
    Cast,
    Column,
    Constant,
    NamedExpression,
    Tag,
    call,
    case,
    castable,
    conjunction,
    widen,
)
from transom.algebra.expressions.functions import FUNCTIONS
from transom.errors import PlanError, TypeProblem
from transom.model.schema import Attribute, Schema
from transom.model.types import Type
from transom.reference.expressions import EvaluationContext, aggregate, evaluate_expression

CATALOG = transom.Catalog.read(
    "epoch: 2009-01-01T00:00:00Z\n"
    "extents:\n"
    "  s: pushed (i:integer, f:float, d:decimal, t:string, b:boolean, w:time, z:timestamp, n:integer)\n"
)
ROW = (0, 7, 2.5, Decimal("1.50"), "Motor Way", True, 3661, datetime(2009, 3, 2, 6, 5, 4, tzinfo=UTC), None)

EXPRESSIONS: list[tuple[str, Any]] = [
    ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("7 - 2 - 1", 4), ("-i", -7), ("+i", 7), ("- - 3", 3),
    ("i / 2", 3.5), ("i / 0", None), ("7 % 3", 1), ("-7 % 3", -1), ("7 % 0", None), ("MOD(7, 3)", 1),
    ("i + f", 9.5), ("d + 1", Decimal("2.5")), ("d * d", Decimal("2.25")), ("d - 0.5", 1.0), ("-d", Decimal("-1.5")), ("d - d", Decimal(0)),
    ("9223372036854775807 + 1", None), ("9223372036854775807 * 2", None), ("1e308 * 10", None), ("i + n", None), ("-9223372036854775808", -(2**63)), ("9223372036854775807 - -1", None),
    ("DIV(7, 2)", 3), ("DIV(-7, 2)", -3), ("DIV(7, 0)", None),
    ("ABS(-3)", 3), ("ABS(f)", 2.5), ("SIGN(-2.5)", -1), ("SIGN(0)", 0), ("FLOOR(-2.5)", -3), ("CEIL(-2.5)", -2),
    ("CEILING(2.1)", 3), ("FLOOR(1e30)", None), ("ROUND(2.5)", 3.0), ("ROUND(-2.5)", -3.0), ("ROUND(2.675, 2)", 2.68),
    ("ROUND(1234.5, -2)", 1200.0), ("ROUND(1.5, 40)", 1.5), ("ROUND(1.5, -40)", 0.0), ("ROUND(1e300, -31)", 1e300), ("ROUND(9e30, -31)", 1e31), ("ROUND(1e-40, 35)", 0.0), ("ROUND(1.5, 999)", 1.5), ("ROUND(1.5, -999)", 0.0), ("SQRT(9)", 3.0),
    ("ROUND(d)", Decimal(2)), ("ROUND(-d, 0)", Decimal(-2)), ("ROUND(CAST('2.345' AS DECIMAL), 2)", Decimal("2.35")), ("ROUND(CAST('1250' AS DECIMAL), -2)", Decimal(1300)), ("ROUND(d, 99)", Decimal("1.5")), ("ROUND(d, -99)", Decimal(0)), ("ROUND(d, n)", None), ("ROUND(i)", 7.0), ("ROUND(i, -1)", 10.0),
    ("SQRT(-1)", None), ("POWER(2, 10)", 1024.0), ("POW(2, 0.5)", 2**0.5), ("POWER(-1, 0.5)", None),
    ("POWER(10, 999)", None), ("POWER(0, -1)", None), ("EXP(0)", 1.0), ("EXP(9999)", None), ("LN(1)", 0.0),
    ("LN(0)", None), ("LOG10(100)", 2.0), ("LOG10(-1)", None),
    ("1 = 1.0", True), ("i <> 7", False), ("'a' < 'b'", True), ("i >= 7", True), ("i <= 6", False), ("n = n", None),
    ("NULL = 1", None), ("n IS NULL", True), ("i IS NOT NULL", True), ("NULL IS NULL", True),
    ("i IN (1, 7)", True), ("i IN (1, NULL)", None), ("i NOT IN (1, 2)", True), ("n IN (1)", None), ("i IN (NULL, 7)", True),
    ("i BETWEEN 7 AND 8", True), ("i NOT BETWEEN 1 AND 7", False), ("n BETWEEN 1 AND 2", None),
    ("t LIKE 'Motor%'", True), ("t LIKE '_otor Way'", True), ("t NOT LIKE 'Motor'", True), ("t LIKE 'M.*'", False), ("t LIKE '%'", True), ("t LIKE '%Way_'", False), ("t LIKE '%o%o%y'", True), ("t LIKE '%o%o%o%'", False), ("t LIKE 'M%r W%'", True), ("'' LIKE '%'", True), ("'' LIKE '_'", False),
    ("b", True), ("NOT b", False), ("b = TRUE", True), ("TRUE AND n = 1", None), ("FALSE AND n = 1", False),
    ("TRUE OR n = 1", True), ("FALSE OR n = 1", None), ("NOT n = 1", None),
    ("CASE WHEN i > 5 THEN 'big' ELSE 'small' END", "big"), ("CASE WHEN n > 5 THEN 1 END", None),
    ("CASE i WHEN 6 THEN 'six' WHEN 7 THEN 'seven' END", "seven"), ("CASE WHEN FALSE THEN 1 ELSE 2.5 END", 2.5),
    ("COALESCE(n, i)", 7), ("COALESCE(n, NULL, n)", None), ("NULLIF(i, 7)", None), ("NULLIF(i, 8)", 7),
    ("NULLIF(i, n)", 7), ("NULLIF(n, 1)", None), ("GREATEST(1, n, 3)", 3), ("LEAST(2.5, 1)", 1.0), ("GREATEST(n, n)", None),
    ("t || '!'", "Motor Way!"), ("t || NULL", None), ("CONCAT('a', 'b', 'c')", "abc"), ("UPPER(t)", "MOTOR WAY"),
    ("LOWER(t)", "motor way"), ("LENGTH(t)", 9), ("TRIM('  a ')", "a"), ("LTRIM('  a ')", "a "), ("RTRIM('  a ')", "  a"),
    ("SUBSTRING(t, 7)", "Way"), ("SUBSTRING(t, 1, 5)", "Motor"), ("SUBSTR(t, 0, 3)", "Mo"), ("SUBSTRING(t, 2, -1)", None),
    ("SUBSTRING(t, -1, 1)", ""), ("LEFT(t, 5)", "Motor"), ("LEFT(t, -1)", ""), ("RIGHT(t, 3)", "Way"), ("RIGHT(t, 0)", ""),
    ("REPLACE(t, 'Way', 'car')", "Motor car"), ("REPLACE(t, '', 'x')", "Motor Way"), ("POSITION(t, 'Way')", 7),
    ("POSITION(t, 'z')", 0), ("STARTS_WITH(t, 'Mo')", True), ("ENDS_WITH(t, 'Mo')", False),
    ("w + 1", 3662), ("1 + w", 3662), ("w - 61", 3600), ("w - TIME '2009-01-01T01:00:00Z'", 61),
    ("w > '2009-01-01T01:00:00Z'", True), ("w = 3661", True), ("HOUR(w)", 1), ("MINUTE(w)", 1), ("SECOND(w)", 1),
    ("INSTANT(w)", datetime(2009, 1, 1, 1, 1, 1, tzinfo=UTC)), ("TICK(TIMESTAMP '2009-01-01T00:01:00Z')", 60),
    ("YEAR(z)", 2009), ("MONTH(z)", 3), ("DAY(z)", 2), ("z - TIMESTAMP '2009-03-02T06:05:00Z'", 4.0),
    ("z < '2009-03-03'", True), ("z = TIMESTAMP '2009-03-02T08:05:04+02:00'", True),
    ("CAST('12' AS integer)", 12), ("CAST('x' AS integer)", None), ("CAST(f AS integer)", 2), ("CAST(-2.5 AS integer)", -2),
    ("CAST(i AS string)", "7"), ("CAST(d AS string)", "1.5"), ("CAST(b AS string)", "true"), ("CAST(NOT b AS string)", "false"),
    ("CAST(1 AS boolean)", True), ("CAST(b AS integer)", 1), ("CAST(i AS float)", 7.0), ("CAST(f AS decimal)", Decimal("2.5")),
    ("CAST(1e30 AS integer)", None), ("CAST('1_000' AS integer)", None), ("CAST('1e3' AS decimal)", Decimal("1E+3")), ("CAST(n AS string)", None), ("CAST(i AS time)", 7), ("CAST('0.5' AS float)", 0.5),
    ("CAST('2009-01-01' AS timestamp)", datetime(2009, 1, 1, tzinfo=UTC)), ("CAST(NULL AS float)", None),
    ("INSTANT(9223372036854775807)", None), ("YEAR(w + 9000000000000)", None), ("0.0 * -1", 0.0), ("CAST(-0.0 AS decimal)", Decimal(0)), ("ABS(d - 3)", Decimal("1.5")), ("CAST('1e60' AS decimal)", None), ("CAST('1e38' AS decimal) * 10", None), ("-CAST('1.2345678901234567890123456789012345678' AS decimal)", Decimal("-1.2345678901234567890123456789012345678")),
    ("tick", 0), ("index", 1), ("tick + index", 1),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
@pytest.mark.parametrize("optimize", [True, False], ids=["folded", "as-written"])
def test_value(text: str, expected: Any, optimize: bool) -> None:
    query = transom.compile(f"SELECT {text} AS x FROM s", CATALOG, optimize=optimize)
    answer = query.simulate({"s": [ROW]}).elements[0].row[0]
    assert (answer, type(answer)) == (expected, type(expected))


def test_every_function_was_called() -> None:
    words = " ".join(text for text, _ in EXPRESSIONS)
    for name in FUNCTIONS.keys() - {"NEG"}:
        # <= is not <, and MIN is not IN
        whole = rf"\b{name}\b" if name[0].isalpha() else rf"(?<![<>=|]){re.escape(name)}(?![<>=|])"
        assert re.search(whole, words), name


def test_three_valued_logic() -> None:
    def lit(one: bool | None) -> Constant:
        return Constant(one, Type.BOOLEAN)

    scope = EvaluationContext()
    rank = {False: 0, None: 1, True: 2}
    for left, right in itertools.product(rank, rank):
        assert rank[evaluate_expression(call("AND", lit(left), lit(right)), scope)] == min(rank[left], rank[right])  # type: ignore[index]
        assert rank[evaluate_expression(call("OR", lit(left), lit(right)), scope)] == max(rank[left], rank[right])  # type: ignore[index]


def total(function: AggregateFunction, kind: Type, values: list) -> Any:
    attribute = Attribute("x", kind)
    result = function.result(kind)
    assert result is not None
    column = Aggregate(function, Column(attribute), Attribute("out", result))
    return aggregate(column, Schema((attribute,)), [(v,) for v in values])


def test_aggregates_are_exact_and_rounded_once() -> None:
    tenths = [0.1] * 10
    assert functools.reduce(operator.add, tenths) != 1.0  # the built-in sum compensates from Python 3.12 on
    assert total(AggregateFunction.SUM, Type.FLOAT, tenths) == 1.0
    assert total(AggregateFunction.AVG, Type.FLOAT, [*tenths, None]) == 0.1
    assert total(AggregateFunction.AVG, Type.FLOAT, [0.1, 0.2, 0.3]) == 0.2
    assert total(AggregateFunction.AVG, Type.FLOAT, [1e308, 1e308]) == 1e308
    assert total(AggregateFunction.AVG, Type.INTEGER, [2**53, 2**53 + 1, 2**53 + 2]) == 2.0**53
    assert total(AggregateFunction.AVG, Type.INTEGER, [2**54 + 1, 2**54 + 3, 1]) == 12009599006321324.0
    assert total(AggregateFunction.SUM, Type.FLOAT, [1e308, 1e308]) is None
    assert total(AggregateFunction.SUM, Type.FLOAT, [1e16, 1.0, -1e16]) == 1.0
    assert total(AggregateFunction.SUM, Type.INTEGER, [2**62, 2**62, -(2**62)]) == 2**62
    assert total(AggregateFunction.SUM, Type.INTEGER, [2**62, 2**62]) is None
    assert total(AggregateFunction.SUM, Type.DECIMAL, [Decimal("0.1"), Decimal("0.2")]) == Decimal("0.3")
    assert total(AggregateFunction.AVG, Type.INTEGER, [1, 2]) == 1.5
    assert total(AggregateFunction.AVG, Type.DECIMAL, [Decimal(1), Decimal(2)]) == 1.5
    assert total(AggregateFunction.MIN, Type.STRING, ["b", None, "a"]) == "a"
    assert total(AggregateFunction.MAX, Type.BOOLEAN, [False, True]) is True
    for function in (f for f in AggregateFunction if f.result(Type.INTEGER)):
        assert total(function, Type.INTEGER, [None]) == (0 if function is AggregateFunction.COUNT else None)


def test_what_cannot_be_built() -> None:
    one, word = Constant(1, Type.INTEGER), Constant("a", Type.STRING)
    with pytest.raises(PlanError):
        Constant("a", Type.INTEGER)
    with pytest.raises(PlanError):
        Call(FUNCTIONS["+"], (one, Constant(1.0, Type.FLOAT)))
    with pytest.raises(TypeProblem):
        call("+", one, word)
    with pytest.raises(TypeProblem):
        case([(Constant(True, Type.BOOLEAN), one)], word)
    with pytest.raises(PlanError):
        Case(((one, one),), one)
    with pytest.raises(TypeProblem):
        Cast(Constant(1.5, Type.FLOAT), Type.STRING)
    with pytest.raises(PlanError):
        NamedExpression(one, Attribute("x", Type.STRING))
    with pytest.raises(PlanError):
        Aggregate(AggregateFunction.SUM, None, Attribute("x", Type.INTEGER))
    with pytest.raises(PlanError):
        Aggregate(AggregateFunction.SUM, one, Attribute("x", Type.STRING))
    with pytest.raises(PlanError):
        evaluate_expression(Tag("tick"), EvaluationContext())


def test_small_things() -> None:
    assert conjunction([]) == Constant(True, Type.BOOLEAN)
    assert str(Constant("it's", Type.STRING)) == "'it''s'"
    assert str(Constant(None, Type.INTEGER)) == "NULL"
    assert str(widen(Constant(5, Type.INTEGER), Type.TIME)) == "5"
    assert castable(Type.TIME, Type.INTEGER)
    assert not castable(Type.TIMESTAMP, Type.INTEGER)
    assert str(FUNCTIONS["AND"].signatures[0]) == "(boolean, boolean, ...) -> boolean"
