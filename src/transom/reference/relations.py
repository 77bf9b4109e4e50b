"""Figure 4's single-window operators, Figure 7's cross product, and operators on two relations.

002 Defs. 8 to 13 and the operators of SPARQL 1.1 on solutions are the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import add
from typing import TypeAlias, assert_never

from transom.algebra.expressions import TRUE, Column, Expression, Item
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
)
from transom.algebra.sequences import OrderBy, Slice
from transom.algebra.tracks import Track
from transom.algebra.tree import OneWindow, Relations
from transom.errors import PlanError
from transom.model.bag import Bag, Row, difference, row_identity, row_key, value_key
from transom.model.rdf.compare import sort_key
from transom.model.rdf.terms import Term, in_order
from transom.model.schema import Schema
from transom.model.types import Value
from transom.reference.expressions import Scope, Scopes, aggregate, holds, of_tuples, value
from transom.reference.tracks import follow

Rows: TypeAlias = tuple[Row, ...]
Pairing: TypeAlias = Callable[[Row, Row], Row | None]
Snapshot: TypeAlias = OneWindow | Relations
"""Operators that look at one instant only."""


def snapshot(op: Snapshot, sides: Sequence[Rows], scopes: Scopes = of_tuples) -> Rows:
    """What an operator makes of one window, or of two relations at one instant; `scopes` says what expressions see."""
    match op:
        case WindowSelect():
            return window_select(op, sides[0], scopes)
        case WindowProject():
            return window_project(op, sides[0], scopes)
        case WindowAggregation():
            return window_aggregation(op, sides[0], scopes)
        case TrackAggregation():
            return track_aggregation(op, sides[0], scopes)
        case WindowDistinct():
            return window_distinct(op, sides[0])
        case WindowFirst():
            return window_first(op, sides[0], scopes)
        case OrderBy():
            return order_by(op, sides[0], scopes)
        case Slice():
            return slice(op, sides[0])
        case RelationJoin():
            return relation_join(op, sides, scopes)
        case RelationUnion():
            return relation_union(op, sides)
        case RelationExcept():
            return relation_except(op, sides)
        case RelationIntersect():
            return relation_intersect(op, sides)
        case _:
            assert_never(op)


def window_select(op: WindowSelect, rows: Rows, scopes: Scopes) -> Rows:
    """The tuples for which the predicate is true."""
    return select(op.predicate, rows, scopes(op.input.schema))


def select(predicate: Expression, rows: Iterable[Row], scope: Callable[[Row], Scope]) -> Rows:
    """The rows for which a predicate is true."""
    return tuple(rows if predicate == TRUE else (row for row in rows if holds(predicate, scope(row))))


def window_project(op: WindowProject, rows: Rows, scopes: Scopes) -> Rows:
    """Each tuple made into another; columns that stay are copied."""
    scope = scopes(op.input.schema)
    there = {attribute: place for place, attribute in enumerate(op.input.schema)}
    kept = [there.get(i.attribute) if i.expression == Column(i.attribute) else None for i in op.items]
    made = [item for item, place in zip(op.items, kept) if place is None]
    found: list[Row] = []
    for row in rows:
        computed = iter(project(made, scope(row)) if made else ())
        found.append(tuple(next(computed) if place is None else row[place] for place in kept))
    return tuple(found)


def project(items: Sequence[Item], scope: Scope) -> Row:
    """The values of a list of expressions."""
    return tuple(value(item.expression, scope) for item in items)


def window_aggregation(op: WindowAggregation, rows: Rows, scopes: Scopes) -> Rows:
    """Aggregates over a window as if it were a relation (S14, S16)."""
    return aggregate_over_window(op, rows, scopes)


def track_aggregation(op: TrackAggregation, rows: Rows, scopes: Scopes) -> Rows:
    """Aggregates over a window, some along the places of its tuples (C7)."""
    return aggregate_over_window(op, rows, scopes)


def aggregate_over_window(
    op: WindowAggregation | TrackAggregation, rows: Sequence[Row], scopes: Scopes = of_tuples
) -> Rows:
    """One tuple, or one per group; groups come in the order of their values."""
    schema = op.input.schema
    scope = scopes(schema)

    def over(members: Sequence[Row]) -> Row:
        return tuple(
            follow(a, schema, members) if isinstance(a, Track) else aggregate(a, schema, members, scopes)
            for a in op.aggregates
        )

    if not op.groups:
        return (over(rows),)
    groups: dict[tuple[object, ...], tuple[Row, list[Row]]] = {}
    for row in rows:
        key = project(op.groups, scope(row))
        groups.setdefault(row_identity(key), (key, []))[1].append(row)
    return tuple(key + over(members) for key, members in sorted(groups.values(), key=lambda group: row_key(group[0])))


def window_distinct(op: WindowDistinct, rows: Rows) -> Rows:
    """The first of equal rows (R16)."""
    first: dict[tuple[object, ...], Row] = {}
    for row in rows:
        first.setdefault(row_identity(row), row)
    return tuple(first.values())


def window_first(op: WindowFirst, rows: Rows, scopes: Scopes) -> Rows:
    """The groups in order, of each the tuples with the smallest values."""
    scope = scopes(op.input.schema)

    def of(expression: Expression, row: Row) -> Value:
        return value(expression, scope(row))

    groups: dict[tuple[object, ...], list[Row]] = {}
    ranked = [row for row in rows if of(op.by, row) is not None]
    ranked.sort(key=lambda row: (value_key(of(op.by, row)), row_key(row)))
    ranked.sort(key=lambda row: row_key(tuple(of(e, row) for e in op.per)))
    for row in ranked:
        groups.setdefault(row_identity(tuple(of(e, row) for e in op.per)), []).append(row)
    return tuple(row for members in groups.values() for row in members[: op.count])


def order_by(op: OrderBy, rows: Rows, scopes: Scopes) -> Rows:
    """W3C 15.1: by the keys, then by the terms of some columns (R16); sorting keeps the order of equals."""
    scope = scopes(op.input.schema)
    places = [op.input.schema.position(tie.attribute) for tie in op.ties if tie.attribute in op.input.schema.attributes]
    sequence = sorted(rows, key=lambda row: [in_order(term_in(row[place])) for place in places])
    for key in reversed(op.keys):
        sequence.sort(key=lambda row: sort_key(term_in(value(key.expression, scope(row)))), reverse=key.descending)
    return tuple(sequence)


def term_in(found: Value) -> Term | None:
    """A value that is a term, or NULL."""
    if found is not None and not isinstance(found, Term):
        raise PlanError("only terms have SPARQL's order")
    return found


def slice(op: Slice, rows: Rows) -> Rows:
    """Without the first ones, and not more than a number (R16)."""
    return rows[op.offset :][: op.limit]


def window_grown(op: WindowGrown, windows: Sequence[Bag]) -> list[Bag]:
    """Only the windows to which a tuple was added since the one of their key before them (C5)."""
    return [w for before, w in consecutive(windows) if w.over or difference(w.rows, before)]


def consecutive(windows: Sequence[Bag]) -> list[tuple[Rows, Bag]]:
    """Each window with the tuples of the one of its key before it in the list, several of one tick included."""
    previous: dict[tuple[object, ...], Rows] = {}
    pairs: list[tuple[Rows, Bag]] = []
    for window in windows:
        lineage = row_identity(window.key)
        pairs.append((previous.get(lineage, ()), window))
        previous[lineage] = window.rows
    return pairs


def window_merge(op: WindowMerge, windows: Sequence[Bag]) -> list[Bag]:
    """The last windows of all keys as one, at every tick with a new one (3.4)."""
    return [Bag(tick, relation(tick, windows)) for tick in tick_union(windows, [])]


def relation(tick: int, windows: Sequence[Bag]) -> Rows:
    """R(t): the tuples of the last window of every key, in the order of the keys; none before the first (C16)."""
    last = {row_identity(w.key): w for w in windows if w.tick <= tick}
    return tuple(row for w in sorted(last.values(), key=lambda w: row_key(w.key)) for row in w.rows)


def at_every_instant(op: Relations, left: Sequence[Bag], right: Sequence[Bag]) -> list[Bag]:
    """What two relations give together at the union of their instants (C16)."""
    ticks = tick_union(left, right)
    return [Bag(tick, snapshot(op, (relation(tick, left), relation(tick, right)))) for tick in ticks]


def relation_join(op: RelationJoin, sides: Sequence[Rows], scopes: Scopes) -> Rows:
    """The pairs that make the predicate true, or the tuples of the left that have one or have none (R14, R26)."""
    left, right = sides
    schema = op.pair
    pair: Pairing = add
    nothing = (None,) * (len(schema) - len(op.left.schema))
    if op.natural:
        pair = compatible(op.left.schema, op.right.schema, overlap=op.join_type is JoinType.ANTI)
    tried = ((one, [both for other in right if (both := pair(one, other)) is not None]) for one in left)
    found = [(one, select(op.predicate, pairs, scopes(schema))) for one, pairs in tried]
    match op.join_type:
        case JoinType.INNER:
            return tuple(pair for _, pairs in found for pair in pairs)
        case JoinType.LEFT:
            return tuple(row for one, pairs in found for row in (pairs or (one + nothing,)))
        case _:
            return tuple(one for one, pairs in found if bool(pairs) is (op.join_type is JoinType.SEMI))


def compatible(left: Schema, right: Schema, *, overlap: bool = False) -> Pairing:
    """How rows pair whose common columns have no two different values (R7, R22).

    With `overlap` both must have a value in one of them (W3C 18.5).
    """
    there = {attribute: place for place, attribute in enumerate(left)}
    common = [(there[attribute], place) for place, attribute in enumerate(right) if attribute in there]
    more = [place for place, attribute in enumerate(right) if attribute not in there]

    def pair(one: Row, other: Row) -> Row | None:
        meets, filled = False, list(one)
        for mine, yours in common:
            if one[mine] is None:
                filled[mine] = other[yours]
            elif other[yours] is not None:
                if one[mine] is not other[yours] and one[mine] != other[yours]:
                    return None
                meets = True
        return (*filled, *(other[place] for place in more)) if meets or not overlap else None

    return pair


def relation_union(op: RelationUnion, sides: Sequence[Rows]) -> Rows:
    """The tuples of both: multiplicities add up (R7)."""
    left, right = sides
    if not op.by_name:
        return left + right
    wanted = op.schema
    return aligned(left, op.left.schema, wanted) + aligned(right, op.right.schema, wanted)


def aligned(rows: Rows, given: Schema, wanted: Schema) -> Rows:
    """Rows with other columns, NULL in those that they lack."""
    if given == wanted:
        return rows
    there = {attribute: place for place, attribute in enumerate(given)}
    places = [there.get(attribute) for attribute in wanted]
    return tuple(tuple(None if place is None else row[place] for place in places) for row in rows)


def relation_except(op: RelationExcept, sides: Sequence[Rows]) -> Rows:
    """The tuples of the left, each without as many as the right has of it."""
    return difference(*sides)


def relation_intersect(op: RelationIntersect, sides: Sequence[Rows]) -> Rows:
    """The tuples that both have, each as often as both have it."""
    left, right = sides
    return difference(left, difference(left, right))


def window_cross_product(op: WindowCrossProduct, left: Sequence[Bag], right: Sequence[Bag]) -> list[Bag]:
    """Figure 7: at every tick with a new window, the current windows of both sides, paired."""
    return [pair for tick in tick_union(left, right) for pair in tick_cross_product(tick, left, right)]


def window_join(op: WindowJoin, left: Sequence[Bag], right: Sequence[Bag]) -> list[Bag]:
    """The selection of a cross product."""
    pairs = window_cross_product(WindowCrossProduct(op.left, op.right), left, right)
    return [replace(w, rows=select(op.predicate, w.rows, of_tuples(op.schema))) for w in pairs]


def tick_union(left: Sequence[Bag], right: Sequence[Bag]) -> list[int]:
    """getTickUnion: the ticks of both sides, each once, in order (S9)."""
    return sorted({w.tick for w in left} | {w.tick for w in right})


def tick_cross_product(tick: int, left: Sequence[Bag], right: Sequence[Bag]) -> list[Bag]:
    """All pairs of the most recent windows at or before a tick, left-major (S10)."""
    return [concat_windows(one, other) for one in current(tick, left) for other in current(tick, right)]


def current(tick: int, windows: Sequence[Bag]) -> list[Bag]:
    """findLastTick and getWindowsAtTick: every window of the last tick that has any; none before the first (S8).

    With several keys, every window of the last tick of its key; that a key is over is told once.
    """
    last = {row_identity(w.key): w.tick for w in windows if w.tick <= tick}
    told = [w for w in windows if not w.over or w.tick == tick]
    return [w for w in told if w.tick == last.get(row_identity(w.key))]


def concat_windows(left: Bag, right: Bag) -> Bag:
    """windowCrossProduct: every tuple of one with every tuple of the other, at the later tick."""
    rows = tuple(one + other for one in left.rows for other in right.rows)
    return Bag(max(left.tick, right.tick), rows, left.key + right.key, left.over or right.over)
