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
        """Return an upper bound on a stream's rows in `span` ticks plus the ticks that late rows keep open."""
        return bounds.arrivals(op, span + self.ticks)


def read_stream(extent: str) -> Decision:
    """Return the decision (executor, reason, state bound) that Spark itself reads `extent`, without state."""
    return Decision(Executor.NATIVE, "read", f"rows of {extent} with their tick as event time", ZERO)


def read_table(extent: str) -> Decision:
    """Return the Decision (executor, reason, no state) to read the table `extent` with Spark's operators.

    All versions of the table are known in advance.
    """
    return Decision(
        Executor.NATIVE,
        "table intervals",
        f"the versions of {extent} are known in advance, so a static join needs no state",
        ZERO,
    )


def read_scans(extent: str) -> Decision:
    """Return the decision to read a table's changes from its log at each scan (periodic read), without state.

    A scan delivers one insertion or deletion per changed row.
    """
    why = f"the log of {extent} is followed: a row is inserted or deleted at the first scan that sees it"
    return Decision(Executor.NATIVE, "scans", why, ZERO)


def read_clock(why: str) -> Decision:
    """Return the decision for a clock, which emits a row per scheduled tick; `explain` prints the reason `why`."""
    return Decision(Executor.MACHINE, "clock", why, ZERO)


def row_number(op: Stream, slack: EventTimeSlack, why: str) -> Decision:
    """Return the Decision (executor, reason, state bound) to number a stream's rows; `explain` prints `why`.

    `why` is the reason that `explain` prints. The state bound includes the ticks that may be open at once (`slack`).
    """
    return Decision(Executor.MACHINE, "number", why, slack.max_rows(op, 1))


def time_window() -> Decision:
    """Return the Decision (executor, reason, state bound) for time windows, which Spark computes without state."""
    return Decision(
        Executor.NATIVE, "time window", "a row's tick gives its first and last window: one row per tuple", ZERO
    )


def period_window() -> Decision:
    """Return the planning decision that Spark's own operators compute calendar windows, without state."""
    why = "a row's local date gives its first and last window: one row per tuple"
    return Decision(Executor.NATIVE, "calendar window", why, ZERO)


def row_window(op: Stream, held_rows: Formula, slack: EventTimeSlack) -> Decision:
    """Return the decision to form count-based windows in a state machine; `held_rows` bounds the current window.

    `held_rows` bounds the rows of the current window. The state bound adds the rows of the ticks that may be open at
    once (`slack`).
    """
    state = plus(held_rows, slack.max_rows(op, 1))
    return Decision(Executor.MACHINE, "row window", "the tick that closes a row window is known only in order", state)


def expand_windows(form: Form) -> Decision:
    """Return the decision (executor, reason, state bound) to repeat each row in every window that contains it.

    It needs no state. The reason depends on the `form` of the relation.
    """
    if form is Form.TABLE:
        return Decision(Executor.NATIVE, "table at each scan", "the content of the table at every scan tick", ZERO)
    return Decision(Executor.NATIVE, "expand windows", "the answer has one row per window and tuple", ZERO)


def window_aggregate(
    op: WindowAggregation, form: Form, windows_per_row: int, schedule: Schedule | None, slack: EventTimeSlack
) -> tuple[bool, Decision]:
    """Return (panes, decision): panes is true if rows are in several windows, so that slices are aggregated first.

    Returns True with the decision if panes are first. They are if rows are validity intervals (`form`) and in several
    windows (`windows_per_row`).
    """
    size = bounds.window_size(op) if schedule else times(bounds.windows_per_tick(op.input), bounds.window_size(op))
    if form is not Form.INTERVALS or windows_per_row <= 1:
        ticks = 1 + (schedule.max_ticks_in(slack.ticks) if schedule else slack.ticks)
        why = "each tuple is in one window" if form is Form.INTERVALS else "rows carry their window"
        return False, Decision(Executor.NATIVE, "group by window", why, times(Rows(ticks + 1), size))
    assert schedule is not None  # noqa: S101 - validity intervals always have one
    panes = _pane_groups(op, schedule, slack)
    ahead = times(Rows(windows_per_row + schedule.max_ticks_in(slack.ticks) + 1), size)
    why = f"each tuple is in {windows_per_row} windows: panes are aggregated first, then combined"
    return True, Decision(Executor.NATIVE, "panes", why, plus(panes, ahead))


