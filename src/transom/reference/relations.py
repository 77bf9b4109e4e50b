"""Figure 4's single-window operators, Figure 7's cross product, and operators on two relations.

002 Defs. 8 to 13 and the operators of SPARQL 1.1 on solutions are the same functions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from operator import add
from typing import TypeAlias, assert_never

from transom.algebra.expressions.expression import TRUE, Column, Expression, NamedExpression
from transom.algebra.expressions.tracks import TrackAggregate
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
)
from transom.algebra.sequences import OrderBy, Slice
from transom.algebra.tree import RelationOperator, WindowwiseOperator
from transom.errors import PlanError
from transom.model.bag import Bag, Row, difference, row_identity, row_key, value_key
from transom.model.rdf.compare import sort_key
from transom.model.rdf.terms import Term, term_order_key
from transom.model.schema import Schema
from transom.model.types import Value
from transom.reference.expressions import (
    ContextFactory,
    EvaluationContext,
    aggregate,
    evaluate_expression,
    is_true,
    row_contexts,
)
from transom.reference.tracks import evaluate_track

Rows: TypeAlias = tuple[Row, ...]
Pairing: TypeAlias = Callable[[Row, Row], Row | None]
"""A function that merges a left and a right row; None if they do not match."""
Snapshot: TypeAlias = WindowwiseOperator | RelationOperator
"""Operators whose output at an instant depends only on their input at that instant."""


def snapshot(op: Snapshot, sides: Sequence[Rows], scopes: ContextFactory = row_contexts) -> Rows:
    """Compute an operator's output rows at a tick from the rows of its inputs at that tick.

    `sides` has the rows of each input; `scopes` wraps rows as evaluation contexts.
    """
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
        case WindowTopK():
            return window_top_k(op, sides[0], scopes)
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


def window_select(op: WindowSelect, rows: Rows, scopes: ContextFactory) -> Rows:
    """Return the rows of a window for which the predicate is true; `scopes` wraps rows as evaluation contexts."""
    return select(op.predicate, rows, scopes(op.input.schema)) if rows else ()


def select(predicate: Expression, rows: Iterable[Row], scope: Callable[[Row], EvaluationContext]) -> Rows:
    """Return the rows for which a predicate is true; `scope` wraps a row as its evaluation context."""
    return tuple(rows if predicate == TRUE else (row for row in rows if is_true(predicate, scope(row))))


def window_project(op: WindowProject, rows: Rows, scopes: ContextFactory) -> Rows:
    """Map each row of a window by the projection's expressions; `scopes` wraps rows as evaluation contexts."""
    if not rows:
        return ()
    scope = scopes(op.input.schema)
    available = {attribute: column for column, attribute in enumerate(op.input.schema)}
    copied = [available.get(i.attribute) if i.expression == Column(i.attribute) else None for i in op.items]
    computed = [item for item, column in zip(op.items, copied) if column is None]
    projected: list[Row] = []
    for row in rows:
        cells = iter(project(computed, scope(row)) if computed else ())
        projected.append(tuple(next(cells) if column is None else row[column] for column in copied))
    return tuple(projected)


def project(items: Sequence[NamedExpression], scope: EvaluationContext) -> Row:
    """Compute the row of a projection's expressions from the row in the context `scope`."""
    return tuple(evaluate_expression(item.expression, scope) for item in items)


def window_aggregation(op: WindowAggregation, rows: Rows, scopes: ContextFactory) -> Rows:
    """Compute one window's aggregates (S14, S16); `scopes` wraps rows as evaluation contexts."""
    return aggregate_over_window(op, rows, scopes)


def track_aggregation(op: TrackAggregation, rows: Rows, scopes: ContextFactory) -> Rows:
    """Compute one window's aggregates, some over trajectories (C7); `scopes` wraps rows as evaluation contexts."""
    return aggregate_over_window(op, rows, scopes)


