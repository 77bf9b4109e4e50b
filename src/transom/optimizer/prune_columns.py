"""Columns that nobody reads do not enter windows."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from transom.algebra.expressions import Aggregate, Expression, columns, unchanged
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
from transom.algebra.streams import Renumber, StreamProject, StreamSelect, WithoutJumps
from transom.algebra.tracks import Track
from transom.algebra.windows import Window
from transom.model.schema import Attribute
from transom.optimizer.rule import Context


def prune_columns(op: Operator, context: Context) -> Operator | None:
    """Keep below a projection or an aggregation only the columns that it and the operators between read.

    Converters are not crossed: ISTREAM and DSTREAM compare whole tuples. Nor is what compares tuples inside windows.
    """
    match op:
        case WindowProject(input=below, items=items):
            needed = {a for item in items for a in columns(item.expression)}
        case WindowAggregation(input=below, groups=groups, aggregates=aggregates):
            read = [item.expression for item in groups] + [a.argument for a in aggregates if a.argument is not None]
            needed = {a for expression in read for a in columns(expression)}
        case TrackAggregation(input=below, groups=groups, aggregates=tracks):
            read = [item.expression for item in groups] + [e for track in tracks for e in read_by(track)]
            needed = {a for expression in read for a in columns(expression)}
        case _:
            return None
    narrowed = narrow(below, needed)
    return None if narrowed == below else replace(op, input=narrowed)


def read_by(aggregate: Aggregate | Track) -> list[Expression]:
    """What an aggregate reads of a tuple."""
    if isinstance(aggregate, Track):
        return [aggregate.place, aggregate.tick]
    return [] if aggregate.argument is None else [aggregate.argument]


def narrow(windows: Windows, needed: Set[Attribute], *, in_product: bool = False) -> Windows:
    """Windows with no more columns than needed, where that can be had; one column always stays.

    A scanned table is narrowed only where a product multiplies its columns.
    """
    match windows:
        case WindowSelect(input=below, predicate=predicate):
            return WindowSelect(narrow(below, needed | columns(predicate), in_product=in_product), predicate)
        case WindowCrossProduct(left=left, right=right):
            return WindowCrossProduct(narrow(left, needed, in_product=True), narrow(right, needed, in_product=True))
        case WindowJoin(left=left, right=right, predicate=predicate):
            wanted = needed | columns(predicate)
            return WindowJoin(narrow(left, wanted, in_product=True), narrow(right, wanted, in_product=True), predicate)
        case RelationJoin(join_type=JoinType.INNER | JoinType.LEFT | JoinType.SEMI):
            wanted = needed | columns(windows.predicate)
            left, right = (narrow(side, wanted, in_product=True) for side in (windows.left, windows.right))
            return replace(windows, left=left, right=right)
        case WindowMerge(input=below):
            return WindowMerge(narrow(below, needed, in_product=in_product))
        case WindowProject(items=items) if in_product:
            kept = keep(tuple(item.attribute for item in items), needed)
            return replace(windows, items=tuple(item for item in items if item.attribute in kept))
        case Window(input=StoredTable() as table) if in_product:
            kept = keep(table.schema.attributes, needed)
            return windows if len(kept) == len(table.schema) else WindowProject(windows, unchanged(kept))
        case Window(input=stream) if not isinstance(stream, StoredTable):
            tags = tuple(tag for tag in windows.tags if tag in needed)
            if not windows.in_space:
                windows = replace(windows, position=None)
            kept_below = narrow_stream(stream, needed | set(windows.key) | set(windows.place))
            return replace(windows, input=kept_below, tags=tags)
        case _:
            return windows


def narrow_stream(stream: Stream, needed: Set[Attribute]) -> Stream:
    """A stream with no more columns than needed, where that can be had."""
    match stream:
        case StreamSelect(input=below, predicate=predicate) if columns(predicate) <= needed:
            return StreamSelect(narrow_stream(below, needed), predicate)
        case Renumber(input=below):
            return Renumber(narrow_stream(below, needed))
        case WithoutJumps(input=below, key=key):
            return replace(stream, input=narrow_stream(below, {*needed, *key, *stream.place}))
        case StreamProject(input=below, items=items):
            kept = keep(tuple(item.attribute for item in items), needed)
            return StreamProject(below, tuple(item for item in items if item.attribute in kept))
        case StreamAcquire() | StreamReceive() | StreamSelect():
            kept = keep(stream.schema.attributes, needed)
            return stream if len(kept) == len(stream.schema) else StreamProject(stream, unchanged(kept))
        case _:
            return stream


def keep(attributes: tuple[Attribute, ...], needed: Set[Attribute]) -> tuple[Attribute, ...]:
    """The attributes that are needed, or the first if none is: a tuple has at least one."""
    return tuple(a for a in attributes if a in needed) or attributes[:1]
