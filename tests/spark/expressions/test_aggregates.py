"""Aggregates on Spark are those of the reference engine, however the rows are split into panes."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest

from transom.algebra.expressions.expression import Aggregate, AggregateFunction, Column
from transom.model.schema import Attribute, Schema
from transom.model.types import Type, Value
from transom.reference.expressions import aggregate

pytest.importorskip("pyspark")

from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, LongType, StructField, StructType

from transom.spark.expressions.aggregates import RANGE_ERROR, final, merge, partial
from transom.spark.expressions.types import spark_type

KINDS = (Type.INTEGER, Type.FLOAT, Type.DECIMAL, Type.STRING, Type.BOOLEAN)
SCHEMA = Schema(tuple(Attribute(kind.value, kind) for kind in KINDS))
KEYS = [StructField("g", LongType()), StructField("pane", LongType()), StructField("here", BooleanType())]
TABLE = StructType(KEYS + [StructField(a.name, spark_type(a.type)) for a in SCHEMA])


def aggregates() -> list[Aggregate]:
    found = [Aggregate(AggregateFunction.COUNT, None, Attribute("rows", Type.INTEGER))]
    for attribute in SCHEMA:
        for function in AggregateFunction:
            kind = function.result(attribute.type)
            if kind is not None:
                found.append(
                    Aggregate(function, Column(attribute), Attribute(f"{function.value}_{attribute.name}", kind))
                )
    return found


ALL = aggregates()


def number(rng: random.Random, group: int) -> float:
    """A float; each group has its own mixture, from prices to awkward digits."""
    drawn = [
        lambda: rng.randrange(-(10**6), 10**6) / 100,
        lambda: rng.randrange(-(10**14), 10**14) / 1000,
        lambda: rng.gauss(0, 1e3),
        lambda: rng.choice([0.1, 0.2, 0.3, -0.3, 0.0, 1e10, -1e10, 1e15, 8.2411496521413e18, 2.0**-24, -(2.0**-44)]),
        lambda: rng.uniform(1, 9) * 10.0 ** rng.randrange(-20, 14) * rng.choice([1, -1]),
        lambda: float(f"{rng.randrange(1, 10**17)}e{rng.randrange(-20, -3)}"),
        lambda: 2.0 ** rng.randrange(-69, 50) * rng.choice([1, -1]),
        lambda: float(f"{rng.randrange(10**15)}e{rng.randrange(0, 10)}"),
    ]
    return rng.choice(drawn[: 1 + group % len(drawn)])() + 0.0


def values(rng: random.Random, group: int) -> tuple[Value, ...]:
    row: list[Value] = [
        rng.choice([rng.randint(-99, 99), rng.randint(-(2**63), 2**63 - 1)] if group % 2 else [rng.randint(-99, 99)]),
        number(rng, group),
        Decimal(rng.randint(-(10**12), 10**12)).scaleb(-rng.randrange(0, 9)),
        rng.choice(["", "a", "b", "é", "日", "😀", "Z"]),
        rng.random() < 0.5,
    ]
    return tuple(None if rng.random() < 0.1 else value for value in row)


def finals(approximate: bool) -> list[Any]:
    return [final(a, a.attribute.name, approximate).alias(a.attribute.name) for a in ALL]


def partials(approximate: bool, present: Any = None) -> list[Any]:
    return [
        part
        for a in ALL
        for part in partial(
            a, None if a.argument is None else F.col(str(a.argument)), a.attribute.name, present, approximate
        )
    ]


def plain(value: Any) -> Value:
    return value.normalize() + 0 if isinstance(value, Decimal) else value


@pytest.fixture(scope="module")
def rows() -> list[tuple[Any, ...]]:
    rng = random.Random(11)
    made: list[tuple[Any, ...]] = []
    for group in range(48):
        for _ in range(rng.choice([1, 2, 3, 30, 200])):
            made.append((group, rng.randrange(5), rng.random() < 0.8, *values(rng, group)))
    return made


@pytest.mark.nightly
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_one_level_and_two_levels_are_exact(spark: Any, rows: list[tuple[Any, ...]], ansi: str) -> None:
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    frame = spark.createDataFrame(rows, TABLE)
    merges = [part for a in ALL for part in merge(a, a.attribute.name, False)]
    once = frame.groupBy("g").agg(*partials(False)).select("g", *finals(False))
    twice = frame.groupBy("g", "pane").agg(*partials(False)).groupBy("g").agg(*merges).select("g", *finals(False))
    present = frame.groupBy("g").agg(*partials(False, F.col("here"))).select("g", *finals(False))
    for answers, only_here in ((once, False), (twice, False), (present, True)):
        found = {row["g"]: row for row in answers.collect()}
        for group in {row[0] for row in rows}:
            own = [row[3:] for row in rows if row[0] == group and (row[2] or not only_here)]
            for a in ALL:
                expected, given = plain(aggregate(a, SCHEMA, own)), plain(found[group][a.attribute.name])
                assert (type(given), given) == (type(expected), expected), (a, group, only_here)


AWKWARD_MEANS: dict[str, list[tuple[list[Any], float]]] = {
    "AVG_float": [
        ([0.1, 0.2, 0.3], 0.2),
        ([1e-21, 1e-21, 2e-21], 4e-21 / 3),
        ([1e16, 1.0, 1.0], 3333333333333334.0),
        ([-1.1, 0.1, 1.0], 0.0),
    ],
    "AVG_integer": [([2**54 + 1, 2**54 + 3, 1], 12009599006321324.0), ([-(2**63)] * 3, -(2.0**63)), ([1, 2, 2], 5 / 3)],
    "AVG_decimal": [([Decimal("0.1"), Decimal("0.2"), Decimal("0.3")], 0.2), ([Decimal("-0.1"), Decimal(0)], -0.05)],
}


def test_average_is_rounded_once(spark: Any) -> None:
    for name, cases in AWKWARD_MEANS.items():
        (mean,) = [a for a in ALL if a.attribute.name == name]
        place = [a.name for a in SCHEMA].index(str(mean.argument))
        table = []
        for group, (numbers, expected) in enumerate(cases):
            padded = [tuple(number if at == place else None for at in range(len(SCHEMA))) for number in numbers]
            assert aggregate(mean, SCHEMA, padded) == expected
            table += [(group, 0, True, *row) for row in padded]
        parts = partial(mean, F.col(str(mean.argument)), "m", None, False)
        answers = spark.createDataFrame(table, TABLE).groupBy("g").agg(*parts).select("g", final(mean, "m", False))
        assert dict(map(tuple, answers.collect())) == {group: mean for group, (_, mean) in enumerate(cases)}, name


def test_nothing_gives_null_or_zero(spark: Any) -> None:
    frame = spark.createDataFrame([], TABLE)
    merges = [part for a in ALL for part in merge(a, a.attribute.name, False)]
    for answers in (frame.agg(*partials(False)), frame.groupBy("g").agg(*partials(False)).agg(*merges)):
        (row,) = answers.select(*finals(False)).collect()
        assert [row[a.attribute.name] for a in ALL] == [aggregate(a, SCHEMA, []) for a in ALL]


@pytest.mark.parametrize("number", [1e25, -1e300, 1e-22, 5e-324])
def test_a_float_beyond_the_range_is_named(spark: Any, number: float) -> None:
    (total,) = [a for a in ALL if a.attribute.name == "SUM_float"]
    frame = spark.createDataFrame([(1, 1, True, None, number, None, None, None)], TABLE)
    with pytest.raises(PySparkException, match=RANGE_ERROR):
        frame.agg(*partial(total, F.col("float"), "s", None, False)).select(final(total, "s", False)).collect()
    rows = frame.agg(*partial(total, F.col("float"), "s", None, True)).select(final(total, "s", True)).collect()
    assert [tuple(row) for row in rows] == [(number,)]


def test_large_floats_with_many_digits_are_close(spark: Any) -> None:
    """From 2**50 on, with more than 15 digits, Java before 19 prints some floats with another last digit."""
    rng = random.Random(3)
    (total,) = [a for a in ALL if a.attribute.name == "SUM_float"]
    numbers = [rng.uniform(1, 10) * 10.0 ** rng.randrange(15, 24) for _ in range(500)]
    frame = spark.createDataFrame([(n, 1, True, None, x, None, None, None) for n, x in enumerate(numbers)], TABLE)
    sums = frame.groupBy("g").agg(*partial(total, F.col("float"), "s", None, False))
    assert {row["g"]: row["v"] for row in sums.select("g", final(total, "s", False).alias("v")).collect()} == dict(
        enumerate(numbers)
    )


def test_approximate_sums_are_close(spark: Any, rows: list[tuple[Any, ...]]) -> None:
    (total,) = [a for a in ALL if a.attribute.name == "SUM_float"]
    (mean,) = [a for a in ALL if a.attribute.name == "AVG_float"]
    few = [row for row in rows if row[0] % 8 < 3]
    frame = spark.createDataFrame(few, TABLE)
    answers = frame.groupBy("g").agg(*partials(True)).select("g", *finals(True)).collect()
    for row in answers:
        own = [r[3:] for r in few if r[0] == row["g"]]
        for a in (total, mean):
            expected = aggregate(a, SCHEMA, own)
            assert row[a.attribute.name] == (None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-6))
