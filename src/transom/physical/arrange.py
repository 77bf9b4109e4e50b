"""From optimised algebra to a plan for Spark: one function per operator, chosen by its class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from transom.algebra import bounds
from transom.algebra.expressions import Call as CallOf
from transom.algebra.expressions import Expression, Tag, columns, conjunction, conjuncts, parts
from transom.algebra.relations import (
    RelationAntiJoin,
    RelationExcept,
    RelationIntersect,
    RelationJoin,
    RelationLeftJoin,
    RelationSemiJoin,
    RelationUnion,
    TrackAggregation,
    WindowAggregation,
    WindowCrossProduct,
    WindowDistinct,
    WindowFirst,
    WindowGrown,
    WindowJoin,
    WindowMerge,
    WindowProject,
    WindowSelect,
)
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive
from transom.algebra.state import NOTHING, Formula, plus, times
from transom.algebra.state import Number as Rows
from transom.algebra.streams import DStream, IStream, Renumber, RStream, StreamProject, StreamSelect, WithoutJumps
from transom.algebra.tree import Plan, Stream, Windows, is_stream
from transom.algebra.windows import Between, Change, Coordinate, Every, Once, Window
from transom.errors import Unsupported
from transom.machines.window import WindowSpec
from transom.model.schema import Schema
from transom.physical import choices, stays
from transom.physical.choices import BUCKETS, FEW_KEYS, STATELESS, Span
from transom.physical.plan import (
    Changes,
    Clock,
    Collect,
    Compare,
    Cut,
    Emit,
    Exist,
    Filter,
    Form,
    Group,
    Map,
    Meet,
    Meeting,
    Number,
    Physical,
    Product,
    Read,
    ReadTable,
    Slide,
    Spread,
    Stay,
)
from transom.physical.schedule import Schedule
from transom.physical.walk import rewrite, walk


@dataclass(frozen=True, slots=True)
class Want:
    """What the operators above read of a stream: the order of its rows, their index; `last`: none keeps state."""

    order: bool = False
    index: bool = False
    last: bool = False

    @property
    def ordered(self) -> bool:
        """Whether rows must say what puts them in order."""
        return self.order or self.index


def arrange(
    plan: Plan,
    *,
    start: int = 0,
    index: bool = False,
    slack: int = 1,
    kernel: bool = False,
    keys: Mapping[str, int] | None = None,
) -> Physical:
    """The plan for Spark of an optimised query.

    `index` asks for the running index of a tagged stream (E4); `slack` is the event time in ticks that may be open at
    once, for the bounds on state. With `kernel` machines run in the JVM, and there are more of them. `keys` says how
    many keys an extent has, where that is declared.
    """
    planner = _Planner(start, Span(slack), kernel, keys or {})
    if is_stream(plan):
        found = planner.stream(plan, Want(index=index, last=not index))  # type: ignore[arg-type]
    else:
        found = planner.answer(plan)  # type: ignore[arg-type]
    return rewrite(found, lambda node: replace(node, choice=choices.in_kernel(node.choice))) if kernel else found


@dataclass(frozen=True, slots=True)
class _Planner:
    start: int
    span: Span
    kernel: bool
    keys: Mapping[str, int]

    # --- streams -----------------------------------------------------------------------------------

    def stream(self, op: Stream, want: Want) -> Physical:
        match op:
            case StreamAcquire(extent=extent, schema=schema) | StreamReceive(extent=extent, schema=schema):
                node = Read(extent, schema, want.ordered, choices.read(extent))
                return self._numbered(op, node, want)
            case StreamSelect(input=input, predicate=predicate):
                below = self.stream(input, _reading(want, predicate))
                return Filter(below, predicate, op.schema, Form.STREAM, below.ordered, STATELESS)
            case StreamProject(input=input, items=items):
                below = self.stream(input, _reading(want, *(item.expression for item in items)))
                return Map(below, items, op.schema, Form.STREAM, below.ordered, STATELESS)
            case Renumber(input=input):
                return self._numbered(op, self.stream(input, Want(want.ordered, last=want.last)), want)
            case RStream(input=input):
                return self._numbered(op, self.emit(input, want.ordered, want.last), want)
            case IStream(input=input):
                return self._numbered(op, self.change(input, "came", want.ordered), want)
            case DStream(input=input):
                return self._numbered(op, self.change(input, "went", want.ordered), want)
            case WithoutJumps():
                raise not_yet(op)
            case _:
                assert_never(op)

    def _numbered(self, op: Stream, node: Physical, want: Want) -> Physical:
        if not want.index:
            return node
        return Number(node, node.schema, choices.number(op, self.span, "the index is read: rows are counted in order"))

    def emit(self, op: Windows, ordered: bool, last: bool) -> Physical:
        """RSTREAM: every row of every window."""
        rows = self.windows(op, ordered, last)
        if rows.form in (Form.STAYS, Form.TABLE):
            rows = self.spread(op, rows)
        return Emit(rows, rows.schema, ordered, STATELESS)

    def change(self, op: Windows, report: str, ordered: bool) -> Physical:
        """ISTREAM and DSTREAM: natively where at most one window comes per tick and no order is asked for."""
        rows = self.windows(op, ordered)
        several = rows.form is Form.WINDOWS
        if not several and not ordered:
            schedule = self.schedule(op)
            assert schedule is not None  # noqa: S101 - only windows have none
            if rows.form is Form.TABLE:
                rows = self.spread(op, rows)
            choice = choices.changes(op, schedule, self.span, stays.longest(rows))
            return Changes(rows, report, schedule, rows.schema, choice)
        if not several:
            rows = self.exist(op, rows)
        choice = choices.compare(op, ordered, several, self.span)
        return Compare(rows, report, 1 if ordered else BUCKETS, rows.schema, ordered, choice)

    # --- windows -----------------------------------------------------------------------------------

    def answer(self, op: Windows) -> Physical:
        """A window query as it is asked for: rows with their windows, the empty ones flagged."""
        rows = self.windows(op, ordered=False)
        clock = None
        if rows.form is not Form.WINDOWS:
            clock = self.clock(op, "windows without rows are part of the answer")
            if rows.form in (Form.STAYS, Form.TABLE):
                rows = self.spread(op, rows)
        return Collect(rows, clock, rows.schema, choices.collect(op, self.span))

    def windows(self, op: Windows, ordered: bool, last: bool = False) -> Physical:
        match op:
            case Window(input=StoredTable(), slide=Change()):
                raise Unsupported("Window", "Spark scans tables at ticks, it does not see them change", "not yet")
            case Window(input=StoredTable(extent=extent, schema=schema)):
                schedule = self.schedule(op)
                assert schedule is not None  # noqa: S101 - tables are scanned by tick
                return ReadTable(extent, schema, schedule, ordered, choices.table(extent))
            case Window():
                return self.window(op, ordered)
            case WindowSelect(input=input, predicate=predicate):
                below = self.windows(input, ordered, last)
                return Filter(below, predicate, op.schema, below.form, ordered, STATELESS)
            case WindowProject(input=input, items=items):
                below = self.windows(input, ordered, last)
                return Map(below, items, op.schema, below.form, ordered, STATELESS)
            case WindowAggregation():
                return self.group(op, ordered)
            case WindowCrossProduct(left=left, right=right):
                return self.pair(op, left, right, [], Want(ordered, last=last))
            case WindowJoin(left=left, right=right, predicate=predicate):
                return self.pair(op, left, right, conjuncts(predicate), Want(ordered, last=last))
            case TrackAggregation() | WindowDistinct() | WindowFirst() | WindowGrown() | WindowMerge():
                raise not_yet(op)
            case RelationJoin() | RelationLeftJoin() | RelationSemiJoin() | RelationAntiJoin():
                raise not_yet(op)
            case RelationUnion() | RelationExcept() | RelationIntersect():
                raise not_yet(op)
            case _:
                assert_never(op)

    def window(self, op: Window, ordered: bool) -> Physical:
        """A window over a stream: by time natively, by rows in a machine."""
        assert not isinstance(op.input, StoredTable)  # noqa: S101 - the caller takes tables
        indexed = any(tag.name == "index" for tag in op.tags)
        match op.slide, op.range:
            case (
                Every(coordinate=Coordinate.TICK, step=step, first=0),
                Between(coordinate=Coordinate.TICK, low=low, high=high),
            ) if low.step == high.step == step and not op.key and high.offset <= 0:
                below = self.stream(op.input, Want(ordered, indexed))
                return Stay(below, -low.offset, -high.offset, step, op.tags, op.schema, ordered, choices.stay())
            case Every(coordinate=Coordinate.INDEX), Between(coordinate=Coordinate.INDEX) if not op.key:
                below = self.stream(op.input, Want(order=True))
                choice = choices.cut(op.input, bounds.remembered(op), self.span)
                return Cut(below, WindowSpec.of(op, self.start), op.schema, ordered, choice)
            case _:
                raise Unsupported("Window", "Spark runs windows that slide and range by tick, or by row", "not yet")

    def spread(self, op: Windows, rows: Physical) -> Physical:
        """One row per window."""
        schedule = self.schedule(op)
        assert schedule is not None  # noqa: S101 - only windows have none
        clock = self.clock(op, "a table is read when the clock says so") if rows.form is Form.TABLE else None
        return Spread(rows, schedule, clock, rows.schema, rows.ordered, choices.spread(rows.form))

    def exist(self, op: Windows, rows: Physical) -> Physical:
        """Windows with a row each that says they exist."""
        if rows.form in (Form.STAYS, Form.TABLE):
            rows = self.spread(op, rows)
        clock = self.clock(op, "every window is compared, the empty ones too")
        return Exist(rows, clock, rows.schema, rows.ordered, STATELESS)

    def clock(self, op: Windows, why: str) -> Clock:
        schedule = self.schedule(op)
        assert schedule is not None  # noqa: S101 - only windows have none
        return Clock(schedule, choices.clock(why))

    def schedule(self, op: Windows) -> Schedule | None:
        """When the windows of a relation come, where that follows from the query alone."""
        match op:
            case Window(slide=Once()):
                return Schedule((), self.start)
            case Window(slide=Every(coordinate=Coordinate.TICK, step=step)):
                return Schedule.every(step, self.start)
            case Window():
                return None
            case WindowSelect(input=input) | WindowProject(input=input) | WindowAggregation(input=input):
                return self.schedule(input)
            case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
                one, other = self.schedule(left), self.schedule(right)
                return one.with_other(other) if one and other else None
            case TrackAggregation() | WindowDistinct() | WindowFirst() | WindowGrown() | WindowMerge():
                raise not_yet(op)
            case RelationJoin() | RelationLeftJoin() | RelationSemiJoin() | RelationAntiJoin():
                raise not_yet(op)
            case RelationUnion() | RelationExcept() | RelationIntersect():
                raise not_yet(op)
            case _:
                assert_never(op)

    # --- relations ---------------------------------------------------------------------------------

    def group(self, op: WindowAggregation, ordered: bool) -> Physical:
        """Aggregates: panes for stays, one level for the rest."""
        rows = self.windows(op.input, ordered=False)
        schedule = self.schedule(op)
        if rows.form is Form.TABLE:
            rows = self.spread(op.input, rows)
        if stays.pairs_streams(rows):
            rows = self.spread(op.input, rows)
        copies = schedule.within(stays.longest(rows)) if schedule else 1
        if self.kernel and (slide := self.slide(op, rows, schedule, copies, ordered)):
            return slide
        panes, choice = choices.group(op, rows.form, copies, schedule, self.span)
        clock = None
        if not op.groups and rows.form is not Form.WINDOWS:
            clock = self.clock(op, "a window without rows has a count of 0")
        form = Form.WINDOWS if rows.form is Form.WINDOWS else Form.TICKS
        length = stays.length(rows) if panes else None
        return Group(rows, op.groups, op.aggregates, panes, length, schedule, clock, op.schema, form, ordered, choice)

    def slide(
        self, op: WindowAggregation, rows: Physical, schedule: Schedule | None, copies: int, ordered: bool
    ) -> Slide | None:
        """Aggregates by group in the kernel, where windows of one stream come in one beat: first in is first out."""
        if not op.groups or schedule is None or len(schedule.periods) != 1 or not stays.by_stay(rows):
            return None
        read = [node.extent for node in walk(rows) if isinstance(node, Read)]
        if copies == 1 and any(self.keys.get(extent, FEW_KEYS) < FEW_KEYS for extent in read):
            return None
        choice = choices.slide(copies, self._rows(op.input, stays.longest(rows)))
        period = schedule.periods[0]
        each = copies if stays.length(rows) is not None else None
        return Slide(rows, op.groups, op.aggregates, each, period, op.schema, ordered, choice)

    def pair(self, op: Windows, left: Windows, right: Windows, predicate: list[Expression], want: Want) -> Physical:
        """Products and joins: overlapping stays natively, windows of which a tick may hold several in a machine."""
        ordered = want.ordered
        one, other = self.windows(left, ordered), self.windows(right, ordered)
        equal, rest = _equalities(predicate, left.schema, right.schema)
        forms = {one.form, other.form}
        if forms <= {Form.STAYS, Form.TABLE}:
            form = Form.TABLE if forms == {Form.TABLE} else Form.STAYS
            lengths = [n for n in (stays.longest(one), stays.longest(other)) if n]
            cell = max(lengths, default=1)
            longest = min(lengths, default=0)
            if self.kernel and forms == {Form.STAYS} and not ordered and _same_types(equal):
                rows = [self._rows(side, stays.longest(node)) for side, node in ((left, one), (right, other))]
                choice = choices.pairs(plus(*rows))
                return Meet(one, other, equal, rest, Meeting.PAIRS, cell, longest, op.schema, form, ordered, choice)
            states = [self._kept(side, node, cell) for side, node in ((left, one), (right, other))]
            how, choice = choices.meet(plus(*states), Form.TABLE in forms, cell, want.last)
            return Meet(one, other, equal, rest, how, cell, longest, op.schema, form, ordered, choice)
        if Form.TICKS in forms:
            raise Unsupported("WindowJoin", "Spark joins windows, not aggregates of windows", "not yet")
        state = plus(bounds.remembered(op), *(self._fed(side, node) for side, node in ((left, one), (right, other))))
        clocks = [
            None if node.form is Form.WINDOWS else self.clock(side, "windows pair at every tick at which one comes")
            for side, node in ((left, one), (right, other))
        ]
        sides = [
            self.spread(side, node) if node.form is Form.TABLE else node for side, node in ((left, one), (right, other))
        ]
        buckets = BUCKETS if equal and not ordered else 1
        choice = choices.product(state, bool(equal))
        (one, other), (clock, other_clock) = sides, clocks
        return Product(one, other, clock, other_clock, equal, rest, buckets, op.schema, ordered, choice)

    def _kept(self, op: Windows, node: Physical, cell: int) -> Formula:
        """Rows of one side of a native join: twice each, for as long as its span of time is open."""
        if node.form is Form.TABLE:
            return NOTHING
        return times(Rows(2), self._rows(op, 2 * cell))

    def _fed(self, op: Windows, node: Physical) -> Formula:
        """Rows that wait for their tick to close, and goings that wait for theirs."""
        longest = stays.longest(node)
        if node.form is Form.STAYS:
            return times(Rows(2), self._rows(op, longest))
        return times(bounds.windows_within(op, 1 + self.span.slack), bounds.size(op))

    def _rows(self, op: Windows, span: int) -> Formula:
        """Rows of a relation of stays that begin in a span and in what is not closed."""
        match op:
            case Window(input=StoredTable()):
                return bounds.size(op)
            case Window(input=input):
                return self.span.rows(input, span)  # type: ignore[arg-type]
            case WindowSelect(input=input) | WindowProject(input=input):
                return self._rows(input, span)
            case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
                return times(self._rows(left, span), self._rows(right, span))
            case _:
                return times(bounds.windows_within(op, span + self.span.slack), bounds.size(op))


def not_yet(op: Stream | Windows) -> Unsupported:
    """An operator that only the reference engine runs so far."""
    return Unsupported(type(op).__name__, "the reference engine has it; Spark comes after it", "not yet")


def _same_types(equal: tuple[tuple[Expression, Expression], ...]) -> bool:
    """Whether rows can be told apart by keys: there are some, and both sides give values of one type."""
    return bool(equal) and all(mine.type is yours.type for mine, yours in equal)


def _reading(want: Want, *expressions: Expression) -> Want:
    """What is wanted of the stream below expressions: its index, if one of them reads it."""
    reads = any(isinstance(part, Tag) and part.name == "index" for e in expressions for part in parts(e))
    return replace(want, index=want.index or reads)


def _equalities(
    predicate: list[Expression], left: Schema, right: Schema
) -> tuple[tuple[tuple[Expression, Expression], ...], Expression]:
    """The parts of a predicate that say that something of the left equals something of the right, and the rest."""
    equal: list[tuple[Expression, Expression]] = []
    rest: list[Expression] = []
    mine, yours = set(left), set(right)
    for part in predicate:
        sides = part.arguments if isinstance(part, CallOf) and part.function.name == "=" else ()
        reads = [columns(side) for side in sides]
        if len(sides) == 2 and all(reads) and reads[0] <= mine and reads[1] <= yours:
            equal.append((sides[0], sides[1]))
        elif len(sides) == 2 and all(reads) and reads[0] <= yours and reads[1] <= mine:
            equal.append((sides[1], sides[0]))
        else:
            rest.append(part)
    return tuple(equal), conjunction(rest)
