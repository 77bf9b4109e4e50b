"""Nodes for windows per key, and for relations with one window per tick."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from transom.algebra.expressions.expression import Aggregate, Expression, NamedExpression
from transom.algebra.expressions.tracks import TrackAggregate
from transom.machines.windows.distance import PositionSpec
from transom.machines.windows.keyed_window_spec import KeyedWindowSpec
from transom.model.schema import Attribute, Schema
from transom.physical.forms import Decision, Form
from transom.physical.nodes.node import PhysicalNode, ReadClock
from transom.physical.schedule import Schedule


class CombineKind(Enum):
    """How two relations, or the windows of all keys, are combined."""

    JOIN = "join"
    LEFT = "left join"
    SEMI = "semi join"
    ANTI = "anti join"
    UNION = "union"
    EXCEPT = "except"
    INTERSECT = "intersect"
    MERGE = "merge"

    def __str__(self) -> str:
        """Return the name of the operation as `explain` prints it."""
        return self.value


@dataclass(frozen=True, slots=True)
class KeyedWindow(PhysicalNode):
    """Windows of each key: their rows or their changes. Rows whose flag is not true are in no window."""

    input: PhysicalNode
    spec: KeyedWindowSpec
    key: tuple[Attribute, ...]
    flag: Expression | None
    clock: ReadClock | None
    tags: tuple[Attribute, ...]
    schema: Schema
    ordered: bool
    decision: Decision
    form: Form


@dataclass(frozen=True, slots=True)
class SpeedLimitExec(PhysicalNode):
    """A stream without the rows that an object could only have reached above the speed limit."""

    input: PhysicalNode
    position: PositionSpec
    key: tuple[Attribute, ...]
    forget_after: int | None
    schema: Schema
    ordered: bool
    decision: Decision
    form: Form = Form.STREAM


@dataclass(frozen=True, slots=True)
class IntervalsToChanges(PhysicalNode):
    """Convert validity intervals, tick rows or a table to changes; the clock has the ticks with windows."""

    input: PhysicalNode
    schedule: Schedule
    clock: ReadClock
    schema: Schema
    decision: Decision
    form: Form = Form.CHANGES
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class WindowsToChanges(PhysicalNode):
    """Convert windows to changes: each window is compared with the previous one."""

    input: PhysicalNode
    schema: Schema
    decision: Decision
    form: Form = Form.CHANGES
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class SuppressUnchangedExec(PhysicalNode):
    """Drop windows to which no row was added."""

    input: PhysicalNode
    schema: Schema
    ordered: bool
    decision: Decision
    form: Form = Form.WINDOWS


@dataclass(frozen=True, slots=True)
class CombineRelations(PhysicalNode):
    """Combine two relations, or all keys of one, at every tick at which one has a window."""

    left: PhysicalNode
    right: PhysicalNode | None
    how: CombineKind
    equal: tuple[tuple[Expression, Expression], ...]
    residual: Expression
    buckets: int
    schema: Schema
    decision: Decision
    form: Form = Form.WINDOWS
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Distinct(PhysicalNode):
    """Distinct rows: per window, or of a relation that arrives as changes or is stored."""

    input: PhysicalNode
    schema: Schema
    form: Form
    decision: Decision
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class TopN(PhysicalNode):
    """The first `count` rows of a window, or of each group of its rows, ordered by a value."""

    input: PhysicalNode
    per: tuple[Expression, ...]
    by: Expression
    count: int
    schema: Schema
    form: Form
    decision: Decision
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class TrajectoryAggregate(PhysicalNode):
    """Aggregates per window or per group of its rows, some of which follow the positions of rows in order."""

    input: PhysicalNode
    groups: tuple[NamedExpression, ...]
    aggregates: tuple[Aggregate | TrackAggregate, ...]
    clock: ReadClock | None
    schema: Schema
    form: Form
    ordered: bool
    decision: Decision


@dataclass(frozen=True, slots=True)
class KeyedWindowAggregate(PhysicalNode):
    """Aggregates of the windows of each key, computed by the machine that builds the windows; it emits no rows of them.

    `cells` are its input columns; the flag of a window in space is the last. `tags` follow the columns of the input.
    """

    input: PhysicalNode
    spec: KeyedWindowSpec
    key: tuple[Attribute, ...]
    groups: tuple[NamedExpression, ...]
    aggregates: tuple[Aggregate | TrackAggregate, ...]
    cells: tuple[Expression, ...]
    tags: tuple[Attribute, ...]
    schema: Schema
    ordered: bool
    decision: Decision
    form: Form = Form.WINDOWS


@dataclass(frozen=True, slots=True)
class ChangesToStream(PhysicalNode):
    """Rows that were added or removed at each tick: the changes of equal rows are added up."""

    input: PhysicalNode
    report: str
    schema: Schema
    decision: Decision
    form: Form = Form.STREAM
    ordered: bool = False


RelationNode: TypeAlias = (
    KeyedWindow
    | SpeedLimitExec
    | IntervalsToChanges
    | WindowsToChanges
    | SuppressUnchangedExec
    | CombineRelations
    | Distinct
    | TopN
    | TrajectoryAggregate
    | KeyedWindowAggregate
    | ChangesToStream
)
"""Nodes that mainly CQL and scans of tables need."""
