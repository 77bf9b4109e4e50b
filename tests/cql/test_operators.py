"""Operators of CQL on inputs so small that their answers can be seen: tables, first tuples, jumps, tracks, places."""

from __future__ import annotations

from dataclasses import replace

import pytest
import shapely

from transom.algebra.cql_windows import last_rows_window, recent_window, region_window, table_window
from transom.algebra.expressions.expression import TRUE, Column, Constant, Expression, InRegion, call
from transom.algebra.expressions.tracks import TrackAggregate, TrackFunction
from transom.algebra.operator import Operator, Stream, Windows
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    RelationUnion,
    TrackAggregation,
    WindowDistinct,
    WindowMerge,
    WindowSelect,
    WindowTopK,
)
from transom.algebra.sources import StoredTable, StreamReceive
from transom.algebra.streams import DStream, IStream, Renumber, RStream, SpeedLimit
from transom.algebra.windows import Coordinate, Every
from transom.errors import PlanError, TypeProblem
from transom.model.bag import Element, TableVersion
from transom.model.geometry.shapes import from_wkt
from transom.model.geometry.space import Position, Speed
from transom.model.schema import Attribute, Schema
from transom.model.types import Line, Point, Type, Value
from transom.reference.evaluate import evaluate_stream, evaluate_window
from transom.reference.expressions import EvaluationContext, evaluate_expression
from transom.reference.sources import Inputs

ID, X, Y = Attribute("id", Type.STRING, "s"), Attribute("x", Type.FLOAT, "s"), Attribute("y", Type.FLOAT, "s")
TICK = Attribute("tick", Type.INTEGER, "s")
SHIPS = StreamReceive("s", Schema((ID, X, Y)))
NAMES = StoredTable("t", Schema((Attribute("id", Type.STRING, "t"), Attribute("name", Type.STRING, "t"))))
METRE = 1_000_000
PLACE = Position("x", "y", unit=METRE)
POINT = call("POINT", Column(X), Column(Y))
ZONE = from_wkt("zone", "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))")
SAME = call("=", Column(ID), Column(NAMES.schema.attributes[0]))


def rows(*given: tuple[int, str, float | None, float | None]) -> list[Element]:
    """Ships: tick, who, where."""
    return [Element(t, i, (who, x, y)) for i, (t, who, x, y) in enumerate(given, start=1)]


def bags(plan: Windows, inputs: Inputs) -> list[tuple[int, list[tuple[Value, ...]]]]:
    """The windows of a plan."""
    return [(w.tick, list(w.rows)) for w in evaluate_window(plan, inputs)]


def test_a_table_is_there_from_the_start_and_whenever_it_changes() -> None:
    versions = [TableVersion(2, (("a", "ann"),)), TableVersion(4, (("a", "ann"),)), TableVersion(5, ())]
    given = Inputs(6, {}, {"t": versions})
    assert bags(table_window(NAMES), given) == [(0, []), (2, [("a", "ann")]), (5, [])]


def test_a_stream_joined_with_a_table_follows_both() -> None:
    given = Inputs(
        5, {"s": rows((1, "a", 0, 0), (2, "b", 0, 0))}, {"t": [TableVersion(0, (("a", "ann"),)), TableVersion(3, ())]}
    )
    joined = RelationJoin(last_rows_window(SHIPS, 1), table_window(NAMES), SAME)
    came = [(e.tick, e.row[0]) for e in evaluate_stream(IStream(joined), given)]
    went = [(e.tick, e.row[0]) for e in evaluate_stream(DStream(joined), given)]
    assert (came, went) == ([(1, "a")], [(2, "a")])
    alone = RelationJoin(last_rows_window(SHIPS, 1), table_window(NAMES), SAME, JoinType.LEFT)
    assert [(t, [row[3:] for row in held]) for t, held in bags(alone, given)] == [
        (0, []), (1, [("a", "ann")]), (2, [(None, None)]), (3, [(None, None)]),
    ]  # fmt: skip


def test_not_in_is_unknown_where_a_null_is_among_the_values() -> None:
    given = Inputs(1, {"s": rows((1, "a", 0, 0))}, {"t": [TableVersion(0, (("b", "x"), (None, "y")))]})
    unknown = call("OR", SAME, call("IS NULL", SAME))
    assert bags(RelationJoin(recent_window(SHIPS, 5), table_window(NAMES), unknown, JoinType.ANTI), given)[-1] == (
        1,
        [],
    )
    assert bags(RelationJoin(recent_window(SHIPS, 5), table_window(NAMES), SAME, JoinType.ANTI), given)[-1] == (
        1,
        [("a", 0, 0)],
    )


