"""Gather the content of a map: tracks of objects, the current window at a tick, slide marks and regions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from transom.algebra.expressions.expression import InRegion
from transom.algebra.operator import Operator, Plan, Stream
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive
from transom.algebra.streams import SpeedLimit
from transom.algebra.tree import expressions_of, walk
from transom.algebra.windows import Coordinate, Every, RegionRange, Window, range_parts
from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent
from transom.errors import UsageError
from transom.model.answer import Answer
from transom.model.bag import Element
from transom.model.geometry.regions import Region
from transom.model.geometry.space import Position, step_length
from transom.model.time import Calendar
from transom.model.types import Value
from transom.picture.map.answers import find_source_column, locate_answer, make_locator
from transom.picture.map.content import (
    AnswerRow,
    MapContent,
    RegionShape,
    SlideMark,
    Track,
    TrackPoint,
    stop_ranges,
)
from transom.picture.quantities import Clock, format_length
from transom.picture.timeline.window_text import window_sentence
from transom.reference.evaluate import evaluate_stream
from transom.reference.sources import Inputs
from transom.reference.streams import speed_limit
from transom.reference.windows import PositionedElement, elements_by_key, is_in_window, slide_events

_POSITION_HINT = "add position: {lon: lon, lat: lat} or position: {x: x, y: y} to the catalog"
MAX_STOPS = 100
"""About how many stops the time slider of a map has."""


def gather_map_content(
    plan: Plan,
    inputs: Inputs,
    extents: Sequence[Extent],
    catalog: Catalog,
    at: int | None = None,
    answer: Answer | None = None,
    optimized_plan: Plan | None = None,
) -> MapContent:
    """Gather what a map shows at tick `at` (None: the last); `optimized_plan` tells which objects are read.

    The `optimized_plan` plan filters early, so it shows whether a query is about one object alone.

    Positions on the plane and on the earth, or in different units, cannot be mixed: UsageError.
    UsageError if no extent has positions.
    """
    moving = {extent.name: extent for extent in extents if extent.position is not None}
    geodesic, line, unit = _common_geometry([extent.position for extent in moving.values() if extent.position])
    now = inputs.until if at is None else min(at, inputs.until)
    stops = choose_stops(inputs, list(moving), catalog.calendar, now)
    held: dict[str, dict[tuple[int, int], list[int]]] = {}
    marks: list[SlideMark] = []
    region_names = {region.name for op in walk(plan) for region in regions_of(op)}
    windows: list[str] = []
    for op in walk(plan):
        if not isinstance(op, Window) or isinstance(op.input, StoredTable):
            continue
        sources = {source.extent for source in walk(op.input) if isinstance(source, StreamAcquire | StreamReceive)}
        extent = moving.get(next(iter(sources))) if len(sources) == 1 else None
        if extent is None:
            continue
        sentence = window_sentence(op, catalog.calendar) or f"{op.range}, {op.slide}"
        windows.append(f"{extent.name}: {sentence}")
        for _, object_rows in elements_by_key(op, evaluate_stream(op.input, inputs)):
            events = [event for event in slide_events(op, object_rows, inputs) if event[0] <= now]
            _note_held_rows(op, object_rows, events, stops, held.setdefault(extent.name, {}))
            if isinstance(op.slide, Every) and op.slide.coordinate is Coordinate.DISTANCE:
                marks += _slide_marks(
                    object_rows, [(tick, coordinates[Coordinate.DISTANCE]) for tick, coordinates in events], line
                )
    rejected = _rejected_rows(plan, inputs)
    last_stop = len(stops) - 1
    tracks = [
        track
        for name, extent in moving.items()
        for track in _object_tracks(extent, inputs, held.get(name, {}), rejected.get(name, set()), now, last_stop)
    ]
    answers: tuple[AnswerRow, ...] = ()
    if answer is not None:
        locator = make_locator(plan, moving, tracks, _objects_read(optimized_plan or plan, moving, inputs, now))
        answers = locate_answer(plan, answer, locator, now, stops)
    drawn = [region for region in catalog.regions.values() if region.geodesic == geodesic and not line]
    shapes = tuple(RegionShape(region.name, region.unwrapped, region.name in region_names) for region in drawn)
    sentences = tuple(dict.fromkeys(windows))
    return MapContent(tuple(tracks), tuple(marks), shapes, now, sentences, geodesic, line, unit, answers, tuple(stops))


def _common_geometry(positions: Sequence[Position]) -> tuple[bool, bool, int]:
    """Return (is on the earth, is one-dimensional, micrometres per unit) of positions; UsageError if they differ."""
    if not positions:
        raise UsageError("nothing that the query reads has a position", hint=_POSITION_HINT)
    kinds = {(position.geodesic, position.y is None) for position in positions}
    if len(kinds) > 1:
        raise UsageError("the query reads positions on the plane and on the earth", hint="draw a map of each alone")
    units = {position.unit for position in positions}
    if len(units) > 1:
        raise UsageError("the query reads positions in different units", hint="draw a map of each alone")
    [(geodesic, line)], [unit] = kinds, units
    return geodesic, line, unit


def regions_of(op: Operator) -> Iterator[Region]:
    """Yield the regions that an operator names, in the range of a window or in an expression.

    Such an expression is INSIDE(g, Park).
    """
    if isinstance(op, Window):
        yield from (part.region for part in range_parts(op.range) if isinstance(part, RegionRange))
    yield from (part.region for part in expressions_of(op) if isinstance(part, InRegion))


def choose_stops(inputs: Inputs, extent_names: Sequence[str], calendar: Calendar, now: int) -> list[int]:
    """Choose the time slider's ticks from the extents' first row to `now`: about MAX_STOPS round times, then `now`."""
    ticks = [element.tick for name in extent_names for element in inputs.elements_of(name)]
    first = min([now, *ticks])
    return [*(tick for tick in Clock(calendar, first, now).round_ticks(first, now, MAX_STOPS) if tick < now), now]


def _note_held_rows(
    op: Window,
    object_rows: Sequence[PositionedElement],
    window_events: Sequence[tuple[int, dict[Coordinate, int]]],
    stops: Sequence[int],
    held: dict[tuple[int, int], list[int]],
) -> None:
    """Add to `held`, by row (tick, index), the numbers of `stops` at which the latest of `window_events` holds it."""
    ticks = [tick for tick, _ in window_events]
    members: list[tuple[int, int]] = []
    previous = 0
    for number, stop in enumerate(stops):
        event = bisect_right(ticks, stop)
        if event != previous:
            coordinates = window_events[event - 1][1]
            members = [
                (row.element.tick, row.element.index)
                for row in object_rows
                if row.element.tick <= stop and is_in_window(op.range, row, coordinates)
            ]
            previous = event
        for member in members:
            numbers = held.setdefault(member, [])
            if not numbers or numbers[-1] != number:
                numbers.append(number)


def _objects_read(plan: Plan, moving_extents: Mapping[str, Extent], inputs: Inputs, now: int) -> set[str]:
    """Return the names of the objects whose rows pass the plan's filters and reach a window by tick `now`.

    An extent without objects counts as one, of its name.
    """
    names: set[str] = set()
    for op in walk(plan):
        if not isinstance(op, Window) or isinstance(op.input, StoredTable):
            continue
        for name in {source.extent for source in walk(op.input) if isinstance(source, StreamAcquire | StreamReceive)}:
            if name in moving_extents:
                names |= _objects_of_stream(op.input, moving_extents[name], inputs, now)
    return names


def _objects_of_stream(stream: Stream, extent: Extent, inputs: Inputs, now: int) -> set[str]:
    """Return the names of the objects of an extent whose rows are in a stream up to tick `now`.

    It is evaluated where it still has the column of objects.
    """
    if extent.object is None:
        return {extent.name}
    for op in walk(stream):
        for number, attribute in enumerate(op.schema):
            source = find_source_column(op, attribute)
            if isinstance(op, Stream) and source is not None and source.name == extent.object:
                return {str(element.row[number]) for element in evaluate_stream(op, inputs) if element.tick <= now}
    return set()


def _slide_marks(
    object_rows: Sequence[PositionedElement], slides: Iterable[tuple[int, int]], y_is_tick: bool
) -> Iterator[SlideMark]:
    """Yield an object's mark at each slide (tick, path length in micrometres); `y_is_tick`: the map's y axis is time.

    If `y_is_tick`, the map's y axis is time.
    """
    for tick, distance in slides:
        positions = [
            positioned.position
            for positioned in object_rows
            if positioned.position is not None and positioned.at[Coordinate.TICK] <= tick
        ]
        if positions:
            label = f"{format_length(distance)} at tick {tick}"
            yield SlideMark(tick, positions[-1][0], tick if y_is_tick else positions[-1][1], label)


def _rejected_rows(plan: Plan, inputs: Inputs) -> dict[str, set[tuple[int, int]]]:
    """Return the rows that a speed limit of the query rejects, as (tick, index), by extent name."""
    rows: dict[str, set[tuple[int, int]]] = {}
    for op in walk(plan):
        if isinstance(op, SpeedLimit) and isinstance(op.input, StreamAcquire | StreamReceive):
            _, rejected = speed_limit(op, evaluate_stream(op.input, inputs))
            rows.setdefault(op.input.extent, set()).update((element.tick, element.index) for element in rejected)
    return rows


def _object_tracks(
    extent: Extent,
    inputs: Inputs,
    held: Mapping[tuple[int, int], list[int]],
    rejected_rows: set[tuple[int, int]],
    now: int,
    last_stop: int,
) -> Iterator[Track]:
    """Yield objects' tracks up to tick `now`; `held`: by row (tick, index), the slider stops with it in a window.

    `held` has the numbers of the slider's stops at which a window holds the row, up to `last_stop`, which is now.
    """
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
        points = tuple(_track_points(position, columns, accepted, held, last_stop))
        jumps = [element for element in elements if (element.tick, element.index) in rejected_rows]
        rejected = tuple(_track_points(position, columns, jumps, {}, last_stop))
        if points:
            yield Track(extent.name, extent.name if key is None else str(name), points, rejected)


def _track_points(
    position: Position,
    position_columns: Sequence[int],
    elements: Sequence[Element],
    held: Mapping[tuple[int, int], list[int]],
    last_stop: int,
) -> Iterator[TrackPoint]:
    """Yield an object's track points; a row (tick, index) that `held` has at `last_stop` is in the window now.

    `position_columns` are the numbers of the columns of the position. Rows without a position are skipped. `held` has
    the stops at which a window holds a row, by its (tick, index).
    """
    previous: tuple[float, float] | None = None
    distance = 0
    for element in elements:
        point = position.point(*(element.row[column] for column in position_columns))
        if point is None:
            continue
        distance += step_length(position, previous, point) if previous is not None else 0
        previous = point
        y = point[1] if position.y is not None else float(element.tick)
        numbers = held.get((element.tick, element.index), [])
        in_window = bool(numbers) and numbers[-1] == last_stop
        yield TrackPoint(element.tick, point[0], y, distance, in_window, stop_ranges(numbers))