def aggregate_over_window(
    op: WindowAggregation | TrackAggregation, rows: Sequence[Row], scopes: ContextFactory = row_contexts
) -> Rows:
    """Aggregate one window to one row, or one per group, sorted by group; `scopes` wraps rows for evaluation.

    `scopes` wraps rows as evaluation contexts.
    """
    schema = op.input.schema
    scope = scopes(schema)

    def over(members: Sequence[Row]) -> Row:
        """Return the result row of all aggregates over `members`, the rows of the window or of one group."""
        return tuple(
            evaluate_track(a, schema, members)
            if isinstance(a, TrackAggregate)
            else aggregate(a, schema, members, scopes)
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
    """Return each distinct row of a window once, in the order of first occurrence (R16)."""
    first: dict[tuple[object, ...], Row] = {}
    for row in rows:
        first.setdefault(row_identity(row), row)
    return tuple(first.values())


def window_top_k(op: WindowTopK, rows: Rows, scopes: ContextFactory) -> Rows:
    """Return, for each group, the `op.count` rows with the smallest ranking values, sorted by group.

    `scopes` wraps rows as evaluation contexts.
    """
    scope = scopes(op.input.schema)

    def value_of(expression: Expression, row: Row) -> Value:
        """Evaluate a grouping or ranking expression for a row."""
        return evaluate_expression(expression, scope(row))

    groups: dict[tuple[object, ...], list[Row]] = {}
    ranked = [row for row in rows if value_of(op.by, row) is not None]
    ranked.sort(key=lambda row: (value_key(value_of(op.by, row)), row_key(row)))
    ranked.sort(key=lambda row: row_key(tuple(value_of(e, row) for e in op.per)))
    for row in ranked:
        groups.setdefault(row_identity(tuple(value_of(e, row) for e in op.per)), []).append(row)
    return tuple(row for members in groups.values() for row in members[: op.count])


def order_by(op: OrderBy, rows: Rows, scopes: ContextFactory) -> Rows:
    """SPARQL ORDER BY: return rows sorted by the keys of `op`, equal ones by its tie-breaking columns (R16).

    `scopes` wraps rows as evaluation contexts. See W3C 15.1.
    """
    schema = op.input.schema
    scope = scopes(schema)
    ties = [schema.position(tie.attribute) for tie in op.ties if tie.attribute in schema.attributes]
    sequence = sorted(rows, key=lambda row: [term_order_key(as_term(row[column])) for column in ties])
    for key in reversed(op.keys):
        sequence.sort(
            key=lambda row: sort_key(as_term(evaluate_expression(key.expression, scope(row)))), reverse=key.descending
        )
    return tuple(sequence)


def as_term(value: Value) -> Term | None:
    """Return the value itself if it is an RDF term or NULL; raises PlanError for any other value."""
    if value is not None and not isinstance(value, Term):
        raise PlanError("only terms have SPARQL's order")
    return value


def slice(op: Slice, rows: Rows) -> Rows:
    """OFFSET and LIMIT: skip `op.offset` rows, then keep at most `op.limit` rows (None: all) (R16)."""
    return rows[op.offset :][: op.limit]


def suppress_unchanged(op: SuppressUnchanged, windows: Sequence[Bag]) -> list[Bag]:
    """Keep windows with a row that the previous window of the key lacks, and final windows, which end a key (C5)."""
    return [w for before, w in with_previous_window(windows) if w.is_final or difference(w.rows, before)]


def with_previous_window(windows: Sequence[Bag]) -> list[tuple[Rows, Bag]]:
    """Return a pair (rows of its key's previous window, window) per window; no rows for a key's first window."""
    previous: dict[tuple[object, ...], Rows] = {}
    pairs: list[tuple[Rows, Bag]] = []
    for window in windows:
        key = row_identity(window.key)
        pairs.append((previous.get(key, ()), window))
        previous[key] = window.rows
    return pairs


def window_merge(op: WindowMerge, windows: Sequence[Bag]) -> list[Bag]:
    """Merge per-key windows: whenever a key gets one, return all keys' latest windows as one window (3.4)."""
    return [Bag(tick, relation_at(tick, windows)) for tick in tick_union(windows, [])]


def relation_at(tick: int, windows: Sequence[Bag]) -> Rows:
    """Return the rows of the last window of each key up to a tick, ordered by key; empty if no window exists (C16)."""
    last = {row_identity(w.key): w for w in windows if w.tick <= tick}
    return tuple(row for w in sorted(last.values(), key=lambda w: row_key(w.key)) for row in w.rows)


def at_every_instant(op: RelationOperator, left: Sequence[Bag], right: Sequence[Bag]) -> list[Bag]:
    """Apply a join or set operation to the latest windows of two inputs, at each tick at which either has a new one."""
    ticks = tick_union(left, right)
    return [Bag(tick, snapshot(op, (relation_at(tick, left), relation_at(tick, right)))) for tick in ticks]


def relation_join(op: RelationJoin, sides: Sequence[Rows], scopes: ContextFactory) -> Rows:
    """Join the rows of two relations at one tick, as op.join_type says; `scopes` wraps rows for conditions.

    They are pairs, for LEFT also NULL-padded left rows; for SEMI and ANTI left rows alone. `scopes` wraps rows as
    evaluation contexts.
    """
    left, right = sides
    schema = op.pair_schema
    pair: Pairing = add
    nulls = (None,) * (len(schema) - len(op.left.schema))
    if op.natural:
        pair = compatible_pairing(op.left.schema, op.right.schema, overlap=op.join_type is JoinType.ANTI)
    candidates = ((row, [both for other in right if (both := pair(row, other)) is not None]) for row in left)
    matches = [(row, select(op.predicate, pairs, scopes(schema))) for row, pairs in candidates]
    match op.join_type:
        case JoinType.INNER:
            return tuple(pair for _, pairs in matches for pair in pairs)
        case JoinType.LEFT:
            return tuple(result for row, pairs in matches for result in (pairs or (row + nulls,)))
        case _:
            return tuple(row for row, pairs in matches if bool(pairs) is (op.join_type is JoinType.SEMI))


def compatible_pairing(left: Schema, right: Schema, *, overlap: bool = False) -> Pairing:
    """Return a function that merges two rows, None if they conflict; `overlap`: they must also share a set column.

    NULL agrees with any value. With `overlap`, both rows must have a value in some common column (W3C 18.5).
    """
    left_columns = {attribute: column for column, attribute in enumerate(left)}
    common = [(left_columns[attribute], column) for column, attribute in enumerate(right) if attribute in left_columns]
    right_only = [column for column, attribute in enumerate(right) if attribute not in left_columns]

    def pair(first: Row, second: Row) -> Row | None:
        """Merge two rows; None if they differ in a common column or, with `overlap`, share no value in any."""
        overlaps, merged = False, list(first)
        for left_column, right_column in common:
            cell, other = first[left_column], second[right_column]
            if cell is None:
                merged[left_column] = other
            elif other is not None:
                if cell is not other and cell != other:
                    return None
                overlaps = True
        return (*merged, *(second[column] for column in right_only)) if overlaps or not overlap else None

    return pair


def relation_union(op: RelationUnion, sides: Sequence[Rows]) -> Rows:
    """UNION ALL at one tick: the rows of both inputs.

    With `op.by_name` columns are matched by name, otherwise by order (R7).
    """
    left, right = sides
    if not op.by_name:
        return left + right
    schema = op.schema
    return align_columns(left, op.left.schema, schema) + align_columns(right, op.right.schema, schema)


def align_columns(rows: Rows, source: Schema, target: Schema) -> Rows:
    """Rearrange rows of the schema `source` to the columns of `target`; NULL where `source` lacks a column."""
    if source == target:
        return rows
    available = {attribute: column for column, attribute in enumerate(source)}
    columns = [available.get(attribute) for attribute in target]
    return tuple(tuple(None if column is None else row[column] for column in columns) for row in rows)


def relation_except(op: RelationExcept, sides: Sequence[Rows]) -> Rows:
    """EXCEPT ALL at one tick: the left rows, from which each right row removes one equal row."""
    return difference(*sides)


def relation_intersect(op: RelationIntersect, sides: Sequence[Rows]) -> Rows:
    """INTERSECT ALL at one tick: each row, as often as in the input that has fewer copies of it."""
    left, right = sides
    return difference(left, difference(left, right))


def window_cross_product(op: WindowCrossProduct, left: Sequence[Bag], right: Sequence[Bag]) -> list[Bag]:
    """Return the product of each pair of current windows, at every tick at which an input has a window (Figure 7)."""
    lefts, rights = current_windows(left), current_windows(right)
    return [pair for tick in tick_union(left, right) for pair in tick_cross_product(lefts(tick), rights(tick))]


def window_join(op: WindowJoin, left: Sequence[Bag], right: Sequence[Bag]) -> list[Bag]:
    """Return the windows of the cross product, each with only the rows for which the predicate is true."""
    pairs = window_cross_product(WindowCrossProduct(op.left, op.right), left, right)
    scope = row_contexts(op.schema)
    return [replace(w, rows=select(op.predicate, w.rows, scope)) for w in pairs]


def tick_union(left: Sequence[Bag], right: Sequence[Bag]) -> list[int]:
    """Return the ticks at which `left` or `right` has a window, each once, in order (getTickUnion; S9)."""
    return sorted({w.tick for w in left} | {w.tick for w in right})


def tick_cross_product(lefts: Sequence[Bag], rights: Sequence[Bag]) -> list[Bag]:
    """Return the products of all pairs of windows that are current at a tick, in the order of the left ones (S10)."""
    return [concat_windows(first, second) for first in lefts for second in rights]


def current_windows(windows: Sequence[Bag]) -> Callable[[int], list[Bag]]:
    """Return a function that gives, for a tick, each key's windows of the last tick that had any (S8).

    With several keys, every window of the last tick of its key; the final bag of a key counts only at its own tick. The
    current windows have the order of `windows`.
    """
    by_key: dict[Hashable, dict[int, list[int]]] = {}
    for number, w in enumerate(windows):
        by_key.setdefault(row_identity(w.key), {}).setdefault(w.tick, []).append(number)
    of_keys = [(sorted(by_tick), by_tick) for by_tick in by_key.values()]

    def at(tick: int) -> list[Bag]:
        """Return, per key, all windows of its last tick <= `tick` with any; one that ends a key only at its tick."""
        numbers: list[int] = []
        for ticks, by_tick in of_keys:
            past = bisect_right(ticks, tick)
            numbers += by_tick[ticks[past - 1]] if past else []
        current = [windows[number] for number in sorted(numbers)]
        return [w for w in current if not w.is_final or w.tick == tick]

    return at


def concat_windows(left: Bag, right: Bag) -> Bag:
    """Return the product of two windows: every left row joined to every right row, at the later of their ticks."""
    rows = tuple(first + second for first in left.rows for second in right.rows)
    return Bag(max(left.tick, right.tick), rows, left.key + right.key, left.is_final or right.is_final)
