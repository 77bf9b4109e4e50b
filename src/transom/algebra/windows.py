"""The one window operator: slide events on one coordinate, a range on the same or another coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from transom.algebra.operator import Stream, Windows
from transom.algebra.periods import EveryPeriod, PeriodRange
from transom.algebra.sources import StoredTable
from transom.algebra.streams import find_position_columns, is_dense
from transom.errors import PlanError
from transom.model.geometry.regions import Region
from transom.model.geometry.space import Position
from transom.model.schema import IMPLICIT_TAGS, Attribute, Schema
from transom.model.types import Type
from transom.record import Record


class Coordinate(Enum):
    """A coordinate of elements; within a key it never decreases."""

    TICK = "tick"
    INDEX = "index"
    DISTANCE = "distance"

    def __str__(self) -> str:
        """The name of the coordinate."""
        return self.value


_LENGTHS = (("km", 1_000_000_000), ("m", 1_000_000), ("mm", 1_000))


def format_amount(coordinate: Coordinate, amount: int) -> str:
    """Format a number of ticks, rows or micrometres; distances are given in the largest unit that is exact.

    >>> format_amount(Coordinate.DISTANCE, 10_000_000_000)
    '10 km'
    """
    if coordinate is Coordinate.DISTANCE and amount:
        for unit, size in _LENGTHS:
            if amount % size == 0:
                return f"{amount // size} {unit}"
        return f"{amount} um"
    return str(amount)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Every(Record):
    """A slide event at the boundaries first, first + step, first + 2*step, ... of a coordinate.

    A distance may cross several boundaries at once: then there is one event, for the last of them (C12), and at most
    one per instant (C6).
    """

    coordinate: Coordinate
    step: int
    first: int = 0

    def __post_init__(self) -> None:
        """Raise PlanError unless the step is at least 1 and the first boundary at least 0."""
        if self.step < 1 or self.first < 0:
            raise PlanError("a slide needs a step of at least 1 and a first boundary of at least 0")

    def __str__(self) -> str:
        """The slide as text for `explain`: step, coordinate and first boundary."""
        return f"every {format_amount(self.coordinate, self.step)} {self.coordinate} from {self.first}"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class OnArrival(Record):
    """A slide event at every instant with arrivals; for a region, arrivals inside it (C5, C18).

    The boundary is the last of these elements.
    """

    def __str__(self) -> str:
        """The slide as text for `explain`: `at every arrival`."""
        return "at every arrival"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class AtStart(Record):
    """One slide event, when the query starts (S17)."""

    def __str__(self) -> str:
        """The slide as text for `explain`: `once`."""
        return "once"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class OnRowCount(Record):
    """A slide event at every instant at which the number of rows passes a multiple of a step.

    The boundary is the last multiple passed: one event per instant, where Every has one per boundary (C18, E11).
    """

    step: int

    def __post_init__(self) -> None:
        """Raise PlanError unless the step, a number of rows, is at least 1."""
        if self.step < 1:
            raise PlanError("a slide needs a step of at least 1")

    def __str__(self) -> str:
        """The slide as text for `explain`: `when every 5 index passes` is a new window after every 5 rows."""
        return f"when every {self.step} index passes"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class OnChange(Record):
    """A slide event at every instant at which the content changes, because rows arrive or become too old (C28).

    A table also has one at the start.
    """

    def __str__(self) -> str:
        """The slide as text for `explain`: `at every change`."""
        return "at every change"


Slide: TypeAlias = Every | EveryPeriod | OnRowCount | OnArrival | OnChange | AtStart


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Bound(Record):
    """One end of a range, relative to a base b, the current value: floor(b / step) * step + offset."""

    step: int
    offset: int

    def __post_init__(self) -> None:
        """Raise PlanError unless `step`, to whose multiples the base of the bound is rounded, is at least 1."""
        if self.step < 1:
            raise PlanError("a bound needs a step of at least 1")

    def at(self, base: int) -> int:
        """Compute the bound for the current coordinate value `base`: floor(base / step) * step + offset."""
        return base // self.step * self.step + self.offset

    def __str__(self) -> str:
        """The bound as text for a range of ticks, such as `now-5`."""
        return self.on(Coordinate.TICK)

    def on(self, coordinate: Coordinate) -> str:
        """Format the bound for a range on a coordinate: `now-5` for ticks, `now-10 km` for distances."""
        now = "now" if self.step == 1 else f"floor(now, {format_amount(coordinate, self.step)})"
        sign = "+" if self.offset > 0 else "-"
        return f"{now}{sign}{format_amount(coordinate, abs(self.offset))}" if self.offset else now


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class CoordinateRange(Record):
    """The elements seen so far whose coordinate lies between two bounds, both included (S4)."""

    coordinate: Coordinate
    low: Bound
    high: Bound

    def __str__(self) -> str:
        """The range as text for `explain`: the coordinate and both bounds."""
        if self.low.step == self.high.step > 1:
            low, high = Bound(1, self.low.offset), Bound(1, self.high.offset)
            steps = format_amount(self.coordinate, self.low.step)
            return f"{self.coordinate} {low.on(self.coordinate)} .. {high.on(self.coordinate)} in steps of {steps}"
        return f"{self.coordinate} {self.low.on(self.coordinate)} .. {self.high.on(self.coordinate)}"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RegionRange(Record):
    """The elements seen so far whose position lies inside a region, border included (C9)."""

    region: Region

    def __str__(self) -> str:
        """The range as text for `explain`: `inside` and the name of the region."""
        return f"inside {self.region.name}"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class UnboundedRange(Record):
    """All elements seen so far (`[UNBOUNDED]`)."""

    def __str__(self) -> str:
        """The range as text for `explain`: `everything`."""
        return "everything"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RangeIntersection(Record):
    """The elements that lie in every one of several ranges (C28)."""

    parts: tuple[CoordinateRange | RegionRange, ...]

    def __post_init__(self) -> None:
        """Raise PlanError unless there are at least two ranges to intersect."""
        if len(self.parts) < 2:
            raise PlanError("an intersection needs at least two ranges")

    def __str__(self) -> str:
        """The ranges as text for `explain`, joined by `and`."""
        return " and ".join(map(str, self.parts))


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class TableContent(Record):
    """The content of a table at the boundary."""

    def __str__(self) -> str:
        """The text `content` for `explain`: a window over a table's whole content has no bounds to show."""
        return "content"