def test_the_nearest_of_all_objects() -> None:
    given = Inputs(2, {"s": rows((1, "a", 9, 0), (1, "b", 3, 4), (1, "c", None, 0), (2, "a", 1, 0))})
    here = Constant(Point(0.0, 0.0), Type.POINT)
    far = call("DISTANCE", POINT, here, Constant(METRE, Type.INTEGER))
    last = WindowMerge(last_rows_window(SHIPS, 1, key=(ID,)))
    nearest = WindowTopK(last, (), far, 1)
    assert [(t, [row[0] for row in held]) for t, held in bags(nearest, given)] == [(1, ["b"]), (2, ["a"])]
    assert len(bags(WindowTopK(last, (), far, 9), given)[0][1]) == 2
    each = WindowTopK(recent_window(SHIPS, 5), (Column(ID),), far, 1)
    assert [row[:2] for row in bags(each, given)[-1][1]] == [("a", 1), ("b", 3)]


def test_entering_and_leaving_a_region() -> None:
    ways = rows((1, "a", 5, 5), (2, "b", 20, 5), (3, "a", 6, 6), (4, "b", 10, 5), (5, "a", 11, 6), (5, "b", 3, 3))
    given = Inputs(6, {"s": ways})
    there = WindowSelect(last_rows_window(SHIPS, 1, key=(ID,)), InRegion(POINT, ZONE))
    came = [(e.tick, e.row[0]) for e in evaluate_stream(IStream(there), given)]
    went = [(e.tick, e.row[0]) for e in evaluate_stream(DStream(there), given)]
    assert came == [(1, "a"), (3, "a"), (4, "b"), (5, "b")]
    assert went == [(3, "a"), (5, "a"), (5, "b")]


def test_jumps_are_rejected_and_counted() -> None:
    told: list[tuple[Operator, int]] = []
    ways = rows((0, "a", 0, 0), (1, "a", 500, 0), (2, "a", 10, 0), (2, "a", 21, 0), (2, "b", 900, 0), (3, "a", None, 0))
    given = Inputs(3, {"s": ways}, on_rejected=lambda op, _, bad: told.append((op, len(bad))))
    plan = SpeedLimit(SHIPS, PLACE, Speed(10 * METRE, 1), (ID,))
    assert [(e.index, e.row[1]) for e in evaluate_stream(plan, given)] == [(1, 0), (3, 10), (5, 900), (6, None)]
    assert told == [(plan, 2)]
    with pytest.raises(PlanError, match="without gaps"):
        last_rows_window(plan, 2)
    assert [len(held) for _, held in bags(last_rows_window(Renumber(plan), 2), given)] == [1, 2, 2]
    with pytest.raises(PlanError, match="speed"):
        SpeedLimit(SHIPS, PLACE, Speed(1, 0))


def track(function: TrackFunction, **options: int) -> TrackAggregation:
    """One track over the last minute."""
    column = Attribute("it", function.result)
    return TrackAggregation(
        recent_window(SHIPS, 60, 60, tags=(TICK,)),
        (),
        (TrackAggregate(function, POINT, Column(TICK), PLACE, column, **options),),
    )


def test_tracks() -> None:
    ways = rows((0, "a", 0, 0), (10, "a", 3, 4), (10, "a", 3, 10), (20, "a", None, 1), (50, "a", 11, 16))
    given = Inputs(180, {"s": ways})
    line = Line((Point(0, 0), Point(3, 4), Point(3, 10), Point(11, 16)))
    for function, wanted in (
        (TrackFunction.PATHLENGTH, [0.0, 21.0, None, None]),
        (TrackFunction.AVGSPD, [None, 21 / 50 * 3.6, None, None]),
        (TrackFunction.TRAJECTORY, [Line((Point(0, 0),)), line, None, None]),
        (TrackFunction.PLACE, [Point(0, 0), Point(11, 16), None, None]),
    ):
        assert [held[0][0] for _, held in bags(track(function), given)] == wanted
    over_a_minute = bags(track(TrackFunction.AVGSPD, span=60), given)
    assert [held[0][0] for _, held in over_a_minute] == [0.0, 1.26, None, None]
    half_seconds = bags(track(TrackFunction.AVGSPD, span=60, tick_length=500_000), given)
    assert half_seconds[1][1] == [(2.52,)]


def test_geometries_are_written_as_others_read_them() -> None:
    assert str(Point(121.0, 26.5)) == "POINT (121 26.5)"
    assert str(Point(1e-7, -1e22)) == "POINT (0.0000001 -10000000000000000000000)"
    assert str(Line((Point(0, 0), Point(3, 4.25)))) == "LINESTRING (0 0, 3 4.25)"
    assert str(Line((Point(0, 0),))) == "POINT (0 0)"


def of(expression: Expression) -> Value:
    """The value of an expression that reads nothing."""
    return evaluate_expression(expression, EvaluationContext())


def point(x: float | None, y: float) -> Expression:
    return call("POINT", Constant(x, Type.FLOAT), Constant(y, Type.FLOAT))


def number(n: int) -> Constant:
    return Constant(n, Type.INTEGER)


