"""From algebra to a plan for Spark: windows of which every key has its own, and operators on whole relations."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from transom.algebra import bounds
from transom.algebra.expressions import TRUE, Expression, InRegion, conjunction, conjuncts
from transom.algebra.operator import Windows
from transom.algebra.relations import (
    JoinType,
    RelationExcept,
    RelationIntersect,
    RelationJoin,
    RelationUnion,
    TrackAggregation,
    WindowDistinct,
    WindowFirst,
    WindowGrown,
    WindowMerge,
    WindowProject,
    WindowSelect,
)
from transom.algebra.sources import StoredTable
from transom.algebra.state import Formula, plus, times
from transom.algebra.state import Number as Rows
from transom.algebra.streams import WithoutJumps
from transom.algebra.tracks import place_of
from transom.algebra.tree import Relations
from transom.algebra.windows import Arrival, Between, Change, Every, Inside, Passing, Window, parts
from transom.errors import PlanError, Unsupported
from transom.machines.distance import PlaceSpec
from transom.machines.lineage_spec import LineageSpec, Reach
from transom.model.space import Position, Speed
from transom.physical import choices, gaps, scans
from transom.physical.change_join import ChangeJoin
from transom.physical.choices import BUCKETS, STATELESS
from transom.physical.context import Planning
from transom.physical.lines import Come, Distinct, First, Follow, Grown, Lines, Net, Relate, Relating, Steady, Turn
from transom.physical.node import Clock, Physical
from transom.physical.pairing import equalities
from transom.physical.plan import Filter, Form, Map, ReadTable
from transom.physical.routes import by_changes
from transom.physical.schedule import Schedule

Rest: TypeAlias = WindowDistinct | WindowFirst | WindowGrown | WindowMerge | TrackAggregation


def lines(planner: Planning, op: Window, form: Form, *, ordered: bool) -> Physical:
    """The windows of each key, from the machine that follows one."""
    assert not isinstance(op.input, StoredTable)  # noqa: S101 - the caller takes tables
    indexed = any(tag.name == "index" for tag in op.tags)
    below = planner.in_order(op.input, index=indexed)
    slide, step, first = _slide(op)
    eager = slide == "tick" and not op.key
    flag = _flag(op)
    width = len(op.schema)
    spec = LineageSpec(
        slide,
        tuple(_reach(part) for part in parts(op.range) if isinstance(part, Between)),
        step,
        first,
        planner.start,
        eager=eager,
        flag=None if flag is None else width,
        place=None if op.position is None else _place(op.position, op),
        output="changes" if form is Form.CHANGES else "content",
        forget_after=op.forget_after,
    )
    clock = planner.clock(op, "windows come at ticks that no row carries") if eager else None
    choice = choices.lines(op, bounds.remembered(op), planner.span)
    return Lines(below, spec, op.key, flag, clock, op.tags, op.schema, ordered, choice, form)


def _slide(op: Window) -> tuple[str, int, int]:
    match op.slide:
        case Every(coordinate=coordinate, step=step, first=first):
            return str(coordinate), step, first
        case Passing(step=step):
            return "index", step, step
        case Arrival():
            return ("inside" if _flag(op) is not None else "arrival"), 1, 0
        case Change():
            return "change", 1, 0
        case _:
            raise PlanError(f"nothing slides {op.slide} on a stream")


def _reach(part: Between) -> Reach:
    low, high = part.low, part.high
    return Reach(str(part.coordinate), (low.step, low.offset), (high.step, high.offset))


def _flag(op: Window) -> Expression | None:
    """What says of a row that it lies in the regions of a window."""
    regions = [part.region for part in parts(op.range) if isinstance(part, Inside)]
    if not regions or op.position is None:
        return None
    place = place_of(op.place, op.position)
    return conjunction([InRegion(place, region) for region in regions])


def _place(position: Position, op: Window | WithoutJumps, speed: Speed | None = None) -> PlaceSpec:
    where = [op.input.schema.position(attribute) for attribute in op.place]
    limit = None if speed is None else (speed.length, speed.ticks)
    return PlaceSpec(where[0], where[1] if len(where) > 1 else None, position.geodesic, position.unit, limit)


def changes(planner: Planning, op: Windows) -> Physical:
    """A relation as what comes and goes."""
    match op:
        case Window(input=StoredTable(), slide=Change()):
            return _table(planner, op)
        case Window() if by_changes(planner, op):
            return lines(planner, op, Form.CHANGES, ordered=False)
        case WindowSelect(input=input, predicate=predicate) if by_changes(planner, op):
            below = changes(planner, input)
            return Filter(below, predicate, op.schema, Form.CHANGES, False, STATELESS)
        case WindowProject(input=input, items=items) if by_changes(planner, op):
            below = changes(planner, input)
            return Map(below, items, op.schema, Form.CHANGES, False, STATELESS)
        case RelationJoin() if by_changes(planner, op):
            return join(planner, op)
        case _:
            rows = planner.windows(op, False)
    if rows.form is Form.WINDOWS:
        return Turn(rows, rows.schema, choices.turn(op, planner.span))
    schedule = planner.schedule(op)
    assert schedule is not None  # noqa: S101 - only windows have none
    clock = planner.clock(op, "relations are taken together at every tick at which one has a window")
    return Come(rows, schedule, clock, rows.schema, STATELESS)


def _table(planner: Planning, op: Window) -> Physical:
    """The versions of a table, each from its own tick on."""
    assert isinstance(op.input, StoredTable)  # noqa: S101 - the caller looked
    every = Schedule.every(1, planner.start)
    if op.input.extent in planner.growing:
        found = scans.read(op.input.extent, op.schema, every, False)
        clock = Clock(every, choices.clock("a table may change at any tick, and is there from the first one on"))
        return Come(found, every, clock, found.schema, choices.words(op, planner.span))
    rows = ReadTable(op.input.extent, op.schema, every, False, choices.table(op.input.extent))
    clock = Clock(every, choices.clock("a table may change at any tick"))
    return Come(rows, every, clock, rows.schema, STATELESS)


def join(planner: Planning, op: RelationJoin) -> Physical:
    """A join whose changes are asked for: what comes and goes on one side meets the rows of the other."""
    keys, residual = _condition(op)
    left, right = changes(planner, op.left), changes(planner, op.right)
    checks = residual != TRUE and op.join_type is not JoinType.INNER
    sizes = [plus(bounds.size(side), _waiting(planner, side)) for side in (op.left, op.right)]
    choice = choices.change_join(op.join_type.value, sizes, keyed=bool(keys), checks=checks)
    return ChangeJoin(left, right, op.join_type, keys, residual, op.schema, Form.CHANGES, choice)


def _condition(op: Relations) -> tuple[tuple[tuple[Expression, Expression], ...], Expression]:
    """What both sides must agree on, and what is left of the condition."""
    predicate: Expression = getattr(op, "predicate", TRUE)
    equal, rest = equalities(conjuncts(predicate), op.left.schema, op.right.schema)
    if any(mine.type is not yours.type for mine, yours in equal):
        return (), predicate
    return equal, rest


def relation(planner: Planning, op: Relations, ordered: bool) -> Physical:
    """Two relations together."""
    _refuse_order(ordered)
    how = Relating(op.join_type.value) if isinstance(op, RelationJoin) else _SETS[type(op)]
    equal, rest = _condition(op)
    sides = [changes(planner, side) for side in (op.left, op.right)]
    spread = bool(equal) or how in (Relating.UNION, Relating.EXCEPT, Relating.INTERSECT)
    state = plus(bounds.remembered(op), *(_waiting(planner, side) for side in (op.left, op.right)))
    choice = choices.relate(how.value, state, spread)
    return Relate(sides[0], sides[1], how, equal, rest, BUCKETS if spread else 1, op.schema, choice)


def _waiting(planner: Planning, op: Windows) -> Formula:
    """Changes that wait for their tick to close."""
    return times(bounds.windows_within(op, 1 + planner.span.slack), times(Rows(2), bounds.size(op)))


def _refuse_order(ordered: bool) -> None:
    if ordered:
        raise gaps.ROW_ORDER.refusal()


_SETS: dict[type, Relating] = {
    RelationUnion: Relating.UNION,
    RelationExcept: Relating.EXCEPT,
    RelationIntersect: Relating.INTERSECT,
}


def windows(planner: Planning, op: Rest, ordered: bool) -> Physical:
    """Operators on each window that SNEEql does not have."""
    span = planner.span
    match op:
        case WindowMerge(input=input):
            _refuse_order(ordered)
            state = plus(bounds.remembered(op), _waiting(planner, input))
            below = changes(planner, input)
            choice = choices.relate(Relating.MERGE.value, state, True)
            return Relate(below, None, Relating.MERGE, (), TRUE, BUCKETS, op.schema, choice)
        case WindowGrown(input=input):
            rows = planner.windows(input, ordered)
            rows = rows if rows.form is Form.WINDOWS else planner.exist(input, rows)
            return Grown(rows, op.schema, rows.ordered, choices.grown(op, span))
        case WindowDistinct(input=input):
            _refuse_order(ordered)
            below = by_row(planner, input)
            return Distinct(below, op.schema, below.form, choices.each_window(op, span))
        case WindowFirst(input=input, per=per, by=by, count=count):
            _refuse_order(ordered)
            below = by_row(planner, input)
            return First(below, per, by, count, op.schema, below.form, choices.each_window(op, span))
        case TrackAggregation(input=input, groups=groups, aggregates=aggregates):
            below = _tracked(planner, input)
            clock = None
            if not groups and below.form is not Form.WINDOWS:
                clock = planner.clock(op, "a window without rows has a count of 0")
            choice = choices.each_window(op, span)
            return Follow(below, groups, aggregates, clock, op.schema, below.form, ordered, choice)
        case _:
            assert_never(op)


def _tracked(planner: Planning, op: Windows) -> Physical:
    """A relation with its rows in order, for functions that follow an object."""
    try:
        rows = by_row(planner, op, ordered=True)
    except Unsupported as gap:
        raise gaps.TRACK_ORDER.refusal() if gap.construct == gaps.ROW_ORDER.construct else gap from None
    if not rows.ordered:
        raise gaps.TRACK_ORDER.refusal()
    return rows


def by_row(planner: Planning, op: Windows, *, ordered: bool = False) -> Physical:
    """A relation with one row per tuple and window."""
    rows = planner.windows(op, ordered)
    return planner.spread(op, rows) if rows.form in (Form.STAYS, Form.TABLE, Form.SCANS) else rows


def net(planner: Planning, op: Windows, report: str) -> Physical:
    """ISTREAM and DSTREAM of changes: those of equal rows added up, tick by tick and key by key."""
    rows = changes(planner, op)
    return Net(rows, report, rows.schema, choices.net(op, planner.span))


def steady(planner: Planning, op: WithoutJumps, below: Physical) -> Physical:
    """A stream without jumps, from the machine that measures the way of each key."""
    choice = choices.steady(op, planner.span)
    return Steady(below, _place(op.position, op, op.speed), op.key, op.forget_after, op.schema, True, choice)
