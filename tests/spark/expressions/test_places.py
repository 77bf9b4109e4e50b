"""Functions on places, regions and tracks on Spark have the values of the reference engine, to the last bit."""

from __future__ import annotations

import math
import random
from types import SimpleNamespace
from typing import Any

import pytest

from tests.model.polygons import places, samples
from tests.model.steps import EVERY
from transom.algebra.expressions.expression import Call, Case, Column, Constant, Expression, InRegion, call
from transom.algebra.expressions.functions import SPACE_FUNCTIONS
from transom.algebra.expressions.tracks import TrackAggregate, TrackFunction
from transom.errors import PlanError
from transom.model.bag import Row
from transom.model.geometry.grid import BORDER
from transom.model.geometry.space import MICROMETRES, Position, step_length
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Line, Point, Type, Value
from transom.reference.expressions import RowContext, evaluate_expression
from transom.reference.tracks import evaluate_track
from transom.spark.columns import TICK_NUMBER

pytest.importorskip("pyspark")

from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from transom.runtime.results import results
from transom.runtime.results import rows as answers
from transom.spark.expressions.lower import lower
from transom.spark.expressions.regions import grid_code, is_rectangle
from transom.spark.expressions.spatial import SPACE_LOWERINGS, make_point
from transom.spark.expressions.tracks import lower_track
from transom.spark.expressions.types import spark_type
from transom.spark.result import result

pytestmark = pytest.mark.spark

FLOATS, WHOLES = ("ax", "ay", "bx", "by"), ("t", "u", "m")
SCHEMA = Schema(
    tuple(Attribute(name, Type.FLOAT) for name in FLOATS) + tuple(Attribute(n, Type.INTEGER) for n in WHOLES)
)
COLUMNS = {attribute.name: Column(attribute) for attribute in SCHEMA}
TABLE = StructType([StructField(a.name, spark_type(a.type)) for a in SCHEMA])
A, B = call("POINT", COLUMNS["ax"], COLUMNS["ay"]), call("POINT", COLUMNS["bx"], COLUMNS["by"])
WAYS = (("true", "true"), ("false", "false"))
"""ANSI mode, and whether Spark writes code for a whole stage."""


def column(attribute: Attribute) -> Any:
    return F.col(attribute.name)


def tag(name: str) -> Any:
    return F.col(name)


def number(constant: int) -> Constant:
    return Constant(constant, Type.INTEGER)


def coordinate(rng: random.Random) -> float | None:
    """A coordinate of the plane of any size, many of them alike."""
    kind = rng.random()
    if kind < 0.04:
        return None
    if kind < 0.3:
        return float(rng.randrange(-4, 5))
    if kind < 0.5:
        return rng.uniform(-1e4, 1e4)
    if kind < 0.6:
        return rng.choice((1.7976931348623157e308, -1.7e308, 1e200, 5e-324, -1e-300, 0.5, 1e-7, 1e16, 123456789.125))
    return rng.choice((-1, 1)) * 10.0 ** rng.uniform(-12, 20)


def planar_rows(seed: int, count: int) -> list[Row]:
    rng = random.Random(seed)
    rows: list[Row] = []
    for _ in range(count):
        a = (coordinate(rng), coordinate(rng))
        b = a if rng.random() < 0.1 else (coordinate(rng), coordinate(rng))
        if None not in (*a, *b) and rng.random() < 0.2:  # just about half a micrometre, up and down
            b = (a[0] + (rng.randrange(9) + 0.5) * 1e-6, a[1])  # type: ignore[operator]
        rows.append((*a, *b, *whole_numbers(rng, a, b, Position("x", "y"))))
    return rows


def globe_rows(seed: int, count: int) -> list[Row]:
    rng = random.Random(seed)
    rows: list[Row] = []
    position = Position("lon", "lat", geodesic=True)
    for place in range(count):
        ends: list[float | None] = list(list(EVERY.values())[place % len(EVERY)](rng))
        if rng.random() < 0.1:
            ends[2:] = ends[:2]
        if rng.random() < 0.1:
            ends[rng.randrange(4)] = rng.choice((None, 90.0, -90.0, 180.0, -180.0, 360.0, 361.0, 90.5, -1e300))
        rows.append((*ends, *whole_numbers(rng, ends[:2], ends[2:], position)))
    return rows


