"""Nodes over rows that every language needs. Each has inputs, an output form and a decision with its state bound.

A relation passes between nodes in one of these forms:

    stream     one row per tuple: tick
    intervals  one row per tuple with its validity interval: from its first window (tick) to an end, exclusive
    table      the same, known beforehand: the versions of a stored table
    scans      insertions into and deletions from a stored table, as its log records them: tick, sign
    ticks      one row per tuple and window: the tick of the window
    windows    rows of windows, several of which may have the same tick: tick, seq; and a marker row per window
    changes    insertions and retractions, with a sign: tick; and a marker row per window
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from transom.algebra.expressions.expression import Aggregate, Expression, NamedExpression
from transom.algebra.periods import EveryPeriod, PeriodRange
from transom.machines.windows.window import WindowSpec
from transom.model.schema import Attribute, Schema
from transom.physical.forms import Decision as Decision
from transom.physical.forms import Executor as Executor
from transom.physical.forms import Form as Form
from transom.physical.forms import JoinStrategy as JoinStrategy
from transom.physical.forms import KernelMode as KernelMode
from transom.physical.nodes.node import PhysicalNode, ReadClock
from transom.physical.schedule import Schedule


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class ReadStream(PhysicalNode):
    """Rows of a streamed extent, each with its tick; `ordered` adds a column by which rows of one tick sort (E1)."""

    extent: str
    schema: Schema
    ordered: bool
    decision: Decision
    form: Form = Form.STREAM


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class ReadTable(PhysicalNode):
    """Versions of a stored table as validity intervals between the scans that see them."""

    extent: str
    schema: Schema
    schedule: Schedule
    ordered: bool
    decision: Decision
    form: Form = Form.TABLE


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class ReadScans(PhysicalNode):
    """Insertions into and deletions from a table whose log is followed, each at the tick of its first scan."""

    extent: str
    schema: Schema
    schedule: Schedule
    decision: Decision
    form: Form = Form.SCANS
    ordered: bool = False


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RowNumber(PhysicalNode):
    """Rows of a stream with their number in arrival order, from 1."""

    input: PhysicalNode
    schema: Schema
    decision: Decision
    form: Form = Form.STREAM
    ordered: bool = True


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Filter(PhysicalNode):
    """Filter rows; window markers always pass."""

    input: PhysicalNode
    predicate: Expression
    schema: Schema
    form: Form
    ordered: bool
    decision: Decision


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Project(PhysicalNode):
    """Compute new columns from each row."""

    input: PhysicalNode
    items: tuple[NamedExpression, ...]
    schema: Schema
    form: Form
    ordered: bool
    decision: Decision


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class UnionAll(PhysicalNode):
    """The rows of two sides; if ordered, the left side first. A column that a side lacks is NULL."""

    left: PhysicalNode
    right: PhysicalNode
    schema: Schema
    form: Form
    ordered: bool
    decision: Decision


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class TimeWindow(PhysicalNode):
    """A time window: each tuple with the first window that holds it and the first that no longer does."""

    input: PhysicalNode
    past: int
    until: int
    slide: int
    tags: tuple[Attribute, ...]
    schema: Schema
    ordered: bool
    decision: Decision
    form: Form = Form.INTERVALS

    @property
    def longest(self) -> int:
        """The longest time, in ticks, that a row of this time window is valid."""
        return (self.past - self.until) // self.slide * self.slide + self.slide


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class PeriodWindow(PhysicalNode):
    """A window of calendar periods: tuples with the first window that holds them and the first that no longer does."""

    input: PhysicalNode
    slide: EveryPeriod
    range: PeriodRange
    tags: tuple[Attribute, ...]
    schema: Schema
    ordered: bool
    decision: Decision
    form: Form = Form.INTERVALS

    @property
    def windows(self) -> int:
        """The largest number of windows that can contain one and the same row."""
        if self.range.unit is self.slide.unit:
            return max(0, -(-(self.range.past - self.range.until) // self.slide.step))
        return -(-self.range.width // self.slide.shortest)

    @property
    def longest(self) -> int:
        """The longest time, in ticks, that a row of this window is valid."""
        return self.slide.days.longest(self.slide.unit, self.windows * self.slide.step)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RowWindow(PhysicalNode):
    """Windows by row count."""

    input: PhysicalNode
    spec: WindowSpec
    schema: Schema
    ordered: bool
    decision: Decision
    form: Form = Form.WINDOWS


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class ExpandWindows(PhysicalNode):
    """Expand validity intervals to one row per window; for a table, the clock has the ticks of the windows.

    The scans of a table may become validity intervals instead.
    """

    input: PhysicalNode
    schedule: Schedule
    clock: ReadClock | None
    schema: Schema
    ordered: bool
    decision: Decision
    form: Form = Form.TICKS


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class WindowMarkers(PhysicalNode):
    """Convert tick rows to windows, with a marker row per window."""

    input: PhysicalNode
    clock: ReadClock
    schema: Schema
    ordered: bool
    decision: Decision
    form: Form = Form.WINDOWS


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class WindowAggregate(PhysicalNode):
    """Aggregates per window, or per group of its rows; the clock adds the empty windows.

    `length` is the validity of rows in ticks if it is the same for all: then the first window alone identifies a pane.
    """

    input: PhysicalNode
    groups: tuple[NamedExpression, ...]
    aggregates: tuple[Aggregate, ...]
    panes: bool
    length: int | None
    schedule: Schedule | None
    clock: ReadClock | None
    schema: Schema
    form: Form
    ordered: bool
    decision: Decision


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class SlidingWindowAggregate(PhysicalNode):
    """Aggregates per window and group, in the kernel; `copies` is how many windows hold a row, None if that varies."""

    input: PhysicalNode
    groups: tuple[NamedExpression, ...]
    aggregates: tuple[Aggregate, ...]
    copies: int | None
    period: int
    schema: Schema
    ordered: bool
    decision: Decision
    form: Form = Form.TICKS


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class IntervalJoin(PhysicalNode):
    """Pairs of rows with overlapping validity intervals; `cell`: length of the join's time buckets in ticks.

    With scans, a bucket is the time between two scans: the pairs of one scan end at the next. 0 means a single scan.
    """

    left: PhysicalNode
    right: PhysicalNode
    equal: tuple[tuple[Expression, Expression], ...]
    residual: Expression
    how: JoinStrategy
    cell: int
    longest: int
    schema: Schema
    form: Form
    ordered: bool
    decision: Decision


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class WindowProduct(PhysicalNode):
    """Pairs of current windows, at every tick at which a side has new windows."""

    left: PhysicalNode
    right: PhysicalNode
    left_clock: ReadClock | None
    right_clock: ReadClock | None
    equal: tuple[tuple[Expression, Expression], ...]
    residual: Expression
    buckets: int
    schema: Schema
    ordered: bool
    decision: Decision
    form: Form = Form.WINDOWS


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class WindowsToStream(PhysicalNode):
    """The rows of all windows as a stream."""

    input: PhysicalNode
    schema: Schema
    ordered: bool
    decision: Decision
    form: Form = Form.STREAM


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class IntervalDiff(PhysicalNode):
    """Rows added or removed between consecutive windows: insertions and retractions are added up per tick."""

    input: PhysicalNode
    report: str
    schedule: Schedule
    schema: Schema
    decision: Decision
    form: Form = Form.STREAM
    ordered: bool = False


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class WindowDiff(PhysicalNode):
    """Rows added or removed between consecutive windows: each window is compared with the previous one."""

    input: PhysicalNode
    report: str
    buckets: int
    schema: Schema
    ordered: bool
    decision: Decision
    form: Form = Form.STREAM


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class CollectWindows(PhysicalNode):
    """The windows of an answer; an empty window is one flagged row (E5)."""

    input: PhysicalNode
    clock: ReadClock | None
    schema: Schema
    decision: Decision
    form: Form = Form.WINDOWS
    ordered: bool = False


RowNode: TypeAlias = (
    ReadStream
    | ReadTable
    | ReadScans
    | ReadClock
    | RowNumber
    | Filter
    | Project
    | UnionAll
    | TimeWindow
    | PeriodWindow
    | RowWindow
    | ExpandWindows
    | WindowMarkers
    | WindowAggregate
    | SlidingWindowAggregate
    | IntervalJoin
    | WindowProduct
    | WindowsToStream
    | IntervalDiff
    | WindowDiff
    | CollectWindows
)
"""Nodes over rows that every language needs."""