Range: TypeAlias = CoordinateRange | PeriodRange | RegionRange | UnboundedRange | RangeIntersection | TableContent


def range_parts(window_range: Range) -> tuple[Range, ...]:
    """Return the ranges that an intersection combines; any other range is its only part."""
    return window_range.parts if isinstance(window_range, RangeIntersection) else (window_range,)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Window(Windows):
    """Windows over a stream or a table, each with the elements that lie in a range.

    Meaning  the slide determines the boundaries at which windows are created. The window of a boundary b contains every
             element e that has arrived so far and for which low(b) <= rho(e) <= high(b). Depending on the range, rho(e)
             is the tick, the index or the distance of e. If slide and range use different coordinates, b is the current
             value of the range's coordinate. The distance of an element is the length of the path from the first
             element of its key, along the positions in the columns of `position`. An element without a position adds no
             distance (C11). `tags` lists the columns in which a window keeps the tick or the index of an element.
    Bounds   each boundary creates one window, even an empty one (S5). If the slide uses ticks, the tick of a window is
             its boundary. Otherwise, it is the tick of the element that reached the boundary (S6, S22). With `key`,
             each key has its own windows, row numbers and distances. A key has no window before its first element
             (C14). If a key has no element for more than `forget_after` ticks, its rows and windows end at the next
             tick. The next element of the key then counts as its first element (E8).
    Source   000 Figs. 5, 6; 001 Sec. 3; 002 Defs. 3, 5; every row of the table of windows in docs/operators.md.
    State    the elements from `low` to the present. For a range of ticks, these are at most rate * (range + 1 tick)
             elements. For a range of rows, these are at most range + 1 elements. For a range of distance, hints in the
             catalog give the bound (E8). For a region or an unbounded range, the operator keeps all elements.
    """

    input: Stream | StoredTable
    slide: Slide
    range: Range
    key: tuple[Attribute, ...] = ()
    tags: tuple[Attribute, ...] = ()
    position: Position | None = None
    forget_after: int | None = None

    def __post_init__(self) -> None:
        """Raise PlanError unless input, slide, range, key, tags and position fit together."""
        stored = isinstance(self.input, StoredTable)
        if stored != isinstance(self.range, TableContent):
            raise PlanError("the range TableContent is for a table, and a table needs it")
        if stored and (self.tags or self.key or self.position or not _slides_by_tick(self.slide)):
            raise PlanError("a table is scanned by tick and its tuples carry no tags")
        if not stored and isinstance(self.slide, AtStart):
            raise PlanError("only a table is scanned once")
        if not stored and isinstance(self.slide, OnChange) and not isinstance(self.range, RangeIntersection):
            raise PlanError("a window slides at every change only over a table or an intersection of ranges")
        if isinstance(self.slide, EveryPeriod) != isinstance(self.range, PeriodRange):
            raise PlanError("a slide by calendar periods needs a range of periods, and the reverse")
        if isinstance(self.slide, OnRowCount) and not self._has_range_on(Coordinate.INDEX):
            raise PlanError("a slide by the number of rows needs a range of rows")
        if any(a.name not in IMPLICIT_TAGS or a.type is not Type.INTEGER for a in self.tags):
            raise PlanError("only tick and index are tags")
        for attribute in self.key:
            self.input.schema.position(attribute)
        if self.forget_after is not None and (self.forget_after < 0 or not self.key):
            raise PlanError("only keys are forgotten, after at least 0 ticks")
        if self.in_space and self.position is None:
            raise PlanError("a window in space needs the position of its elements")
        _ = self.position_columns
        for part in range_parts(self.range):
            if isinstance(part, RegionRange) and self.position and part.region.geodesic != self.position.geodesic:
                raise PlanError(f"the region {part.region.name} and the position differ in their measure")
        if not isinstance(self.input, StoredTable) and self.counts_rows and not self.key and not is_dense(self.input):
            raise PlanError("a window that counts rows needs a stream that is numbered without gaps (S15)")

    @property
    def counts_rows(self) -> bool:
        """Whether the window's slide or range counts rows."""
        by_slide = isinstance(self.slide, Every) and self.slide.coordinate is Coordinate.INDEX
        return by_slide or isinstance(self.slide, OnRowCount) or self._has_range_on(Coordinate.INDEX)

    @property
    def in_space(self) -> bool:
        """Whether the window's slide or range uses distances or a region, and so needs positions."""
        return self.by_distance or any(isinstance(part, RegionRange) for part in range_parts(self.range))

    @property
    def by_distance(self) -> bool:
        """Whether the window's slide or range is a distance along an object's path."""
        by_slide = isinstance(self.slide, Every) and self.slide.coordinate is Coordinate.DISTANCE
        return by_slide or self._has_range_on(Coordinate.DISTANCE)

    def _has_range_on(self, coordinate: Coordinate) -> bool:
        """Whether the window's range, or a part of it, is measured on this coordinate, such as ticks."""
        return any(
            isinstance(part, CoordinateRange) and part.coordinate is coordinate for part in range_parts(self.range)
        )

    @property
    def position_columns(self) -> tuple[Attribute, ...]:
        """The input columns that hold the position of a row; empty if the window has no position."""
        if self.position is None:
            return ()
        return find_position_columns(self.input.schema, self.position)

    @property
    def schema(self) -> Schema:
        """The columns of the input, then the tick and index columns that the window adds (`tags`)."""
        return self.input.schema + Schema(self.tags)


