"""Nodes for windows of which every key has its own, and for relations that have one window per tick."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from transom.algebra.expressions import Aggregate, Expression, Item
from transom.algebra.tracks import Track
from transom.machines.distance import PlaceSpec
from transom.machines.lineage_spec import LineageSpec
from transom.model.schema import Attribute, Schema
from transom.physical.forms import Choice, Form
from transom.physical.node import Clock, Physical
from transom.physical.schedule import Schedule


class Relating(Enum):
    """What is made of two relations, or of the windows of all keys."""

    JOIN = "join"
    LEFT = "left join"
    SEMI = "semi join"
    ANTI = "anti join"
    UNION = "union"
    EXCEPT = "except"
    INTERSECT = "intersect"
    MERGE = "merge"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Lines(Physical):
    """The windows of each key: their rows, or their changes. Rows of which the flag is not true are in no window."""

    input: Physical
    spec: LineageSpec
    key: tuple[Attribute, ...]
    flag: Expression | None
    clock: Clock | None
    tags: tuple[Attribute, ...]
    schema: Schema
    ordered: bool
    choice: Choice
    form: Form


@dataclass(frozen=True, slots=True)
class Steady(Physical):
    """A stream without the rows that no object can have reached in time."""

    input: Physical
    place: PlaceSpec
    key: tuple[Attribute, ...]
    forget_after: int | None
    schema: Schema
    ordered: bool
    choice: Choice
    form: Form = Form.STREAM


@dataclass(frozen=True, slots=True)
class Come(Physical):
    """Stays, tick rows or the versions of a table as changes; the clock says at which ticks there are windows."""

    input: Physical
    schedule: Schedule
    clock: Clock
    schema: Schema
    choice: Choice
    form: Form = Form.CHANGES
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Turn(Physical):
    """Windows as changes, window by window."""

    input: Physical
    schema: Schema
    choice: Choice
    form: Form = Form.CHANGES
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Grown(Physical):
    """Only the windows to which a row was added."""

    input: Physical
    schema: Schema
    ordered: bool
    choice: Choice
    form: Form = Form.WINDOWS


@dataclass(frozen=True, slots=True)
class Relate(Physical):
    """What two relations make together at every tick at which one of them has a window."""

    left: Physical
    right: Physical | None
    how: Relating
    equal: tuple[tuple[Expression, Expression], ...]
    rest: Expression
    buckets: int
    schema: Schema
    choice: Choice
    form: Form = Form.WINDOWS
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Distinct(Physical):
    """Each row of a window once."""

    input: Physical
    schema: Schema
    form: Form
    choice: Choice
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class First(Physical):
    """The first so many rows of a window, or of each group of its rows, by a value."""

    input: Physical
    per: tuple[Expression, ...]
    by: Expression
    count: int
    schema: Schema
    form: Form
    choice: Choice
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Follow(Physical):
    """Aggregates of which some follow the places of rows, per window or per group of its rows."""

    input: Physical
    groups: tuple[Item, ...]
    aggregates: tuple[Aggregate | Track, ...]
    clock: Clock | None
    schema: Schema
    form: Form
    ordered: bool
    choice: Choice


@dataclass(frozen=True, slots=True)
class Tally(Physical):
    """Aggregates of the windows of each key, from the machine that makes these: no row of a window leaves it.

    `cells` go into it, the flag of a window in space last; `tags` come behind the columns of the input.
    """

    input: Physical
    spec: LineageSpec
    key: tuple[Attribute, ...]
    groups: tuple[Item, ...]
    aggregates: tuple[Aggregate | Track, ...]
    cells: tuple[Expression, ...]
    tags: tuple[Attribute, ...]
    schema: Schema
    ordered: bool
    choice: Choice
    form: Form = Form.WINDOWS


@dataclass(frozen=True, slots=True)
class Net(Physical):
    """What came or went at each tick: changes of equal rows added up."""

    input: Physical
    report: str
    schema: Schema
    choice: Choice
    form: Form = Form.STREAM
    ordered: bool = False


LineNode: TypeAlias = Lines | Steady | Come | Turn | Grown | Relate | Distinct | First | Follow | Tally | Net
"""Nodes that only CQL and scans of tables need."""
