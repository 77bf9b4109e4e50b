"""The planner's decisions: each chooses an executor and gives the reason and a bound on the rows in state.

`slack` is the event time, in ticks, that may be open at once in Spark: the lateness of the sources plus the span of one
micro-batch. Every bound includes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from transom.algebra.operator import Stream, Windows
from transom.algebra.relations import SuppressUnchanged, WindowAggregation
from transom.algebra.sources import StoredTable
from transom.algebra.state import bounds
from transom.algebra.state.formula import ZERO, Formula, plus, times
from transom.algebra.state.formula import RowCount as Rows
from transom.algebra.streams import SpeedLimit
from transom.algebra.windows import Window
from transom.physical.nodes.windows import Decision, Executor, Form, JoinStrategy
from transom.physical.schedule import Schedule

STATELESS = Decision(Executor.NATIVE, "stateless", "each row on its own", ZERO)
BUCKETS = 4
FEW_KEYS = 30
"""If a row is in one window, Spark's own grouping beats the kernel below this number of keys: it pre-aggregates rows
before the shuffle. If a row is in several windows, the kernel is faster with any number of keys (benchmarks.grid)."""


@dataclass(frozen=True, slots=True)
class EventTimeSlack:
    """The event time, in ticks, that may be open at once in Spark: lateness plus the span of a micro-batch."""

    ticks: int

    def max_rows(self, op: Stream, span: int) -> Formula:
        """Bound on the rows that a stream delivers within `span` ticks plus the ticks that may be open at once."""
        return bounds.arrivals(op, span + self.ticks)


def read_stream(extent: str) -> Decision:
    """Decision for reading the stream `extent`: by Spark's own operators, without state."""
    return Decision(Executor.NATIVE, "read", f"rows of {extent} with their tick as event time", ZERO)


def read_table(extent: str) -> Decision:
    """Decision for reading the table `extent`, whose versions are all known in advance: native, without state."""
    return Decision(
        Executor.NATIVE,
        "table intervals",
        f"the versions of {extent} are known in advance, so a static join needs no state",
        ZERO,
    )


def read_scans(extent: str) -> Decision:
    """Decision for reading a table by following its log: native, one insertion or deletion per changed row and scan."""
    why = f"the log of {extent} is followed: a row is inserted or deleted at the first scan that sees it"
    return Decision(Executor.NATIVE, "scans", why, ZERO)


def read_clock(why: str) -> Decision:
    """Decision for the clock, a source with one row per scheduled tick; `why` is the reason shown by `explain`."""
    return Decision(Executor.MACHINE, "clock", why, ZERO)


def row_number(op: Stream, slack: EventTimeSlack, why: str) -> Decision:
    """Decision for numbering a stream's rows in order: a machine; state bound for `slack` open ticks; text: `why`."""
    return Decision(Executor.MACHINE, "number", why, slack.max_rows(op, 1))


def time_window() -> Decision:
    """Decision for a time window: native, without state, as a row's tick alone tells which windows hold it."""
    return Decision(
        Executor.NATIVE, "time window", "a row's tick gives its first and last window: one row per tuple", ZERO
    )


def row_window(op: Stream, held: Formula, slack: EventTimeSlack) -> Decision:
    """Decision for a row window, counted in order: a machine with `held` rows and those of `slack` open ticks."""
    state = plus(held, slack.max_rows(op, 1))
    return Decision(Executor.MACHINE, "row window", "the tick that closes a row window is known only in order", state)


def expand_windows(form: Form) -> Decision:
    """Decision for repeating each tuple of a relation of any form in every window that holds it: native, no state."""
    if form is Form.TABLE:
        return Decision(Executor.NATIVE, "table at each scan", "the content of the table at every scan tick", ZERO)
    return Decision(Executor.NATIVE, "expand windows", "the answer has one row per window and tuple", ZERO)


def window_aggregate(
    op: WindowAggregation, form: Form, copies: int, schedule: Schedule | None, slack: EventTimeSlack
) -> tuple[bool, Decision]:
    """Decision for aggregates; True with it: panes first, as intervals (`form`) are in several (`copies`) windows."""
    size = bounds.window_size(op) if schedule else times(bounds.windows_per_tick(op.input), bounds.window_size(op))
    if form is not Form.INTERVALS or copies <= 1:
        ticks = 1 + (schedule.max_ticks_in(slack.ticks) if schedule else slack.ticks)
        why = "each tuple is in one window" if form is Form.INTERVALS else "rows carry their window"
        return False, Decision(Executor.NATIVE, "group by window", why, times(Rows(ticks + 1), size))
    assert schedule is not None  # noqa: S101 - validity intervals always have one
    panes = _pane_groups(op, schedule, slack)
    ahead = times(Rows(copies + schedule.max_ticks_in(slack.ticks) + 1), size)
    why = f"each tuple is in {copies} windows: panes are aggregated first, then combined"
    return True, Decision(Executor.NATIVE, "panes", why, plus(panes, ahead))


