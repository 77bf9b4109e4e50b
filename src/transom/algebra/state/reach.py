"""How far back rows matter: a run that reads the last `reach` ticks before T answers from T on as one that read all.

The run from T minus the reach may answer differently before T, and those answers are left out. Content of tables does
not count, because a run always sees the whole table.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from transom.algebra.composition.composed_source import ComposedSource
from transom.algebra.expressions.expression import Tag
from transom.algebra.operator import Operator, Stream, Windows
from transom.algebra.periods import EveryPeriod, PeriodRange
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.statements import StoredGraph
from transom.algebra.relations import (
    JoinType,
    RelationExcept,
    RelationJoin,
    RelationUnion,
    SuppressUnchanged,
    TrackAggregation,
    WindowAggregation,
)
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive, Values
from transom.algebra.state.ranges import lookback
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
from transom.algebra.tree import WindowwiseOperator, expressions_of, inputs, narrow, walk
from transom.algebra.windows import (
    AtStart,
    Coordinate,
    CoordinateRange,
    Every,
    OnArrival,
    OnChange,
    OnRowCount,
    RangeIntersection,
    RegionRange,
    UnboundedRange,
    Window,
    range_parts,
)

FORGET_HINT = "declare `forget_after`"


@dataclass(frozen=True)
class HistoryReach:
    """How many ticks before T the rows matter for answers from T on; None if there is no bound.

    Without a bound, `why` says what needs older rows, `operator` is the name of that operator, and `hints` say how to
    get a bound.
    """

    ticks: int | None
    why: str = ""
    operator: str = ""
    hints: tuple[str, ...] = ()


class _NoReachError(Exception):
    """An operator that needs rows of any age."""

    def __init__(self, operator: Operator, why: str, *hints: str) -> None:
        """Create the error that `operator` needs rows of any age, with the reason `why` and hints for users."""
        super().__init__(why)
        self.reach = HistoryReach(None, why, type(operator).__name__, hints)


def reach(plan: Operator, changing_tables: Collection[str] = ()) -> HistoryReach:
    """Return how many ticks before a tick T a run must read to answer correctly from T on, or why none suffice.

    `changing_tables` are the stored extents whose content may differ between two starts of the query.
    """
    try:
        for operator in walk(plan):
            _check_start(operator, changing_tables)
        _check_silent_keys(plan)
        return HistoryReach(_reach_of_answers(plan))
    except _NoReachError as gap:
        return gap.reach


def gives_changes(plan: Operator) -> bool:
    """Whether a plan answers with a relation's changes, as ISTREAM and DSTREAM do, rather than with its rows."""
    match plan:
        case IStream() | DStream():
            return True
        case StreamSelect(input=input) | StreamProject(input=input) | Renumber(input=input) | SpeedLimit(input=input):
            return gives_changes(input)
        case StreamUnion(parts=parts):
            return any(map(gives_changes, parts))
        case _:
            return False


def _check_start(op: Operator, changing_tables: Collection[str]) -> None:
    """Raise _NoReachError if an operator's output depends on when the query started, as row numbers do.

    Row numbers do, and a table that is scanned once.
    """
    tags = op.tags if isinstance(op, Window) else ()
    if any(tag.name == "index" for tag in tags) or any(part == Tag("index") for part in expressions_of(op)):
        raise _NoReachError(op, "the index of a row counts all rows since the query started")
    match op:
        case ComposedSource():
            raise _NoReachError(op, f"{op.extent} is the answer of another query")
        case SpeedLimit():
            raise _NoReachError(op, "a speed limit compares each row with the last accepted row of its object")
        case Window(input=StoredTable(extent=extent), slide=AtStart()) if extent in changing_tables:
            raise _NoReachError(
                op, f"{extent} is scanned once, when the query starts", "scan the table every few minutes"
            )
        case _:
            pass


def _check_silent_keys(plan: Operator) -> None:
    """Raise _NoReachError if the empty windows of keys without recent rows may be visible in the answer.

    A key has a window at every boundary from its first row on, even if the key is silent and its windows are empty.
    Such windows add no rows to RSTREAM, ISTREAM and DSTREAM, except through an aggregate without groups, or where
    they make another relation repeat its rows.
    """
    windows = [op for op in walk(plan) if isinstance(op, Window)]
    keyed = [op for op in windows if op.key and op.forget_after is None and isinstance(op.slide, Every | EveryPeriod)]
    if not keyed:
        return
    why = "a key that has become silent still has windows, which are empty"
    counted = any(isinstance(op, WindowAggregation | TrackAggregation) and not op.groups for op in walk(plan))
    if counted or not isinstance(plan, Stream):
        raise _NoReachError(keyed[0], why, FORGET_HINT)
    if len(windows) > 1 and any(isinstance(op, RStream) for op in walk(plan)):
        slides = {op.slide for op in windows if not isinstance(op.input, StoredTable)}
        has_table = any(isinstance(op.input, StoredTable) for op in windows)
        if len(slides) > 1 or (has_table and not all(_needs_both_sides(op) for op in walk(plan))):
            raise _NoReachError(keyed[0], why, FORGET_HINT)


def _needs_both_sides(op: Operator) -> bool:
    """Whether an operator returns no rows whenever either of its inputs is empty, as an inner join does."""
    if isinstance(op, RelationJoin):
        return op.join_type in (JoinType.INNER, JoinType.SEMI)
    return not isinstance(op, RelationUnion | RelationExcept)


