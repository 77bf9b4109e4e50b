"""The planner's rules: each picks a path and says why, and how many rows are remembered on it.

`slack` is the event time, in ticks, that Spark may hold before it is closed: the lateness of the sources, and what
one micro-batch spans. Every bound includes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from transom.algebra import bounds
from transom.algebra.operator import Stream, Windows
from transom.algebra.relations import WindowAggregation, WindowGrown
from transom.algebra.sources import StoredTable
from transom.algebra.state import NOTHING, Formula, plus, times
from transom.algebra.state import Number as Rows
from transom.algebra.streams import WithoutJumps
from transom.algebra.windows import Window
from transom.physical.plan import Choice, Form, Meeting, Path
from transom.physical.schedule import Schedule

STATELESS = Choice(Path.NATIVE, "stateless", "each row by itself", NOTHING)
BUCKETS = 4
FEW_KEYS = 30
"""Where a row is in one window, Spark's own grouping beats the kernel below so many keys: it adds rows up before they
are shuffled. Where it is in several the kernel is faster with any number of keys (benchmarks.grid)."""


@dataclass(frozen=True, slots=True)
class Span:
    """How much event time may be open at once."""

    slack: int

    def rows(self, op: Stream, span: int) -> Formula:
        """The most rows of a stream in a span and in what is not closed."""
        return bounds.arrivals(op, span + self.slack)


def read(extent: str) -> Choice:
    """Rows of a source pass."""
    return Choice(Path.NATIVE, "read", f"rows of {extent} with their tick as event time", NOTHING)


def table(extent: str) -> Choice:
    """Versions of a table are joined as they are."""
    return Choice(
        Path.NATIVE, "table as stays", f"the versions of {extent} are known: a static join needs no state", NOTHING
    )


def scans(extent: str) -> Choice:
    """What a log tells of a table."""
    why = f"the log of {extent} goes on: a row of it appears or leaves at the first scan that sees it"
    return Choice(Path.NATIVE, "scans", why, NOTHING)


def clock(why: str) -> Choice:
    """The clock is a source, one row per tick."""
    return Choice(Path.MACHINE, "clock", why, NOTHING)


def number(op: Stream, span: Span, why: str) -> Choice:
    """Positions need all rows in one order."""
    return Choice(Path.MACHINE, "number", why, span.rows(op, 1))


def stay() -> Choice:
    """A time window's ends follow from a row's tick."""
    return Choice(
        Path.NATIVE, "time window", "first and last window follow from a row's tick: one row per tuple", NOTHING
    )


def cut(op: Stream, held: Formula, span: Span) -> Choice:
    """Rows are counted in order."""
    state = plus(held, span.rows(op, 1))
    return Choice(Path.MACHINE, "row window", "the tick that closes a row window is known only in order", state)


def spread(form: Form) -> Choice:
    """One row per window."""
    if form is Form.TABLE:
        return Choice(Path.NATIVE, "table by the clock", "the content at every scan tick", NOTHING)
    return Choice(Path.NATIVE, "spread", "an answer holds every row of every window", NOTHING)


def group(op: WindowAggregation, form: Form, copies: int, schedule: Schedule | None, span: Span) -> tuple[bool, Choice]:
    """Panes where a tuple is in several windows (E10); one level where it is in one."""
    size = bounds.size(op) if schedule else times(bounds.windows_per_tick(op.input), bounds.size(op))
    if form is not Form.STAYS or copies <= 1:
        ticks = 1 + (schedule.within(span.slack) if schedule else span.slack)
        why = "a tuple is in one window" if form is Form.STAYS else "rows carry their window"
        return False, Choice(Path.NATIVE, "group by window", why, times(Rows(ticks + 1), size))
    assert schedule is not None  # noqa: S101 - stays always have one
    panes = _panes(op, schedule, span)
    ahead = times(Rows(copies + schedule.within(span.slack) + 1), size)
    why = f"a tuple is in {copies} windows: group into panes first, then add up panes"
    return True, Choice(Path.NATIVE, "panes", why, plus(panes, ahead))


def slide(copies: int, state: Formula) -> Choice:
    """One value per group, which the kernel moves along."""
    why = (
        f"a group is one value in the state: rows are added to it once, and leave it again after {copies} windows"
        if copies > 1
        else "a group is one value in the state, not one per window"
    )
    return Choice(Path.KERNEL, "slide by group", why, state)


def in_kernel(choice: Choice) -> Choice:
    """The same machine, in the JVM."""
    return replace(choice, path=Path.KERNEL) if choice.path is Path.MACHINE else choice


def _panes(op: WindowAggregation, schedule: Schedule, span: Span) -> Formula:
    """Groups in open panes: no more than rows, and without keys two per slide."""
    per_slide = Rows(2 * (schedule.within(span.slack) + 2))
    return per_slide if not op.groups else times(per_slide, bounds.size(op))


def meet(state: Formula, static: bool, cell: int, by_ranges: bool) -> tuple[Meeting, Choice]:
    """Overlapping stays, natively: by ranges of event time if nothing after it waits and keys are equal, else by spans.

    Spark refuses a join of two streams without an equality. A shared span is one, a range of event time is not.
    """
    if static:
        return Meeting.STATIC, Choice(Path.NATIVE, "static join", "one side is known beforehand: no state", NOTHING)
    if by_ranges:
        why = "nothing after it keeps state, so nothing waits for the join to be sure: each row is kept once"
        return Meeting.RANGES, Choice(Path.NATIVE, "join by ranges of time", why, state)
    why = (
        f"stays overlap only in a shared span of {cell} ticks: an equality, so at most two copies of a row and no delay"
    )
    return Meeting.SPANS, Choice(Path.NATIVE, "join by spans of time", why, state)


def scanned(state: Formula, equal: bool) -> Choice:
    """Stays that meet a table as it is scanned."""
    how = "by key" if equal else "in buckets of the table"
    why = f"nobody knows when a row leaves the table: stays are cut at its scans, and each piece meets one scan, {how}"
    return Choice(Path.MACHINE, "join with scans", why, state)


def whole(state: Formula) -> Choice:
    """A table as it is scanned, by itself."""
    why = "nobody knows when a row leaves the table: it is kept in buckets, and all of it is told at every scan"
    return Choice(Path.MACHINE, "join with scans", why, state)


def pairs(state: Formula) -> Choice:
    """Overlapping stays of one key, in order."""
    why = "rows of one key meet in order as their ticks close: each is kept once, for as long as it stays"
    return Choice(Path.KERNEL, "join by key", why, state)


def product(state: Formula, equal: bool) -> Choice:
    """Windows of which a tick may hold several, or that end when nobody knows."""
    how = "in buckets of equal keys" if equal else "in one place, as nothing says which rows belong together"
    why = f"a row window ends at an unknown tick and a tick may hold several: pairs are built in order, {how}"
    return Choice(Path.MACHINE, "product of windows", why, state)


def changes(op: Windows, schedule: Schedule, span: Span, longest: int) -> Choice:
    """Comings and goings add up per tick."""
    ticks = schedule.within(longest + span.slack) + 2
    state = times(Rows(2 * ticks), bounds.size(op)) if longest else times(Rows(2 * (ticks + 1)), bounds.size(op))
    return Choice(Path.NATIVE, "changes", "at most one window per tick: comings and goings add up per tick", state)


def compare(op: Windows, ordered: bool, several: bool, span: Span) -> Choice:
    """Window by window."""
    reasons = []
    if several:
        reasons.append("a tick may hold several windows, compared in their order")
    if ordered:
        reasons.append("the order of the changes is asked for")
    state = plus(bounds.size(op), times(bounds.windows_within(op, 1 + span.slack), bounds.size(op)))
    return Choice(Path.MACHINE, "compare windows", " and ".join(reasons), state)


def collect(op: Windows, span: Span) -> Choice:
    """All rows of a window, to know whether it is empty."""
    state = times(bounds.windows_within(op, 2 + span.slack), bounds.size(op))
    return Choice(Path.NATIVE, "collect windows", "an empty window is told from none when its tick is closed", state)


def lines(op: Window, held: Formula, span: Span) -> Choice:
    """The windows of each key, in order."""
    assert not isinstance(op.input, StoredTable)  # noqa: S101 - a table has no keys
    whose = "of each key" if op.key else "of the stream"
    why = f"rows {whose} are taken in order: what a window holds depends on what came before"
    return Choice(Path.MACHINE, "windows by key", why, plus(held, span.rows(op.input, 1)))


def tally(op: Window, held: Formula, span: Span) -> Choice:
    """Aggregates of the windows of each key."""
    assert not isinstance(op.input, StoredTable)  # noqa: S101 - a table has no keys
    why = "the machine that makes the windows adds up what comes in and takes off what goes: their rows stay inside"
    return Choice(Path.MACHINE, "aggregates by key", why, plus(held, span.rows(op.input, 1)))


def steady(op: WithoutJumps, span: Span) -> Choice:
    """The way of each key, in order."""
    why = "whether a row is too far away depends on the last one that was kept"
    return Choice(Path.MACHINE, "without jumps", why, plus(bounds.remembered(op), span.rows(op.input, 1)))


def turn(op: Windows, span: Span) -> Choice:
    """Windows compared with those before them."""
    state = plus(bounds.size(op), times(bounds.windows_within(op, 1 + span.slack), bounds.size(op)))
    return Choice(Path.MACHINE, "windows as changes", "a relation is known by what comes and what goes", state)


def grown(op: WindowGrown, span: Span) -> Choice:
    """Windows compared with those before them."""
    state = plus(bounds.size(op), times(bounds.windows_within(op, 1 + span.slack), bounds.size(op)))
    return Choice(Path.MACHINE, "grown windows", "a window is told again only when a row was added to it", state)


def change_join(how: str, sides: Sequence[Formula], *, keyed: bool, checks: bool) -> Choice:
    """A join of changes: a machine for each key; with `checks` a second one counts the pairs that match a left row."""
    where = "by key" if keyed else "in one task, as no key says which rows belong together"
    again = "; a second machine counts the pairs of each left row that fulfil the condition" if checks else ""
    why = f"changes of one side meet the rows of the other: the {how} is incremental, {where}{again}"
    state = plus(*sides, times(*sides)) if checks else plus(*sides)
    return Choice(Path.MACHINE, "change join", why, state)


def relate(how: str, state: Formula, spread: bool) -> Choice:
    """Relations that are kept, each as it stands."""
    where = "in buckets of equal rows" if spread else "in one place, as nothing says which rows belong together"
    why = f"a relation stands until it changes, and nobody knows when: the {how} is built in order, {where}"
    return Choice(Path.MACHINE, "relations", why, state)


def each_window(op: Windows, span: Span) -> Choice:
    """All rows of a window."""
    state = times(bounds.windows_within(op, 2 + span.slack), bounds.size(op))
    return Choice(
        Path.NATIVE, "within a window", "rows of one window are taken together when its tick is closed", state
    )


def words(op: Windows, span: Span) -> Choice:
    """The ticks at which a table changed, each once."""
    state = plus(bounds.windows_within(op, 2 + span.slack), times(Rows(2), bounds.size(op)))
    return Choice(Path.NATIVE, "changes of a table", "a table has a window wherever its log tells of a change", state)


def net(op: Windows, span: Span) -> Choice:
    """Changes of equal rows."""
    state = times(Rows(2), times(bounds.windows_within(op, 2 + span.slack), bounds.size(op)))
    return Choice(Path.NATIVE, "net changes", "comings and goings of equal rows add up per tick", state)
