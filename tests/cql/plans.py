"""Plans of CQL queries built by hand, and what the reference engine answers to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transom.algebra.expressions.expression import (
    Aggregate,
    AggregateFunction,
    Column,
    Constant,
    Expression,
    NamedExpression,
    call,
    identity_items,
)
from transom.algebra.expressions.tracks import TrackAggregate, TrackFunction
from transom.algebra.operator import Stream, Windows
from transom.algebra.relations import (
    TrackAggregation,
    WindowAggregation,
    WindowProject,
    WindowSelect,
)
from transom.algebra.sources import StreamReceive
from transom.model.bag import Element
from transom.model.geometry.regions import Region, close_ring
from transom.model.geometry.space import Position
from transom.model.schema import Attribute, Schema
from transom.model.types import Point, Type, Value
from transom.reference.evaluate import evaluate_stream
from transom.reference.sources import Inputs

KM = 1_000_000_000
LINE = Position("g", None, unit=KM)
PLANE = Position("x", "y", unit=KM)


@dataclass(frozen=True)
class Extent:
    """A moving extent of a case under a name of a query: its stream, its position, its stamps."""

    name: str
    stream: StreamReceive
    position: Position

    @staticmethod
    def of(schema: Mapping[str, Any], extent: str, alias: str | None = None) -> Extent:
        """The extent that a golden case declares."""
        entry, name = schema[extent], alias or extent
        position = LINE if entry["space"] == "km-1d" else PLANE
        columns = [Attribute(c, Type.FLOAT, name) for c in ("g", "x", "y") if c in (position.x, position.y)]
        for declared in entry["attrs"]:
            label, kind = declared.split(":")
            columns.append(Attribute(label, Type(kind), name))
        return Extent(name, StreamReceive(extent, Schema(tuple(columns))), position)

    def __getitem__(self, name: str) -> Column:
        return Column(self.attribute(name))

    def attribute(self, name: str) -> Attribute:
        """The attribute with a name."""
        [found] = self.stream.schema.find(self.name, name)
        return found

    @property
    def tick(self) -> Attribute:
        """The tag that keeps the time stamp."""
        return Attribute("tick", Type.INTEGER, self.name)

    @property
    def point(self) -> Expression:
        """The place as a point."""
        return call("POINT", self["g"]) if self.position is LINE else call("POINT", self["x"], self["y"])

    def stamps(self, windows: Windows) -> WindowProject:
        """`Stamps(*)`: one tuple (g, t) for each tuple."""
        place = self["g"] if self.position is LINE else self.point
        stamps = (
            NamedExpression(place, Attribute("g", place.type)),
            NamedExpression(Column(self.tick), Attribute("t", Type.INTEGER)),
        )
        return WindowProject(windows, stamps)

    def speed(self, windows: Windows, span: int | None = None, groups: tuple[NamedExpression, ...] = ()) -> Windows:
        """`AvgSpd(R)`, with no tuple where there is no speed (C7)."""
        column = Attribute("AvgSpd", Type.FLOAT)
        track = TrackAggregate(TrackFunction.AVGSPD, self.point, Column(self.tick), self.position, column, span)
        return known(TrackAggregation(windows, groups, (track,)), column)


def known(windows: Windows, column: Attribute) -> WindowSelect:
    """The tuples that have a value."""
    return WindowSelect(windows, call("NOT", call("IS NULL", Column(column))))


def where(windows: Windows, left: Expression, right: Expression | str) -> WindowSelect:
    """`WHERE left = right`."""
    return WindowSelect(windows, call("=", left, Constant(right, Type.STRING) if isinstance(right, str) else right))


def pick(windows: Windows, *columns: Column) -> WindowProject:
    """The select list of some columns."""
    return WindowProject(windows, identity_items(column.attribute for column in columns))


def count(windows: Windows, *groups: Column) -> WindowAggregation:
    """`COUNT(*)`, by groups."""
    column = Aggregate(AggregateFunction.COUNT, None, Attribute("COUNT(*)", Type.INTEGER))
    return WindowAggregation(windows, identity_items(group.attribute for group in groups), (column,))


def region(schema: Mapping[str, Any], name: str) -> Region:
    """A region that a golden case declares."""
    return Region(name, ((close_ring((x, y) for x, y in schema[name]["polygon"]),),))


def inputs(schema: Mapping[str, Any], given: Mapping[str, Sequence[Any]], until: int) -> Inputs:
    """What a golden case feeds in."""
    streams: dict[str, list[Element]] = {}
    for name, rows in given.items():
        streams[name] = []
        for index, (tick, g, *values) in enumerate(rows, start=1):
            place = tuple(map(float, g)) if isinstance(g, list) else (float(g),)
            streams[name].append(Element(tick, index, (*place, *values)))
    return Inputs(until, streams)


def answer(plan: Stream, given: Inputs) -> list[list[Value]]:
    """The stream that a plan gives, as the golden file writes it, the tuples of an instant in any fixed order."""
    rows = [[e.tick, *(list(v) if isinstance(v, Point) else v for v in e.row)] for e in evaluate_stream(plan, given)]
    return in_order(rows)


def in_order(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Rows by instant, and by what they say inside one."""
    return sorted((list(row) for row in rows), key=lambda row: (row[0], repr([_plain(v) for v in row[1:]])))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return float(value) if isinstance(value, int | float) else value
