"""The one window operator: slide events on one coordinate, a range on the same or another one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from transom.algebra.operator import Stream, Windows
from transom.algebra.sources import StoredTable
from transom.algebra.streams import is_dense, place_columns
from transom.errors import PlanError
from transom.model.regions import Region
from transom.model.schema import IMPLICIT, Attribute, Schema
from transom.model.space import Position
from transom.model.types import Type


class Coordinate(Enum):
    """What an element carries that never goes backwards within its key."""

    TICK = "tick"
    INDEX = "index"
    DISTANCE = "distance"

    def __str__(self) -> str:
        return self.value


_LENGTHS = (("km", 1_000_000_000), ("m", 1_000_000), ("mm", 1_000))


def measured(coordinate: Coordinate, amount: int) -> str:
    """An amount of a coordinate as people read it: ticks and rows as they are, distances in the largest unit that fits.

    >>> measured(Coordinate.DISTANCE, 10_000_000_000)
    '10 km'
    """
    if coordinate is Coordinate.DISTANCE and amount:
        for unit, size in _LENGTHS:
            if amount % size == 0:
                return f"{amount // size} {unit}"
        return f"{amount} um"
    return str(amount)


@dataclass(frozen=True, slots=True)
class Every:
    """A slide event at the boundaries first, first + step, first + 2*step, ... of a coordinate.

    A distance may leap over boundaries: then there is one event, for the last of them (C12), and one per instant (C6).
    """

    coordinate: Coordinate
    step: int
    first: int = 0

    def __post_init__(self) -> None:
        if self.step < 1 or self.first < 0:
            raise PlanError("a slide needs a step of at least 1 and a first boundary of at least 0")

    def __str__(self) -> str:
        return f"every {measured(self.coordinate, self.step)} {self.coordinate} from {self.first}"


@dataclass(frozen=True, slots=True)
class Arrival:
    """A slide event at every instant at which elements arrive, for a region elements inside it (C5, C18).

    Its boundary is the last of them.
    """

    def __str__(self) -> str:
        return "at every arrival"


@dataclass(frozen=True, slots=True)
class Once:
    """One slide event, when the query starts (S17)."""

    def __str__(self) -> str:
        return "once"


@dataclass(frozen=True, slots=True)
class Passing:
    """A slide event at every instant at which the number of rows passes a multiple of a step.

    Its boundary is the last multiple: one event per instant, where Every has one per boundary (C18, E11).
    """

    step: int

    def __post_init__(self) -> None:
        if self.step < 1:
            raise PlanError("a slide needs a step of at least 1")

    def __str__(self) -> str:
        return f"when every {self.step} index passes"


@dataclass(frozen=True, slots=True)
class Change:
    """A slide event at every instant at which the content is another than before, by arrival or by age (C28).

    A table has one at the start too: it is there from then on.
    """

    def __str__(self) -> str:
        return "at every change"


Slide: TypeAlias = Every | Passing | Arrival | Change | Once


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a range: at base b its value is floor(b / step) * step + offset."""

    step: int
    offset: int

    def __post_init__(self) -> None:
        if self.step < 1:
            raise PlanError("a bound needs a step of at least 1")

    def at(self, base: int) -> int:
        """The value of the bound at a base."""
        return base // self.step * self.step + self.offset

    def __str__(self) -> str:
        return self.on(Coordinate.TICK)

    def on(self, coordinate: Coordinate) -> str:
        """The bound as people read it, on a coordinate."""
        now = "now" if self.step == 1 else f"floor(now, {measured(coordinate, self.step)})"
        sign = "+" if self.offset > 0 else "-"
        return f"{now}{sign}{measured(coordinate, abs(self.offset))}" if self.offset else now


@dataclass(frozen=True, slots=True)
class Between:
    """The elements seen so far whose coordinate lies between two bounds; both ends belong (S4)."""

    coordinate: Coordinate
    low: Bound
    high: Bound

    def __str__(self) -> str:
        if self.low.step == self.high.step > 1:
            low, high = Bound(1, self.low.offset), Bound(1, self.high.offset)
            steps = measured(self.coordinate, self.low.step)
            return f"{self.coordinate} {low.on(self.coordinate)} .. {high.on(self.coordinate)} in steps of {steps}"
        return f"{self.coordinate} {self.low.on(self.coordinate)} .. {self.high.on(self.coordinate)}"


@dataclass(frozen=True, slots=True)
class Inside:
    """The elements seen so far whose place lies inside a region, border included (C9)."""

    region: Region

    def __str__(self) -> str:
        return f"inside {self.region.name}"


@dataclass(frozen=True, slots=True)
class Everything:
    """All elements seen so far (`[UNBOUNDED]`)."""

    def __str__(self) -> str:
        return "everything"


@dataclass(frozen=True, slots=True)
class Together:
    """The elements that lie in every one of several ranges (C28)."""

    parts: tuple[Between | Inside, ...]

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise PlanError("ranges together are at least two")

    def __str__(self) -> str:
        return " and ".join(map(str, self.parts))


@dataclass(frozen=True, slots=True)
class Content:
    """The whole content of a table at the boundary."""

    def __str__(self) -> str:
        return "content"


Range: TypeAlias = Between | Inside | Everything | Together | Content


def parts(reach: Range) -> tuple[Range, ...]:
    """The ranges that an element must all lie in."""
    return reach.parts if isinstance(reach, Together) else (reach,)


