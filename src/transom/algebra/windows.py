"""The one window operator: slide events on one coordinate, a range on the same or another one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from transom.algebra.sources import StoredTable
from transom.algebra.streams import is_dense
from transom.errors import PlanError
from transom.model.schema import IMPLICIT, Attribute, Schema
from transom.model.types import Type

if TYPE_CHECKING:
    from transom.algebra.tree import Stream


class Coordinate(Enum):
    """What an element carries that never goes backwards within its key."""

    TICK = "tick"
    INDEX = "index"
    DISTANCE = "distance"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Every:
    """A slide event at the boundaries first, first + step, first + 2*step, ... of a coordinate."""

    coordinate: Coordinate
    step: int
    first: int = 0

    def __post_init__(self) -> None:
        if self.step < 1 or self.first < 0:
            raise PlanError("a slide needs a step of at least 1 and a first boundary of at least 0")

    def __str__(self) -> str:
        return f"every {self.step} {self.coordinate} from {self.first}"


@dataclass(frozen=True, slots=True)
class Arrival:
    """A slide event at every instant at which elements arrive; its boundary is the last of them."""

    def __str__(self) -> str:
        return "at every arrival"


@dataclass(frozen=True, slots=True)
class Once:
    """One slide event, when the query starts (S17)."""

    def __str__(self) -> str:
        return "once"


Slide: TypeAlias = Every | Arrival | Once


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
        now = "now" if self.step == 1 else f"floor(now, {self.step})"
        return f"{now}{self.offset:+d}" if self.offset else now


@dataclass(frozen=True, slots=True)
class Between:
    """The elements seen so far whose coordinate lies between two bounds; both ends belong (S4)."""

    coordinate: Coordinate
    low: Bound
    high: Bound

    def __str__(self) -> str:
        if self.low.step == self.high.step > 1:
            low, high = Bound(1, self.low.offset), Bound(1, self.high.offset)
            return f"{self.coordinate} {low} .. {high} in steps of {self.low.step}"
        return f"{self.coordinate} {self.low} .. {self.high}"


@dataclass(frozen=True, slots=True)
class Inside:
    """The elements seen so far whose place lies inside a named region, border included (C9)."""

    region: str

    def __str__(self) -> str:
        return f"inside {self.region}"


@dataclass(frozen=True, slots=True)
class Content:
    """The whole content of a table at the boundary."""

    def __str__(self) -> str:
        return "content"


Range: TypeAlias = Between | Inside | Content


@dataclass(frozen=True, slots=True)
class Window:
    """At each slide event, the elements in range.

    Meaning  content(b) = elements seen so far with low(b) <= rho(e) <= high(b); with another coordinate than the
             slide's, b is the current value of that coordinate. `tags` keeps an element's tick or index as columns.
    Bounds   one window per boundary, the empty ones too (S5); its tick is the boundary, or for a boundary on
             another coordinate the tick of the element that reached it (S6, S22); `key` makes one lineage per key.
    Source   000 Figs. 5, 6; 001 Sec. 3; 002 Defs. 3, 5; every row of the table of windows in docs/operators.md.
    State    the elements between low and the present: rate * (range + 1 tick), or range + 1 rows.
    """

    input: Stream | StoredTable
    slide: Slide
    range: Range
    key: tuple[Attribute, ...] = ()
    tags: tuple[Attribute, ...] = ()

    def __post_init__(self) -> None:
        stored = isinstance(self.input, StoredTable)
        if stored != isinstance(self.range, Content):
            raise PlanError("the content of a table is for a table, and a table has no other range")
        if stored and (self.tags or self.key or not _by_tick(self.slide)):
            raise PlanError("a table is scanned by tick and its tuples carry no tags")
        if not stored and isinstance(self.slide, Once):
            raise PlanError("only a table is scanned once")
        if any(a.name not in IMPLICIT or a.type is not Type.INTEGER for a in self.tags):
            raise PlanError("only tick and index are tags")
        for attribute in self.key:
            self.input.schema.position(attribute)
        if not isinstance(self.input, StoredTable) and self.counts_rows and not is_dense(self.input):
            raise PlanError("a window that counts rows needs a stream that is numbered without gaps (S15)")

    @property
    def counts_rows(self) -> bool:
        """Whether the index of the elements decides when a window comes or what it holds."""
        by_slide = isinstance(self.slide, Every) and self.slide.coordinate is Coordinate.INDEX
        return by_slide or (isinstance(self.range, Between) and self.range.coordinate is Coordinate.INDEX)

    @property
    def schema(self) -> Schema:
        """The columns of the input and the tags that are kept."""
        return self.input.schema + Schema(self.tags)


def _by_tick(slide: Slide) -> bool:
    return isinstance(slide, Once) or (isinstance(slide, Every) and slide.coordinate is Coordinate.TICK)


def time_window(input: Stream, past: int, until: int, slide: int, tags: tuple[Attribute, ...] = ()) -> Window:
    """`[FROM NOW-past TO NOW-until SLIDE slide]` in ticks."""
    reach = Between(Coordinate.TICK, Bound(slide, -past), Bound(slide, -until))
    return Window(input, Every(Coordinate.TICK, slide, 0), reach, tags=tags)


def row_window(input: Stream, past: int, until: int, slide: int, tags: tuple[Attribute, ...] = ()) -> Window:
    """`[FROM NOW-past TO NOW-until SLIDE slide ROWS]`; the first window comes at row `slide` (S6)."""
    reach = Between(Coordinate.INDEX, Bound(slide, -past), Bound(slide, -until))
    return Window(input, Every(Coordinate.INDEX, slide, slide), reach, tags=tags)


def scan(table: StoredTable, every: int | None) -> Window:
    """`[SCAN every]` in ticks, or one scan at the start (S17)."""
    return Window(table, Once() if every is None else Every(Coordinate.TICK, every, 0), Content())