def sliding_aggregate(windows_per_row: int, state: Formula) -> Decision:
    """Return the decision to aggregate sliding windows in the Java kernel; `windows_per_row`: how many hold one row.

    Each row is in `windows_per_row` windows; `state` bounds the rows in state.
    """
    why = (
        f"one state value per group: each row is added once and removed after {windows_per_row} windows"
        if windows_per_row > 1
        else "one state value per group instead of one per window"
    )
    return Decision(Executor.KERNEL, "sliding aggregate", why, state)


def move_to_kernel(decision: Decision) -> Decision:
    """Return a decision with the Java kernel in place of a Python state machine; other decisions are unchanged."""
    return replace(decision, executor=Executor.KERNEL) if decision.executor is Executor.MACHINE else decision


def _pane_groups(op: WindowAggregation, schedule: Schedule, slack: EventTimeSlack) -> Formula:
    """Return an upper bound on the groups in the panes (slices of windows) that wait in state for their ticks to close.

    Each slide has two panes. A pane has one group or, with GROUP BY, at most one group per row.
    """
    per_slide = Rows(2 * (schedule.max_ticks_in(slack.ticks) + 2))
    return per_slide if not op.groups else times(per_slide, bounds.window_size(op))


def interval_join(
    state: Formula, has_static_input: bool, bucket_ticks: int, prefer_time_ranges: bool
) -> tuple[JoinStrategy, Decision]:
    """Return (strategy, decision) of an interval join: static input, else time ranges if preferred, else time buckets.

    Returns the strategy with the decision. `has_static_input` means that one side is known in advance;
    `prefer_time_ranges` prefers time ranges to buckets of `bucket_ticks` ticks.

    Ranges need an equality on keys and no stateful operator downstream. Spark refuses a join of two streams without an
    equality: a shared time bucket is one, a range of event time is not.
    """
    if has_static_input:
        return JoinStrategy.STATIC, Decision(
            Executor.NATIVE, "static join", "one side is known in advance, so the join needs no state", ZERO
        )
    if prefer_time_ranges:
        why = "no later operator is stateful, so results need not wait for the watermark: each row is stored once"
        return JoinStrategy.TIME_RANGES, Decision(Executor.NATIVE, "time-range join", why, state)
    why = (
        f"overlapping intervals share a bucket of {bucket_ticks} ticks, an equality for Spark: "
        "at most two copies of a row, no delay"
    )
    return JoinStrategy.TIME_BUCKETS, Decision(Executor.NATIVE, "time-bucket join", why, state)


def join_with_scans(state: Formula, has_equalities: bool) -> Decision:
    """Return the decision to join rows with each scan (periodic read) of a table, by key if `has_equalities`.

    `state` bounds its rows. The join is by key if `has_equalities`, otherwise in buckets of the table.
    """
    how = "by key" if has_equalities else "in buckets of the table"
    why = f"a row may leave the table at any scan: intervals are split and each part is joined with one scan, {how}"
    return Decision(Executor.MACHINE, "join with scans", why, state)


def expand_scans(state: Formula) -> Decision:
    """Return the decision (executor, reason, state bound) to emit a table's current rows at every periodic read."""
    why = "a row may leave the table at any scan: rows are kept in buckets and emitted again at every scan"
    return Decision(Executor.MACHINE, "join with scans", why, state)


def keyed_interval_join(state: Formula) -> Decision:
    """Return the decision to join overlapping validity intervals key by key, in the Java kernel.

    Rows are joined in the order of their ticks.
    """
    why = "rows of one key are joined in order as their ticks close: each is stored once, while its interval lasts"
    return Decision(Executor.KERNEL, "join by key", why, state)


