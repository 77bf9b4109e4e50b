"""Where the rows of an answer are on a map: at the points that they contain, or at the objects that they name."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from transom.algebra.expressions.expression import Column, NamedExpression
from transom.algebra.operator import Operator, Plan, Stream
from transom.algebra.relations import (
    RelationExcept,
    RelationIntersect,
    RelationUnion,
    TrackAggregation,
    WindowAggregation,
    WindowProject,
)
from transom.algebra.sources import StreamAcquire, StreamReceive
from transom.algebra.streams import Renumber, RStream, StreamProject, StreamSelect
from transom.algebra.tree import inputs as input_operators
from transom.catalog.extent import Extent
from transom.model.answer import Answer
from transom.model.bag import Row
from transom.model.schema import Attribute
from transom.model.types import Point, Value
from transom.picture.map.content import AnswerRow, Track, stop_ranges


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """The column of an extent from which a column of an answer is copied; `alias` is the extent's name in the query."""

    extent: str
    name: str
    alias: str | None


def find_source_column(op: Operator, attribute: Attribute) -> SourceColumn | None:
    """Return the stream column of which an operator's output column is a copy; None for any other column.

    That is a column that is computed or from a table.
    """
    if isinstance(op, StreamAcquire | StreamReceive):
        return (
            SourceColumn(op.extent, attribute.name, attribute.qualifier) if attribute in op.schema.attributes else None
        )
    if isinstance(op, RelationUnion | RelationExcept | RelationIntersect):
        number = op.schema.attributes.index(attribute)
        return find_source_column(op.left, op.left.schema.attributes[number])
    computed = {item.attribute: item.expression for item in _named_expressions(op)}
    if attribute in computed:
        expression = computed[attribute]
        if not isinstance(expression, Column):
            return None
        attribute = expression.attribute
    elif computed:
        return None
    for operand in input_operators(op):
        if attribute in operand.schema.attributes:
            return find_source_column(operand, attribute)
    return None


def _named_expressions(op: Operator) -> Sequence[NamedExpression]:
    """Return the expressions of a projection or the groups of an aggregation; empty for other operators."""
    if isinstance(op, StreamProject | WindowProject):
        return op.items
    return op.groups if isinstance(op, WindowAggregation | TrackAggregation) else ()


@dataclass(frozen=True, slots=True)
class AnswerLocator:
    """Finds the positions of answer rows: column numbers of objects and of coordinates, and the tracks of objects.

    `objects` maps columns to the extent whose objects they name; `coordinates` are pairs of columns with x and y, and
    the column of their object if there is one. `only` is the track of the only object that the windows hold.
    """

    objects: Mapping[int, str]
    coordinates: Sequence[tuple[int, int, int | None]]
    tracks: Mapping[tuple[str, str], Track]
    only: Track | None

    def locate(self, row: Row, tick: int) -> tuple[tuple[str, ...], tuple[tuple[float, float], ...]]:
        """Return the names of the objects in an answer row of tick `tick`, and the positions to mark on a map."""
        named = {number: str(row[number]) for number in self.objects if row[number] is not None}
        names = tuple(dict.fromkeys(named.values()))
        points = [(value.x, value.y) for value in row if isinstance(value, Point)]
        for x, y, owner in self.coordinates:
            if isinstance(row[x], int | float) and isinstance(row[y], int | float):
                points.append((float(row[x]), float(row[y])))  # type: ignore[arg-type]
                named.pop(owner, None) if owner is not None else None
        if not any(isinstance(value, Point) for value in row):
            tracks = [self.tracks.get((self.objects[number], name)) for number, name in named.items()]
            tracks = tracks if tracks or points else [self.only]
            points += [point for track in tracks if track is not None if (point := _position_at(track, tick))]
        if not names and self.only is not None:
            names = (self.only.name,)
        return names, tuple(dict.fromkeys(points))


def _position_at(track: Track, tick: int) -> tuple[float, float] | None:
    """Return an object's position at a tick, which is that of its latest row; None before its first row."""
    number = bisect_right(track.points, tick, key=lambda point: point.tick)
    return (track.points[number - 1].x, track.points[number - 1].y) if number else None