def whole_numbers(rng: random.Random, a: Any, b: Any, position: Position) -> tuple[int | None, ...]:
    """Two ticks, and a distance near the one of two places."""
    if rng.random() < 0.1:
        return rng.choice((None, 2**63 - 1)), rng.choice((None, -(2**63), 2**63 - 1)), None
    t = rng.randrange(1000)
    here, there = position.point(*a), position.point(*b)
    way = 0 if here is None or there is None else step_length(position, here, there)
    return t, t + rng.choice((0, 1, -1, 7, 10**6)), way + rng.choice((-1, 0, 0, 1, 10**9))


def alike(expression: Expression, expected: Value, given: Value) -> bool:
    if type(expected) is not type(given):
        return False
    if isinstance(expected, float) and isinstance(given, float):
        heading = isinstance(expression, Call) and expression.function.name == "HEADING"
        if heading and expression.arguments[2] != number(0):  # on the globe, both engines run the same code
            return abs(math.remainder(expected - given, 360.0)) < 1e-11
        return expected == given and math.copysign(1, expected) == math.copysign(1, given)
    return expected == given


def compare(spark: Any, expressions: list[Expression], rows: list[Row]) -> None:
    session = spark.newSession()
    frame = session.createDataFrame(
        [(*row, n) for n, row in enumerate(rows)], StructType([*TABLE, StructField("n", spark_type(Type.INTEGER))])
    )
    expected = [[evaluate_expression(e, RowContext(SCHEMA, row)) for e in expressions] for row in rows]
    columns = [lower(e, column, tag).alias(f"c{place}") for place, e in enumerate(expressions)]
    wrong: list[str] = []
    for ansi, written in WAYS:
        session.conf.set("spark.sql.ansi.enabled", ansi)
        session.conf.set("spark.sql.codegen.wholeStage", written)
        for found in frame.select("n", *columns).collect():
            for place, expression in enumerate(expressions):
                given = found[f"c{place}"]
                if expression.type is Type.POINT and given is not None:
                    given = Point(*given)
                want = expected[found["n"]][place]
                if not alike(expression, want, given):
                    wrong.append(f"ansi={ansi} {expression}: {want!r} expected, {given!r} given; {rows[found['n']]}")
    assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:: max(1, len(wrong) // 12)][:15])


def between(measure: int) -> list[Expression]:
    """Every function that measures, by one measure."""
    by = number(measure)
    middle = call("POINT", call("+", call("X", A), Constant(0.25, Type.FLOAT)), call("Y", B))
    either = Case(((call("<", COLUMNS["ax"], COLUMNS["bx"]), A),), B)
    return [
        call("DISTANCE", A, B, by),
        call("DISTANCE", middle, either, by),
        call("DISTANCE", A, Constant(Point(3.0, 4.5), Type.POINT), by),
        call("WITHIN", A, B, COLUMNS["m"], by),
        call("SPEED", A, COLUMNS["t"], B, COLUMNS["u"], by, number(1_000_000)),
        call("SPEED", A, COLUMNS["t"], middle, call("+", COLUMNS["t"], number(3)), by, number(86_400_000_000)),
        call("HEADING", A, B, by),
        call("HEADING", either, B, by),
    ]


def test_every_function_on_places_has_a_lowering() -> None:
    assert SPACE_LOWERINGS.keys() == SPACE_FUNCTIONS.keys()


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.deep) for seed in range(2, 6))])
def test_on_the_plane(spark: Any, seed: int) -> None:
    compare(spark, between(MICROMETRES["m"]) + between(MICROMETRES["mi"])[:1], planar_rows(seed, 2000))


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.deep) for seed in range(2, 6))])
def test_on_the_globe(spark: Any, seed: int) -> None:
    on_globe = call("POINT", COLUMNS["ax"], COLUMNS["ay"], number(0))
    compare(spark, [*between(0), on_globe, call("WKT", on_globe)], globe_rows(seed, 1500))


