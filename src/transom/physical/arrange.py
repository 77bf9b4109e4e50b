"""From optimised algebra to a plan for Spark: one function per operator, chosen by its class."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, assert_never

from transom.algebra import bounds
from transom.algebra.expressions import Expression, Tag, conjuncts, parts
from transom.algebra.operator import Stream, Windows
from transom.algebra.relations import (
    RelationExcept,
    RelationIntersect,
    RelationJoin,
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
    of_terms,
)
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive
from transom.algebra.streams import (
    DStream,
    IStream,
    Renumber,
    RStream,
    StreamProject,
    StreamSelect,
    StreamUnion,
    WithoutJumps,
)
from transom.algebra.tree import Question, Relations, closed, keyed, reads_streams
from transom.algebra.windows import Between, Change, Coordinate, Every, Once, Window
from transom.errors import PlanError
from transom.machines.window import WindowSpec
from transom.physical import choices, pairing, routes, scans, stays
from transom.physical.choices import BUCKETS, FEW_KEYS, STATELESS, Span
from transom.physical.constants import refuse_long_decimals
from transom.physical.node import Clock, Physical
from transom.physical.plan import (
    Changes,
    Collect,
    Compare,
    Cut,
    Emit,
    Exist,
    Filter,
    Form,
    Group,
    Map,
    Number,
    Read,
    ReadTable,
    Slide,
    Spread,
    Stay,
    UnionAll,
)
from transom.physical.schedule import Schedule
from transom.physical.walk import rewrite, walk

if TYPE_CHECKING:
    from transom.physical.relate import Rest

WITHOUT_TICKS = (Form.STAYS, Form.TABLE, Form.SCANS)
"""Forms in which a row does not say of every window that it is in it."""


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
    plan: Stream | Question,
    *,
    start: int = 0,
    index: bool = False,
    slack: int = 1,
    kernel: bool = False,
    keys: Mapping[str, int] | None = None,
    growing: Collection[str] = (),
    local: Collection[str] = (),
) -> Physical:
    """The plan for Spark of an optimised query.

    `index` asks for the running index of a tagged stream (E4); `slack` is the event time in ticks that may be open at
    once, for the bounds on state. With `kernel` machines run in the JVM, and there are more of them. `keys` says how
    many keys an extent has, where that is declared; `growing` are the tables whose logs are followed, `local` the
    streams whose messages hold all statements about their subjects.
    """
    refuse_long_decimals(plan)
    planner = Planner(start, Span(slack), kernel, keys or {}, frozenset(growing), frozenset(local), reads_streams(plan))
    if isinstance(plan, Stream):
        found = planner.stream(plan, Want(index=index, last=not index))
    else:
        found = planner.answer(plan)
    return rewrite(found, lambda node: replace(node, choice=choices.in_kernel(node.choice))) if kernel else found


@dataclass(frozen=True, slots=True)
class Planner:
    """Chooses the nodes of a plan, operator by operator."""

    start: int
    span: Span
    kernel: bool
    keys: Mapping[str, int]
    growing: frozenset[str] = frozenset()
    local: frozenset[str] = frozenset()
    streams: bool = True

    # --- streams -----------------------------------------------------------------------------------

    def stream(self, op: Stream, want: Want) -> Physical:
        """A stream of tagged tuples."""
        match op := closed(op):
            case StreamAcquire(extent=extent, schema=schema) | StreamReceive(extent=extent, schema=schema):
                node = Read(extent, schema, want.ordered, choices.read(extent))
                return self._numbered(op, node, want)
            case StreamSelect(input=input, predicate=predicate):
                below = self.stream(input, _reading(want, predicate))
                return Filter(below, predicate, op.schema, Form.STREAM, below.ordered, STATELESS)
            case StreamProject(input=input, items=items):
                below = self.stream(input, _reading(want, *(item.expression for item in items)))
                return Map(below, items, op.schema, Form.STREAM, below.ordered, STATELESS)
            case StreamUnion(parts=parts):
                return self._numbered(op, self._union(parts, want), want)
            case Renumber(input=input):
                return self._numbered(op, self.stream(input, Want(want.ordered, last=want.last)), want)
            case RStream(input=input):
                return self._numbered(op, self.emit(input, want.ordered, want.last), want)
            case IStream(input=input):
                return self._numbered(op, self.change(input, "came", want.ordered), want)
            case DStream(input=input):
                return self._numbered(op, self.change(input, "went", want.ordered), want)
            case WithoutJumps(input=input):
                below = self.stream(input, Want(order=True, index=True))
                from transom.physical import relate

                return relate.steady(self, op, below)
            case _:
                assert_never(op)

    def _union(self, parts: tuple[Stream, ...], want: Want) -> Physical:
        sides = [self.stream(part, Want(want.ordered, last=want.last)) for part in parts]

        def both(left: Physical, right: Physical) -> Physical:
            return UnionAll(left, right, left.schema, Form.STREAM, left.ordered, STATELESS)

        return reduce(both, sides)

    def _numbered(self, op: Stream, node: Physical, want: Want) -> Physical:
        if not want.index:
            return node
        return Number(node, node.schema, choices.number(op, self.span, "the index is read: rows are counted in order"))

    def emit(self, op: Windows, ordered: bool, last: bool) -> Physical:
        """RSTREAM: every row of every window."""
        rows = self._tallied(op, ordered) or self.windows(op, ordered, last)
        if rows.form in WITHOUT_TICKS:
            rows = self.spread(op, rows)
        return Emit(rows, rows.schema, ordered, STATELESS)

    def _tallied(self, op: Windows, ordered: bool) -> Physical | None:
        if not routes.by_key(op):
            return None
        from transom.physical import tally

        return tally.windows(self, op, ordered)

    def change(self, op: Windows, report: str, ordered: bool) -> Physical:
        """ISTREAM and DSTREAM: natively where at most one window comes per tick and no order is asked for."""
        if not ordered and routes.by_changes(self, op):
            from transom.physical import relate

            return relate.net(self, op, report)
        rows = self.windows(op, ordered)
        if rows.form is Form.SCANS:
            from transom.physical.lines import Net

            return Net(rows, report, rows.schema, choices.net(op, self.span))
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
        return Compare(rows, report, 1 if ordered or keyed(op) else BUCKETS, rows.schema, ordered, choice)

    # --- windows -----------------------------------------------------------------------------------

    def answer(self, op: Question) -> Physical:
        """A window query as it is asked for: rows with their windows, the empty ones flagged; over RDF changes."""
        if not isinstance(op, Windows) or of_terms(op):
            from transom.physical import rdf_arrange

            return rdf_arrange.question(self, op)
        if keyed(op):
            raise PlanError("windows of keys are merged before they are an answer (C14)")
        rows = self.windows(op, ordered=False)
        clock = None
        if rows.form is not Form.WINDOWS:
            clock = self.clock(op, "windows without rows are part of the answer")
            if rows.form in WITHOUT_TICKS:
                rows = self.spread(op, rows)
        return Collect(rows, clock, rows.schema, choices.collect(op, self.span))

    def windows(self, op: Windows, ordered: bool = False, last: bool = False) -> Physical:
        """A relation, in the form that it takes by itself."""
        if of_terms(op):
            from transom.physical import rdf_arrange

            return rdf_arrange.relation(self, op)
        match op := closed(op):
            case Window(input=StoredTable(), slide=Change()):
                return self._related(WindowMerge(op), ordered)
            case Window(input=StoredTable(extent=extent, schema=schema)):
                schedule = self.schedule(op)
                assert schedule is not None  # noqa: S101 - tables are scanned by tick
                if extent in self.growing:
                    return scans.read(extent, schema, schedule, ordered)
                return ReadTable(extent, schema, schedule, ordered, choices.table(extent))
            case Window():
                return self.window(op, ordered)
            case WindowSelect(input=input, predicate=predicate):
                below = self.windows(input, ordered, last)
                return Filter(below, predicate, op.schema, below.form, below.ordered, STATELESS)
            case WindowProject(input=input, items=items):
                below = self.windows(input, ordered, last)
                return Map(below, items, op.schema, below.form, below.ordered, STATELESS)
            case WindowAggregation():
                return self.group(op, ordered)
            case WindowCrossProduct(left=left, right=right):
                return pairing.pair(self, op, (left, right), [], ordered=ordered, last=last)
            case WindowJoin(left=left, right=right, predicate=predicate):
                return pairing.pair(self, op, (left, right), conjuncts(predicate), ordered=ordered, last=last)
            case TrackAggregation() | WindowDistinct() | WindowFirst() | WindowGrown() | WindowMerge():
                return self._related(op, ordered)
            case RelationJoin(left=left, right=right, predicate=predicate) if routes.by_time(self, op):
                return pairing.pair(self, op, (left, right), conjuncts(predicate), ordered=ordered, last=last)
            case RelationJoin():
                return self._related(op, ordered)
            case RelationUnion() | RelationExcept() | RelationIntersect():
                return self._related(op, ordered)
            case _:
                raise PlanError(f"{type(op).__name__} is an operator on terms", detail=str(op))

    def _related(self, op: Relations | Rest, ordered: bool) -> Physical:
        """Operators on whole relations; only plans that have one import their nodes."""
        from transom.physical import relate

        if isinstance(op, Relations):
            return relate.relation(self, op, ordered)
        return relate.windows(self, op, ordered)

    def window(self, op: Window, ordered: bool) -> Physical:
        """A window over a stream: by time natively, by rows, by key and in space in a machine."""
        assert not isinstance(op.input, StoredTable)  # noqa: S101 - the caller takes tables
        if routes.takes(op):
            from transom.physical import relate

            return relate.lines(self, op, Form.WINDOWS, ordered=ordered)
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
                raise PlanError("a window slides and ranges by tick, or by row", detail=str(op))

    def spread(self, op: Windows, rows: Physical) -> Physical:
        """One row per window."""
        schedule = self.schedule(op)
        assert schedule is not None  # noqa: S101 - only windows have none
        if rows.form is Form.SCANS:
            return scans.spread(self, op, rows, Form.TICKS)
        clock = self.clock(op, "a table is read when the clock says so") if rows.form is Form.TABLE else None
        return Spread(rows, schedule, clock, rows.schema, rows.ordered, choices.spread(rows.form))

    def exist(self, op: Windows, rows: Physical) -> Physical:
        """Windows with a row each that says they exist."""
        if rows.form in WITHOUT_TICKS:
            rows = self.spread(op, rows)
        clock = self.clock(op, "every window is compared, the empty ones too")
        return Exist(rows, clock, rows.schema, rows.ordered, STATELESS)

    def clock(self, op: Windows, why: str) -> Clock:
        """The ticks at which a relation has windows."""
        schedule = self.schedule(op)
        assert schedule is not None  # noqa: S101 - only windows have none
        return Clock(schedule, choices.clock(why))

    def unordered(self, op: Stream) -> Physical:
        """A stream of rows with their ticks."""
        return self.stream(op, Want())

    def in_order(self, op: Stream, *, index: bool) -> Physical:
        """A stream of which rows say what puts them in order, and perhaps their index."""
        return self.stream(op, Want(order=True, index=index))

    def schedule(self, op: Windows) -> Schedule | None:
        """When the windows of a relation come, where that follows from the query alone."""
        match op := closed(op):
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
            case TrackAggregation(input=input) | WindowDistinct(input=input) | WindowFirst(input=input):
                return self.schedule(input)
            case RelationJoin(left=left, right=right) if routes.by_time(self, op):
                one, other = self.schedule(left), self.schedule(right)
                return one.with_other(other) if one and other else None
            case WindowGrown() | WindowMerge() | RelationJoin():
                return None
            case RelationUnion() | RelationExcept() | RelationIntersect():
                return None
            case _:
                raise PlanError(f"{type(op).__name__} is an operator on terms", detail=str(op))

    # --- relations ---------------------------------------------------------------------------------

    def group(self, op: WindowAggregation, ordered: bool) -> Physical:
        """Aggregates: panes for stays, one level for the rest."""
        rows = self.windows(op.input, ordered=False)
        schedule = self.schedule(op)
        if rows.form in (Form.TABLE, Form.SCANS) or stays.pairs_streams(rows):
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
        choice = choices.slide(copies, pairing.rows(self, op.input, stays.longest(rows)))
        period = schedule.periods[0]
        each = copies if stays.length(rows) is not None else None
        return Slide(rows, op.groups, op.aggregates, each, period, op.schema, ordered, choice)


def _reading(want: Want, *expressions: Expression) -> Want:
    """What is wanted of the stream below expressions: its index, if one of them reads it."""
    reads = any(isinstance(part, Tag) and part.name == "index" for e in expressions for part in parts(e))
    return replace(want, index=want.index or reads)