def make_locator(
    plan: Plan, extents: Mapping[str, Extent], tracks: Sequence[Track], held_objects: set[str]
) -> AnswerLocator:
    """Build the object that finds answer rows on the map; `held_objects` are the objects in the query's windows.

    `held_objects` are the names of the objects whose rows the windows of the query read.
    """
    source_columns = [find_source_column(plan, attribute) for attribute in plan.schema]
    objects: dict[int, str] = {}
    axes: dict[tuple[str, str | None], dict[str, int]] = {}
    for number, source in enumerate(source_columns):
        extent = None if source is None else extents.get(source.extent)
        if source is None or extent is None or extent.position is None:
            continue
        columns = axes.setdefault((source.extent, source.alias), {})
        if source.name == extent.object:
            objects[number] = source.extent
            columns.setdefault("object", number)
        for axis, name in (("x", extent.position.x), ("y", extent.position.y)):
            if source.name == name:
                columns.setdefault(axis, number)
    coordinates = [(at["x"], at["y"], at.get("object")) for at in axes.values() if "x" in at and "y" in at]
    only = [track for track in tracks if track.name in held_objects]
    by_name = {(track.extent, track.name): track for track in tracks}
    return AnswerLocator(objects, coordinates, by_name, only[0] if len(only) == 1 and len(held_objects) == 1 else None)


def locate_answer(
    plan: Plan, answer: Answer, locator: AnswerLocator, now: int, stops: Sequence[int]
) -> tuple[AnswerRow, ...]:
    """Locate an answer's rows up to tick `now`, equal ones merged; `stops` are ticks of the map's time slider.

    Events, such as the rows of IStream, all stay current. Of any other answer, such as that of RStream, a row is
    current while it belongs to the latest answer about its objects.
    """
    has_events = _has_events(plan)
    rows: dict[tuple[object, ...], AnswerRow] = {}
    latest: dict[tuple[str, ...], list[int]] = {}
    for tick, row in _tagged_rows(answer):
        if tick > now:
            continue
        names, positions = locator.locate(row, tick)
        values = tuple(zip(answer.columns, row, strict=True))
        key = (names, positions, tuple(map(repr, row)), tick if has_events else None)
        known = rows.get(key)
        rows[key] = AnswerRow((tick,), values, names, positions) if known is None else _with_later_tick(known, tick)
        ticks = latest.setdefault(names, [])
        if not ticks or ticks[-1] != tick:
            ticks.append(tick)
    if has_events:
        return tuple(rows.values())
    return tuple(_with_latest_stops(row, latest[row.names], now, stops) for row in rows.values())


def _with_later_tick(row: AnswerRow, tick: int) -> AnswerRow:
    """Return an answer row with `tick` added to the ticks at which it occurs; unchanged if that is its last tick."""
    return row if row.ticks[-1] == tick else replace(row, ticks=(*row.ticks, tick))


def _with_latest_stops(row: AnswerRow, latest: Sequence[int], now: int, stops: Sequence[int]) -> AnswerRow:
    """Mark if a row is its objects' latest answer at tick `now` and at slider `stops`; `latest`: their answers' ticks.

    `latest` are the ticks of the answers about them.
    """

    def is_current(stop: int) -> bool:
        """Whether the answer row is in the latest answer about its objects at tick `stop` of the slider."""
        number = bisect_right(latest, stop)
        own = bisect_right(row.ticks, stop)
        return bool(number and own) and latest[number - 1] == row.ticks[own - 1]

    current = stop_ranges([number for number, stop in enumerate(stops) if is_current(stop)])
    return replace(row, is_current=is_current(now), current=current)


def _has_events(plan: Plan) -> bool:
    """Whether the answer is a stream that emits each row once, unlike RSTREAM, which repeats each window's rows."""
    op: Operator = plan
    while isinstance(op, StreamSelect | StreamProject | Renumber):
        op = op.input
    return isinstance(op, Stream) and not isinstance(op, RStream)


def _tagged_rows(answer: Answer) -> Iterable[tuple[int, tuple[Value, ...]]]:
    """Return an answer's rows as (tick, values): the tuples of a stream, or the content of each window."""
    for element in answer.elements:
        yield element.tick, element.row
    for window in answer.windows:
        for row in window.rows:
            yield window.tick, row
