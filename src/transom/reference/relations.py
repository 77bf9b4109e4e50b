"""Figure 4's single-window operators, and Figure 7's cross product."""

from __future__ import annotations

from collections.abc import Sequence

from transom.algebra.expressions import Expression, Item
from transom.algebra.relations import (
    WindowAggregation,
    WindowCrossProduct,
    WindowJoin,
    WindowProject,
    WindowSelect,
)
from transom.model.bag import Bag, Row, row_identity, row_key
from transom.model.schema import Schema
from transom.reference.expressions import Scope, aggregate, holds, value


def window_select(op: WindowSelect, windows: Sequence[Bag]) -> list[Bag]:
    """The tuples of each window for which the predicate is true."""
    return [Bag(w.tick, select(op.predicate, op.input.schema, w.rows)) for w in windows]


def select(predicate: Expression, schema: Schema, rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows for which a predicate is true."""
    return tuple(row for row in rows if holds(predicate, Scope(schema, row)))


def window_project(op: WindowProject, windows: Sequence[Bag]) -> list[Bag]:
    """Each tuple of each window made into another."""
    schema = op.input.schema
    return [Bag(w.tick, tuple(project(op.items, Scope(schema, row)) for row in w.rows)) for w in windows]


def project(items: Sequence[Item], scope: Scope) -> Row:
    """The values of a list of expressions."""
    return tuple(value(item.expression, scope) for item in items)


def window_aggregation(op: WindowAggregation, windows: Sequence[Bag]) -> list[Bag]:
    """Aggregates over each window as if it were a relation (S14, S16)."""
    return [Bag(w.tick, aggregate_over_window(op, w.rows)) for w in windows]


def aggregate_over_window(op: WindowAggregation, rows: Sequence[Row]) -> tuple[Row, ...]:
    """One tuple, or one per group; groups come in the order of their values."""
    schema = op.input.schema
    if not op.groups:
        return (tuple(aggregate(a, schema, rows) for a in op.aggregates),)
    groups: dict[tuple[object, ...], tuple[Row, list[Row]]] = {}
    for row in rows:
        key = project(op.groups, Scope(schema, row))
        groups.setdefault(row_identity(key), (key, []))[1].append(row)
    return tuple(
        key + tuple(aggregate(a, schema, members) for a in op.aggregates)
        for key, members in sorted(groups.values(), key=lambda group: row_key(group[0]))
    )


def window_cross_product(op: WindowCrossProduct, left: Sequence[Bag], right: Sequence[Bag]) -> list[Bag]:
    """Figure 7: at every tick with a new window, the current windows of both sides, paired."""
    return [pair for tick in tick_union(left, right) for pair in tick_cross_product(tick, left, right)]


def window_join(op: WindowJoin, left: Sequence[Bag], right: Sequence[Bag]) -> list[Bag]:
    """The selection of a cross product."""
    pairs = window_cross_product(WindowCrossProduct(op.left, op.right), left, right)
    return [Bag(w.tick, select(op.predicate, op.schema, w.rows)) for w in pairs]


def tick_union(left: Sequence[Bag], right: Sequence[Bag]) -> list[int]:
    """getTickUnion: the ticks of both sides, each once, in order (S9)."""
    return sorted({w.tick for w in left} | {w.tick for w in right})


def tick_cross_product(tick: int, left: Sequence[Bag], right: Sequence[Bag]) -> list[Bag]:
    """All pairs of the most recent windows at or before a tick, left-major (S10)."""
    return [concat_windows(one, other) for one in current(tick, left) for other in current(tick, right)]


def current(tick: int, windows: Sequence[Bag]) -> list[Bag]:
    """findLastTick and getWindowsAtTick: every window of the last tick that has any; none before the first (S8)."""
    last = max((w.tick for w in windows if w.tick <= tick), default=None)
    return [w for w in windows if w.tick == last]


def concat_windows(left: Bag, right: Bag) -> Bag:
    """windowCrossProduct: every tuple of one with every tuple of the other, at the later tick."""
    return Bag(max(left.tick, right.tick), tuple(one + other for one in left.rows for other in right.rows))