@dataclass(frozen=True, slots=True)
class Window(Windows):
    """At each slide event, the elements in range.

    Meaning  content(b) = elements seen so far with low(b) <= rho(e) <= high(b); with another coordinate than the
             slide's, b is the current value of that coordinate. The distance of an element is the way from the first
             element of its key, step by step between the places in the columns of `position`; one without a place
             moves nothing (C11). `tags` keeps an element's tick or index as columns.
    Bounds   one window per boundary, the empty ones too (S5); its tick is the boundary, or for a boundary on
             another coordinate the tick of the element that reached it (S6, S22). `key` makes one lineage per key:
             rows and distance are counted inside the key, and it has no window before its first element (C14). A key
             without an element for more than `forget_after` ticks is forgotten at the next one: it has no rows and
             no windows from then on, and is new if it comes again (E8).
    Source   000 Figs. 5, 6; 001 Sec. 3; 002 Defs. 3, 5; every row of the table of windows in docs/operators.md.
    State    the elements between low and the present: rate * (range + 1 tick), or range + 1 rows; for a distance
             what the hints of the catalog allow (E8); for a region and for everything, all that ever came.
    """

    input: Stream | StoredTable
    slide: Slide
    range: Range
    key: tuple[Attribute, ...] = ()
    tags: tuple[Attribute, ...] = ()
    position: Position | None = None
    forget_after: int | None = None

    def __post_init__(self) -> None:
        stored = isinstance(self.input, StoredTable)
        if stored != isinstance(self.range, Content):
            raise PlanError("the content of a table is for a table, and a table has no other range")
        if stored and (self.tags or self.key or self.position or not _by_tick(self.slide)):
            raise PlanError("a table is scanned by tick and its tuples carry no tags")
        if not stored and isinstance(self.slide, Once):
            raise PlanError("only a table is scanned once")
        if not stored and isinstance(self.slide, Change) and not isinstance(self.range, Together):
            raise PlanError("a window is made at every change of a table or of several ranges together")
        if isinstance(self.slide, Passing) and not self._ranges_on(Coordinate.INDEX):
            raise PlanError("a slide by rows that pass needs a range of rows")
        if any(a.name not in IMPLICIT or a.type is not Type.INTEGER for a in self.tags):
            raise PlanError("only tick and index are tags")
        for attribute in self.key:
            self.input.schema.position(attribute)
        if self.forget_after is not None and (self.forget_after < 0 or not self.key):
            raise PlanError("only keys are forgotten, after at least 0 ticks")
        if self.in_space and self.position is None:
            raise PlanError("a window in space needs the position of its elements")
        _ = self.place
        for part in parts(self.range):
            if isinstance(part, Inside) and self.position and part.region.geodesic != self.position.geodesic:
                raise PlanError(f"the region {part.region.name} and the position are not measured alike")
        if not isinstance(self.input, StoredTable) and self.counts_rows and not self.key and not is_dense(self.input):
            raise PlanError("a window that counts rows needs a stream that is numbered without gaps (S15)")

    @property
    def counts_rows(self) -> bool:
        """Whether the index of the elements decides when a window comes or what it holds."""
        by_slide = isinstance(self.slide, Every) and self.slide.coordinate is Coordinate.INDEX
        return by_slide or isinstance(self.slide, Passing) or self._ranges_on(Coordinate.INDEX)

    @property
    def in_space(self) -> bool:
        """Whether the distance or the place of the elements decides when a window comes or what it holds."""
        return self.by_distance or any(isinstance(part, Inside) for part in parts(self.range))

    @property
    def by_distance(self) -> bool:
        """Whether the distance of the elements decides when a window comes or what it holds."""
        by_slide = isinstance(self.slide, Every) and self.slide.coordinate is Coordinate.DISTANCE
        return by_slide or self._ranges_on(Coordinate.DISTANCE)

    def _ranges_on(self, coordinate: Coordinate) -> bool:
        return any(isinstance(part, Between) and part.coordinate is coordinate for part in parts(self.range))

    @property
    def place(self) -> tuple[Attribute, ...]:
        """The columns of the input that hold the place of an element; none where the window needs no place."""
        if self.position is None:
            return ()
        return place_columns(self.input.schema, self.position)

    @property
    def schema(self) -> Schema:
        """The columns of the input and the tags that are kept."""
        return self.input.schema + Schema(self.tags)


def _by_tick(slide: Slide) -> bool:
    return isinstance(slide, Once | Change) or (isinstance(slide, Every) and slide.coordinate is Coordinate.TICK)


def time_window(input: Stream, past: int, until: int, slide: int, tags: tuple[Attribute, ...] = ()) -> Window:
    """`[FROM NOW-past TO NOW-until SLIDE slide]` in ticks; CQL's `[RANGE past, SLIDE slide]` is that until NOW (C1)."""
    reach = Between(Coordinate.TICK, Bound(slide, -past), Bound(slide, -until))
    return Window(input, Every(Coordinate.TICK, slide, 0), reach, tags=tags)


def row_window(input: Stream, past: int, until: int, slide: int, tags: tuple[Attribute, ...] = ()) -> Window:
    """`[FROM NOW-past TO NOW-until SLIDE slide ROWS]`; the first window comes at row `slide` (S6)."""
    reach = Between(Coordinate.INDEX, Bound(slide, -past), Bound(slide, -until))
    return Window(input, Every(Coordinate.INDEX, slide, slide), reach, tags=tags)


def scan(table: StoredTable, every: int | None) -> Window:
    """`[SCAN every]` in ticks, or one scan at the start (S17)."""
    return Window(table, Once() if every is None else Every(Coordinate.TICK, every, 0), Content())