def test_places_and_their_text(spark: Any) -> None:
    line = call("POINT", COLUMNS["by"])
    parts = [A, line, call("X", A), call("Y", line), call("X", B)]
    rows = planar_rows(7, 1000) + globe_rows(7, 500)
    compare(spark, [*parts, Constant(None, Type.POINT), Constant(Point(-1.5, 0.0), Type.POINT)], rows)
    printed = [row for row in rows if all(x is None or x == 0 or 1e-21 < abs(x) < 1e15 for x in row[:4])]  # type: ignore[arg-type]
    assert len(printed) > 600
    compare(
        spark,
        [
            call("WKB", A),
            call("WKT", A),
            call("WKT", line),
            call("WKT", Case(((call("<", COLUMNS["ax"], COLUMNS["bx"]), A),), B)),
        ],
        printed,
    )


def test_a_measure_is_a_constant() -> None:
    with pytest.raises(PlanError, match="constant"):
        lower(call("DISTANCE", A, B, COLUMNS["m"]), column, tag)


@pytest.mark.nightly
def test_twenty_regions(spark: Any) -> None:
    """In and around each of them, on the borders, and full turns away."""
    found = samples()
    rng = random.Random("regions on Spark")
    tried: list[tuple[float | None, float | None]] = [
        (None, 1.0),
        (1.0, None),
        (None, None),
        (1e300, 3.0),
        (3.0, -1e300),
    ]
    for sample in found.values():
        tried += places(rng, sample, 120)
        if sample.region.geodesic:
            tried += [(x + rng.choice((-360.0, 360.0)), y) for x, y in places(rng, sample, 40)]
    rows = [(x, y, None, None, None, None, None) for x, y in tried]
    assert {name for name, sample in found.items() if is_rectangle(sample.region)} == {"box", "tenths"}
    compare(spark, [InRegion(A, sample.region) for sample in found.values()], rows)
    frame = spark.createDataFrame([(n, x, y) for n, (x, y) in enumerate(tried)], "n long, x double, y double")
    columns = [grid_code(sample.region, make_point(F.col("x"), F.col("y"))) for sample in found.values()]
    for row in frame.select("n", *columns).collect():
        x, y = tried[row["n"]]
        for place, sample in enumerate(found.values()):
            known = None if x is None or y is None else sample.region.certain(x, y)
            code = row[place + 1]
            assert (code is None) == (x is None or y is None), (x, y)
            assert code is None or known == (None if code[0] == BORDER else bool(code[0])), (sample.region.name, x, y)


def test_a_region_selects(spark: Any) -> None:
    """As a filter, and beside conditions, where Spark moves calls of Python about."""
    sea = samples()["sea with an island"].region
    rng = random.Random(3)
    tried = [(rng.uniform(115, 128), rng.uniform(24, 34)) for _ in range(500)]
    frame = spark.createDataFrame(tried, "ax double, ay double").withColumn("n", F.lit(1))
    inside = lower(InRegion(A, sea), column, tag)
    expected = sorted(place for place in tried if sea.covers(*place))
    assert 100 < len(expected) < 400
    assert sorted((row.ax, row.ay) for row in frame.where(inside).collect()) == expected
    counted = frame.where((F.col("n") == 1) & inside).groupBy((F.col("ax") > 122).alias("east")).count().collect()
    assert {r.east: r["count"] for r in counted} == {e: sum((x > 122) is e for x, _ in expected) for e in (True, False)}


ROWS = Schema((Attribute("x", Type.FLOAT), Attribute("y", Type.FLOAT), Attribute("t", Type.INTEGER)))
PLACE = call("POINT", Column(ROWS.attributes[0]), Column(ROWS.attributes[1]))


def tracks(position: Position) -> list[TrackAggregate]:
    """Every aggregate, by one measure."""
    made = []
    for function in TrackFunction:
        spans = (None, 60) if function is TrackFunction.AVGSPD else (None,)
        attribute = Attribute(function.value, function.result)
        tick = Column(ROWS.attributes[2])
        made += [
            TrackAggregate(function, PLACE, tick, position, attribute, span, tick_length=250_000) for span in spans
        ]
    return made


