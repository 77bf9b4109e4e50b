"""Gather the content of a map: tracks of objects, the current window at a tick, slide marks and regions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from transom.algebra.operator import Plan
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive
from transom.algebra.streams import SpeedLimit
from transom.algebra.tree import walk
from transom.algebra.windows import Coordinate, Every, RegionRange, Window, format_amount, range_parts
from transom.catalog.extent import Extent
from transom.errors import UsageError
from transom.model.bag import Element
from transom.model.geometry.regions import Polygon, Region
from transom.model.geometry.space import Position, step_length
from transom.model.types import Value
from transom.reference.evaluate import evaluate_stream
from transom.reference.sources import Inputs
from transom.reference.streams import speed_limit
from transom.reference.windows import PositionedElement, elements_by_key, is_in_window, slide_events

_POSITION_HINT = "add position: {lon: lon, lat: lat} or position: {x: x, y: y} to the catalog"


@dataclass(frozen=True, slots=True)
class TrackPoint:
    """One row of an object: tick, position, distance travelled, and whether the current window holds it."""

    tick: int
    x: float
    y: float
    distance: int
    in_window: bool


@dataclass(frozen=True, slots=True)
class Track:
    """The rows of one object that have a position, in order; rows beyond its speed limit are in `rejected`."""

    extent: str
    name: str
    points: tuple[TrackPoint, ...]
    rejected: tuple[TrackPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class SlideMark:
    """A slide of a window by distance: its tick, the object's position then, and a label."""

    tick: int
    x: float
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class RegionShape:
    """The drawn shape of a region; `in_query` if the query names it."""

    name: str
    polygons: tuple[Polygon, ...]
    in_query: bool


@dataclass(frozen=True, slots=True)
class MapContent:
    """The content of a map. With `line`, positions have one coordinate, and y is the tick."""

    tracks: tuple[Track, ...]
    marks: tuple[SlideMark, ...]
    regions: tuple[RegionShape, ...]
    at: int
    windows: tuple[str, ...]
    geodesic: bool
    line: bool


def gather_map_content(
    plan: Plan, inputs: Inputs, extents: Sequence[Extent], regions: Mapping[str, Region], at: int | None = None
) -> MapContent:
    """Gather a map's tracks, regions and window at tick `at`, by default the last one of the run.

    Positions on the plane and on the earth cannot be mixed: UsageError.
    UsageError if no extent has positions.
    """
    moving = {extent.name: extent for extent in extents if extent.position is not None}
    kinds = {(extent.position.geodesic, extent.position.y is None) for extent in moving.values() if extent.position}
    if not moving:
        raise UsageError("nothing that the query reads has a position", hint=_POSITION_HINT)
    if len(kinds) > 1:
        raise UsageError("the query reads positions on the plane and on the earth", hint="draw a map of each alone")
    [(geodesic, line)] = kinds
    now = inputs.until if at is None else min(at, inputs.until)
    window_rows: dict[str, set[tuple[int, int]]] = {}
    marks: list[SlideMark] = []
    region_names: set[str] = set()
    windows: list[str] = []
    for op in walk(plan):
        if not isinstance(op, Window) or isinstance(op.input, StoredTable):
            continue
        region_names |= {part.region.name for part in range_parts(op.range) if isinstance(part, RegionRange)}
        sources = {source.extent for source in walk(op.input) if isinstance(source, StreamAcquire | StreamReceive)}
        extent = moving.get(next(iter(sources))) if len(sources) == 1 else None
        if extent is None:
            continue
        windows.append(f"{extent.name}: {op.range}, {op.slide}")
        for _, object_rows in elements_by_key(op, evaluate_stream(op.input, inputs)):
            events = [event for event in slide_events(op, object_rows, inputs) if event[0] <= now]
            if events:
                current = [
                    positioned.element
                    for positioned in object_rows
                    if is_in_window(op.range, positioned, events[-1][1])
                ]
                window_rows.setdefault(extent.name, set()).update(
                    (positioned.tick, positioned.index) for positioned in current
                )
            if isinstance(op.slide, Every) and op.slide.coordinate is Coordinate.DISTANCE:
                marks += _slide_marks(
                    object_rows, [(tick, coordinates[Coordinate.DISTANCE]) for tick, coordinates in events], line
                )
    rejected = _rejected_rows(plan, inputs)
    tracks = [
        track
        for name, extent in moving.items()
        for track in _object_tracks(extent, inputs, window_rows.get(name, set()), rejected.get(name, set()), now)
    ]
    drawn = [region for region in regions.values() if region.geodesic == geodesic and not line]
    shapes = tuple(RegionShape(region.name, region.unwrapped, region.name in region_names) for region in drawn)
    return MapContent(tuple(tracks), tuple(marks), shapes, now, tuple(dict.fromkeys(windows)), geodesic, line)