def test_functions_on_places() -> None:
    here, there = point(0.0, 0.0), point(3.0, 4.0)
    metres = number(METRE)
    assert of(call("DISTANCE", here, there, metres)) == 5.0
    assert of(call("DISTANCE", here, there, number(1000 * METRE))) == 5000.0
    assert of(call("DISTANCE", here, point(None, 1.0), metres)) is None
    assert of(call("WITHIN", here, there, number(5 * METRE), metres)) is True
    assert of(call("WITHIN", here, there, number(5 * METRE - 1), metres)) is False
    assert of(call("SPEED", here, number(10), there, number(20), metres, metres)) == 1.8
    assert of(call("SPEED", here, number(10), there, number(10), metres, metres)) is None
    assert of(call("HEADING", here, point(1.0, 1.0), metres)) == pytest.approx(45)
    assert of(call("HEADING", here, point(-1.0, 0.0), metres)) == pytest.approx(270)
    assert of(call("HEADING", here, here, metres)) is None
    assert of(call("HEADING", point(179.5, 0.0), point(-179.5, 0.0), number(0))) == pytest.approx(90)
    assert of(call("HEADING", point(0.0, 0.0), point(179.4, 0.2), number(0))) == pytest.approx(43.235182, abs=1e-6)
    assert of(call("HEADING", point(-180.0, 1.0), point(180.0, 1.0), number(0))) is None
    assert of(call("X", there)) == 3.0
    assert of(call("Y", there)) == 4.0
    assert of(call("WKT", there)) == "POINT (3 4)"
    assert of(call("WKB", there)) == shapely.Point(3, 4).wkb_hex
    assert of(call("WKB", point(None, 1.0))) is None
    line = Line((Point(0.0, -0.0), Point(3.0, 4.5)))
    assert of(call("WKB", Constant(line, Type.LINE))) == shapely.LineString([(0, 0), (3, 4.5)]).wkb_hex
    assert of(call("WKB", Constant(Line((Point(3.0, 4.0),)), Type.LINE))) == shapely.Point(3, 4).wkb_hex
    assert of(call("POINT", Constant(7.0, Type.FLOAT))) == Point(7.0, 0.0)
    degree = of(call("DISTANCE", here, point(0.0, 1.0), number(0)))
    assert degree == pytest.approx(110_574.3885578, abs=1e-6)
    assert of(InRegion(point(10.0, 5.0), ZONE)) is True
    assert of(InRegion(point(10.1, 5.0), ZONE)) is False
    assert of(InRegion(point(None, 5.0), ZONE)) is None
    with pytest.raises(TypeProblem):
        InRegion(number(1), ZONE)


BUILD = {
    "sets of other types": lambda: RelationUnion(recent_window(SHIPS, 1), table_window(NAMES)),
    "first none": lambda: WindowTopK(recent_window(SHIPS, 1), (), Column(X), 0),
    "no track": lambda: TrackAggregation(recent_window(SHIPS, 1), (), ()),
    "a track through no column": lambda: TrackAggregation(
        table_window(NAMES),
        (),
        (TrackAggregate(TrackFunction.PLACE, POINT, number(1), PLACE, Attribute("p", Type.POINT)),),
    ),
    "a track of numbers": lambda: TrackAggregate(
        TrackFunction.PLACE, Column(X), Column(TICK), PLACE, Attribute("p", Type.POINT)
    ),
    "a way over a span": lambda: TrackAggregate(
        TrackFunction.PATHLENGTH, POINT, Column(TICK), PLACE, Attribute("p", Type.FLOAT), 5
    ),
    "a line as a number": lambda: TrackAggregate(
        TrackFunction.TRAJECTORY, POINT, Column(TICK), PLACE, Attribute("p", Type.FLOAT)
    ),
    "a join by nothing there": lambda: RelationJoin(recent_window(SHIPS, 1), recent_window(SHIPS, 2), TRUE),
    "degrees in metres": lambda: region_window(SHIPS, Position("x", "y", geodesic=True), ZONE),
    "a place in no column": lambda: region_window(SHIPS, Position("lon", "lat"), ZONE),
    "a place in words": lambda: region_window(SHIPS, Position("id", None), ZONE),
    "a table with tags": lambda: replace(table_window(NAMES), tags=(TICK,)),
    "a table by keys": lambda: replace(table_window(NAMES), key=(NAMES.schema.attributes[0],)),
    "a table with places": lambda: replace(table_window(NAMES), position=PLACE),
    "a table by rows": lambda: replace(table_window(NAMES), slide=Every(Coordinate.INDEX, 1)),
}


@pytest.mark.parametrize("build", BUILD.values(), ids=BUILD.keys())
def test_what_means_nothing_cannot_be_built(build: object) -> None:
    with pytest.raises(PlanError):
        build()  # type: ignore[operator]


def test_distinct_keeps_null_and_order() -> None:
    given = Inputs(3, {"s": rows((1, "b", None, 0), (2, "a", 1, 0), (3, "b", None, 0))})
    assert bags(WindowDistinct(recent_window(SHIPS, 9, 3)), given)[-1] == (3, [("b", None, 0), ("a", 1, 0)])


def test_rejected_rows_need_nobody_to_listen() -> None:
    plan: Stream = RStream(recent_window(SpeedLimit(SHIPS, PLACE, Speed(METRE, 1)), 0))
    given = Inputs(2, {"s": rows((0, "a", 0, 0), (1, "a", 5, 0), (2, "a", 1, 1))})
    assert [e.tick for e in evaluate_stream(plan, given)] == [0, 2]
