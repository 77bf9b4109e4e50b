"""Planning of keyed windows, and of operators on whole relations."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from transom.algebra.expressions.expression import TRUE, Expression, InRegion, conjunction, conjuncts
from transom.algebra.expressions.tracks import point_expression
from transom.algebra.operator import Windows
from transom.algebra.periods import EveryPeriod
from transom.algebra.relations import (
    JoinType,
    RelationExcept,
    RelationIntersect,
    RelationJoin,
    RelationUnion,
    SuppressUnchanged,
    TrackAggregation,
    WindowDistinct,
    WindowMerge,
    WindowProject,
    WindowSelect,
    WindowTopK,
)
from transom.algebra.sources import StoredTable
from transom.algebra.state import bounds
from transom.algebra.state.formula import Formula, plus, times
from transom.algebra.state.formula import RowCount as Rows
from transom.algebra.streams import SpeedLimit
from transom.algebra.tree import RelationOperator
from transom.algebra.windows import (
    CoordinateRange,
    Every,
    OnArrival,
    OnChange,
    OnRowCount,
    RegionRange,
    Window,
    range_parts,
)
from transom.errors import PlanError, Unsupported
from transom.machines.windows.distance import PositionSpec
from transom.machines.windows.keyed_window_spec import KeyedWindowSpec, RangeSpec
from transom.model.geometry.space import Position, Speed
from transom.physical import decisions, gaps
from transom.physical.decisions import BUCKETS, STATELESS
from transom.physical.nodes.change_join import ChangeJoin
from transom.physical.nodes.keyed_windows import (
    ChangesToStream,
    CombineKind,
    CombineRelations,
    Distinct,
    IntervalsToChanges,
    KeyedWindow,
    SpeedLimitExec,
    SuppressUnchangedExec,
    TopN,
    TrajectoryAggregate,
    WindowsToChanges,
)
from transom.physical.nodes.node import PhysicalNode, ReadClock
from transom.physical.nodes.windows import Filter, Form, Project, ReadTable
from transom.physical.planner import scans
from transom.physical.planner.context import Planning
from transom.physical.planner.pairs import split_equalities
from transom.physical.planner.routes import yields_changes
from transom.physical.schedule import Schedule

PerWindowOperator: TypeAlias = WindowDistinct | WindowTopK | SuppressUnchanged | WindowMerge | TrackAggregation


def plan_keyed_window(planner: Planning, op: Window, form: Form, *, ordered: bool) -> PhysicalNode:
    """Plan the windows of each key in a state machine; `form`: windows or changes; `ordered`: with a sort-key column.

    The result has the `form` of windows or of changes. With `ordered`, its rows have a sort-key column.
    """
    assert not isinstance(op.input, StoredTable)  # noqa: S101 - the caller handles tables
    indexed = any(tag.name == "index" for tag in op.tags)
    below = planner.in_order(op.input, index=indexed)
    slide, step, first = _slide_spec(op)
    eager = slide == "tick" and not op.key
    flag = _region_condition(op)
    width = len(op.schema)
    spec = KeyedWindowSpec(
        slide,
        tuple(_range_spec(part) for part in range_parts(op.range) if isinstance(part, CoordinateRange)),
        step,
        first,
        planner.start,
        eager=eager,
        flag=None if flag is None else width,
        position=None if op.position is None else _position_spec(op.position, op),
        output="changes" if form is Form.CHANGES else "content",
        forget_after=op.forget_after,
    )
    clock = planner.clock(op, "windows are created at ticks that no row carries") if eager else None
    decision = decisions.keyed_window(op, bounds.operator_state(op), planner.slack)
    return KeyedWindow(below, spec, op.key, flag, clock, op.tags, op.schema, ordered, decision, form)


def _slide_spec(op: Window) -> tuple[str, int, int]:
    """Return a keyed window's slide: its unit (such as tick, index or arrival), its step and its first boundary."""
    match op.slide:
        case Every(coordinate=coordinate, step=step, first=first):
            return str(coordinate), step, first
        case OnRowCount(step=step):
            return "index", step, step
        case OnArrival():
            return ("inside" if _region_condition(op) is not None else "arrival"), 1, 0
        case OnChange():
            return "change", 1, 0
        case EveryPeriod():
            raise gaps.PERIODS_BY_KEY.refusal()
        case _:
            raise PlanError(f"a stream cannot slide by {op.slide}")


def _range_spec(part: CoordinateRange) -> RangeSpec:
    """Convert a range of ticks, row numbers or distances from the algebra to a specification for the state machine."""
    low, high = part.low, part.high
    return RangeSpec(str(part.coordinate), (low.step, low.offset), (high.step, high.offset))