def _slides_by_tick(slide: Slide) -> bool:
    """Whether a slide makes windows once, at each change or every n ticks, not by rows, distance or calendar."""
    return isinstance(slide, AtStart | OnChange) or (isinstance(slide, Every) and slide.coordinate is Coordinate.TICK)


def time_window(input: Stream, past: int, until: int, slide: int, tags: tuple[Attribute, ...] = ()) -> Window:
    """Build SNEEql's window FROM NOW-past TO NOW-until SLIDE slide, in ticks; `tags`: tick or index columns.

    `tags` are tick or index columns to add.
    """
    window_range = CoordinateRange(Coordinate.TICK, Bound(slide, -past), Bound(slide, -until))
    return Window(input, Every(Coordinate.TICK, slide, 0), window_range, tags=tags)


def row_window(input: Stream, past: int, until: int, slide: int, tags: tuple[Attribute, ...] = ()) -> Window:
    """Build SNEEql's row window `[FROM NOW-past TO NOW-until SLIDE slide ROWS]`; `tags`: tick or index columns.

    `tags` are tick or index columns to add.
    """
    window_range = CoordinateRange(Coordinate.INDEX, Bound(slide, -past), Bound(slide, -until))
    return Window(input, Every(Coordinate.INDEX, slide, slide), window_range, tags=tags)


def scan_window(table: StoredTable, every: int | None) -> Window:
    """Build SNEEql's window `[SCAN every]` of a stored table, in ticks; None means one scan at the start (S17)."""
    return Window(table, AtStart() if every is None else Every(Coordinate.TICK, every, 0), TableContent())