def window_product(state: Formula, has_equalities: bool) -> Decision:
    """Return the decision to pair rows of two inputs' windows in a stateful machine, by key if `has_equalities`.

    `state` bounds its rows. Rows are paired by key if `has_equalities`, otherwise in one task.
    """
    how = "in buckets by key" if has_equalities else "in one task, because there is no join key"
    why = f"row windows end at unknown ticks, and several may share a tick: rows are paired in order, {how}"
    return Decision(Executor.MACHINE, "product of windows", why, state)


def interval_diff(op: Windows, schedule: Schedule, slack: EventTimeSlack, max_lifetime: int) -> Decision:
    """Return the decision for ISTREAM or DSTREAM over rows that are valid for at most `max_lifetime` ticks.

    There is one window per tick. The state bound covers the longest validity of a row (`max_lifetime`) and the ticks
    that may be open at once (`slack`).
    """
    ticks = schedule.max_ticks_in(max_lifetime + slack.ticks) + 2
    state = (
        times(Rows(2 * ticks), bounds.window_size(op))
        if max_lifetime
        else times(Rows(2 * (ticks + 1)), bounds.window_size(op))
    )
    return Decision(
        Executor.NATIVE,
        "changes",
        "at most one window per tick, so insertions and deletions are summed per tick",
        state,
    )


def window_diff(op: Windows, ordered: bool, windows_share_ticks: bool, slack: EventTimeSlack) -> Decision:
    """Return the decision for ISTREAM or DSTREAM by comparing windows, since rows are ordered or windows share ticks.

    The reasons can be that the query needs the order of changes (`ordered`), or that a tick may have several windows.
    """
    reasons = []
    if windows_share_ticks:
        reasons.append("several windows may share a tick and are compared in order")
    if ordered:
        reasons.append("the query needs the order of the changes")
    state = plus(bounds.window_size(op), times(bounds.windows_within(op, 1 + slack.ticks), bounds.window_size(op)))
    return Decision(Executor.MACHINE, "compare windows", " and ".join(reasons), state)


def collect_windows(op: Windows, slack: EventTimeSlack) -> Decision:
    """Return the decision to collect a window's rows in Spark until its tick closes; `slack`: ticks open at once.

    The state bound includes the ticks that may be open at once (`slack`).
    """
    state = times(bounds.windows_within(op, 2 + slack.ticks), bounds.window_size(op))
    return Decision(Executor.NATIVE, "collect windows", "only a closed tick shows whether its window is empty", state)


def keyed_window(op: Window, held_rows: Formula, slack: EventTimeSlack) -> Decision:
    """Return the Decision to build windows per key in a state machine; `held_rows` bounds the rows of the windows.

    `held_rows` bounds the rows of the windows. The state bound adds the rows of the ticks that may be open at once
    (`slack`).
    """
    assert not isinstance(op.input, StoredTable)  # noqa: S101 - a table has no keys
    scope = "of each key" if op.key else "of the stream"
    why = f"rows {scope} are processed in order, because a window depends on earlier rows"
    return Decision(Executor.MACHINE, "windows by key", why, plus(held_rows, slack.max_rows(op.input, 1)))


def keyed_window_aggregate(op: Window, held_rows: Formula, slack: EventTimeSlack) -> Decision:
    """Return the decision (executor, reason, state bound) to aggregate in the machine that builds the windows.

    `held_rows` bounds the rows of the windows. The state bound adds the rows of the ticks that may be open at once
    (`slack`).
    """
    assert not isinstance(op.input, StoredTable)  # noqa: S101 - a table has no keys
    why = "the machine that builds the windows also aggregates them, so their rows never leave it"
    return Decision(Executor.MACHINE, "aggregates by key", why, plus(held_rows, slack.max_rows(op.input, 1)))


def speed_limit(op: SpeedLimit, slack: EventTimeSlack) -> Decision:
    """Return the decision to reject rows above a speed limit, per key; `slack`: the ticks that may be open at once.

    The state bound includes the ticks that may be open at once (`slack`).
    """
    why = "whether a row is rejected depends on the last accepted row"
    return Decision(Executor.MACHINE, "speed limit", why, plus(bounds.operator_state(op), slack.max_rows(op.input, 1)))


