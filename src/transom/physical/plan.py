"""The nodes of a plan for Spark. Each says what it works on, which path it takes and why, and how much it remembers.

A relation travels in one of these forms:

    stream     one row per tuple: tick
    stays      one row per tuple and window: from its first window (tick) until a tick at which it is gone
    table      the same, known beforehand: the versions of a stored table
    scans      rows of a stored table that appear or leave, as its log tells of them: tick, sign
    ticks      one row per tuple and window: the tick of the window
    windows    rows of windows of which a tick may hold several: tick, seq; and a row per window that says it exists
    changes    rows that come or go, with a sign: tick; and a row per window that says it exists
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from transom.algebra.expressions import Aggregate, Expression, Item
from transom.machines.window import WindowSpec
from transom.model.schema import Attribute, Schema
from transom.physical.forms import Choice as Choice
from transom.physical.forms import Form as Form
from transom.physical.forms import Kernel as Kernel
from transom.physical.forms import Meeting as Meeting
from transom.physical.forms import Path as Path
from transom.physical.node import Clock, Physical
from transom.physical.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Read(Physical):
    """The rows of a streamed extent, each with its tick; `ordered` adds what puts rows of one tick in order (E1)."""

    extent: str
    schema: Schema
    ordered: bool
    choice: Choice
    form: Form = Form.STREAM


@dataclass(frozen=True, slots=True)
class ReadTable(Physical):
    """The versions of a stored table as stays between the scans that see them."""

    extent: str
    schema: Schema
    schedule: Schedule
    ordered: bool
    choice: Choice
    form: Form = Form.TABLE


@dataclass(frozen=True, slots=True)
class ReadScans(Physical):
    """What appears in a table and leaves it, as its log grows, each at the first scan of the query that sees it."""

    extent: str
    schema: Schema
    schedule: Schedule
    choice: Choice
    form: Form = Form.SCANS
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Number(Physical):
    """The rows of a stream with their position in it, from 1."""

    input: Physical
    schema: Schema
    choice: Choice
    form: Form = Form.STREAM
    ordered: bool = True


@dataclass(frozen=True, slots=True)
class Filter(Physical):
    """The rows for which a predicate is true; rows that only say that a window exists pass."""

    input: Physical
    predicate: Expression
    schema: Schema
    form: Form
    ordered: bool
    choice: Choice


@dataclass(frozen=True, slots=True)
class Map(Physical):
    """Each row made into another."""

    input: Physical
    items: tuple[Item, ...]
    schema: Schema
    form: Form
    ordered: bool
    choice: Choice


@dataclass(frozen=True, slots=True)
class UnionAll(Physical):
    """The rows of two sides; in order, those of the left come first. A column that a side has not is NULL."""

    left: Physical
    right: Physical
    schema: Schema
    form: Form
    ordered: bool
    choice: Choice


@dataclass(frozen=True, slots=True)
class Stay(Physical):
    """A time window: each tuple with the window it enters and the one that no longer holds it."""

    input: Physical
    past: int
    until: int
    slide: int
    tags: tuple[Attribute, ...]
    schema: Schema
    ordered: bool
    choice: Choice
    form: Form = Form.STAYS

    @property
    def longest(self) -> int:
        """The most ticks that a tuple stays."""
        return (self.past - self.until) // self.slide * self.slide + self.slide


@dataclass(frozen=True, slots=True)
class Cut(Physical):
    """Windows cut by counting rows."""

    input: Physical
    spec: WindowSpec
    schema: Schema
    ordered: bool
    choice: Choice
    form: Form = Form.WINDOWS


@dataclass(frozen=True, slots=True)
class Spread(Physical):
    """Stays as one row per window; the clock gives the ticks of a table. Scans may become stays instead."""

    input: Physical
    schedule: Schedule
    clock: Clock | None
    schema: Schema
    ordered: bool
    choice: Choice
    form: Form = Form.TICKS


@dataclass(frozen=True, slots=True)
class Exist(Physical):
    """Stays or tick rows as windows: one more row per window says that it exists."""

    input: Physical
    clock: Clock
    schema: Schema
    ordered: bool
    choice: Choice
    form: Form = Form.WINDOWS


@dataclass(frozen=True, slots=True)
class Group(Physical):
    """Aggregates per window, or per group of its rows; the clock brings the windows that hold nothing.

    `length` is how long all rows stay, if as long as each other: a pane is then known by its first window alone.
    """

    input: Physical
    groups: tuple[Item, ...]
    aggregates: tuple[Aggregate, ...]
    panes: bool
    length: int | None
    schedule: Schedule | None
    clock: Clock | None
    schema: Schema
    form: Form
    ordered: bool
    choice: Choice


@dataclass(frozen=True, slots=True)
class Slide(Physical):
    """Aggregates per window and group, group by group in the kernel; `copies` windows hold a row, if as many each."""

    input: Physical
    groups: tuple[Item, ...]
    aggregates: tuple[Aggregate, ...]
    copies: int | None
    period: int
    schema: Schema
    ordered: bool
    choice: Choice
    form: Form = Form.TICKS


@dataclass(frozen=True, slots=True)
class Meet(Physical):
    """Pairs of rows whose stays overlap; `cell` is the length of the spans of time that are compared as wholes.

    With scans these are the spans between two of them: the pairs of one scan end at the next, and 0 is for one scan.
    """

    left: Physical
    right: Physical
    equal: tuple[tuple[Expression, Expression], ...]
    rest: Expression
    how: Meeting
    cell: int
    longest: int
    schema: Schema
    form: Form
    ordered: bool
    choice: Choice


@dataclass(frozen=True, slots=True)
class Product(Physical):
    """Pairs of current windows, at every tick at which a side has new ones."""

    left: Physical
    right: Physical
    left_clock: Clock | None
    right_clock: Clock | None
    equal: tuple[tuple[Expression, Expression], ...]
    rest: Expression
    buckets: int
    schema: Schema
    ordered: bool
    choice: Choice
    form: Form = Form.WINDOWS


@dataclass(frozen=True, slots=True)
class Emit(Physical):
    """The rows of all windows as a stream."""

    input: Physical
    schema: Schema
    ordered: bool
    choice: Choice
    form: Form = Form.STREAM


@dataclass(frozen=True, slots=True)
class Changes(Physical):
    """What came or went from one window to the next, by adding up comings and goings per tick."""

    input: Physical
    report: str
    schedule: Schedule
    schema: Schema
    choice: Choice
    form: Form = Form.STREAM
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Compare(Physical):
    """What came or went from one window to the next, window by window."""

    input: Physical
    report: str
    buckets: int
    schema: Schema
    ordered: bool
    choice: Choice
    form: Form = Form.STREAM


@dataclass(frozen=True, slots=True)
class Collect(Physical):
    """The windows of an answer: an empty one is one flagged row (E5)."""

    input: Physical
    clock: Clock | None
    schema: Schema
    choice: Choice
    form: Form = Form.WINDOWS
    ordered: bool = False


RowNode: TypeAlias = (
    Read
    | ReadTable
    | ReadScans
    | Clock
    | Number
    | Filter
    | Map
    | UnionAll
    | Stay
    | Cut
    | Spread
    | Exist
    | Group
    | Slide
    | Meet
    | Product
    | Emit
    | Changes
    | Compare
    | Collect
)
"""Nodes over rows that every language needs."""