def _region_condition(op: Window) -> Expression | None:
    """The condition that the position of a row lies in all regions of a window; None if the window has no regions."""
    regions = [part.region for part in range_parts(op.range) if isinstance(part, RegionRange)]
    if not regions or op.position is None:
        return None
    point = point_expression(op.position_columns, op.position)
    return conjunction([InRegion(point, region) for region in regions])


def _position_spec(position: Position, op: Window | SpeedLimit, speed: Speed | None = None) -> PositionSpec:
    """Build a PositionSpec: the indexes of the position columns in the input of `op`; `speed`: the limit (None: no)."""
    indexes = [op.input.schema.position(attribute) for attribute in op.position_columns]
    limit = None if speed is None else (speed.length, speed.ticks)
    return PositionSpec(indexes[0], indexes[1] if len(indexes) > 1 else None, position.geodesic, position.unit, limit)


def plan_changes(planner: Planning, op: Windows) -> PhysicalNode:
    """Plan a relation as changes: insertions and retractions of rows, and one marker row per window."""
    match op:
        case Window(input=StoredTable(), slide=OnChange()):
            return _table_changes(planner, op)
        case Window() if yields_changes(planner, op):
            return plan_keyed_window(planner, op, Form.CHANGES, ordered=False)
        case WindowSelect(input=input, predicate=predicate) if yields_changes(planner, op):
            below = plan_changes(planner, input)
            return Filter(below, predicate, op.schema, Form.CHANGES, False, STATELESS)
        case WindowProject(input=input, items=items) if yields_changes(planner, op):
            below = plan_changes(planner, input)
            return Project(below, items, op.schema, Form.CHANGES, False, STATELESS)
        case RelationJoin() if yields_changes(planner, op):
            return plan_change_join(planner, op)
        case _:
            rows = planner.plan_windows(op, False)
    if rows.form is Form.WINDOWS:
        return WindowsToChanges(rows, rows.schema, decisions.windows_to_changes(op, planner.slack))
    schedule = planner.schedule(op)
    assert schedule is not None  # noqa: S101 - only Form.WINDOWS has no schedule
    clock = planner.clock(op, "relations are combined at every tick at which one has a window")
    return IntervalsToChanges(rows, schedule, clock, rows.schema, STATELESS)


def _table_changes(planner: Planning, op: Window) -> PhysicalNode:
    """Plan a stored table as changes: from its changelog if it changes during the query, else from its versions."""
    assert isinstance(op.input, StoredTable)  # noqa: S101 - the caller checked
    every_tick = Schedule.every(1, planner.start)
    if op.input.extent in planner.growing:
        table_scans = scans.read_scans(op.input.extent, op.schema, every_tick, False)
        clock = ReadClock(
            every_tick, decisions.read_clock("a table may change at any tick, and exists from the first one")
        )
        return IntervalsToChanges(
            table_scans, every_tick, clock, table_scans.schema, decisions.table_to_changes(op, planner.slack)
        )
    rows = ReadTable(op.input.extent, op.schema, every_tick, False, decisions.read_table(op.input.extent))
    clock = ReadClock(every_tick, decisions.read_clock("a table may change at any tick"))
    return IntervalsToChanges(rows, every_tick, clock, rows.schema, STATELESS)


def plan_change_join(planner: Planning, op: RelationJoin) -> PhysicalNode:
    """Plan an incremental join: changes of one relation are joined with the stored rows of the other relation."""
    keys, residual = _join_condition(op)
    left, right = plan_changes(planner, op.left), plan_changes(planner, op.right)
    checks = residual != TRUE and op.join_type is not JoinType.INNER
    sizes = [plus(bounds.window_size(side), _pending_changes(planner, side)) for side in (op.left, op.right)]
    decision = decisions.change_join(op.join_type.value, sizes, keyed=bool(keys), counts_matches=checks)
    return ChangeJoin(left, right, op.join_type, keys, residual, op.schema, Form.CHANGES, decision)


def _join_condition(op: RelationOperator) -> tuple[tuple[tuple[Expression, Expression], ...], Expression]:
    """Split the join condition of `op` into its key, pairs of equal (left, right) expressions, and the other condition.

    There is no key if the two sides of an equality have different types.
    """
    predicate: Expression = getattr(op, "predicate", TRUE)
    equal, rest = split_equalities(conjuncts(predicate), op.left.schema, op.right.schema)
    if any(left.type is not right.type for left, right in equal):
        return (), predicate
    return equal, rest


def plan_relation(planner: Planning, op: RelationOperator, ordered: bool) -> PhysicalNode:
    """Plan a join or set operation in a stateful machine; raise Unsupported if `ordered`, as its rows have no order.

    The machine does not keep the order of rows.
    """
    _refuse_order(ordered)
    how = CombineKind(op.join_type.value) if isinstance(op, RelationJoin) else _SET_OPERATIONS[type(op)]
    equal, rest = _join_condition(op)
    sides = [plan_changes(planner, side) for side in (op.left, op.right)]
    bucketed = bool(equal) or how in (CombineKind.UNION, CombineKind.EXCEPT, CombineKind.INTERSECT)
    state = plus(bounds.operator_state(op), *(_pending_changes(planner, side) for side in (op.left, op.right)))
    decision = decisions.combine_relations(how.value, state, bucketed)
    return CombineRelations(sides[0], sides[1], how, equal, rest, BUCKETS if bucketed else 1, op.schema, decision)