def windows_to_changes(op: Windows, slack: EventTimeSlack) -> Decision:
    """Return the decision to derive insertions and retractions from successive windows, in a stateful machine.

    The state bound includes the ticks that may be open at once (`slack`).
    """
    state = plus(bounds.window_size(op), times(bounds.windows_within(op, 1 + slack.ticks), bounds.window_size(op)))
    return Decision(Executor.MACHINE, "windows as changes", "each window is compared with the one before it", state)


def suppress_unchanged(op: SuppressUnchanged, slack: EventTimeSlack) -> Decision:
    """Return the decision to drop windows that gained no row since the previous window, in a stateful machine.

    The state bound includes the ticks that may be open at once (`slack`).
    """
    state = plus(bounds.window_size(op), times(bounds.windows_within(op, 1 + slack.ticks), bounds.window_size(op)))
    return Decision(
        Executor.MACHINE, "suppress unchanged", "a window is emitted again only if a row was added to it", state
    )


def change_join(how: str, sides: Sequence[Formula], *, keyed: bool, counts_matches: bool) -> Decision:
    """Return the decision for the incremental `how` join; `counts_matches`: a machine counts each left row's matches.

    `sides` bound the rows of the inputs. The join is by key if `keyed`. With `counts_matches`, a second machine counts
    the matches of each left row that satisfy the condition.
    """
    where = "by key" if keyed else "in one task, because there is no join key"
    second_machine = (
        "; a second machine counts the matches of each left row that satisfy the condition" if counts_matches else ""
    )
    why = (
        f"changes of one side are joined with the rows of the other: the {how} is incremental, {where}{second_machine}"
    )
    state = plus(*sides, times(*sides)) if counts_matches else plus(*sides)
    return Decision(Executor.MACHINE, "change join", why, state)


def combine_relations(how: str, state: Formula, bucketed: bool) -> Decision:
    """Return the decision for `how` (a join or set operation); `bucketed`: rows are spread over tasks by hash.

    `state` bounds its rows. If `bucketed`, equal rows share a bucket; otherwise one task processes all rows.
    """
    where = "in buckets of equal rows" if bucketed else "in one task, because there is no join key"
    why = f"a relation changes at unknown ticks: the {how} is built in order, {where}"
    return Decision(Executor.MACHINE, "relations", why, state)


def per_window(op: Windows, slack: EventTimeSlack) -> Decision:
    """Return the decision to process each window on its own in Spark (as DISTINCT does); `slack`: ticks open at once.

    The state bound includes the ticks that may be open at once (`slack`).
    """
    state = times(bounds.windows_within(op, 2 + slack.ticks), bounds.window_size(op))
    return Decision(
        Executor.NATIVE, "within a window", "rows of one window are processed together when its tick is closed", state
    )


def table_to_changes(op: Windows, slack: EventTimeSlack) -> Decision:
    """Return the Decision (executor, reason, state bound) to derive changes from a table's changelog, by Spark.

    There is one window per tick with a change. The state bound includes the ticks that may be open at once (`slack`).
    """
    state = plus(bounds.windows_within(op, 2 + slack.ticks), times(Rows(2), bounds.window_size(op)))
    return Decision(
        Executor.NATIVE, "changes of a table", "a table has one window per tick at which its log has a change", state
    )


def changes_to_stream(op: Windows, slack: EventTimeSlack) -> Decision:
    """Return the Decision (executor, reason, state bound) for ISTREAM or DSTREAM: Spark sums changes per tick.

    The state bound includes the ticks that may be open at once (`slack`).
    """
    state = times(Rows(2), times(bounds.windows_within(op, 2 + slack.ticks), bounds.window_size(op)))
    return Decision(
        Executor.NATIVE, "net changes", "insertions and retractions of equal rows are summed per tick", state
    )