def sliding_aggregate(copies: int, state: Formula) -> Decision:
    """Decision for sliding aggregates per group in the kernel; rows are in `copies` windows, `state` is their bound."""
    why = (
        f"one state value per group: each row is added once and removed after {copies} windows"
        if copies > 1
        else "one state value per group instead of one per window"
    )
    return Decision(Executor.KERNEL, "sliding aggregate", why, state)


def move_to_kernel(decision: Decision) -> Decision:
    """Replace a Python machine as the executor of a decision by the kernel; other decisions are unchanged."""
    return replace(decision, executor=Executor.KERNEL) if decision.executor is Executor.MACHINE else decision


def _pane_groups(op: WindowAggregation, schedule: Schedule, slack: EventTimeSlack) -> Formula:
    """Bound on the groups in panes of `slack` open ticks: two panes per slide; one group each or, grouped, per row."""
    per_slide = Rows(2 * (schedule.max_ticks_in(slack.ticks) + 2))
    return per_slide if not op.groups else times(per_slide, bounds.window_size(op))


def interval_join(state: Formula, static: bool, bucket_length: int, by_ranges: bool) -> tuple[JoinStrategy, Decision]:
    """Decision, with strategy, for Spark's join of intervals: `static`, `by_ranges` of time, or by buckets of time.

    Ranges need an equality on keys and no stateful operator downstream. Spark refuses a join of two streams without an
    equality: a shared time bucket is one, a range of event time is not.
    """
    if static:
        return JoinStrategy.STATIC, Decision(
            Executor.NATIVE, "static join", "one side is known in advance, so the join needs no state", ZERO
        )
    if by_ranges:
        why = "no later operator is stateful, so results need not wait for the watermark: each row is stored once"
        return JoinStrategy.TIME_RANGES, Decision(Executor.NATIVE, "time-range join", why, state)
    why = (
        f"overlapping intervals share a bucket of {bucket_length} ticks, an equality for Spark: "
        "at most two copies of a row, no delay"
    )
    return JoinStrategy.TIME_BUCKETS, Decision(Executor.NATIVE, "time-bucket join", why, state)


def join_with_scans(state: Formula, has_equalities: bool) -> Decision:
    """Decision for joining intervals with a table at each scan: a machine, `state` rows, by key if `has_equalities`."""
    how = "by key" if has_equalities else "in buckets of the table"
    why = f"a row may leave the table at any scan: intervals are split and each part is joined with one scan, {how}"
    return Decision(Executor.MACHINE, "join with scans", why, state)


def expand_scans(state: Formula) -> Decision:
    """Decision for emitting the rows of a table, followed through its log, again at every scan: a machine."""
    why = "a row may leave the table at any scan: rows are kept in buckets and emitted again at every scan"
    return Decision(Executor.MACHINE, "join with scans", why, state)


def keyed_interval_join(state: Formula) -> Decision:
    """Decision for joining overlapping validity intervals key by key, in the order of their ticks: the kernel."""
    why = "rows of one key are joined in order as their ticks close: each is stored once, while its interval lasts"
    return Decision(Executor.KERNEL, "join by key", why, state)


def window_product(state: Formula, has_equalities: bool) -> Decision:
    """Decision for pairing windows in order: a machine, by join key if `has_equalities`; `state` bounds its rows."""
    how = "in buckets by key" if has_equalities else "in one task, because there is no join key"
    why = f"row windows end at unknown ticks, and several may share a tick: rows are paired in order, {how}"
    return Decision(Executor.MACHINE, "product of windows", why, state)


def interval_diff(op: Windows, schedule: Schedule, slack: EventTimeSlack, longest: int) -> Decision:
    """Decision for ISTREAM or DSTREAM, one window per tick: native; bound covers `longest` row life and `slack`."""
    ticks = schedule.max_ticks_in(longest + slack.ticks) + 2
    state = (
        times(Rows(2 * ticks), bounds.window_size(op))
        if longest
        else times(Rows(2 * (ticks + 1)), bounds.window_size(op))
    )
    return Decision(
        Executor.NATIVE,
        "changes",
        "at most one window per tick, so insertions and deletions are summed per tick",
        state,
    )


def window_diff(op: Windows, ordered: bool, several_per_tick: bool, slack: EventTimeSlack) -> Decision:
    """Decision for ISTREAM or DSTREAM by a machine that compares windows; reasons: `ordered`, `several_per_tick`."""
    reasons = []
    if several_per_tick:
        reasons.append("several windows may share a tick and are compared in order")
    if ordered:
        reasons.append("the query needs the order of the changes")
    state = plus(bounds.window_size(op), times(bounds.windows_within(op, 1 + slack.ticks), bounds.window_size(op)))
    return Decision(Executor.MACHINE, "compare windows", " and ".join(reasons), state)


