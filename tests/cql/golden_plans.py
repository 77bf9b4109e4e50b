"""The golden cases of CQL as plans built by hand, each from the words of its query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.cql.plans import KM, Extent, count, pick, region, where
from transom.algebra.cql_windows import (
    distance_window,
    last_rows_window,
    recent_window,
    recent_window_by_distance,
    region_window,
)
from transom.algebra.expressions.expression import Constant, NamedExpression, call, identity_items
from transom.algebra.operator import Stream
from transom.algebra.relations import RelationJoin, SuppressUnchanged, WindowProject
from transom.algebra.streams import DStream, IStream, RStream
from transom.algebra.windows import Coordinate, Every, time_window
from transom.model.schema import Attribute
from transom.model.types import Type

Schemas = Mapping[str, Any]
TICK, DISTANCE = Coordinate.TICK, Coordinate.DISTANCE


def average_speed(schema: Schemas) -> Stream:
    """Q1: the window of SNEEql, the condition after it, the way of the last 60 minutes."""
    r = Extent.of(schema, "Stream_car", "R")
    return RStream(r.speed(where(time_window(r.stream, 3600, 0, 600, (r.tick,)), r["ID"], "mycar"), 3600))


def last_minutes(convert: type[RStream | IStream | DStream], past: int, slide: int) -> Callable[[Schemas], Stream]:
    """`SELECT convert(ID, speed) FROM Stream_car [RANGE past, SLIDE slide]`."""

    def plan(schema: Schemas) -> Stream:
        s = Extent.of(schema, "Stream_car")
        return convert(pick(recent_window(s.stream, past, slide), s["ID"], s["speed"]))

    return plan


def trajectory(schema: Schemas) -> Stream:
    """Q2: RStream re-emits when a tuple was added to what WHERE lets through (C5)."""
    s = Extent.of(schema, "Moving_Objects_Stream")
    window = region_window(s.stream, s.position, region(schema, "East_China_Sea"), tags=(s.tick,))
    return RStream(s.stamps(SuppressUnchanged(where(window, s["ID"], "o1"))))


def entries(extent: str, zone: str) -> Callable[[Schemas], Stream]:
    """`SELECT IStream(ID) FROM extent [RANGE BY zone RATTR SPACE]`."""

    def plan(schema: Schemas) -> Stream:
        s = Extent.of(schema, extent)
        return IStream(pick(region_window(s.stream, s.position, region(schema, zone)), s["ID"]))

    return plan


def moving(schema: Schemas) -> Stream:
    """Q3: the speed of the last 50 km every 10 km."""
    r = Extent.of(schema, "Stream_mycar", "R")
    speed = r.speed(distance_window(r.stream, r.position, 50 * KM, Every(DISTANCE, 10 * KM), tags=(r.tick,)))
    name = NamedExpression(Constant("mycar", Type.STRING), Attribute("mycar", Type.STRING))
    return RStream(WindowProject(speed, (name, *identity_items(speed.schema))))


def per_vehicle(schema: Schemas) -> Stream:
    """Every vehicle has its own way; the plain column beside the speed is its key."""
    r = Extent.of(schema, "Stream_car", "R")
    key = (r.attribute("ID"),)
    window = distance_window(r.stream, r.position, 50 * KM, Every(DISTANCE, 10 * KM), key, (r.tick,))
    return RStream(r.speed(window, groups=identity_items(key)))


def stamps_of_way(length: int, slide: Every, convert: type[RStream | DStream] = RStream) -> Callable[[Schemas], Stream]:
    """`SELECT convert(Stamps(*)) FROM Stream_mycar [RANGE BY length RATTR SPACE, SLIDE BY slide]`."""

    def plan(schema: Schemas) -> Stream:
        s = Extent.of(schema, "Stream_mycar")
        return convert(s.stamps(distance_window(s.stream, s.position, length, slide, tags=(s.tick,))))

    return plan


def time_every_way(schema: Schemas) -> Stream:
    """The last 10 minutes, every 10 km."""
    s = Extent.of(schema, "Stream_mycar")
    return RStream(s.stamps(recent_window_by_distance(s.stream, s.position, 600, 10 * KM, tags=(s.tick,))))


def joined(convert: type[IStream | DStream]) -> Callable[[Schemas], Stream]:
    """A time window and a region together, at the union of their instants (C16)."""

    def plan(schema: Schemas) -> Stream:
        a, b = Extent.of(schema, "Stream_car", "A"), Extent.of(schema, "Ships", "B")
        ships = region_window(b.stream, b.position, region(schema, "Zone"))
        pairs = RelationJoin(recent_window(a.stream, 10, 5), ships, call("=", a["ID"], b["ID"]))
        return convert(pick(pairs, a["ID"], a["speed"], b["orientation"]))

    return plan


def of_ids(convert: type[RStream | DStream], rows: int | None) -> Callable[[Schemas], Stream]:
    """`SELECT convert(ID) FROM Stream_car [ROWS rows]`, or `[RANGE 3 seconds]`."""

    def plan(schema: Schemas) -> Stream:
        s = Extent.of(schema, "Stream_car")
        return convert(pick(recent_window(s.stream, 3) if rows is None else last_rows_window(s.stream, rows), s["ID"]))

    return plan


def counts_per_vehicle(schema: Schemas) -> Stream:
    """The last 20 km of each vehicle every 10 minutes."""
    r = Extent.of(schema, "Stream_car", "R")
    window = distance_window(r.stream, r.position, 20 * KM, Every(TICK, 600), (r.attribute("ID"),))
    return RStream(count(window, r["ID"]))


def empty_counts(schema: Schemas) -> Stream:
    """A count over windows that have gaps between them."""
    return RStream(count(recent_window(Extent.of(schema, "Stream_car").stream, 2, 5)))


GOLDEN: dict[str, Callable[[Schemas], Stream]] = {
    "c01": average_speed,
    "c02": last_minutes(RStream, 1200, 600),
    "c03": last_minutes(IStream, 1200, 600),
    "c04": last_minutes(DStream, 1200, 600),
    "c05": trajectory,
    "c06": entries("Moving_Objects_Stream", "East_China_Sea"),
    "c07": moving,
    "c08": per_vehicle,
    "c09": stamps_of_way(50 * KM, Every(DISTANCE, 10 * KM)),
    "c10": stamps_of_way(10 * KM, Every(DISTANCE, 5 * KM)),
    "c11": stamps_of_way(20 * KM, Every(TICK, 600)),
    "c12": time_every_way,
    "c13": joined(IStream),
    "c14": joined(DStream),
    "c15": stamps_of_way(10 * KM, Every(DISTANCE, 10 * KM)),
    "c16": of_ids(DStream, None),
    "c17": of_ids(RStream, 2),
    "c18": counts_per_vehicle,
    "c19": stamps_of_way(20 * KM, Every(DISTANCE, 10 * KM), DStream),
    "c20": last_minutes(RStream, 1200, 900),
    "c21": average_speed,
    "c22": empty_counts,
    "c23": entries("Ships", "Tri"),
    "c24": of_ids(RStream, None),
}
"""By the number of the case."""
