"""Expressions on Spark have the values of the reference engine, in both ANSI modes and any time zone."""

from __future__ import annotations

import functools
import math
import random
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.spark.expressions.grow import INEXACT, SCHEMA, Garden
from transom.algebra.expressions.expression import Call, Cast, Column, Constant, Expression, Tag, call, subexpressions
from transom.algebra.expressions.functions import FUNCTIONS
from transom.errors import Unsupported
from transom.model.bag import Row
from transom.model.schema import Attribute
from transom.model.types import DECLARABLE, Type, Value, normalize_decimal
from transom.reference.expressions import EvaluationContext, RowContext, cast, evaluate_expression

pytest.importorskip("pyspark")

from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from transom.spark.expressions.floats import LIMIT, printed_digits
from transom.spark.expressions.functions import LOWERINGS
from transom.spark.expressions.lower import holds, literal, lower
from transom.spark.expressions.types import clean_source_value, read_text, spark_type

TABLE = StructType(
    [StructField(a.name, spark_type(a.type)) for a in SCHEMA] + [StructField("n", spark_type(Type.INTEGER))]
)

USUAL = re.compile(r"[0-9-]{8,10}([T ][0-9:]{2,8}([.,][0-9]+)?(Z|[+-][0-9:]{2,8})?)?")
"""How instants are usually spelled; Python reads more than this, such as seconds of half an offset."""


WAYS = (("true", "true"), ("false", "false"))
"""ANSI mode, and whether Spark writes code for a whole stage: each is met both ways, not every pair of them."""

AT_ONCE = 15


def column(attribute: Attribute) -> Any:
    return F.col(attribute.name)


def tag(name: str) -> Any:
    return F.col(name)


def alike(expression: Expression, expected: Value, given: Value) -> bool:
    if type(expected) is not type(given):
        return False
    if isinstance(expected, float) and isinstance(given, float):
        if isinstance(expression, Call) and expression.function.name in INEXACT:
            return math.isclose(expected, given, rel_tol=1e-15) or abs(expected - given) <= 5e-324
        return expected == given and math.copysign(1, expected) == math.copysign(1, given)
    return expected == given


def beyond(expression: Expression, scope: EvaluationContext) -> bool:
    """Whether a value on the way is beyond a documented limit: the digits of a decimal, the spelling of an instant."""
    for part in subexpressions(expression):
        if isinstance(part, Cast) and part.type is Type.TIMESTAMP and part.operand.type is Type.STRING:
            text = evaluate_expression(part.operand, scope)
            if evaluate_expression(part, scope) is not None and not USUAL.fullmatch(str(text).strip()):
                return True
        if part.type is Type.DECIMAL:
            number = evaluate_expression(part, scope)
            if number is None and isinstance(part, Cast) and part.operand.type is Type.FLOAT:
                float_of = evaluate_expression(
                    part.operand, scope
                )  # the reference has no decimal of more than 38 places
                number = None if float_of is None else Decimal(repr(float_of))
            if isinstance(number, Decimal) and number and _is_long(number):
                return True
    return False


def _is_long(number: Decimal) -> bool:
    """Whether a decimal has more digits than Spark's have, before the point or behind it."""
    return number.adjusted() > 18 or int(normalize_decimal(number).as_tuple().exponent) < -18


def lowered(expressions: list[Expression]) -> list[Any]:
    """Columns for many expressions; timestamps travel as microseconds, untouched by time zones."""
    columns = []
    for place, expression in enumerate(expressions):
        found = lower(expression, column, tag)
        columns.append((F.unix_micros(found) if expression.type is Type.TIMESTAMP else found).alias(f"c{place}"))
    return columns


def answer(frame: Any, columns: list[Any]) -> list[tuple[Value, ...]]:
    rows = sorted(frame.select("n", *columns).collect(), key=lambda row: row["n"])
    return [tuple(row)[1:] for row in rows]


def expected_of(expression: Expression, row: Row) -> Value:
    result = evaluate_expression(expression, RowContext(SCHEMA, row))
    return micros(result) if isinstance(result, datetime) else result


