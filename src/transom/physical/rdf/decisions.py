"""The planner's decisions over RDF: each chooses an executor and gives the reason and a bound on the rows in state."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.composition.composed_source import rewrite_composed
from transom.algebra.operator import Operator, Stream, Windows
from transom.algebra.relations import JoinType, WindowAggregation
from transom.algebra.state import bounds
from transom.algebra.state.formula import ONE, ZERO, Formula, RowCount, plus, times
from transom.algebra.windows import Bound, Coordinate, CoordinateRange, Window
from transom.physical.forms import Decision, Executor
from transom.physical.nodes.change_join import Compatibility

PATTERN_MATCH = Decision(Executor.NATIVE, "pattern", "each statement on its own", ZERO)
TIME_WINDOW = Decision(Executor.NATIVE, "time window", "a statement's tick determines when it expires", ZERO)
STORED = Decision(Executor.NATIVE, "stored", "it is always valid, so it needs no state", ZERO)
STATIC_JOIN = Decision(Executor.NATIVE, "static join", "one side is known in advance, so the join needs no state", ZERO)


def multi_pattern_scan(count: int) -> Decision:
    """Return the decision to match `count` triple patterns in one reading of a stream, without state."""
    return Decision(
        Executor.NATIVE, "one scan", f"{count} patterns read the stream once, each statement on its own", ZERO
    )


def message_star_match(count: int) -> Decision:
    """Return the Decision (executor, reason) to match `count` patterns of one subject within each message."""
    why = f"all statements about a subject arrive in one message: {count} patterns are matched within it, without state"
    return Decision(Executor.NATIVE, "subjects: local", why, ZERO)


def change_join(
    how: JoinType, sides: tuple[Windows, ...], keyed: bool, residual: Compatibility, open_ticks: int
) -> Decision:
    """Return the decision for an incremental `how` join; `residual`: checks beyond keys; `open_ticks`: not yet closed.

    The join is by key if `keyed`. `residual` is the check beyond equal keys. The state bound includes the `open_ticks`
    ticks that may be open at once.
    """
    checks_pairs = how is not JoinType.INNER and bool(residual)
    where = "by key" if keyed else "in one task, because there is no join key"
    star = (
        f"{len(sides)} patterns share a key and form one operator" if len(sides) > 2 else f"the {how} is built in order"
    )
    residual_note = (
        "; the condition is evaluated on pairs before solutions without a match are known" if checks_pairs else ""
    )
    state = times(RowCount(2), plus(*(max_valid_rows(side, open_ticks) for side in sides)))
    if checks_pairs:
        state = plus(state, times(RowCount(2), times(*(max_valid_rows(side, open_ticks) for side in sides))))
    return Decision(Executor.MACHINE, "join of solutions", f"{star}, {where}{residual_note}", state)


def change_aggregate(op: WindowAggregation, open_ticks: int) -> Decision:
    """Return the decision for aggregates over solutions that change; `open_ticks`: ticks that may be open at once.

    The state bound includes the `open_ticks` ticks that may be open at once.
    """
    where = "by group" if op.groups else "in one task, because there is one group"
    why = f"solutions are retracted in any order: each updates the counts, sums and values of its group, {where}"
    return Decision(
        Executor.MACHINE,
        "changelog aggregate",
        why,
        times(RowCount(3), plus(max_valid_rows(op.input, open_ticks), ONE)),
    )


def distinct(op: Windows, open_ticks: int) -> Decision:
    """Return the decision for DISTINCT in a machine that counts copies; `open_ticks`: ticks that may be open at once.

    The state bound includes the `open_ticks` ticks that may be open at once.
    """
    state = times(RowCount(3), max_valid_rows(op, open_ticks))
    return Decision(Executor.MACHINE, "distinct", "a solution is valid while one of its copies is", state)


def blank_nodes(op: Windows, open_ticks: int) -> Decision:
    """Return the decision to label blank nodes per copy of a solution in a machine; `open_ticks`: ticks open at once.

    The state bound includes the `open_ticks` ticks that may be open at once.
    """
    state = times(RowCount(3), max_valid_rows(op, open_ticks))
    why = "blank nodes are labelled by solution and copy number, so that a retraction repeats the label"
    return Decision(Executor.MACHINE, "blank nodes", why, state)


def path_closure(edges: Windows, statements: Windows, has_nodes: bool, open_ticks: int) -> Decision:
    """Return the decision for `+` or `*` paths; `has_nodes`: terms are state, too; `open_ticks`: ticks open at once.

    With `has_nodes` the machine also keeps the terms of all `statements`. The state bound includes the `open_ticks`
    ticks that may be open at once.
    """
    why = "all edges are followed in one task; after a change, again from every term that reaches the changed edges"
    terms = times(RowCount(4), max_valid_rows(statements, open_ticks)) if has_nodes else ZERO
    return Decision(
        Executor.MACHINE, "path of any length", why, plus(times(RowCount(2), max_valid_rows(edges, open_ticks)), terms)
    )


def sort(op: Windows, open_ticks: int) -> Decision:
    """Return the decision for ORDER BY in a machine that sorts again at each change; `open_ticks`: ticks open at once.

    The state bound includes the `open_ticks` ticks that may be open at once.
    """
    state = times(RowCount(3), max_valid_rows(op, open_ticks))
    return Decision(
        Executor.MACHINE, "sort", "a sorted sequence is built again at every tick at which it changes", state
    )


def element_window(op: Window, stream: Stream, open_ticks: int) -> Decision:
    """Return the decision for a window of an RDF stream's last n elements; `open_ticks`: ticks open at once.

    The machine reads the elements in order.
    """
    state = plus(bounds.operator_state(op), bounds.arrivals(stream, 1 + open_ticks))
    return Decision(
        Executor.MACHINE,
        "last elements",
        "a new element evicts the oldest one, so elements are processed in order",
        state,
    )


def max_valid_rows(op: Windows, open_ticks: int) -> Formula:
    """Return an upper bound on a relation's rows valid at once, if time windows keep rows `open_ticks` ticks longer.

    Time windows keep rows `open_ticks` ticks longer than they say.
    """

    def extend_window(part: Operator) -> Operator:
        """Make a time window keep rows longer by the outer function's `open_ticks`; leave other operators unchanged."""
        match part:
            case Window(range=CoordinateRange(coordinate=Coordinate.TICK, low=low) as time_range):
                return replace(part, range=replace(time_range, low=Bound(low.step, low.offset - open_ticks)))
            case _:
                return part

    return bounds.window_size(rewrite_composed(op, extend_window))