def _slide_marks(
    object_rows: Sequence[PositionedElement], events: Iterable[tuple[int, int]], y_is_tick: bool
) -> Iterator[SlideMark]:
    """An object's position at each slide `events` (tick, distance) of its window; y is the tick if `y_is_tick`."""
    for tick, distance in events:
        positions = [
            positioned.position
            for positioned in object_rows
            if positioned.position is not None and positioned.at[Coordinate.TICK] <= tick
        ]
        if positions:
            label = f"{format_amount(Coordinate.DISTANCE, distance)} at tick {tick}"
            yield SlideMark(tick, positions[-1][0], tick if y_is_tick else positions[-1][1], label)


def _rejected_rows(plan: Plan, inputs: Inputs) -> dict[str, set[tuple[int, int]]]:
    """The rows, as (tick, index), that a speed limit of the query rejects, by extent name."""
    rows: dict[str, set[tuple[int, int]]] = {}
    for op in walk(plan):
        if isinstance(op, SpeedLimit) and isinstance(op.input, StreamAcquire | StreamReceive):
            _, rejected = speed_limit(op, evaluate_stream(op.input, inputs))
            rows.setdefault(op.input.extent, set()).update((element.tick, element.index) for element in rejected)
    return rows


def _object_tracks(
    extent: Extent, inputs: Inputs, window_rows: set[tuple[int, int]], rejected_rows: set[tuple[int, int]], now: int
) -> Iterator[Track]:
    """The track of each object of an extent up to tick `now`; rows in windows or rejected are (tick, index)."""
    assert extent.position is not None  # noqa: S101 - the caller selects extents with a position
    position = extent.position
    columns = [extent.names.index(name) for name in (position.x, position.y) if name is not None]
    key = extent.names.index(extent.object) if extent.object is not None else None
    objects: dict[Value, list[Element]] = {}
    for element in inputs.elements_of(extent.name):
        if element.tick <= now:
            objects.setdefault(None if key is None else element.row[key], []).append(element)
    for name, elements in objects.items():
        accepted = [element for element in elements if (element.tick, element.index) not in rejected_rows]
        points = tuple(_track_points(position, columns, accepted, window_rows))
        jumps = [element for element in elements if (element.tick, element.index) in rejected_rows]
        rejected = tuple(_track_points(position, columns, jumps, set()))
        if points:
            yield Track(extent.name, extent.name if key is None else str(name), points, rejected)


def _track_points(
    position: Position, columns: Sequence[int], elements: Sequence[Element], window_rows: set[tuple[int, int]]
) -> Iterator[TrackPoint]:
    """The track points of rows, each with the path length from the first; `columns`: numbers of position columns.

    Rows without a position are skipped. `window_rows` are the (tick, index) of the rows in the window.
    """
    previous: tuple[float, float] | None = None
    distance = 0
    for element in elements:
        point = position.point(*(element.row[column] for column in columns))
        if point is None:
            continue
        distance += step_length(position, previous, point) if previous is not None else 0
        previous = point
        y = point[1] if position.y is not None else float(element.tick)
        yield TrackPoint(element.tick, point[0], y, distance, (element.tick, element.index) in window_rows)