def micros(instant: datetime) -> int:
    return (instant - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def compare(spark: Any, expressions: list[Expression], rows: list[Row]) -> None:
    session = spark.newSession()
    frame = session.createDataFrame([(*row, n) for n, row in enumerate(rows)], TABLE)
    expected = [[expected_of(e, row) for e in expressions] for row in rows]
    wrong: list[str] = []
    columns = lowered(expressions)
    for ansi, written in WAYS:
        session.conf.set("spark.sql.ansi.enabled", ansi)
        session.conf.set("spark.sql.codegen.wholeStage", written)
        for start in range(0, len(expressions), AT_ONCE):
            chunk = expressions[start : start + AT_ONCE]
            for number, given in enumerate(answer(frame, columns[start : start + AT_ONCE])):
                for place, expression in enumerate(chunk):
                    want, got = expected[number][start + place], given[place]
                    if isinstance(got, Decimal):
                        got = normalize_decimal(got)
                    if not alike(expression, want, got) and not beyond(expression, RowContext(SCHEMA, rows[number])):
                        inputs = {
                            str(p): evaluate_expression(p, RowContext(SCHEMA, rows[number]))
                            for p in subexpressions(expression)
                        }
                        wrong.append(f"ansi={ansi} {expression}: {want!r} expected, {got!r} given; {inputs}")
    assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:: max(1, len(wrong) // 12)][:15])


def test_every_function_has_a_lowering() -> None:
    assert LOWERINGS.keys() == FUNCTIONS.keys()


@pytest.mark.parametrize(
    ("seed", "count", "least"),
    [
        (1, 24, 1),
        pytest.param(1, 24, 3, marks=pytest.mark.nightly),
        *(pytest.param(seed, 70, 3, marks=pytest.mark.deep) for seed in range(2, 7)),
    ],
)
def test_random_expressions(spark: Any, seed: int, count: int, least: int) -> None:
    garden = Garden(seed)
    expressions = garden.roots(least, count)
    compare(spark, expressions, garden.rows(200))
    assert all(garden.used[name] >= least for name in FUNCTIONS)


def test_signs_of_long_decimals(spark: Any) -> None:
    """Spark's own `negative` and `abs` round to 34 digits."""
    long, large = Decimal("12345678901234567.123456789012345678"), Decimal("99999999999999999999.5")
    below = long.copy_negate()  # a minus sign would round to 28 digits
    frame = spark.createDataFrame([(long,), (below,), (large.copy_negate(),)], "d decimal(38,18)")
    number = Column(Attribute("d", Type.DECIMAL))
    shown = [lower(call(name, number), lambda a: F.col(a.name), tag) for name in ("NEG", "ABS")]
    found = [tuple(row) for row in frame.select(*shown).collect()]
    assert found == [(below, long), (long, long), (large, large)]


def test_calls_that_the_optimizer_would_merge(spark: Any) -> None:
    """Spark folds (n + 1) + -1 to n, and LOWER(UPPER(x)) to LOWER(x)."""
    half = 2**62
    frame = spark.createDataFrame([(half, half, -half, "straße")], "a long, b long, c long, s string")
    a, b, c = (Column(Attribute(name, Type.INTEGER)) for name in "abc")
    up, down = (Constant(n, Type.INTEGER) for n in (half, -half))
    text = Column(Attribute("s", Type.STRING))
    cases = {
        call("+", call("+", a, up), down): None,
        call("+", call("+", a, b), c): None,
        call("+", a, call("+", b, c)): half,
        call("*", call("*", a, up), Constant(0, Type.INTEGER)): None,
        call("LOWER", call("UPPER", text)): "strasse",
        call("UPPER", call("LOWER", text)): "STRASSE",
    }
    shown = [lower(expression, column, tag) for expression in cases]
    assert tuple(frame.repartition(1).select(*shown).first()) == tuple(cases.values())


def scalars(spark: Any, columns: list[Any]) -> list[Value]:
    return list(spark.range(1).select(*(c.alias(f"c{n}") for n, c in enumerate(columns))).collect()[0])


def test_literals_of_every_type(spark: Any) -> None:
    values = [(n, Type.INTEGER) for n in (0, -1, 2**63 - 1, -(2**63))]
    values += [(x, Type.FLOAT) for x in (0.1, -1.7976931348623157e308, 5e-324)]
    values += [("a'b\\", Type.STRING), (True, Type.BOOLEAN), (5, Type.TIME)]
    values += [(None, kind) for kind in DECLARABLE]
    assert scalars(spark, [literal(value, kind) for value, kind in values]) == [value for value, _ in values]
    kept, refused = Decimal("1234567890123456789.000000000000000001"), Decimal("1E-19")
    assert scalars(spark, [literal(kept, Type.DECIMAL)]) == [kept]
    with pytest.raises(Unsupported):
        literal(refused, Type.DECIMAL)


def test_tags_and_predicates(spark: Any) -> None:
    unknown, tick = Constant(None, Type.BOOLEAN), Tag("tick")
    late = call(">", tick, Constant(3, Type.INTEGER))
    frame = spark.createDataFrame([(3,), (4,)], "tick long")
    rows = frame.select(holds(late, column, tag).alias("late"), holds(unknown, column, tag).alias("unknown")).collect()
    assert [tuple(row) for row in rows] == [(False, False), (True, False)]


def test_values_of_a_source(spark: Any) -> None:
    frame = spark.createDataFrame([(float("nan"),), (-0.0,), (1.5,), (None,)], "x double")
    found = [row[0] for row in frame.select(clean_source_value(F.col("x"), Type.FLOAT)).collect()]
    assert [None if x is None else (x, math.copysign(1, x)) for x in found] == [None, (0.0, 1), (1.5, 1), None]
    frame = spark.createDataFrame([(float("inf"),)], "x double")
    with pytest.raises(PySparkException, match="TRANSOM_INFINITE_FLOAT"):
        frame.select(clean_source_value(F.col("x"), Type.FLOAT)).collect()


def test_a_long_sum_stays_short() -> None:
    """An operand is named once by what people nest deeply, so that the plan does not double with every level."""
    terms = functools.reduce(lambda left, right: call("+", left, right), [Column(SCHEMA.attributes[4])] * 60)
    assert len(str(lower(terms, column, tag))) < 20_000


DATES = ["2024-02-29", "20240229", "2023-02-29", "0000-01-01", "0001-01-01", "9999-12-31", "2024-13-01", "2024-1-1"]
CLOCKS = ["", "T10", " 10:11", "T10:11:12", "T101112", "T10:11:12.5", "T10:11:12,1234567", "T24:00", "T10:60", "T1:00"]
OFFSETS = ["", "Z", "+05:30", "-0530", "+23:59:59.5", "+24:00", "-01", "+5", "+0530:10", "+05:75", "-00:00", "\u00a0"]


def test_instants_in_text(spark: Any) -> None:
    texts = [
        f" {date}{clock}{offset}\n" for date in DATES for clock in CLOCKS for offset in OFFSETS if clock or not offset
    ]
    frame = spark.createDataFrame(list(enumerate(texts)), "n long, s string")
    found = frame.select("n", F.unix_micros(read_text(F.col("s"), Type.TIMESTAMP)).alias("v")).collect()
    given = {texts[row["n"]]: row["v"] for row in found}
    wrong = []
    for text in texts:
        instant = cast(text, Type.TIMESTAMP)
        expected = micros(instant) if isinstance(instant, datetime) else None
        if given[text] != expected:
            wrong.append((text, expected, given[text]))
    assert not wrong, wrong[:20]


def test_floats_as_decimals(spark: Any) -> None:
    """Digits of floats of every size, powers of two and halfway cases among them."""
    rng = random.Random(4)
    floats = [2.0**n for n in range(-130, 93)] + [
        rng.randrange(2**50, 2**53) + rng.randrange(8) / 8 for _ in range(300)
    ]
    floats += [rng.uniform(1, 10) * 10.0 ** rng.randrange(-30, 27) for _ in range(1500)]
    floats += [float(f"{rng.randrange(10 ** rng.randrange(1, 17))}e{rng.randrange(-20, 12)}") for _ in range(1500)]
    frame = spark.createDataFrame([(n, x) for n, x in enumerate(floats) if x < LIMIT], "n long, x double")
    wrong = [
        (floats[row["n"]], row["t"])
        for row in frame.select("n", printed_digits(F.col("x")).alias("t")).collect()
        if Decimal(row["t"]) != Decimal(repr(floats[row["n"]]))
    ]
    assert not wrong, wrong[:20]


def test_letters_change_case_as_in_python(spark: Any) -> None:
    """All letters of the Unicode that this Python knows."""
    letters = [chr(n) for n in range(1, 0x1F000) if chr(n).isalpha() and chr(n).upper() != chr(n).lower()]
    frame = spark.createDataFrame(list(enumerate(letters)), "n long, s string")
    rows = frame.select("n", F.upper("s").alias("u"), F.lower("s").alias("l")).collect()
    differing = [
        letters[row["n"]]
        for row in rows
        if (row["u"], row["l"]) != (letters[row["n"]].upper(), letters[row["n"]].lower())
    ]
    assert not differing


def test_like_with_several_gaps(spark: Any) -> None:
    from pyspark.sql import functions as F

    from transom.reference.functions import _like as expected
    from transom.spark.expressions.functions import _like

    draw = random.Random(4)

    def drawn(signs: str) -> str:
        return "".join(draw.choice(signs) for _ in range(draw.randrange(9)))

    pairs = [(drawn("ab\n.%_\\é😀$"), drawn("ab%%%_.\\é😀$\n")) for _ in range(3000)]
    frame = spark.createDataFrame([*pairs, ("a" * 60, "%a" * 20 + "%b")], "t string, p string")
    rows = frame.select("t", "p", _like(F.col("t"), F.col("p")).alias("found")).collect()
    assert [row for row in rows if row.found != expected(row.t, row.p)] == []
    assert sum(row.found for row in rows) > 100
    slow = _like(F.lit("a" * 60), F.lit("%a" * 20 + "%b"))
    assert spark.range(1).select(slow).first()[0] is False
