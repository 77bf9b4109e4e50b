"""Pairs of windows in a plan for Spark: how overlapping stays meet, and windows of which a tick may hold several."""

from __future__ import annotations

from transom.algebra import bounds
from transom.algebra.expressions import Call, Expression, columns, conjunction
from transom.algebra.operator import Windows
from transom.algebra.relations import WindowCrossProduct, WindowJoin, WindowProject, WindowSelect
from transom.algebra.sources import StoredTable
from transom.algebra.state import NOTHING, Formula, plus, times
from transom.algebra.state import Number as Rows
from transom.algebra.windows import Window
from transom.model.schema import Schema
from transom.physical import choices, scans, stays
from transom.physical.choices import BUCKETS
from transom.physical.context import Planning
from transom.physical.node import Physical
from transom.physical.plan import Form, Meet, Meeting, Product


def pair(
    planner: Planning,
    op: Windows,
    sides: tuple[Windows, Windows],
    predicate: list[Expression],
    *,
    ordered: bool,
    last: bool,
) -> Physical:
    """Products and joins: overlapping stays natively, windows of which a tick may hold several in a machine."""
    left, right = sides
    one, other = scans.settled(planner, sides, (planner.windows(left, ordered), planner.windows(right, ordered)))
    equal, rest = equalities(predicate, left.schema, right.schema)
    forms = {one.form, other.form}
    if forms == {Form.STAYS, Form.SCANS}:
        return _with_scans(planner, op, sides, (one, other), predicate)
    if forms <= {Form.STAYS, Form.TABLE}:
        form = Form.TABLE if forms == {Form.TABLE} else Form.STAYS
        lengths = [n for n in (stays.longest(one), stays.longest(other)) if n]
        cell = max(lengths, default=1)
        longest = min(lengths, default=0)
        if planner.kernel and forms == {Form.STAYS} and not ordered and _same_types(equal):
            found = [rows(planner, side, stays.longest(node)) for side, node in ((left, one), (right, other))]
            choice = choices.pairs(plus(*found))
            return Meet(one, other, equal, rest, Meeting.PAIRS, cell, longest, op.schema, form, ordered, choice)
        states = [_kept(planner, side, node, cell) for side, node in ((left, one), (right, other))]
        how, choice = choices.meet(plus(*states), Form.TABLE in forms, cell, last and bool(equal))
        return Meet(one, other, equal, rest, how, cell, longest, op.schema, form, ordered, choice)
    if Form.TICKS in forms:  # aggregates: each window replaces the one before, as windows of rows do
        one, other = (
            planner.exist(side, node) if node.form is Form.TICKS else node for side, node in zip(sides, (one, other))
        )
    state = plus(bounds.remembered(op), *(fed(planner, side, node) for side, node in ((left, one), (right, other))))
    clocks = [
        None if node.form is Form.WINDOWS else planner.clock(side, "windows pair at every tick at which one comes")
        for side, node in ((left, one), (right, other))
    ]
    fresh = [
        planner.spread(side, node) if node.form in (Form.TABLE, Form.SCANS) else node
        for side, node in ((left, one), (right, other))
    ]
    buckets = BUCKETS if equal and not ordered else 1
    choice = choices.product(state, bool(equal))
    (one, other), (clock, other_clock) = fresh, clocks
    return Product(one, other, clock, other_clock, equal, rest, buckets, op.schema, ordered, choice)


def _with_scans(
    planner: Planning,
    op: Windows,
    sides: tuple[Windows, Windows],
    nodes: tuple[Physical, Physical],
    predicate: list[Expression],
) -> Physical:
    """Stays with a table as it is scanned: by equal keys where both sides give values of one type."""
    equal, rest = equalities(predicate, sides[0].schema, sides[1].schema)
    if not _same_types(equal):
        equal, rest = (), conjunction(predicate)
    cell = scans.period(nodes)
    longest = max(map(stays.longest, nodes))
    everywhere = 1 if equal else BUCKETS
    pieces = Rows(2 * everywhere * (longest // cell + 2 if cell else 1))
    held = [
        times(pieces, rows(planner, side, longest)) if node.form is Form.STAYS else scans.held(planner, side)
        for side, node in zip(sides, nodes)
    ]
    choice = choices.scanned(plus(*held), bool(equal))
    shorter = min(longest, cell) if cell else longest
    return Meet(*nodes, equal, rest, Meeting.SCANS, cell, shorter, op.schema, Form.STAYS, False, choice)


def _kept(planner: Planning, op: Windows, node: Physical, cell: int) -> Formula:
    """Rows of one side of a native join: twice each, for as long as its span of time is open."""
    if node.form is Form.TABLE:
        return NOTHING
    return times(Rows(2), rows(planner, op, 2 * cell))


def fed(planner: Planning, op: Windows, node: Physical) -> Formula:
    """Rows that wait for their tick to close, and goings that wait for theirs."""
    longest = stays.longest(node)
    if node.form is Form.STAYS:
        return times(Rows(2), rows(planner, op, longest))
    return times(bounds.windows_within(op, 1 + planner.span.slack), bounds.size(op))


def rows(planner: Planning, op: Windows, span: int) -> Formula:
    """Rows of a relation of stays that begin in a span and in what is not closed."""
    match op:
        case Window(input=StoredTable()):
            return bounds.size(op)
        case Window(input=input):
            return planner.span.rows(input, span)  # type: ignore[arg-type]
        case WindowSelect(input=input) | WindowProject(input=input):
            return rows(planner, input, span)
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return times(rows(planner, left, span), rows(planner, right, span))
        case _:
            return times(bounds.windows_within(op, span + planner.span.slack), bounds.size(op))


def _same_types(equal: tuple[tuple[Expression, Expression], ...]) -> bool:
    """Whether rows can be told apart by keys: there are some, and both sides give values of one type."""
    return bool(equal) and all(mine.type is yours.type for mine, yours in equal)


def equalities(
    predicate: list[Expression], left: Schema, right: Schema
) -> tuple[tuple[tuple[Expression, Expression], ...], Expression]:
    """The parts of a predicate that say that something of the left equals something of the right, and the rest."""
    equal: list[tuple[Expression, Expression]] = []
    rest: list[Expression] = []
    mine, yours = set(left), set(right)
    for part in predicate:
        sides = part.arguments if isinstance(part, Call) and part.function.name == "=" else ()
        reads = [columns(side) for side in sides]
        if len(sides) == 2 and all(reads) and reads[0] <= mine and reads[1] <= yours:
            equal.append((sides[0], sides[1]))
        elif len(sides) == 2 and all(reads) and reads[0] <= yours and reads[1] <= mine:
            equal.append((sides[1], sides[0]))
        else:
            rest.append(part)
    return tuple(equal), conjunction(rest)
