"""Questions as plans of the algebra, and the answers of the reference engine to them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.cql.plans import count, known, pick
from tests.oracle_cql.question import METRE, ZONES, Question, Row, Side, Win
from transom.algebra.cql_windows import (
    distance_window,
    last_rows_window,
    recent_region_window,
    recent_window,
    recent_window_by_distance,
    region_window,
    unbounded_window,
)
from transom.algebra.expressions.expression import (
    Aggregate,
    AggregateFunction,
    Column,
    Constant,
    Expression,
    InRegion,
    NamedExpression,
    call,
    identity_items,
)
from transom.algebra.expressions.tracks import TrackAggregate, TrackFunction
from transom.algebra.operator import Stream, Windows
from transom.algebra.relations import (
    JoinType,
    RelationExcept,
    RelationIntersect,
    RelationJoin,
    RelationUnion,
    SuppressUnchanged,
    TrackAggregation,
    WindowAggregation,
    WindowDistinct,
    WindowProject,
    WindowSelect,
)
from transom.algebra.sources import StreamReceive
from transom.algebra.streams import DStream, IStream, RStream
from transom.algebra.windows import Coordinate, Every, Window
from transom.model.bag import Element
from transom.model.geometry.regions import Region, close_ring
from transom.model.geometry.space import Position
from transom.model.schema import Attribute, Schema
from transom.model.types import Point, Type, Value
from transom.reference.evaluate import evaluate_stream
from transom.reference.sources import Inputs

REGIONS = {name: Region(name, ((close_ring(corners),),)) for name, corners in ZONES.items()}
CONVERT = {"R": RStream, "I": IStream, "D": DStream}
SETS = {"union": RelationUnion, "except": RelationExcept, "intersect": RelationIntersect}


class Names:
    """The columns of one side under its name."""

    def __init__(self, name: str) -> None:
        self.x, self.y = Attribute("x", Type.FLOAT, name), Attribute("y", Type.FLOAT, name)
        self.id, self.v = Attribute("id", Type.STRING, name), Attribute("v", Type.INTEGER, name)
        self.tick = Attribute("tick", Type.INTEGER, name)
        self.stream = StreamReceive(name, Schema((self.x, self.y, self.id, self.v)))

    @property
    def point(self) -> Expression:
        return call("POINT", Column(self.x), Column(self.y))


def plan(q: Question) -> Stream:
    """The plan of a question."""
    a, b = Names("a"), Names("b")
    left = filtered(q.left, a)
    if q.right is None:
        if q.convert == "R" and q.left.window.kind in ("region", "unbounded"):
            left = SuppressUnchanged(left)
        return CONVERT[q.convert](select(q, left, a))
    return CONVERT[q.convert](together(q, left, filtered(q.right, b), a, b))


def filtered(side: Side, names: Names) -> Windows:
    """A window with the condition of its side."""
    windows = window(side.window, names)
    if side.condition is None:
        return windows
    value = side.condition.value
    match side.condition.what:
        case "v":
            return WindowSelect(windows, call(">", Column(names.v), Constant(int(value), Type.INTEGER)))
        case "zone":
            return WindowSelect(windows, InRegion(names.point, REGIONS[str(value)]))
        case "id":
            return WindowSelect(windows, call("=", Column(names.id), Constant(str(value), Type.STRING)))
        case _:
            return WindowSelect(windows, call(">=", Column(names.tick), Constant(int(value), Type.INTEGER)))


def window(w: Win, names: Names) -> Window:
    """A window as the one operator."""
    stream, tags = names.stream, (names.tick,)
    key = (names.id,) if w.by_id else ()
    place = Position("x", "y", unit=METRE)
    zone = REGIONS[w.zone]
    ticks, way = Every(Coordinate.TICK, w.slide), Every(Coordinate.DISTANCE, w.slide * METRE)
    match w.kind:
        case "time":
            return recent_window(stream, w.range, w.slide, key, tags)
        case "rows":
            return last_rows_window(stream, w.range, w.slide, key, tags)
        case "unbounded":
            return unbounded_window(stream, None, key, tags)
        case "region":
            return region_window(stream, place, zone, None, key, tags)
        case "region every ticks":
            return region_window(stream, place, zone, ticks, key, tags)
        case "region every way":
            return region_window(stream, place, zone, way, key, tags)
        case "region and time":
            return recent_region_window(stream, place, zone, w.range, None, key, tags)
        case "region and time every ticks":
            return recent_region_window(stream, place, zone, w.range, ticks, key, tags)
        case "way every way":
            return distance_window(stream, place, w.range * METRE, way, key, tags)
        case "way every ticks":
            return distance_window(stream, place, w.range * METRE, ticks, key, tags)
        case "time every way":
            return recent_window_by_distance(stream, place, w.range, w.slide * METRE, key, tags)
        case _:
            raise AssertionError(w.kind)


def select(q: Question, rows: Windows, a: Names) -> Windows:
    """The select list over one relation."""
    match q.select:
        case "values":
            return pick(rows, Column(a.id), Column(a.v))
        case "stamps":
            stamps = (
                NamedExpression(a.point, Attribute("g", Type.POINT)),
                NamedExpression(Column(a.tick), Attribute("t", Type.INTEGER)),
            )
            return WindowProject(rows, stamps)
        case "count":
            total = Aggregate(AggregateFunction.SUM, Column(a.v), Attribute("SUM(v)", Type.INTEGER))
            return WindowAggregation(rows, (), (*count(rows).aggregates, total))
        case "groups":
            return count(rows, Column(a.id))
        case "distinct":
            return WindowDistinct(pick(rows, Column(a.id), Column(a.v)))
        case _:
            result = Attribute("way", Type.FLOAT)
            function = TrackFunction.AVGSPD if q.select == "speed" else TrackFunction.PATHLENGTH
            span = q.left.window.range if q.left.window.kind in ("time", "time every way") else None
            place = Position("x", "y", unit=METRE)
            speed = span or None if q.select == "speed" else None
            track = TrackAggregate(function, a.point, Column(a.tick), place, result, speed)
            tracked = TrackAggregation(rows, (), (track,))
            return known(tracked, result) if q.select == "speed" else tracked


def together(q: Question, left: Windows, right: Windows, a: Names, b: Names) -> Windows:
    """What two sides give, and the select list over it."""
    kind = q.together.removesuffix(" all")
    if kind in SETS:
        ours, theirs = pick(left, Column(a.id), Column(a.v)), pick(right, Column(b.id), Column(b.v))
        if " all" in q.together:
            return SETS[kind](ours, theirs)
        first: Windows = WindowDistinct(ours) if kind == "except" else ours
        return WindowDistinct(SETS[kind](first, theirs))
    match_ = call("AND", call("=", Column(a.id), Column(b.id)), call("<=", Column(a.v), Column(b.v)))
    joined = RelationJoin(left, right, match_, JoinType(kind))
    zero = NamedExpression(Constant(0, Type.INTEGER), Attribute("none", Type.INTEGER))
    third = zero if kind in ("semi join", "anti join") else NamedExpression(Column(b.v), b.v)
    match q.select:
        case "count":
            return count(joined)
        case "groups":
            return count(joined, Column(a.id))
        case _:
            rows = WindowProject(joined, (*identity_items((a.id, a.v)), third))
            return WindowDistinct(rows) if q.select == "distinct" else rows


def given(q: Question) -> Inputs:
    """The rows of both sides as the reference engine takes them."""
    streams = {"a": elements(q.left.rows)}
    if q.right is not None:
        streams["b"] = elements(q.right.rows)
    return Inputs(q.until, streams)


def elements(rows: tuple[Row, ...]) -> list[Element]:
    """Rows with their numbers."""
    return [Element(row.t, index, (*(row.place or (None, None)), row.id, row.v)) for index, row in enumerate(rows, 1)]


def answer(stream: Stream, inputs: Inputs) -> Counter[tuple[Any, ...]]:
    """The bag of (t, values) that the reference engine gives."""
    return Counter((e.tick, *map(_plain, e.row)) for e in evaluate_stream(stream, inputs))


def _plain(value: Value) -> Any:
    if isinstance(value, Point):
        return tuple(value)
    return round(value, 9) if isinstance(value, float) else value
