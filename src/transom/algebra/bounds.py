"""How many rows each operator must remember, and how fast it can produce: computed from the plan alone (E8)."""

from __future__ import annotations

import math
from typing import assert_never

from transom.algebra.operator import Operator, Stream, Windows
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern, ways
from transom.algebra.rdf.statements import StoredGraph, element_count
from transom.algebra.relations import (
    JoinType,
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
from transom.algebra.sequences import OrderBy, Slice
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive, Values
from transom.algebra.state import (
    NOTHING,
    ONE,
    Arrivals,
    Formula,
    Hint,
    Hinted,
    Number,
    TableRows,
    Told,
    Unbounded,
    least,
    plus,
    share,
    times,
)
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
from transom.algebra.tree import EachWindow, closed, keyed, patterns_of, walk
from transom.algebra.windows import (
    Arrival,
    Between,
    Bound,
    Content,
    Coordinate,
    Every,
    Everything,
    Inside,
    Once,
    Passing,
    Range,
    Together,
    Window,
)

NO_END = "a range in space holds rows for as long as an object stays in it"
NEVER_LEAVES = "what came into a region stays in its window"
GROWS = "everything that came stays in the window"
MANY_KEYS = "every key has windows of its own"
SPACE_HINTS = ("declare `max_rows_per_key` and `keys`", "declare `max_dwell`")
REGION_HINTS = ("declare `max_rows_per_key` and `keys`", "give the window a range of time too")
KEY_HINTS = ("declare `keys`", "declare `forget_after`")


def arrivals(op: Stream, span: int) -> Formula:
    """The most rows that a stream delivers in any span of ticks."""
    match op := closed(op):
        case StreamAcquire(extent=extent) | StreamReceive(extent=extent):
            return Arrivals(extent, span) if span > 0 else NOTHING
        case StreamSelect(input=input) | StreamProject(input=input) | Renumber(input=input):
            return arrivals(input, span)
        case WithoutJumps(input=input):
            return arrivals(input, span)
        case StreamUnion(parts=parts):
            return plus(*(arrivals(part, span) for part in parts))
        case RStream(input=input) | IStream(input=input) | DStream(input=input):
            return times(windows_within(input, span), size(input))
        case _:
            assert_never(op)


def size(op: Windows) -> Formula:
    """The most rows in one window, of one key."""
    match op := closed(op):
        case Window(input=StoredTable(extent=extent)):
            return TableRows(extent)
        case Window():
            return _held(op, op.range, _width(op), ONE)
        case WindowSelect(input=input) | WindowProject(input=input) | TriplePattern(input=input):
            return size(input)
        case WindowDistinct(input=input) | WindowFirst(input=input) | WindowGrown(input=input) | OrderBy(input=input):
            return size(input)
        case WindowAggregation(input=input, groups=groups) | TrackAggregation(input=input, groups=groups):
            return size(input) if groups else ONE
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return times(size(left), size(right))
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
            return least(relation_size(left), relation_size(right))
        case Values(rows=rows):
            return Number(len(rows))
        case Slice(input=input, limit=limit):
            return size(input) if limit is None else least(Number(limit), size(input))
        case StoredGraph(extents=extents):
            return plus(*map(TableRows, extents))
        case PathPattern(input=input, path=path):
            return ways(path, size(input))
        case BasicGraphPattern(parts=parts):
            return times(ONE, *map(size, parts))
        case _:
            assert_never(op)


def relation_size(op: Windows) -> Formula:
    """The most rows in the last windows of all keys together."""
    match op:
        case Window(key=key) if key:
            return _held(op, op.range, _width(op), keys(op))
        case WindowSelect(input=below) | WindowProject(input=below) | WindowGrown(input=below):
            return relation_size(below)
        case WindowDistinct(input=below) | WindowFirst(input=below):
            return relation_size(below)
        case WindowAggregation(input=below, groups=groups) | TrackAggregation(input=below, groups=groups):
            return relation_size(below) if groups else keys(below)
        case _:
            return size(op)


def keys(op: Windows) -> Formula:
    """The most keys that have windows; 1 where windows have none."""
    if not keyed(op):
        return ONE
    found = [part for part in walk(op) if isinstance(part, Window) and part.key]
    return times(*(_keys_of(part) for part in found))


def windows_per_tick(op: Windows) -> Formula:
    """The most windows that are created at one tick."""
    match op := closed(op):
        case Window(slide=Every(coordinate=Coordinate.INDEX, step=step), input=input) if not isinstance(
            input, StoredTable
        ):
            return share(arrivals(input, 1), step)
        case Window():
            return keys(op)
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return times(windows_per_tick(left), windows_per_tick(right))
        case _:
            return windows_per_tick(op.input) if isinstance(op, EachWindow) else ONE


def window_ticks(op: Windows, span: int) -> Formula:
    """The most ticks with windows in any span of ticks."""
    match op := closed(op):
        case Window(slide=Once()) | Values() | StoredGraph():
            return ONE
        case Window(slide=Every(coordinate=Coordinate.TICK, step=step)):
            return Number(-(-span // step))
        case (
            Window(slide=Every(coordinate=Coordinate.INDEX, step=step), input=input)
            | Window(slide=Passing(step=step), input=input)
        ) if not isinstance(input, StoredTable):
            return least(Number(span), share(arrivals(input, span), 1 if op.key else step))
        case Window(slide=Arrival(), input=input) if not isinstance(input, StoredTable):
            return least(Number(span), arrivals(input, span))
        case Window():
            return Number(span)
        case WindowMerge(input=below):
            return window_ticks(below, span)
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return _either_ticks(left, right, span)
        case BasicGraphPattern(parts=parts):
            return least(Number(span), plus(ONE, *(window_ticks(part, span) for part in parts)))
        case _:
            if isinstance(op, EachWindow):
                return window_ticks(op.input, span)
            return _either_ticks(op.left, op.right, span)


def _either_ticks(left: Windows, right: Windows, span: int) -> Formula:
    """The most ticks with windows on one of two sides; ticks that both surely share count once."""
    first, second = window_ticks(left, span), window_ticks(right, span)
    shared = _slide_step(left), _slide_step(right)
    if None not in shared and (shared[0] % shared[1] == 0 or shared[1] % shared[0] == 0):  # type: ignore[operator]
        return Number(max(first.value, second.value))  # type: ignore[union-attr]
    return least(Number(span), plus(first, second))


def _slide_step(op: Windows) -> int | None:
    """The ticks between windows, where they come at multiples of one number; one-off scans come at none of them."""
    match op:
        case WindowSelect(input=below) | WindowProject(input=below) | WindowAggregation(input=below):
            return _slide_step(below)
        case Window(slide=Every(coordinate=Coordinate.TICK, step=step, first=0)):
            return step
        case _:
            return None


def windows_within(op: Windows, span: int) -> Formula:
    """The most windows in any span of ticks."""
    match op:
        case WindowSelect(input=below) | WindowProject(input=below) | WindowAggregation(input=below):
            return windows_within(below, span)
        case TrackAggregation(input=below) | WindowDistinct(input=below) | WindowFirst(input=below):
            return windows_within(below, span)
        case Window(slide=Every(coordinate=Coordinate.INDEX, step=step), input=input) if not isinstance(
            input, StoredTable
        ):
            return share(arrivals(input, span), step)
        case _:
            return times(window_ticks(op, span), windows_per_tick(op))


def remembered(op: Operator) -> Formula:
    """The most rows that this operator alone must remember, those below it not counted.

    A window holds its rows. Of solutions it does not: when a statement goes follows from its tick, and what must find a
    solution again remembers it. EXISTS remembers what is valid of its pattern.
    """
    asked = plus(*map(size, patterns_of(op)))
    match op := closed(op):
        case StreamAcquire() | StreamReceive() | StoredTable():
            return NOTHING
        case StreamSelect() | StreamProject() | StreamUnion() | Renumber() | RStream():
            return NOTHING
        case WithoutJumps(input=input, key=key):
            return _objects(input) if key else ONE
        case WindowSelect() | WindowProject() | TrackAggregation() | WindowFirst():
            return asked
        case WindowAggregation(input=input) | WindowDistinct(input=input):
            return plus(size(input), asked) if of_terms(op) else NOTHING
        case PathPattern(input=input) | OrderBy(input=input) | Slice(input=input):
            return plus(size(input), asked)
        case Values() | StoredGraph() | TriplePattern() | Construct() | Window(input=StoredTable()):
            return NOTHING
        case Window() if of_terms(op):
            return Number(element_count(op) or 0)
        case Window():
            places = keys(op) if op.by_distance else NOTHING
            return plus(_held(op, op.range, _reach(op) + 1, keys(op)), places) if _width(op) else NOTHING
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return plus(times(windows_per_tick(left), size(left)), times(windows_per_tick(right), size(right)))
        case RelationJoin():
            return plus(relation_size(op.left), relation_size(op.right), asked)
        case RelationUnion() if of_terms(op):
            return NOTHING
        case RelationUnion() | RelationExcept() | RelationIntersect():
            return plus(relation_size(op.left), relation_size(op.right))
        case BasicGraphPattern(parts=parts):
            return plus(*map(size, parts)) if len(parts) > 1 else NOTHING
        case IStream(input=input) | DStream(input=input):
            return relation_size(input)
        case WindowGrown(input=input) | WindowMerge(input=input):
            return relation_size(input)
        case Describe(input=input, statements=statements):
            return plus(size(input), size(statements))
        case Ask():
            return ONE
        case _:
            assert_never(op)


def total(op: Operator) -> Formula:
    """The most rows that a whole plan must remember."""
    return plus(*(remembered(part) for part in walk(op)))


def at_most_one_window_per_tick(op: Windows) -> bool:
    """Whether no tick can hold several windows: all but row windows, and what stands on them."""
    return windows_per_tick(op) == ONE


def _held(op: Window, reach: Range, span: int, keys: Formula) -> Formula:
    """The most rows of the input in a span of a range's coordinate, for so many keys."""
    assert not isinstance(op.input, StoredTable)  # noqa: S101 - callers take tables first
    match reach:
        case Between(coordinate=Coordinate.TICK):
            return arrivals(op.input, span)
        case Between(coordinate=Coordinate.INDEX):
            return times(keys, Number(span))
        case Between():
            return _by_hints(op, keys, Unbounded(NO_END, SPACE_HINTS), Hint.DWELL)
        case Inside():
            of_all = keys if op.key else _objects(op.input)
            return _by_hints(op, of_all, Unbounded(NEVER_LEAVES, REGION_HINTS))
        case Everything() | Content():
            return Unbounded(GROWS, ("give the window a range",))
        case Together(parts=parts):
            held = [_held(op, part, _span(op, part), keys) for part in parts]
            bounds = [part for part in held if not isinstance(part, Hinted)]
            return least(*(bounds or held))
        case _:
            assert_never(reach)


def _span(op: Window, reach: Range) -> int:
    return _behind(op, reach.low) + 1 if isinstance(reach, Between) else 1


def _by_hints(op: Window, keys: Formula, gap: Unbounded, *spans: Hint) -> Formula:
    """What the hints on the objects of the extent below allow, or no bound."""
    extent = extent_of(op.input)
    if extent is None:
        return gap
    rows = times(keys, Told(extent, Hint.ROWS_PER_KEY))
    return Hinted(least(rows, *(Told(extent, span) for span in spans)), gap)


def _keys_of(op: Window) -> Formula:
    assert not isinstance(op.input, StoredTable)  # noqa: S101 - tables have no keys
    return _objects(op.input)


def _objects(stream: Stream) -> Formula:
    """The most keys of a stream that are there at once."""
    extent = extent_of(stream)
    gap = Unbounded(MANY_KEYS, KEY_HINTS)
    return gap if extent is None else Hinted(least(Told(extent, Hint.KEYS), Told(extent, Hint.FORGET)), gap)


def extent_of(stream: Operator) -> str | None:
    """The one extent whose rows a stream has, some of them or changed."""
    match stream:
        case StreamAcquire(extent=extent) | StreamReceive(extent=extent):
            return extent
        case StreamSelect(input=below) | StreamProject(input=below):
            return extent_of(below)
        case Renumber(input=below) | WithoutJumps(input=below):
            return extent_of(below)
        case _:
            return None


def _reach(op: Window) -> int:
    """How far the lower bound lies behind the present, at most."""
    return _behind(op, op.range.low) if isinstance(op.range, Between) else 0


def _width(op: Window) -> int:
    """How many values of its coordinate a window spans, at most; 0 if its bounds are inverted."""
    if not isinstance(op.range, Between):
        return 1
    nearest = max(0, -_ahead(op.range.high))
    return max(0, _behind(op, op.range.low) - nearest + 1)


def _behind(op: Window, bound: Bound) -> int:
    """The largest distance from a base down to the bound there."""
    step, first = (op.slide.step, op.slide.first) if isinstance(op.slide, Every) else (1, 0)
    if isinstance(op.slide, Passing):
        step, first = op.slide.step, op.slide.step
    if isinstance(op.slide, Every) and isinstance(op.range, Between) and op.slide.coordinate is not op.range.coordinate:
        step, first = 1, 0
    common = math.gcd(bound.step, step)
    remainder = bound.step - common + first % common
    return remainder - bound.offset


def _ahead(bound: Bound) -> int:
    """The bound at a base that is a multiple of its step, seen from that base."""
    return bound.offset
