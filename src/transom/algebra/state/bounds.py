"""State bounds: how many rows each operator keeps and emits at most, derived from the plan alone (E8)."""

from __future__ import annotations

from typing import assert_never

from transom.algebra.operator import Operator, Stream, Windows
from transom.algebra.periods import EveryPeriod, PeriodRange
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.patterns import (
    BasicGraphPattern,
    PathPattern,
    TriplePattern,
    max_path_matches,
    max_pattern_solutions,
)
from transom.algebra.rdf.statements import StoredGraph, element_count
from transom.algebra.relations import (
    JoinType,
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
from transom.algebra.sequences import OrderBy, Slice
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive, Values
from transom.algebra.state.formula import (
    ONE,
    ZERO,
    Arrivals,
    DeclaredBound,
    Formula,
    Hint,
    HintedBound,
    RowCount,
    TableRows,
    Unbounded,
    ceil_divide,
    minimum,
    plus,
    times,
)
from transom.algebra.state.ranges import range_lookback, range_span, range_width
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
from transom.algebra.tree import UnaryWindowOperator, exists_patterns, is_keyed, narrow, walk
from transom.algebra.windows import (
    AtStart,
    Coordinate,
    CoordinateRange,
    Every,
    OnArrival,
    OnRowCount,
    Range,
    RangeIntersection,
    RegionRange,
    TableContent,
    UnboundedRange,
    Window,
)

NO_END = "a range in space holds rows for as long as an object stays in it"
NEVER_LEAVES = "a row that entered a region stays in its window"
GROWS = "every row stays in the window"
MANY_KEYS = "every key has windows of its own"
SPACE_HINTS = ("declare `max_rows_per_key` and `keys`", "declare `max_dwell`")
REGION_HINTS = ("declare `max_rows_per_key` and `keys`", "give the window a range of time too")
KEY_HINTS = ("declare `keys`", "declare `forget_after`")


def arrivals(op: Stream, span: int) -> Formula:
    """Return a bound on the rows that a stream delivers in any `span` consecutive ticks."""
    match op := narrow(op):
        case StreamAcquire(extent=extent) | StreamReceive(extent=extent):
            return Arrivals(extent, span) if span > 0 else ZERO
        case StreamSelect(input=input) | StreamProject(input=input) | Renumber(input=input):
            return arrivals(input, span)
        case SpeedLimit(input=input):
            return arrivals(input, span)
        case StreamUnion(parts=parts):
            return plus(*(arrivals(part, span) for part in parts))
        case RStream(input=input) | IStream(input=input) | DStream(input=input):
            return times(windows_within(input, span), window_size(input))
        case _:
            assert_never(op)


def window_size(op: Windows) -> Formula:
    """Return a bound on the rows in one window of one key, as a formula over declared rates and table sizes."""
    match op := narrow(op):
        case Window(input=StoredTable(extent=extent)):
            return TableRows(extent)
        case Window():
            return _rows_in_range(op, op.range, range_width(op), ONE)
        case WindowSelect(input=input) | WindowProject(input=input) | TriplePattern(input=input):
            return window_size(input)
        case (
            WindowDistinct(input=input)
            | WindowTopK(input=input)
            | SuppressUnchanged(input=input)
            | OrderBy(input=input)
        ):
            return window_size(input)
        case WindowAggregation(input=input, groups=groups) | TrackAggregation(input=input, groups=groups):
            return window_size(input) if groups else ONE
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return times(window_size(left), window_size(right))
        case WindowMerge(input=input):
            return relation_size(input)
        case RelationJoin(left=left, right=right, join_type=JoinType.INNER):
            return times(relation_size(left), relation_size(right))
        case RelationJoin(left=left, right=right, join_type=JoinType.LEFT):
            return times(relation_size(left), plus(relation_size(right), ONE))
        case RelationJoin(left=left) | RelationExcept(left=left):
            return relation_size(left)
        case RelationUnion(left=left, right=right):
            return plus(relation_size(left), relation_size(right))
        case RelationIntersect(left=left, right=right):
            return minimum(relation_size(left), relation_size(right))
        case Values(rows=rows):
            return RowCount(len(rows))
        case Slice(input=input, limit=limit):
            return window_size(input) if limit is None else minimum(RowCount(limit), window_size(input))
        case StoredGraph(extents=extents):
            return plus(*map(TableRows, extents))
        case PathPattern(input=input, path=path):
            return max_path_matches(path, window_size(input))
        case BasicGraphPattern(parts=parts):
            return max_pattern_solutions(parts, window_size)
        case _:
            assert_never(op)


def relation_size(op: Windows) -> Formula:
    """Return a bound on the rows in the latest windows of all keys together."""
    match op:
        case Window(key=key) if key:
            return _rows_in_range(op, op.range, range_width(op), key_count(op))
        case WindowSelect(input=child) | WindowProject(input=child) | SuppressUnchanged(input=child):
            return relation_size(child)
        case WindowDistinct(input=child) | WindowTopK(input=child):
            return relation_size(child)
        case WindowAggregation(input=child, groups=groups) | TrackAggregation(input=child, groups=groups):
            return relation_size(child) if groups else key_count(child)
        case _:
            return window_size(op)


def key_count(op: Windows) -> Formula:
    """Return a bound on the keys that have a window at the same time; 1 for windows without a key."""
    if not is_keyed(op):
        return ONE
    windows = [node for node in walk(op) if isinstance(node, Window) and node.key]
    return times(*(_window_keys(window) for window in windows))


def windows_per_tick(op: Windows) -> Formula:
    """Return a bound on the windows that are created at one tick, for all keys together."""
    match op := narrow(op):
        case Window(slide=Every(coordinate=Coordinate.INDEX, step=step), input=input) if not isinstance(
            input, StoredTable
        ):
            return ceil_divide(arrivals(input, 1), step)
        case Window():
            return key_count(op)
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return times(windows_per_tick(left), windows_per_tick(right))
        case _:
            return windows_per_tick(op.input) if isinstance(op, UnaryWindowOperator) else ONE


def window_ticks(op: Windows, span: int) -> Formula:
    """Return a bound on the number of ticks, among any `span` consecutive ones, at which windows are created."""
    match op := narrow(op):
        case Window(slide=AtStart()) | Values() | StoredGraph():
            return ONE
        case Window(slide=Every(coordinate=Coordinate.TICK, step=step)):
            return RowCount(-(-span // step))
        case Window(slide=EveryPeriod() as periods):
            return RowCount(-(-span // periods.shortest))
        case (
            Window(slide=Every(coordinate=Coordinate.INDEX, step=step), input=input)
            | Window(slide=OnRowCount(step=step), input=input)
        ) if not isinstance(input, StoredTable):
            return minimum(RowCount(span), ceil_divide(arrivals(input, span), 1 if op.key else step))
        case Window(slide=OnArrival(), input=input) if not isinstance(input, StoredTable):
            return minimum(RowCount(span), arrivals(input, span))
        case Window():
            return RowCount(span)
        case WindowMerge(input=child):
            return window_ticks(child, span)
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return _either_ticks(left, right, span)
        case BasicGraphPattern(parts=parts):
            return minimum(RowCount(span), plus(ONE, *(window_ticks(part, span) for part in parts)))
        case _:
            if isinstance(op, UnaryWindowOperator):
                return window_ticks(op.input, span)
            return _either_ticks(op.left, op.right, span)


def _either_ticks(left: Windows, right: Windows, span: int) -> Formula:
    """Return a bound on the ticks, among `span` consecutive ones, at which at least one input creates a window.

    Ticks that both inputs surely have in common count once.
    """
    first, second = window_ticks(left, span), window_ticks(right, span)
    shared = _slide_step(left), _slide_step(right)
    if None not in shared and (shared[0] % shared[1] == 0 or shared[1] % shared[0] == 0):  # type: ignore[operator]
        return RowCount(max(first.value, second.value))  # type: ignore[union-attr]
    return minimum(RowCount(span), plus(first, second))


def _slide_step(op: Windows) -> int | None:
    """Return the step if windows are created at the ticks 0, step, 2 * step and so on; None for other windows."""
    match op:
        case WindowSelect(input=child) | WindowProject(input=child) | WindowAggregation(input=child):
            return _slide_step(child)
        case Window(slide=Every(coordinate=Coordinate.TICK, step=step, first=0)):
            return step
        case _:
            return None


def windows_within(op: Windows, span: int) -> Formula:
    """Return a bound on the windows of all keys together that are created in any `span` consecutive ticks."""
    match op:
        case WindowSelect(input=child) | WindowProject(input=child) | WindowAggregation(input=child):
            return windows_within(child, span)
        case TrackAggregation(input=child) | WindowDistinct(input=child) | WindowTopK(input=child):
            return windows_within(child, span)
        case Window(slide=Every(coordinate=Coordinate.INDEX, step=step), input=input) if not isinstance(
            input, StoredTable
        ):
            return ceil_divide(arrivals(input, span), step)
        case _:
            return times(window_ticks(op, span), windows_per_tick(op))


def operator_state(op: Operator) -> Formula:
    """Return a bound on the rows that this operator keeps in state, without its inputs.

    A window keeps its rows. A window of statements keeps at most the elements that it counts: the tick of a statement
    determines when it expires, and an operator that needs a solution later keeps it. EXISTS keeps the valid solutions
    of its pattern.
    """
    exists_rows = plus(*map(window_size, exists_patterns(op)))
    match op := narrow(op):
        case StreamAcquire() | StreamReceive() | StoredTable():
            return ZERO
        case StreamSelect() | StreamProject() | StreamUnion() | Renumber() | RStream():
            return ZERO
        case SpeedLimit(input=input, key=key):
            return _max_keys(input) if key else ONE
        case WindowSelect() | WindowProject() | TrackAggregation() | WindowTopK():
            return exists_rows
        case WindowAggregation(input=input) | WindowDistinct(input=input):
            return plus(window_size(input), exists_rows) if holds_terms(op) else ZERO
        case PathPattern(input=input) | OrderBy(input=input) | Slice(input=input):
            return plus(window_size(input), exists_rows)
        case Values() | StoredGraph() | TriplePattern() | Construct() | Window(input=StoredTable()):
            return ZERO
        case Window() if holds_terms(op):
            return RowCount(element_count(op) or 0)
        case Window():
            positions = key_count(op) if op.by_distance else ZERO
            return (
                plus(_rows_in_range(op, op.range, range_lookback(op) + 1, key_count(op)), positions)
                if range_width(op)
                else ZERO
            )
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return plus(
                times(windows_per_tick(left), window_size(left)), times(windows_per_tick(right), window_size(right))
            )
        case RelationJoin():
            return plus(relation_size(op.left), relation_size(op.right), exists_rows)
        case RelationUnion() if holds_terms(op):
            return ZERO
        case RelationUnion() | RelationExcept() | RelationIntersect():
            return plus(relation_size(op.left), relation_size(op.right))
        case BasicGraphPattern(parts=parts):
            return plus(*map(window_size, parts)) if len(parts) > 1 else ZERO
        case IStream(input=input) | DStream(input=input):
            return relation_size(input)
        case SuppressUnchanged(input=input) | WindowMerge(input=input):
            return relation_size(input)
        case Describe(input=input, statements=statements):
            return plus(window_size(input), window_size(statements))
        case Ask():
            return ONE
        case _:
            assert_never(op)


def plan_state(op: Operator) -> Formula:
    """Return a bound on the rows that all operators of a plan together keep in state."""
    return plus(*(operator_state(node) for node in walk(op)))


def at_most_one_window_per_tick(op: Windows) -> bool:
    """Whether each tick has at most one window; False for keyed windows and for windows created every n rows."""
    return windows_per_tick(op) == ONE


def _rows_in_range(op: Window, window_range: Range, span: int, keys: Formula) -> Formula:
    """Bound the rows of `keys` keys in a window whose range covers `span` ticks or row numbers (by its coordinate).

    It covers `span` values of the coordinate and `keys` keys.
    """
    assert not isinstance(op.input, StoredTable)  # noqa: S101 - callers take tables first
    match window_range:
        case CoordinateRange(coordinate=Coordinate.TICK) | PeriodRange():
            return arrivals(op.input, span)
        case CoordinateRange(coordinate=Coordinate.INDEX):
            return times(keys, RowCount(span))
        case CoordinateRange():
            return _hinted_bound(op, keys, Unbounded(NO_END, SPACE_HINTS), Hint.DWELL)
        case RegionRange():
            key_bound = keys if op.key else _max_keys(op.input)
            return _hinted_bound(op, key_bound, Unbounded(NEVER_LEAVES, REGION_HINTS))
        case UnboundedRange() | TableContent():
            return Unbounded(GROWS, ("give the window a range",))
        case RangeIntersection(parts=parts):
            part_bounds = [_rows_in_range(op, part, range_span(op, part), keys) for part in parts]
            unhinted = [part for part in part_bounds if not isinstance(part, HintedBound)]
            return minimum(*(unhinted or part_bounds))
        case _:
            assert_never(window_range)


def _hinted_bound(op: Window, keys: Formula, gap: Unbounded, *row_hints: Hint) -> Formula:
    """Return a bound on a window's rows from catalog hints; `gap` says why there is no bound without the hints.

    Candidates are the hints `row_hints`, and the number of keys times the rows per key.
    """
    extent = single_extent(op.input)
    if extent is None:
        return gap
    rows = times(keys, DeclaredBound(extent, Hint.ROWS_PER_KEY))
    return HintedBound(minimum(rows, *(DeclaredBound(extent, span) for span in row_hints)), gap)


def _window_keys(op: Window) -> Formula:
    """Return a bound on the keys of a window, from catalog hints; a window over a table has no keys."""
    assert not isinstance(op.input, StoredTable)  # noqa: S101 - tables have no keys
    return _max_keys(op.input)


def _max_keys(stream: Stream) -> Formula:
    """Return a bound on the keys that a stream has at the same time, from the catalog hints for its source.

    There is none (Unbounded) if the rows come from several sources.
    """
    extent = single_extent(stream)
    gap = Unbounded(MANY_KEYS, KEY_HINTS)
    return (
        gap
        if extent is None
        else HintedBound(minimum(DeclaredBound(extent, Hint.KEYS), DeclaredBound(extent, Hint.FORGET)), gap)
    )


def single_extent(stream: Operator) -> str | None:
    """Return the name of the only source that a stream's rows come from; None if they are merged or converted."""
    match stream:
        case StreamAcquire(extent=extent) | StreamReceive(extent=extent):
            return extent
        case StreamSelect(input=child) | StreamProject(input=child):
            return single_extent(child)
        case Renumber(input=child) | SpeedLimit(input=child):
            return single_extent(child)
        case _:
            return None
