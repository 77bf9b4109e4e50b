"""Figure 4's single-window operators, Figure 7's cross product, and CQL's operators on two relations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from transom.algebra.expressions import Aggregate, Expression, Item
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
from transom.algebra.tracks import Track
from transom.model.bag import Bag, Row, difference, row_identity, row_key, value_key
from transom.model.schema import Schema
from transom.model.types import Value
from transom.reference.expressions import RowScope, Scope, aggregate, holds, value
from transom.reference.tracks import follow

Rows = tuple[Row, ...]


def window_select(op: WindowSelect, windows: Sequence[Bag]) -> list[Bag]:
    """The tuples of each window for which the predicate is true."""
    return [replace(w, rows=select(op.predicate, op.input.schema, w.rows)) for w in windows]


def select(predicate: Expression, schema: Schema, rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows for which a predicate is true."""
    return tuple(row for row in rows if holds(predicate, RowScope(schema, row)))


def window_project(op: WindowProject, windows: Sequence[Bag]) -> list[Bag]:
    """Each tuple of each window made into another."""
    schema = op.input.schema
    return [replace(w, rows=tuple(project(op.items, RowScope(schema, row)) for row in w.rows)) for w in windows]


def project(items: Sequence[Item], scope: Scope) -> Row:
    """The values of a list of expressions."""
    return tuple(value(item.expression, scope) for item in items)


def window_aggregation(op: WindowAggregation, windows: Sequence[Bag]) -> list[Bag]:
    """Aggregates over each window as if it were a relation (S14, S16)."""
    return [w if w.over else replace(w, rows=aggregate_over_window(op, w.rows)) for w in windows]


def track_aggregation(op: TrackAggregation, windows: Sequence[Bag]) -> list[Bag]:
    """Aggregates over each window, some along the places of its tuples (C7)."""
    return [w if w.over else replace(w, rows=aggregate_over_window(op, w.rows)) for w in windows]


def aggregate_over_window(op: WindowAggregation | TrackAggregation, rows: Sequence[Row]) -> tuple[Row, ...]:
    """One tuple, or one per group; groups come in the order of their values."""
    schema = op.input.schema
    if not op.groups:
        return (tuple(over(a, schema, rows) for a in op.aggregates),)
    groups: dict[tuple[object, ...], tuple[Row, list[Row]]] = {}
    for row in rows:
        key = project(op.groups, RowScope(schema, row))
        groups.setdefault(row_identity(key), (key, []))[1].append(row)
    return tuple(
        key + tuple(over(a, schema, members) for a in op.aggregates)
        for key, members in sorted(groups.values(), key=lambda group: row_key(group[0]))
    )


def over(column: Aggregate | Track, schema: Schema, rows: Sequence[Row]) -> Value:
    """One aggregate column over some tuples."""
    return follow(column, schema, rows) if isinstance(column, Track) else aggregate(column, schema, rows)


def window_distinct(op: WindowDistinct, windows: Sequence[Bag]) -> list[Bag]:
    """Each tuple of each window once."""
    return [replace(w, rows=distinct(w.rows)) for w in windows]


def distinct(rows: Sequence[Row]) -> Rows:
    """The first of equal rows."""
    first: dict[tuple[object, ...], Row] = {}
    for row in rows:
        first.setdefault(row_identity(row), row)
    return tuple(first.values())


def window_first(op: WindowFirst, windows: Sequence[Bag]) -> list[Bag]:
    """The first tuples of each window or of each of its groups, by a value."""
    return [replace(w, rows=first_of_groups(op, w.rows)) for w in windows]


def first_of_groups(op: WindowFirst, rows: Sequence[Row]) -> Rows:
    """The groups in order, of each the tuples with the smallest values."""

    def of(expression: Expression, row: Row) -> Value:
        return value(expression, RowScope(op.input.schema, row))

    groups: dict[tuple[object, ...], list[Row]] = {}
    ranked = [row for row in rows if of(op.by, row) is not None]
    ranked.sort(key=lambda row: (value_key(of(op.by, row)), row_key(row)))
    ranked.sort(key=lambda row: row_key(tuple(of(e, row) for e in op.per)))
    for row in ranked:
        groups.setdefault(row_identity(tuple(of(e, row) for e in op.per)), []).append(row)
    return tuple(row for members in groups.values() for row in members[: op.count])


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


Sides = tuple[Sequence[Bag], Sequence[Bag]]


def at_every_instant(sides: Sides, combine: Callable[[Rows, Rows], Rows]) -> list[Bag]:
    """What two relations give together at the union of their instants (C16)."""
    left, right = sides
    return [Bag(tick, combine(relation(tick, left), relation(tick, right))) for tick in tick_union(left, right)]


def relation_join(op: RelationJoin, sides: Sides) -> list[Bag]:
    """The pairs that make the predicate true, or the tuples of the left that have one or have none."""
    schema = op.left.schema + op.right.schema
    nothing = (None,) * len(op.right.schema)

    def combine(left: Rows, right: Rows) -> Rows:
        found = [(one, select(op.predicate, schema, [one + other for other in right])) for one in left]
        match op.join_type:
            case JoinType.INNER:
                return tuple(pair for _, pairs in found for pair in pairs)
            case JoinType.LEFT:
                return tuple(row for one, pairs in found for row in (pairs or (one + nothing,)))
            case _:
                return tuple(one for one, pairs in found if bool(pairs) is (op.join_type is JoinType.SEMI))

    return at_every_instant(sides, combine)


def relation_union(op: RelationUnion, sides: Sides) -> list[Bag]:
    """The tuples of both."""
    return at_every_instant(sides, lambda left, right: left + right)


def relation_except(op: RelationExcept, sides: Sides) -> list[Bag]:
    """The tuples of the left, each without as many as the right has of it."""
    return at_every_instant(sides, difference)


def relation_intersect(op: RelationIntersect, sides: Sides) -> list[Bag]:
    """The tuples that both have, each as often as both have it."""
    return at_every_instant(sides, lambda left, right: difference(left, difference(left, right)))


def window_cross_product(op: WindowCrossProduct, left: Sequence[Bag], right: Sequence[Bag]) -> list[Bag]:
    """Figure 7: at every tick with a new window, the current windows of both sides, paired."""
    return [pair for tick in tick_union(left, right) for pair in tick_cross_product(tick, left, right)]


def window_join(op: WindowJoin, left: Sequence[Bag], right: Sequence[Bag]) -> list[Bag]:
    """The selection of a cross product."""
    pairs = window_cross_product(WindowCrossProduct(op.left, op.right), left, right)
    return [replace(w, rows=select(op.predicate, op.schema, w.rows)) for w in pairs]


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
