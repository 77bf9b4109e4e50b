"""Columns that no operator reads are removed below windows."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from transom.algebra.expressions.expression import Aggregate, Expression, columns_read, identity_items
from transom.algebra.expressions.tracks import TrackAggregate
from transom.algebra.operator import Operator, Stream, Windows
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    TrackAggregation,
    WindowAggregation,
    WindowCrossProduct,
    WindowJoin,
    WindowMerge,
    WindowProject,
    WindowSelect,
)
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive
from transom.algebra.streams import Renumber, SpeedLimit, StreamProject, StreamSelect
from transom.algebra.windows import Window
from transom.model.schema import Attribute
from transom.optimizer.rule import RuleContext


def prune_columns(op: Operator, context: RuleContext) -> Operator | None:
    """Below a projection or an aggregation, remove the columns that no operator reads.

    The rule does not cross ISTREAM and DSTREAM, which compare whole tuples, nor operators that compare tuples inside
    windows.
    """
    match op:
        case WindowProject(input=below, items=items):
            needed = {a for item in items for a in columns_read(item.expression)}
        case WindowAggregation(input=below, groups=groups, aggregates=aggregates):
            expressions = [item.expression for item in groups] + [
                a.argument for a in aggregates if a.argument is not None
            ]
            needed = {a for expression in expressions for a in columns_read(expression)}
        case TrackAggregation(input=below, groups=groups, aggregates=tracks):
            expressions = [item.expression for item in groups] + [
                e for track in tracks for e in expressions_read_by(track)
            ]
            needed = {a for expression in expressions for a in columns_read(expression)}
        case _:
            return None
    narrowed = narrow_windows(below, needed)
    return None if narrowed == below else replace(op, input=narrowed)


def expressions_read_by(aggregate: Aggregate | TrackAggregate) -> list[Expression]:
    """The expressions over input columns that an aggregate or a track aggregate evaluates."""
    if isinstance(aggregate, TrackAggregate):
        return [aggregate.point, aggregate.tick]
    return [] if aggregate.argument is None else [aggregate.argument]


def narrow_windows(windows: Windows, needed: Set[Attribute], *, in_product: bool = False) -> Windows:
    """Drop columns not in `needed` from a plan; tables and projections keep theirs unless below a join (`in_product`).

    A table or projection is narrowed only with `in_product`: below a product or join, which would repeat its columns.
    """
    match windows:
        case WindowSelect(input=below, predicate=predicate):
            return WindowSelect(
                narrow_windows(below, needed | columns_read(predicate), in_product=in_product), predicate
            )
        case WindowCrossProduct(left=left, right=right):
            return WindowCrossProduct(
                narrow_windows(left, needed, in_product=True), narrow_windows(right, needed, in_product=True)
            )
        case WindowJoin(left=left, right=right, predicate=predicate):
            needed_by_join = needed | columns_read(predicate)
            return WindowJoin(
                narrow_windows(left, needed_by_join, in_product=True),
                narrow_windows(right, needed_by_join, in_product=True),
                predicate,
            )
        case RelationJoin(join_type=JoinType.INNER | JoinType.LEFT | JoinType.SEMI):
            needed_by_join = needed | columns_read(windows.predicate)
            left, right = (
                narrow_windows(side, needed_by_join, in_product=True) for side in (windows.left, windows.right)
            )
            return replace(windows, left=left, right=right)
        case WindowMerge(input=below):
            return WindowMerge(narrow_windows(below, needed, in_product=in_product))
        case WindowProject(items=items) if in_product:
            remaining = needed_attributes(tuple(item.attribute for item in items), needed)
            return replace(windows, items=tuple(item for item in items if item.attribute in remaining))
        case Window(input=StoredTable() as table) if in_product:
            remaining = needed_attributes(table.schema.attributes, needed)
            return windows if len(remaining) == len(table.schema) else WindowProject(windows, identity_items(remaining))
        case Window(input=stream) if not isinstance(stream, StoredTable):
            tags = tuple(tag for tag in windows.tags if tag in needed)
            if not windows.in_space:
                windows = replace(windows, position=None)
            narrowed = narrow_stream(stream, needed | set(windows.key) | set(windows.position_columns))
            return replace(windows, input=narrowed, tags=tags)
        case _:
            return windows


def narrow_stream(stream: Stream, needed: Set[Attribute]) -> Stream:
    """Remove the columns of a stream plan that are not in `needed`, where possible; at least one column remains."""
    match stream:
        case StreamSelect(input=below, predicate=predicate) if columns_read(predicate) <= needed:
            return StreamSelect(narrow_stream(below, needed), predicate)
        case Renumber(input=below):
            return Renumber(narrow_stream(below, needed))
        case SpeedLimit(input=below, key=key):
            return replace(stream, input=narrow_stream(below, {*needed, *key, *stream.position_columns}))
        case StreamProject(input=below, items=items):
            remaining = needed_attributes(tuple(item.attribute for item in items), needed)
            return StreamProject(below, tuple(item for item in items if item.attribute in remaining))
        case StreamAcquire() | StreamReceive() | StreamSelect():
            remaining = needed_attributes(stream.schema.attributes, needed)
            return stream if len(remaining) == len(stream.schema) else StreamProject(stream, identity_items(remaining))
        case _:
            return stream


def needed_attributes(attributes: tuple[Attribute, ...], needed: Set[Attribute]) -> tuple[Attribute, ...]:
    """Return the attributes that are needed; if none is, the first one, since a tuple has at least one attribute."""
    return tuple(a for a in attributes if a in needed) or attributes[:1]