def _pending_changes(planner: Planning, op: Windows) -> Formula:
    """Return an upper bound on a relation's insertions and retractions that wait for the watermark."""
    return times(bounds.windows_within(op, 1 + planner.slack.ticks), times(Rows(2), bounds.window_size(op)))


def _refuse_order(ordered: bool) -> None:
    """Raise Unsupported if `ordered` is true; called for operators whose rows have no order on Spark."""
    if ordered:
        raise gaps.ROW_ORDER.refusal()


_SET_OPERATIONS: dict[type, CombineKind] = {
    RelationUnion: CombineKind.UNION,
    RelationExcept: CombineKind.EXCEPT,
    RelationIntersect: CombineKind.INTERSECT,
}


def plan_per_window(planner: Planning, op: PerWindowOperator, ordered: bool) -> PhysicalNode:
    """Plan an operator on single windows, such as DISTINCT; `ordered`: with a sort key, or Unsupported without order.

    With `ordered`, rows have a sort-key column; raises Unsupported if the operator loses it.
    """
    span = planner.slack
    match op:
        case WindowMerge(input=input):
            _refuse_order(ordered)
            state = plus(bounds.operator_state(op), _pending_changes(planner, input))
            below = plan_changes(planner, input)
            decision = decisions.combine_relations(CombineKind.MERGE.value, state, True)
            return CombineRelations(below, None, CombineKind.MERGE, (), TRUE, BUCKETS, op.schema, decision)
        case SuppressUnchanged(input=input):
            rows = planner.plan_windows(input, ordered)
            rows = rows if rows.form is Form.WINDOWS else planner.with_markers(input, rows)
            return SuppressUnchangedExec(rows, op.schema, rows.ordered, decisions.suppress_unchanged(op, span))
        case WindowDistinct(input=input):
            _refuse_order(ordered)
            below = expanded_rows(planner, input)
            return Distinct(below, op.schema, below.form, decisions.per_window(op, span))
        case WindowTopK(input=input, per=per, by=by, count=count):
            _refuse_order(ordered)
            below = expanded_rows(planner, input)
            return TopN(below, per, by, count, op.schema, below.form, decisions.per_window(op, span))
        case TrackAggregation(input=input, groups=groups, aggregates=aggregates):
            below = _rows_in_order(planner, input)
            clock = None
            if not groups and below.form is not Form.WINDOWS:
                clock = planner.clock(op, "a window without rows has a count of 0")
            decision = decisions.per_window(op, span)
            return TrajectoryAggregate(below, groups, aggregates, clock, op.schema, below.form, ordered, decision)
        case _:
            assert_never(op)


def _rows_in_order(planner: Planning, op: Windows) -> PhysicalNode:
    """Plan a relation whose rows have a sort key in a window, for path aggregates; raise Unsupported if impossible."""
    try:
        rows = expanded_rows(planner, op, ordered=True)
    except Unsupported as gap:
        raise gaps.TRACK_ORDER.refusal() if gap.construct == gaps.ROW_ORDER.construct else gap from None
    if not rows.ordered:
        raise gaps.TRACK_ORDER.refusal()
    return rows


def expanded_rows(planner: Planning, op: Windows, *, ordered: bool = False) -> PhysicalNode:
    """Plan a relation with one row per tuple and window that contains it; `ordered` adds a sort-key column.

    With `ordered`, rows have a sort-key column.
    """
    rows = planner.plan_windows(op, ordered)
    return planner.expand(op, rows) if rows.form in (Form.INTERVALS, Form.TABLE, Form.SCANS) else rows


def plan_changes_to_stream(planner: Planning, op: Windows, report: str) -> PhysicalNode:
    """Plan ISTREAM (`report` inserted) or DSTREAM (deleted), by summing the changes of equal rows per tick.

    `report` is "inserted" for ISTREAM and "deleted" for DSTREAM.
    """
    rows = plan_changes(planner, op)
    return ChangesToStream(rows, report, rows.schema, decisions.changes_to_stream(op, planner.slack))


def plan_speed_limit(planner: Planning, op: SpeedLimit, below: PhysicalNode) -> PhysicalNode:
    """Plan a speed limit: a state machine per key rejects rows too far from the last accepted row for the time between.

    `below` is the plan of the rows.
    """
    decision = decisions.speed_limit(op, planner.slack)
    return SpeedLimitExec(
        below, _position_spec(op.position, op, op.speed), op.key, op.forget_after, op.schema, True, decision
    )
