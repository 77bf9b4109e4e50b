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


def last_rows_window(
    input: Stream, count: int, slide_rows: int = 1, key: Attributes = (), tags: Attributes = ()
) -> Window:
    """Build CQL's `[PARTITION BY key ROWS count SLIDE slide_rows]`; `tags`: tick, index columns to add (C18).

    `slide_rows` is in rows; `tags` are tick or index columns to add.
    """
    window_range = CoordinateRange(Coordinate.INDEX, Bound(slide_rows, 1 - count), Bound(slide_rows, 0))
    return Window(input, OnArrival() if slide_rows == 1 else OnRowCount(slide_rows), window_range, key, tags)


def recent_window(
    input: Stream, past_ticks: int, slide_ticks: int = 1, key: Attributes = (), tags: Attributes = ()
) -> Window:
    """Build CQL's `[PARTITION BY key RANGE past SLIDE slide]`; `tags`: tick, index columns to add (C1, C17).

    `past_ticks` and `slide_ticks` are in ticks; `tags` are tick or index columns to add.
    """
    return Window(
        input,
        Every(TICKS, slide_ticks),
        CoordinateRange(TICKS, Bound(slide_ticks, -past_ticks), Bound(slide_ticks, 0)),
        key,
        tags,
    )


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
    """Build CQL's `RANGE BY region`: a key's rows in a region, at each `slide` (None: at each arrival in it).

    A window is created at each `slide` or, if that is None, at each arrival; `tags` are tick or index columns to add.
    """
    return Window(input, slide or OnArrival(), RegionRange(region), key, tags, position)


def recent_region_window(
    input: Stream,
    position: Position,
    region: Region,
    past_ticks: int,
    slide: Every | None = None,
    key: Attributes = (),
    tags: Attributes = (),
) -> Window:
    """Build CQL's window of a key's rows in a region in the last `past_ticks`, at each `slide` (None: change) (C28).

    A window is created at each `slide` or, if that is None, at each change; `tags` are tick or index columns to add.
    """
    window_range = RangeIntersection((RegionRange(region), CoordinateRange(TICKS, Bound(1, -past_ticks), Bound(1, 0))))
    return Window(input, slide or OnChange(), window_range, key, tags, position)


def distance_window(
    input: Stream,
    position: Position,
    length_micrometres: int,
    slide: Every,
    key: Attributes = (),
    tags: Attributes = (),
) -> Window:
    """Build CQL's window of the rows on the last `length_micrometres` of an object's (`key`) path (C11, C12).

    An object is a `key`, and `position` its coordinates. A window is created at each `slide`; `tags` are tick or index
    columns to add.
    """
    step = slide.step if slide.coordinate is DISTANCE else 1
    return Window(
        input, slide, CoordinateRange(DISTANCE, Bound(step, -length_micrometres), Bound(step, 0)), key, tags, position
    )


def recent_window_by_distance(
    input: Stream,
    position: Position,
    past_ticks: int,
    step_micrometres: int,
    key: Attributes = (),
    tags: Attributes = (),
) -> Window:
    """Build CQL's window of the last `past_ticks`, each time an object (`key`) moved `step_micrometres` (C15).

    An object is a `key`, and `position` its coordinates; `tags` are tick or index columns to add.
    """
    window_range = CoordinateRange(TICKS, Bound(1, -past_ticks), Bound(1, 0))
    return Window(input, Every(DISTANCE, step_micrometres), window_range, key, tags, position)


def table_window(table: StoredTable) -> Window:
    """Build CQL's window of a stored table's whole content, created at the start and at every change."""
    return Window(table, OnChange(), TableContent())