def groups(rng: random.Random, geodesic: bool, count: int) -> list[list[Row]]:
    """Groups of rows: none, one, many; with stops, equal ticks, and rows without a place."""
    made: list[list[Row]] = []
    for _ in range(count):
        size = rng.choice((0, 1, 1, 2, 3, 10, 40))
        x, y = (rng.uniform(-180, 180), rng.uniform(-90, 90)) if geodesic else (rng.uniform(-9, 9), rng.uniform(-9, 9))
        rows: list[Row] = []
        tick = rng.randrange(100)
        for _ in range(size):
            if rng.random() < 0.7:
                x, y = x + rng.uniform(-1, 1) * 10 ** rng.uniform(-6, 2), y + rng.uniform(-1, 1)
            tick += rng.choice((0, 0, 1, 5))
            rows.append((rng.choice((x, x, x, None)), y, tick))
        made.append(rows)
    if not geodesic:
        made.append([((-1.7e308, 1.7e308)[n % 2], 0.0, n) for n in range(1500)])  # more than 64 bits in all
    return made


@pytest.mark.parametrize(
    "position",
    [Position("x", "y"), Position("x", "y", unit=MICROMETRES["ft"]), Position("x", "y", geodesic=True)],
    ids=["metres", "feet", "globe"],
)
def test_tracks(spark: Any, position: Position) -> None:
    rng = random.Random(11)
    made = groups(rng, position.geodesic, 150)
    arrived = [(n, *row, place, True) for n, rows in enumerate(made) for place, row in enumerate(rows)]
    arrived += [(n, 1.0, 1.0, 10**9, 0, False) for n in range(len(made))]
    rng.shuffle(arrived)
    frame = spark.createDataFrame(arrived, "g long, x double, y double, t long, n long, p boolean")
    wanted = tracks(position)
    order = F.struct(F.col("n"), F.lit(0).alias("_"))
    row = F.struct(F.col("t").alias(TICK_NUMBER), order.alias("o"), lower(PLACE, column, tag).alias("place"))
    rows = F.collect_list(F.when(F.col("p"), row))
    columns = [lower_track(one, rows).alias(f"c{place}") for place, one in enumerate(wanted)]
    found = frame.groupBy("g").agg(F.count(F.lit(1)).alias("count"), *columns).collect()
    assert len(found) == len(made)
    for answer in found:
        for place, one in enumerate(wanted):
            given = answer[f"c{place}"]
            if given is not None and one.attribute.type is Type.POINT:
                given = Point(*given)
            if given is not None and one.attribute.type is Type.LINE:
                given = Line(Point(*p) for p in given)
            expected = evaluate_track(one, ROWS, made[answer["g"]])
            assert type(given) is type(expected), (one, given, expected)
            assert given == expected, (one, made[answer["g"]])


def test_answers_with_places(spark: Any) -> None:
    """Users see well-known text; a comparison sees places and lines again."""
    lines = [Line([Point(0.1, -2.0)]), Line([Point(1e-7, 1e20), Point(3.5, 4.0), Point(0.0, 1 / 3)]), None]
    spots = [Point(122.25, 29.1), None, Point(-1e-9, 5e6)]
    schema = Schema((Attribute("spot", Type.POINT), Attribute("way", Type.LINE), Attribute("n", Type.INTEGER)))
    kinds = StructType([StructField(f"c{place}", spark_type(a.type)) for place, a in enumerate(schema)])
    frame = spark.createDataFrame([(s, w and list(w), n) for n, (s, w) in enumerate(zip(spots, lines))], kinds)
    timed = frame.withColumn("tick", F.timestamp_micros(F.lit(0)))
    shown = result(SimpleNamespace(schema=schema), timed)  # type: ignore[arg-type]
    assert shown.columns == ["tick", "spot", "way", "n"]
    by_number = {row.n: (row.spot, row.way) for row in shown.collect()}
    for n, (spot, line) in enumerate(zip(spots, lines)):
        assert by_number[n] == (spot and str(spot), line and str(line))
    calendar = Calendar()
    rows = results.plain_frame(shown, schema, calendar).collect()
    found = answers.answer_from_rows(rows, schema, ("spot", "way", "n"), "tagged-tuples")
    again = sorted((element.row for element in found.elements), key=lambda row: row[2])  # type: ignore[arg-type,return-value]
    assert again == [(s, w, n) for n, (s, w) in enumerate(zip(spots, lines))]
    assert {type(row[1]) for row in again} == {Line, type(None)}