def collect_windows(op: Windows, slack: EventTimeSlack) -> Decision:
    """Decision for collecting each window's rows until its tick closes: native; state bound for `slack` open ticks."""
    state = times(bounds.windows_within(op, 2 + slack.ticks), bounds.window_size(op))
    return Decision(Executor.NATIVE, "collect windows", "only a closed tick shows whether its window is empty", state)


def keyed_window(op: Window, held: Formula, slack: EventTimeSlack) -> Decision:
    """Decision for windows per key from rows in order: a machine with `held` rows and those of `slack` open ticks."""
    assert not isinstance(op.input, StoredTable)  # noqa: S101 - a table has no keys
    scope = "of each key" if op.key else "of the stream"
    why = f"rows {scope} are processed in order, because a window depends on earlier rows"
    return Decision(Executor.MACHINE, "windows by key", why, plus(held, slack.max_rows(op.input, 1)))


def keyed_window_aggregate(op: Window, held: Formula, slack: EventTimeSlack) -> Decision:
    """Decision for aggregates in the machine of keyed windows, with `held` rows and those of `slack` open ticks."""
    assert not isinstance(op.input, StoredTable)  # noqa: S101 - a table has no keys
    why = "the machine that builds the windows also aggregates them, so their rows never leave it"
    return Decision(Executor.MACHINE, "aggregates by key", why, plus(held, slack.max_rows(op.input, 1)))


def speed_limit(op: SpeedLimit, slack: EventTimeSlack) -> Decision:
    """Decision for rejecting rows above a speed limit, per key: a machine; state bound for `slack` open ticks."""
    why = "whether a row is rejected depends on the last accepted row"
    return Decision(Executor.MACHINE, "speed limit", why, plus(bounds.operator_state(op), slack.max_rows(op.input, 1)))


def windows_to_changes(op: Windows, slack: EventTimeSlack) -> Decision:
    """Decision for comparing each window with the previous one: a machine; state bound for `slack` open ticks."""
    state = plus(bounds.window_size(op), times(bounds.windows_within(op, 1 + slack.ticks), bounds.window_size(op)))
    return Decision(Executor.MACHINE, "windows as changes", "each window is compared with the one before it", state)


def suppress_unchanged(op: SuppressUnchanged, slack: EventTimeSlack) -> Decision:
    """Decision for dropping windows to which no row was added: a machine; state bound for `slack` open ticks."""
    state = plus(bounds.window_size(op), times(bounds.windows_within(op, 1 + slack.ticks), bounds.window_size(op)))
    return Decision(
        Executor.MACHINE, "suppress unchanged", "a window is emitted again only if a row was added to it", state
    )


def change_join(how: str, sides: Sequence[Formula], *, keyed: bool, checks: bool) -> Decision:
    """Decision for an incremental `how` join, by key if `keyed`; `sides`: input bounds; `checks`: counting matches."""
    where = "by key" if keyed else "in one task, because there is no join key"
    second_machine = (
        "; a second machine counts the matches of each left row that satisfy the condition" if checks else ""
    )
    why = (
        f"changes of one side are joined with the rows of the other: the {how} is incremental, {where}{second_machine}"
    )
    state = plus(*sides, times(*sides)) if checks else plus(*sides)
    return Decision(Executor.MACHINE, "change join", why, state)


def combine_relations(how: str, state: Formula, bucketed: bool) -> Decision:
    """Decision for the operation `how` on two relations: a machine with `state` rows, by equal rows if `bucketed`."""
    where = "in buckets of equal rows" if bucketed else "in one task, because there is no join key"
    why = f"a relation changes at unknown ticks: the {how} is built in order, {where}"
    return Decision(Executor.MACHINE, "relations", why, state)


def per_window(op: Windows, slack: EventTimeSlack) -> Decision:
    """Decision for an operator, such as DISTINCT, on each window: native; state bound for `slack` open ticks."""
    state = times(bounds.windows_within(op, 2 + slack.ticks), bounds.window_size(op))
    return Decision(
        Executor.NATIVE, "within a window", "rows of one window are processed together when its tick is closed", state
    )


def table_to_changes(op: Windows, slack: EventTimeSlack) -> Decision:
    """Decision for changes from a table's log, one window per tick: native; state bound for `slack` open ticks."""
    state = plus(bounds.windows_within(op, 2 + slack.ticks), times(Rows(2), bounds.window_size(op)))
    return Decision(
        Executor.NATIVE, "changes of a table", "a table has one window per tick at which its log has a change", state
    )


def changes_to_stream(op: Windows, slack: EventTimeSlack) -> Decision:
    """Decision for ISTREAM or DSTREAM by adding up changes per row: native; state bound for `slack` open ticks."""
    state = times(Rows(2), times(bounds.windows_within(op, 2 + slack.ticks), bounds.window_size(op)))
    return Decision(
        Executor.NATIVE, "net changes", "insertions and retractions of equal rows are summed per tick", state
    )
