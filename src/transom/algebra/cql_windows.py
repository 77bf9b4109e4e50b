"""The windows of CQL as the one window operator (the table of windows in docs/operators.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transom.algebra.sources import StoredTable
from transom.algebra.windows import (
    Arrival,
    Between,
    Bound,
    Change,
    Content,
    Coordinate,
    Every,
    Everything,
    Inside,
    Passing,
    Together,
    Window,
)
from transom.model.regions import Region
from transom.model.schema import Attribute
from transom.model.space import Position

if TYPE_CHECKING:
    from transom.algebra.operator import Stream

Attributes = tuple[Attribute, ...]

TICKS = Coordinate.TICK
DISTANCE = Coordinate.DISTANCE


def last_rows(input: Stream, count: int, slide: int = 1, key: Attributes = (), tags: Attributes = ()) -> Window:
    """`[PARTITION BY key ROWS count SLIDE slide]`: the last rows by arrival, once per instant (C18)."""
    reach = Between(Coordinate.INDEX, Bound(slide, 1 - count), Bound(slide, 0))
    return Window(input, Arrival() if slide == 1 else Passing(slide), reach, key, tags)


def recent(input: Stream, past: int, slide: int = 1, key: Attributes = (), tags: Attributes = ()) -> Window:
    """`[PARTITION BY key RANGE past SLIDE slide]` in ticks; `[NOW]` is a range of 0 (C1, C17)."""
    return Window(input, Every(TICKS, slide), Between(TICKS, Bound(slide, -past), Bound(slide, 0)), key, tags)


def unbounded(input: Stream, slide: Every | None = None, key: Attributes = (), tags: Attributes = ()) -> Window:
    """`[UNBOUNDED]`: everything that came; without a slide, at every arrival."""
    return Window(input, slide or Arrival(), Everything(), key, tags)


def inside(
    input: Stream,
    position: Position,
    region: Region,
    slide: Every | None = None,
    key: Attributes = (),
    tags: Attributes = (),
) -> Window:
    """`[RANGE BY region RATTR SPACE]`, and with a slide `SLIDE BY .. SATTR TIME|SPACE` (C5, C27)."""
    return Window(input, slide or Arrival(), Inside(region), key, tags, position)


def inside_lately(
    input: Stream,
    position: Position,
    region: Region,
    past: int,
    slide: Every | None = None,
    key: Attributes = (),
    tags: Attributes = (),
) -> Window:
    """`[RANGE BY region RATTR SPACE, RANGE BY past RATTR TIME]`: inside, and not older than `past` ticks (C28)."""
    reach = Together((Inside(region), Between(TICKS, Bound(1, -past), Bound(1, 0))))
    return Window(input, slide or Change(), reach, key, tags, position)


def last_way(
    input: Stream,
    position: Position,
    length: int,
    slide: Every,
    key: Attributes = (),
    tags: Attributes = (),
) -> Window:
    """`[RANGE BY length RATTR SPACE, SLIDE BY ..]`: the last so many micrometres of way (C11, C12, C15)."""
    step = slide.step if slide.coordinate is DISTANCE else 1
    return Window(input, slide, Between(DISTANCE, Bound(step, -length), Bound(step, 0)), key, tags, position)


def recent_by_way(
    input: Stream, position: Position, past: int, step: int, key: Attributes = (), tags: Attributes = ()
) -> Window:
    """`[RANGE BY past RATTR TIME, SLIDE BY step SATTR SPACE]`: the last ticks, every so many micrometres (C15)."""
    reach = Between(TICKS, Bound(1, -past), Bound(1, 0))
    return Window(input, Every(DISTANCE, step), reach, key, tags, position)


def stored(table: StoredTable) -> Window:
    """A stored extent without a window: its content at the start and whenever it changes."""
    return Window(table, Change(), Content())
