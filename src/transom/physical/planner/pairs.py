"""Planning of products and joins of windows: interval joins, joins with scans, and products in a machine."""

from __future__ import annotations

from transom.algebra.expressions.expression import Call, Expression, columns_read, conjunction
from transom.algebra.operator import Windows
from transom.algebra.relations import WindowCrossProduct, WindowJoin, WindowProject, WindowSelect
from transom.algebra.sources import StoredTable
from transom.algebra.state import bounds
from transom.algebra.state.formula import ZERO, Formula, plus, times
from transom.algebra.state.formula import RowCount as Rows
from transom.algebra.windows import Window
from transom.model.schema import Schema
from transom.physical import decisions, lifetimes
from transom.physical.decisions import BUCKETS
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.windows import Form, IntervalJoin, JoinStrategy, WindowProduct
from transom.physical.planner import scans
from transom.physical.planner.context import Planning


def plan_join(
    planner: Planning,
    op: Windows,
    sides: tuple[Windows, Windows],
    predicate: list[Expression],
    *,
    ordered: bool,
    stateless_above: bool,
) -> PhysicalNode:
    """Plan a join of windows on all conditions; `ordered`: rows get a sort key; `stateless_above`: no state above.

    With `ordered`, rows have a sort-key column. With `stateless_above`, no operator above keeps state.
    """
    left, right = sides
    left_node, right_node = scans.expand_one_side(
        planner, sides, (planner.plan_windows(left, ordered), planner.plan_windows(right, ordered))
    )
    equal, rest = split_equalities(predicate, left.schema, right.schema)
    forms = {left_node.form, right_node.form}
    if forms == {Form.INTERVALS, Form.SCANS}:
        return _join_with_scans(planner, op, sides, (left_node, right_node), predicate)
    if forms <= {Form.INTERVALS, Form.TABLE}:
        form = Form.TABLE if forms == {Form.TABLE} else Form.INTERVALS
        lengths = [n for n in (lifetimes.max_lifetime(left_node), lifetimes.max_lifetime(right_node)) if n]
        bucket_length = max(lengths, default=1)
        longest = min(lengths, default=0)
        if planner.kernel and forms == {Form.INTERVALS} and not ordered and _has_typed_keys(equal):
            row_bounds = [
                max_rows(planner, side, lifetimes.max_lifetime(node))
                for side, node in ((left, left_node), (right, right_node))
            ]
            decision = decisions.keyed_interval_join(plus(*row_bounds))
            return IntervalJoin(
                left_node,
                right_node,
                equal,
                rest,
                JoinStrategy.PAIRS,
                bucket_length,
                longest,
                op.schema,
                form,
                ordered,
                decision,
            )
        states = [
            _held_rows(planner, side, node, bucket_length) for side, node in ((left, left_node), (right, right_node))
        ]
        how, decision = decisions.interval_join(
            plus(*states), Form.TABLE in forms, bucket_length, stateless_above and bool(equal)
        )
        return IntervalJoin(
            left_node, right_node, equal, rest, how, bucket_length, longest, op.schema, form, ordered, decision
        )
    if Form.TICKS in forms:  # aggregates: each window replaces the previous one, as row windows do
        left_node, right_node = (
            planner.with_markers(side, node) if node.form is Form.TICKS else node
            for side, node in zip(sides, (left_node, right_node))
        )
    state = plus(
        bounds.operator_state(op),
        *(pending_rows(planner, side, node) for side, node in ((left, left_node), (right, right_node))),
    )
    clocks = [
        None
        if node.form is Form.WINDOWS
        else planner.clock(side, "windows are paired at every tick at which one is created")
        for side, node in ((left, left_node), (right, right_node))
    ]
    input_nodes = [
        planner.expand(side, node) if node.form in (Form.TABLE, Form.SCANS) else node
        for side, node in ((left, left_node), (right, right_node))
    ]
    buckets = BUCKETS if equal and not ordered else 1
    decision = decisions.window_product(state, bool(equal))
    (left_node, right_node), (left_clock, right_clock) = input_nodes, clocks
    return WindowProduct(
        left_node, right_node, left_clock, right_clock, equal, rest, buckets, op.schema, ordered, decision
    )