def _reach_of_answers(plan: Operator) -> int:
    """Return the most ticks by which a source row can precede an answer of the plan that it affects."""
    match plan:
        case Stream():
            return _reach_of_rows(plan)
        case Construct(input=input) | Ask(input=input):
            return _reach_of_relation(input)
        case Describe(input=input, statements=statements):
            return max(_reach_of_relation(input), _reach_of_relation(statements))
        case Windows():
            return _reach_of_windows(plan)
        case _:
            return 0


def _reach_of_rows(op: Stream) -> int:
    """Return the most ticks by which a source row can precede a row of the stream `op` that depends on it."""
    match op := narrow(op):
        case StreamAcquire() | StreamReceive():
            return 0
        case StreamSelect(input=input) | StreamProject(input=input) | Renumber(input=input) | SpeedLimit(input=input):
            return _reach_of_rows(input)
        case StreamUnion(parts=parts):
            return max(map(_reach_of_rows, parts))
        case RStream(input=input):
            return _reach_of_windows(input)
        case IStream(input=input) | DStream(input=input):
            return max(_reach_of_windows(input), _reach_of_relation(input) + 1)


def _reach_of_windows(op: Windows) -> int:
    """Return the most ticks by which a source row can be older than a window of `op` that depends on the row."""
    match op := narrow(op):
        case Window(input=StoredTable()):
            return 1  # the first tick of a run has a window that a longer run need not have
        case Window():
            return _reach_of_input(op) + _range_reach(op)
        case SuppressUnchanged(input=input):
            return max(_reach_of_windows(input), _reach_of_relation(input) + 1)
        case op if isinstance(op, WindowwiseOperator):
            return max(map(_reach_of_part, inputs(op)), default=0)
        case _:
            return max(1, _reach_of_relation(op))


def _reach_of_part(op: Operator) -> int:
    """Return the most ticks by which source rows of `op` precede a window they affect; 0 if `op` has no windows."""
    return _reach_of_windows(op) if isinstance(op, Windows) else 0


def _reach_of_relation(op: Windows) -> int:
    """Return the most ticks by which a source row can precede a tick at which it affects the relation's content."""
    match op := narrow(op):
        case Values() | StoredGraph():
            return 1
        case Window(slide=Every(coordinate=Coordinate.TICK, step=step), input=StoredTable()):
            return step
        case Window(input=StoredTable()):
            return 1
        case Window():
            return _reach_of_input(op) + _range_reach(op) + _window_age(op)
        case SuppressUnchanged():
            raise _NoReachError(op, "the last window to which a row was added may be of any age")
        case _:
            return max((_reach_of_relation(part) for part in inputs(op) if isinstance(part, Windows)), default=0)


def _reach_of_input(op: Window) -> int:
    """Return the most ticks by which a source row can precede a row of the window's input it affects; 0: a table."""
    return _reach_of_rows(op.input) if isinstance(op.input, Stream) else 0


def _window_age(op: Window) -> int:
    """Return the largest age, in ticks, of a key's latest window; raise _NoReachError if there is no limit."""
    match op.slide:
        case Every(step=step):
            return step - 1 if op.forget_after is None else max(step - 1, op.forget_after + 1)
        case EveryPeriod(longest=longest):
            return longest - 1 if op.forget_after is None else max(longest - 1, op.forget_after + 1)
        case OnChange():
            return 0 if op.forget_after is None else op.forget_after + 1
        case _ if op.key and op.forget_after is not None:
            return op.forget_after + 1
        case _:
            raise _NoReachError(op, "the last window stays current until a row arrives", *_forget_hints(op))


def _range_reach(op: Window) -> int:
    """Return for how many ticks a row can affect whether later windows are created and what they contain."""
    match op.slide:
        case Every(coordinate=Coordinate.INDEX) | OnRowCount():
            raise _NoReachError(op, "windows are created by counting all rows since the query started")
        case Every(coordinate=Coordinate.DISTANCE):
            raise _NoReachError(op, "a distance is measured from the first row of an object")
        case AtStart():
            return 0
        case _:
            pass
    silence = 0 if op.forget_after is None else op.forget_after + 1
    change = 1 if isinstance(op.slide, OnChange) else 0
    return max(min(_part_reaches(op)) + change, silence)


def _part_reaches(op: Window) -> list[int]:
    """List how many ticks back the time-bounded parts of a window's range reach; raise _NoReachError if none."""
    bounds: list[int] = []
    gap: _NoReachError | None = None
    for part in range_parts(op.range):
        match part:
            case CoordinateRange(coordinate=Coordinate.TICK, low=low):
                bounds.append(max(0, lookback(op, low)))
            case PeriodRange(reach=ticks):
                bounds.append(ticks)
            case CoordinateRange(coordinate=Coordinate.INDEX, low=low):
                if op.key and op.forget_after is not None and isinstance(op.slide, OnArrival) and low.step == 1:
                    bounds.append(max(0, -low.offset) * (op.forget_after + 1))
                else:
                    gap = _NoReachError(op, "the last rows may be of any age", *_forget_hints(op))
            case CoordinateRange(coordinate=Coordinate.DISTANCE):
                gap = _NoReachError(op, "rows within a distance may be of any age")
            case RegionRange(region=region):
                gap = gap or _NoReachError(op, f"rows stay in the window of {region.name}", "add a range of time")
            case UnboundedRange():
                gap = _NoReachError(op, "every row stays in the window")
            case RangeIntersection():
                pass
    if bounds:
        return bounds
    raise gap or _NoReachError(op, "its range has no bound in time")


def _forget_hints(op: Window) -> tuple[str, ...]:
    """Return the hint to declare `forget_after`, which drops silent keys, for a window with keys; else no hint."""
    return (FORGET_HINT,) if op.key else ()
