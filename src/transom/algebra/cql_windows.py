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
    """Build CQL's `[PARTITION BY key ROWS count SLIDE slide]`; `tags` adds columns `tick` or `index` (C18).

    `slide` is in rows; `tags` are tick or index columns to add.
    """
    window_range = CoordinateRange(Coordinate.INDEX, Bound(slide, 1 - count), Bound(slide, 0))
    return Window(input, OnArrival() if slide == 1 else OnRowCount(slide), window_range, key, tags)


def recent_window(input: Stream, past: int, slide: int = 1, key: Attributes = (), tags: Attributes = ()) -> Window:
    """Build CQL's `[PARTITION BY key RANGE past SLIDE slide]`; `tags` adds columns `tick`, `index` (C1, C17).

    `past` and `slide` are in ticks; `tags` are tick or index columns to add.
    """
    return Window(input, Every(TICKS, slide), CoordinateRange(TICKS, Bound(slide, -past), Bound(slide, 0)), key, tags)


def unbounded_window(input: Stream, slide: Every | None = None, key: Attributes = (), tags: Attributes = ()) -> Window:
    """Build `[UNBOUNDED]`, the window of all rows so far (per `key`), at each `slide` or (None) at each arrival.

    A window is created at each `slide` or, if that is None, at each arrival; `tags` are tick or index columns to add.
    """
    return Window(input, slide or OnArrival(), UnboundedRange(), key, tags)


def region_window(
    input: Stream,
    position: Position,
    region: Region,
    slide: Every | None = None,
    key: Attributes = (),
    tags: Attributes = (),
) -> Window:
    """Build CQL's window `RANGE BY region`: the rows in a region per `key`, at each `slide` (None: each row).

    A window is created at each `slide` or, if that is None, at each arrival; `tags` are tick or index columns to add.
    """
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
    """Build CQL's window of the rows of a key in the last `past` ticks whose position is in a region (C28).

    A window is created at each `slide` or, if that is None, at each change; `tags` are tick or index columns to add.
    """
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
    """Build CQL's window of the rows on the last `length` micrometres of an object's path (C11, C12).

    An object is a `key`, and `position` its coordinates. A window is created at each `slide`; `tags` are tick or index
    columns to add.
    """
    step = slide.step if slide.coordinate is DISTANCE else 1
    return Window(input, slide, CoordinateRange(DISTANCE, Bound(step, -length), Bound(step, 0)), key, tags, position)


def recent_window_by_distance(
    input: Stream, position: Position, past: int, step: int, key: Attributes = (), tags: Attributes = ()
) -> Window:
    """Build CQL's window of the last `past` ticks, at every `step` micrometres that an object (`key`) moves (C15).

    An object is a `key`, and `position` its coordinates; `tags` are tick or index columns to add.
    """
    window_range = CoordinateRange(TICKS, Bound(1, -past), Bound(1, 0))
    return Window(input, Every(DISTANCE, step), window_range, key, tags, position)


def table_window(table: StoredTable) -> Window:
    """Build CQL's window of a stored table's whole content, created at the start and at every change."""
    return Window(table, OnChange(), TableContent())
