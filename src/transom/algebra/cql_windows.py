"""CQL's windows, built from the one `Window` operator (the table of windows in docs/operators.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transom.algebra.sources import StoredTable
from transom.algebra.windows import (
    Bound,
    Coordinate,
    CoordinateRange,
    Every,
    OnArrival,
    OnChange,
    OnRowCount,
    RangeIntersection,
    RegionRange,
    TableContent,
    UnboundedRange,
    Window,
)
from transom.model.geometry.regions import Region
from transom.model.geometry.space import Position
from transom.model.schema import Attribute

if TYPE_CHECKING:
    from transom.algebra.operator import Stream

Attributes = tuple[Attribute, ...]

TICKS = Coordinate.TICK
DISTANCE = Coordinate.DISTANCE


def last_rows_window(input: Stream, count: int, slide: int = 1, key: Attributes = (), tags: Attributes = ()) -> Window:
    """CQL's `[PARTITION BY key ROWS count SLIDE slide]`, in rows; `tags` are tick or index columns to add (C18)."""
    window_range = CoordinateRange(Coordinate.INDEX, Bound(slide, 1 - count), Bound(slide, 0))
    return Window(input, OnArrival() if slide == 1 else OnRowCount(slide), window_range, key, tags)


def recent_window(input: Stream, past: int, slide: int = 1, key: Attributes = (), tags: Attributes = ()) -> Window:
    """CQL's `[PARTITION BY key RANGE past SLIDE slide]` in ticks; `tags` are tick or index columns to add (C1, C17)."""
    return Window(input, Every(TICKS, slide), CoordinateRange(TICKS, Bound(slide, -past), Bound(slide, 0)), key, tags)


def unbounded_window(input: Stream, slide: Every | None = None, key: Attributes = (), tags: Attributes = ()) -> Window:
    """CQL's `[UNBOUNDED]`: all rows so far per `key`, at each `slide`, or if None each arrival; adds columns `tags`."""
    return Window(input, slide or OnArrival(), UnboundedRange(), key, tags)


def region_window(
    input: Stream,
    position: Position,
    region: Region,
    slide: Every | None = None,
    key: Attributes = (),
    tags: Attributes = (),
) -> Window:
    """CQL's `RANGE BY region`: a `key`'s rows with `position` in it, at each `slide` or (None) arrival; adds `tags`."""
    return Window(input, slide or OnArrival(), RegionRange(region), key, tags, position)


def recent_region_window(
    input: Stream,
    position: Position,
    region: Region,
    past: int,
    slide: Every | None = None,
    key: Attributes = (),
    tags: Attributes = (),
) -> Window:
    """A `key`'s rows with `position` in `region`, in `past` ticks, per `slide` or (None) change; adds `tags` (C28)."""
    window_range = RangeIntersection((RegionRange(region), CoordinateRange(TICKS, Bound(1, -past), Bound(1, 0))))
    return Window(input, slide or OnChange(), window_range, key, tags, position)


def distance_window(
    input: Stream,
    position: Position,
    length: int,
    slide: Every,
    key: Attributes = (),
    tags: Attributes = (),
) -> Window:
    """CQL: rows of the last `length` micrometres a `key` moved by `position`, per `slide`; adds `tags` (C11, C12)."""
    step = slide.step if slide.coordinate is DISTANCE else 1
    return Window(input, slide, CoordinateRange(DISTANCE, Bound(step, -length), Bound(step, 0)), key, tags, position)


def recent_window_by_distance(
    input: Stream, position: Position, past: int, step: int, key: Attributes = (), tags: Attributes = ()
) -> Window:
    """CQL: a `key`'s rows of the last `past` ticks, each `step` micrometres its `position` moved; adds `tags` (C15)."""
    window_range = CoordinateRange(TICKS, Bound(1, -past), Bound(1, 0))
    return Window(input, Every(DISTANCE, step), window_range, key, tags, position)


def table_window(table: StoredTable) -> Window:
    """CQL's window of a stored table without a window clause: its content at the start and at every change."""
    return Window(table, OnChange(), TableContent())
