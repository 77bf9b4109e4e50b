"""The planner: from optimized algebra to a plan for Spark, operator by operator."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, assert_never

from transom.algebra.expressions.expression import conjuncts
from transom.algebra.operator import Stream, Windows
from transom.algebra.periods import EveryPeriod, PeriodRange
from transom.algebra.relations import (
    RelationExcept,
    RelationIntersect,
    RelationJoin,
    RelationUnion,
    SuppressUnchanged,
    TrackAggregation,
    WindowAggregation,
    WindowCrossProduct,
    WindowDistinct,
    WindowJoin,
    WindowMerge,
    WindowProject,
    WindowSelect,
    WindowTopK,
    holds_terms,
)
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive
from transom.algebra.state import bounds
from transom.algebra.streams import (
    DStream,
    IStream,
    Renumber,
    RStream,
    SpeedLimit,
    StreamProject,
    StreamSelect,
    StreamUnion,
)
from transom.algebra.tree import RdfPlan, RelationOperator, is_keyed, narrow, reads_streams
from transom.algebra.windows import Coordinate, CoordinateRange, Every, OnChange, Window
from transom.errors import PlanError
from transom.machines.windows.window import WindowSpec
from transom.physical import decisions, lifetimes
from transom.physical.constants import refuse_long_decimals
from transom.physical.decisions import BUCKETS, FEW_KEYS, STATELESS, EventTimeSlack
from transom.physical.nodes.node import PhysicalNode, ReadClock
from transom.physical.nodes.walk import rewrite, walk
from transom.physical.nodes.windows import (
    CollectWindows,
    ExpandWindows,
    Filter,
    Form,
    IntervalDiff,
    PeriodWindow,
    Project,
    ReadStream,
    ReadTable,
    RowNumber,
    RowWindow,
    SlidingWindowAggregate,
    TimeWindow,
    UnionAll,
    WindowAggregate,
    WindowDiff,
    WindowMarkers,
    WindowsToStream,
)
from transom.physical.planner import pairs, routes, scans, schedules
from transom.physical.planner.required import UNEXPANDED_FORMS, RequiredProperties
from transom.physical.schedule import Schedule

if TYPE_CHECKING:
    from transom.physical.planner.relations import PerWindowOperator


def plan_query(
    plan: Stream | RdfPlan,
    *,
    start: int = 0,
    index: bool = False,
    open_ticks: int = 1,
    kernel: bool = False,
    keys_per_source: Mapping[str, int] | None = None,
    followed_tables: Collection[str] = (),
    subject_local_streams: Collection[str] = (),
) -> PhysicalNode:
    """Plan an optimized query for Spark; `index`: number result rows; `open_ticks`: ticks open at once, for bounds.

    `index` requests the running index of a tagged stream (E4). `open_ticks` is the event time in ticks that may be
    open at once, for the state bounds. With `kernel`, machines run in the JVM, and more operators use one.
    `keys_per_source` is the number of keys of an extent, if declared. `followed_tables` are the tables whose logs are
    followed, `subject_local_streams` the streams whose messages hold all statements about their subjects.
    """
    refuse_long_decimals(plan)
    planner = Planner(
        start,
        EventTimeSlack(open_ticks),
        kernel,
        keys_per_source or {},
        frozenset(followed_tables),
        frozenset(subject_local_streams),
        reads_streams(plan),
    )
    if isinstance(plan, Stream):
        physical = planner.plan_stream(plan, RequiredProperties(index=index, stateless_above=not index))
    else:
        physical = planner.plan_answer(plan)
    return (
        rewrite(physical, lambda node: replace(node, decision=decisions.move_to_kernel(node.decision)))
        if kernel
        else physical
    )


@dataclass(frozen=True, slots=True)
class Planner:
    """Chooses the physical nodes for each operator; the settings are those of `plan_query`."""

    start: int
    slack: EventTimeSlack
    kernel: bool
    keys: Mapping[str, int]
    growing: frozenset[str] = frozenset()
    local: frozenset[str] = frozenset()
    streams: bool = True

    # --- streams -----------------------------------------------------------------------------------

    def plan_stream(self, op: Stream, required: RequiredProperties) -> PhysicalNode:
        """Plan a stream operator with its inputs; `required` says if rows need a sort key or row numbers."""
        match op := narrow(op):
            case StreamAcquire(extent=extent, schema=schema) | StreamReceive(extent=extent, schema=schema):
                node = ReadStream(extent, schema, required.ordered, decisions.read_stream(extent))
                return self._with_row_number(op, node, required)
            case StreamSelect(input=input, predicate=predicate):
                below = self.plan_stream(input, required.with_index_for(predicate))
                return Filter(below, predicate, op.schema, Form.STREAM, below.ordered, STATELESS)
            case StreamProject(input=input, items=items):
                below = self.plan_stream(input, required.with_index_for(*(item.expression for item in items)))
                return Project(below, items, op.schema, Form.STREAM, below.ordered, STATELESS)
            case StreamUnion(parts=parts):
                return self._with_row_number(op, self._plan_union(parts, required), required)
            case Renumber(input=input):
                return self._with_row_number(op, self.plan_stream(input, required.without_index()), required)
            case RStream(input=input):
                return self._with_row_number(
                    op, self.plan_rstream(input, required.ordered, required.stateless_above), required
                )
            case IStream(input=input):
                return self._with_row_number(op, self.plan_difference(input, "inserted", required.ordered), required)
            case DStream(input=input):
                return self._with_row_number(op, self.plan_difference(input, "deleted", required.ordered), required)
            case SpeedLimit(input=input):
                below = self.plan_stream(input, RequiredProperties(order=True, index=True))
                from transom.physical.planner import relations

                return relations.plan_speed_limit(self, op, below)
            case _:
                assert_never(op)

    def _plan_union(self, parts: tuple[Stream, ...], required: RequiredProperties) -> PhysicalNode:
        """Plan a union of streams as nested unions of two; `required`: what later operators need of rows."""
        sides = [self.plan_stream(part, required.without_index()) for part in parts]

        def union_all(left: PhysicalNode, right: PhysicalNode) -> PhysicalNode:
            """Combine two planned inputs of the union into one node."""
            return UnionAll(left, right, left.schema, Form.STREAM, left.ordered, STATELESS)

        return reduce(union_all, sides)

    def _with_row_number(self, op: Stream, node: PhysicalNode, required: RequiredProperties) -> PhysicalNode:
        """Add row numbers to a planned stream if `required` includes the index; otherwise return the plan unchanged."""
        if not required.index:
            return node
        return RowNumber(
            node,
            node.schema,
            decisions.row_number(op, self.slack, "the query reads the index, so rows are numbered in order"),
        )

    def plan_rstream(self, op: Windows, ordered: bool, stateless_above: bool) -> PhysicalNode:
        """Plan RSTREAM; `ordered`: rows get a sort key; `stateless_above`: no operator above keeps state."""
        rows = self._keyed_aggregates(op, ordered) or self.plan_windows(op, ordered, stateless_above)
        if rows.form in UNEXPANDED_FORMS:
            rows = self.expand(op, rows)
        return WindowsToStream(rows, rows.schema, ordered, STATELESS)

    def _keyed_aggregates(self, op: Windows, ordered: bool) -> PhysicalNode | None:
        """Plan aggregates that keyed windows' state machine computes; None for others; `ordered`: with a sort key."""
        if not routes.aggregates_keyed_windows(op):
            return None
        from transom.physical.planner import keyed_aggregates

        return keyed_aggregates.plan_aggregates(self, op, ordered)

    def plan_difference(self, op: Windows, report: str, ordered: bool) -> PhysicalNode:
        """Plan ISTREAM (`report`: 'inserted') or DSTREAM ('deleted') of a relation; `ordered`: with a sort key."""
        if not ordered and routes.yields_changes(self, op):
            from transom.physical.planner import relations

            return relations.plan_changes_to_stream(self, op, report)
        rows = self.plan_windows(op, ordered)
        if rows.form is Form.SCANS:
            from transom.physical.nodes.keyed_windows import ChangesToStream

            return ChangesToStream(rows, report, rows.schema, decisions.changes_to_stream(op, self.slack))
        several_per_tick = rows.form is Form.WINDOWS
        if not several_per_tick and not ordered:
            schedule = self.schedule(op)
            assert schedule is not None  # noqa: S101 - only Form.WINDOWS has no schedule
            if rows.form is Form.TABLE:
                rows = self.expand(op, rows)
            decision = decisions.interval_diff(op, schedule, self.slack, lifetimes.max_lifetime(rows))
            return IntervalDiff(rows, report, schedule, rows.schema, decision)
        if not several_per_tick:
            rows = self.with_markers(op, rows)
        decision = decisions.window_diff(op, ordered, several_per_tick, self.slack)
        return WindowDiff(rows, report, 1 if ordered or is_keyed(op) else BUCKETS, rows.schema, ordered, decision)

    # --- windows -----------------------------------------------------------------------------------

    def plan_answer(self, op: RdfPlan) -> PhysicalNode:
        """Plan a query whose answer is windows, including empty ones, or RDF as insertions and retractions."""
        if not isinstance(op, Windows) or holds_terms(op):
            from transom.physical.rdf import relations

            return relations.plan_rdf_query(self, op)
        if is_keyed(op):
            raise PlanError("the windows of keys have not been merged into one answer (C14)")
        rows = self.plan_windows(op, ordered=False)
        clock = None
        if rows.form is not Form.WINDOWS:
            clock = self.clock(op, "windows without rows are part of the answer")
            if rows.form in UNEXPANDED_FORMS:
                rows = self.expand(op, rows)
        return CollectWindows(rows, clock, rows.schema, decisions.collect_windows(op, self.slack))

    def plan_windows(self, op: Windows, ordered: bool = False, stateless_above: bool = False) -> PhysicalNode:
        """Plan an operator that returns windows; `ordered`: rows get a sort key; `stateless_above`: no state above."""
        if holds_terms(op):
            from transom.physical.rdf import relations

            return relations.plan_relation(self, op)
        match op := narrow(op):
            case Window(input=StoredTable(), slide=OnChange()):
                return self._plan_relation(WindowMerge(op), ordered)
            case Window(input=StoredTable(extent=extent, schema=schema)):
                schedule = self.schedule(op)
                assert schedule is not None  # noqa: S101 - tables are scanned by tick
                if extent in self.growing:
                    return scans.read_scans(extent, schema, schedule, ordered)
                return ReadTable(extent, schema, schedule, ordered, decisions.read_table(extent))
            case Window():
                return self.plan_window(op, ordered)
            case WindowSelect(input=input, predicate=predicate):
                below = self.plan_windows(input, ordered, stateless_above)
                return Filter(below, predicate, op.schema, below.form, below.ordered, STATELESS)
            case WindowProject(input=input, items=items):
                below = self.plan_windows(input, ordered, stateless_above)
                return Project(below, items, op.schema, below.form, below.ordered, STATELESS)
            case WindowAggregation():
                return self.plan_aggregate(op, ordered)
            case WindowCrossProduct(left=left, right=right):
                return pairs.plan_join(self, op, (left, right), [], ordered=ordered, stateless_above=stateless_above)
            case WindowJoin(left=left, right=right, predicate=predicate):
                return pairs.plan_join(
                    self, op, (left, right), conjuncts(predicate), ordered=ordered, stateless_above=stateless_above
                )
            case TrackAggregation() | WindowDistinct() | WindowTopK() | SuppressUnchanged() | WindowMerge():
                return self._plan_relation(op, ordered)
            case RelationJoin(left=left, right=right, predicate=predicate) if routes.joins_time_windows(self, op):
                return pairs.plan_join(
                    self, op, (left, right), conjuncts(predicate), ordered=ordered, stateless_above=stateless_above
                )
            case RelationJoin() | RelationUnion() | RelationExcept() | RelationIntersect():
                return self._plan_relation(op, ordered)
            case _:
                raise PlanError(f"{type(op).__name__} works on RDF terms, not on rows", detail=str(op))

    def _plan_relation(self, op: RelationOperator | PerWindowOperator, ordered: bool) -> PhysicalNode:
        """Plan a join, set operation or per-window operator (DISTINCT); `ordered`: rows need a sort key."""
        from transom.physical.planner import relations

        if isinstance(op, RelationOperator):
            return relations.plan_relation(self, op, ordered)
        return relations.plan_per_window(self, op, ordered)

    def plan_window(self, op: Window, ordered: bool) -> PhysicalNode:
        """Plan a stream's window: by rows or keys in a state machine, else in Spark; `ordered`: with a sort key."""
        assert not isinstance(op.input, StoredTable)  # noqa: S101 - the caller handles tables
        if routes.needs_keyed_window(op):
            from transom.physical.planner import relations

            return relations.plan_keyed_window(self, op, Form.WINDOWS, ordered=ordered)
        indexed = any(tag.name == "index" for tag in op.tags)
        match op.slide, op.range:
            case (
                Every(coordinate=Coordinate.TICK, step=step, first=0),
                CoordinateRange(coordinate=Coordinate.TICK, low=low, high=high),
            ) if low.step == high.step == step and not op.key and high.offset <= 0:
                below = self.plan_stream(op.input, RequiredProperties(ordered, indexed))
                return TimeWindow(
                    below, -low.offset, -high.offset, step, op.tags, op.schema, ordered, decisions.time_window()
                )
            case EveryPeriod() as slide, PeriodRange() as window_range:
                below = self.plan_stream(op.input, RequiredProperties(ordered, indexed))
                return PeriodWindow(below, slide, window_range, op.tags, op.schema, ordered, decisions.period_window())
            case Every(coordinate=Coordinate.INDEX), CoordinateRange(coordinate=Coordinate.INDEX) if not op.key:
                below = self.plan_stream(op.input, RequiredProperties(order=True))
                decision = decisions.row_window(op.input, bounds.operator_state(op), self.slack)
                return RowWindow(below, WindowSpec.of(op, self.start), op.schema, ordered, decision)
            case _:
                raise PlanError("a window needs its range and its slide both in ticks, or both in rows", detail=str(op))

    def expand(self, op: Windows, rows: PhysicalNode) -> PhysicalNode:
        """Repeat each row of the relation `op`, planned as `rows`, in every window that contains it."""
        schedule = self.schedule(op)
        assert schedule is not None  # noqa: S101 - only Form.WINDOWS has no schedule
        if rows.form is Form.SCANS:
            return scans.expand_scans(self, op, rows, Form.TICKS)
        clock = (
            self.clock(op, "the clock gives the ticks at which the table is read") if rows.form is Form.TABLE else None
        )
        return ExpandWindows(rows, schedule, clock, rows.schema, rows.ordered, decisions.expand_windows(rows.form))

    def with_markers(self, op: Windows, rows: PhysicalNode) -> PhysicalNode:
        """Repeat each row of the relation `op` in its windows, and add a marker row for each window, even if empty."""
        if rows.form in UNEXPANDED_FORMS:
            rows = self.expand(op, rows)
        clock = self.clock(op, "empty windows are compared, too")
        return WindowMarkers(rows, clock, rows.schema, rows.ordered, STATELESS)

    def clock(self, op: Windows, why: str) -> ReadClock:
        """Plan a clock that emits the ticks at which the relation `op` has windows; `explain` prints `why`."""
        schedule = self.schedule(op)
        assert schedule is not None  # noqa: S101 - only Form.WINDOWS has no schedule
        return ReadClock(schedule, decisions.read_clock(why))

    def unordered(self, op: Stream) -> PhysicalNode:
        """Plan a stream whose rows have their tick, but no column that sorts the rows of one tick."""
        return self.plan_stream(op, RequiredProperties())

    def in_order(self, op: Stream, *, index: bool) -> PhysicalNode:
        """Plan a stream with a sort key for the rows of a tick and, with `index`, the rows' numbers from 1 on."""
        return self.plan_stream(op, RequiredProperties(order=True, index=index))

    def schedule(self, op: Windows) -> Schedule | None:
        """The ticks at which a relation has windows; None if they depend on the data."""
        return schedules.schedule_of(self, op)

    def plan_aggregate(self, op: WindowAggregation, ordered: bool) -> PhysicalNode:
        """Plan window aggregates: in the Java kernel, by panes (slices), or directly; `ordered`: with a sort key."""
        rows = self.plan_windows(op.input, ordered=False)
        schedule = self.schedule(op)
        if rows.form in (Form.TABLE, Form.SCANS) or lifetimes.joins_streams(rows):
            rows = self.expand(op.input, rows)
        copies = lifetimes.max_windows(rows, schedule) if schedule else 1
        if self.kernel and (slide := self.plan_sliding_aggregate(op, rows, schedule, copies, ordered)):
            return slide
        panes, decision = decisions.window_aggregate(op, rows.form, copies, schedule, self.slack)
        clock = None
        if not op.groups and rows.form is not Form.WINDOWS:
            clock = self.clock(op, "a window without rows has a count of 0")
        form = Form.WINDOWS if rows.form is Form.WINDOWS else Form.TICKS
        length = lifetimes.fixed_lifetime(rows) if panes else None
        return WindowAggregate(
            rows, op.groups, op.aggregates, panes, length, schedule, clock, op.schema, form, ordered, decision
        )

    def plan_sliding_aggregate(
        self, op: WindowAggregation, rows: PhysicalNode, schedule: Schedule | None, windows_per_row: int, ordered: bool
    ) -> SlidingWindowAggregate | None:
        """Plan a sliding aggregate in the Java kernel; None if Spark must compute it; `ordered`: with a sort key.

        Rows must come from one time window with one period, so that they expire in order. Few keys are left to Spark.
        """
        if not op.groups or schedule is None or len(schedule.periods) != 1 or not lifetimes.is_time_window(rows):
            return None
        extents = [node.extent for node in walk(rows) if isinstance(node, ReadStream)]
        if windows_per_row == 1 and any(self.keys.get(extent, FEW_KEYS) < FEW_KEYS for extent in extents):
            return None
        decision = decisions.sliding_aggregate(
            windows_per_row, pairs.max_rows(self, op.input, lifetimes.max_lifetime(rows))
        )
        period = schedule.periods[0]
        windows = windows_per_row if lifetimes.fixed_lifetime(rows) is not None else None
        return SlidingWindowAggregate(rows, op.groups, op.aggregates, windows, period, op.schema, ordered, decision)