def _join_with_scans(
    planner: Planning,
    op: Windows,
    sides: tuple[Windows, Windows],
    nodes: tuple[PhysicalNode, PhysicalNode],
    predicate: list[Expression],
) -> PhysicalNode:
    """Plan a join with a table that is read periodically; `nodes` are the plans of `sides`, one is the table.

    `nodes` are the planned `sides`; one of them is the table.
    """
    equal, rest = split_equalities(predicate, sides[0].schema, sides[1].schema)
    if not _has_typed_keys(equal):
        equal, rest = (), conjunction(predicate)
    scan_period = scans.scan_period(nodes)
    longest = max(map(lifetimes.max_lifetime, nodes))
    copies = 1 if equal else BUCKETS
    pieces = Rows(2 * copies * (longest // scan_period + 2 if scan_period else 1))
    row_bounds = [
        times(pieces, max_rows(planner, side, longest))
        if node.form is Form.INTERVALS
        else scans.table_state(planner, side)
        for side, node in zip(sides, nodes)
    ]
    decision = decisions.join_with_scans(plus(*row_bounds), bool(equal))
    shorter = min(longest, scan_period) if scan_period else longest
    return IntervalJoin(
        *nodes, equal, rest, JoinStrategy.SCANS, scan_period, shorter, op.schema, Form.INTERVALS, False, decision
    )


def _held_rows(planner: Planning, op: Windows, node: PhysicalNode, bucket_ticks: int) -> Formula:
    """Bound the rows of input `op` that Spark's join stores, with time buckets of `bucket_ticks`; 0 for a table.

    The input is `op`, planned as `node`. Each row is stored twice per open time bucket.
    """
    if node.form is Form.TABLE:
        return ZERO
    return times(Rows(2), max_rows(planner, op, 2 * bucket_ticks))


def pending_rows(planner: Planning, op: Windows, node: PhysicalNode) -> Formula:
    """Return an upper bound on a relation's insertions and retractions that wait for the watermark.

    `node` is the plan of the relation `op`.
    """
    longest = lifetimes.max_lifetime(node)
    if node.form is Form.INTERVALS:
        return times(Rows(2), max_rows(planner, op, longest))
    return times(bounds.windows_within(op, 1 + planner.slack.ticks), bounds.window_size(op))


def max_rows(planner: Planning, op: Windows, span: int) -> Formula:
    """Bound the rows of `op` that become valid within `span` ticks and the ticks that the watermark leaves open."""
    match op:
        case Window(input=StoredTable()):
            return bounds.window_size(op)
        case Window(input=input):
            return planner.slack.max_rows(input, span)  # type: ignore[arg-type]
        case WindowSelect(input=input) | WindowProject(input=input):
            return max_rows(planner, input, span)
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return times(max_rows(planner, left, span), max_rows(planner, right, span))
        case _:
            return times(bounds.windows_within(op, span + planner.slack.ticks), bounds.window_size(op))


def _has_typed_keys(equal: tuple[tuple[Expression, Expression], ...]) -> bool:
    """Whether a join can use the pairs in `equal` as its key: there are some, and types agree in each pair."""
    return bool(equal) and all(left.type is right.type for left, right in equal)


def split_equalities(
    predicate: list[Expression], left: Schema, right: Schema
) -> tuple[tuple[tuple[Expression, Expression], ...], Expression]:
    """Split a join condition into pairs of equal (left, right) expressions and the conjunction of the others."""
    equal: list[tuple[Expression, Expression]] = []
    residual_parts: list[Expression] = []
    left_columns, right_columns = set(left), set(right)
    for part in predicate:
        sides = part.arguments if isinstance(part, Call) and part.function.name == "=" else ()
        reads = [columns_read(side) for side in sides]
        if len(sides) == 2 and all(reads) and reads[0] <= left_columns and reads[1] <= right_columns:
            equal.append((sides[0], sides[1]))
        elif len(sides) == 2 and all(reads) and reads[0] <= right_columns and reads[1] <= left_columns:
            equal.append((sides[1], sides[0]))
        else:
            residual_parts.append(part)
    return tuple(equal), conjunction(residual_parts)
