"""Operators on streams of windows: each window is treated as if it were a relation.

SPARQL's solutions are such relations: a column of terms per variable, NULL where it is unbound, one window per instant.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from transom.algebra.check import check_items, check_predicate, check_reads
from transom.algebra.expressions import Aggregate, Column, Expression, Item, Literal
from transom.algebra.operator import Windows
from transom.algebra.tracks import Track
from transom.errors import PlanError
from transom.model.schema import Schema
from transom.model.types import Type


@dataclass(frozen=True, slots=True)
class WindowSelect(Windows):
    """The tuples of each window for which a predicate is true.

    Meaning  filter inside each window; a window that loses all its tuples stays, empty. An error is not true (R12).
    Bounds   the tick of a window does not change, and is no part of the predicate (R12).
    Source   000 Fig. 4, Sec. 6.2; 002 Def. 8.
    State    none; with EXISTS, what is valid of its pattern.
    """

    input: Windows
    predicate: Expression

    def __post_init__(self) -> None:
        check_predicate(self.predicate, self.input.schema, on_stream=False)

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class WindowProject(Windows):
    """Each tuple of each window made into another by a list of expressions.

    Meaning  map inside each window; duplicates stay (R7), and so does an order. BIND adds a column in this way, with
             NULL where its expression is an error.
    Bounds   the tick of a window does not change. Only a relation of terms may lose all its columns.
    Source   000 Figs. 3, 4 projectOnWindow; 002 Sec. 4 (projection); W3C 18.5.
    State    none; with EXISTS, what is valid of its pattern.
    """

    input: Windows
    items: tuple[Item, ...]

    def __post_init__(self) -> None:
        check_items(self.items, self.input.schema, on_stream=False, may_be_empty=of_terms(self.input))

    @property
    def schema(self) -> Schema:
        return Schema(tuple(item.attribute for item in self.items))


@dataclass(frozen=True, slots=True)
class WindowAggregation(Windows):
    """Aggregates over each window, or over each group of its tuples.

    Meaning  without groups one tuple per window, over no tuples too: COUNT 0, others NULL; with groups one tuple
             per group that has tuples (S14, S16), in the order of the group's values.
    Bounds   the tick of a window does not change. Of terms, a group or an aggregate that is an error is NULL.
    Source   000 Fig. 4 aggregateOverWindow; W3C 18.5.1.
    State    none; over solutions, what is valid of the input.
    """

    input: Windows
    groups: tuple[Item, ...]
    aggregates: tuple[Aggregate, ...]

    def __post_init__(self) -> None:
        check_items(self.groups, self.input.schema, on_stream=False, may_be_empty=bool(self.aggregates))
        for aggregate in self.aggregates:
            if aggregate.argument is not None:
                check_reads(aggregate.argument, self.input.schema, on_stream=False)
        _ = self.schema

    @property
    def schema(self) -> Schema:
        groups = tuple(item.attribute for item in self.groups)
        return Schema(groups + tuple(aggregate.attribute for aggregate in self.aggregates))


@dataclass(frozen=True, slots=True)
class WindowCrossProduct(Windows):
    """Every current window of one side paired with every current window of the other.

    Meaning  at each tick with a new window on some side, the windows of the last tick <= it of both sides are
             paired, left-major; a pair holds every tuple of one concatenated with every tuple of the other.
    Bounds   nothing before both sides have a window (S8); the pair's tick is the later of the two (S9).
    Source   000 Fig. 7.
    State    the current windows of both sides.
    """

    left: Windows
    right: Windows

    def __post_init__(self) -> None:
        _ = self.schema

    @property
    def schema(self) -> Schema:
        return self.left.schema + self.right.schema


@dataclass(frozen=True, slots=True)
class WindowJoin(Windows):
    """A cross product that keeps only the tuples for which a predicate is true.

    Meaning  WindowSelect(predicate, WindowCrossProduct(left, right)).
    Bounds   as the cross product; windows without a match are empty windows.
    Source   000 Sec. 6.2 ("rewrite selections over cross products into joins").
    State    the current windows of both sides.
    """

    left: Windows
    right: Windows
    predicate: Expression

    def __post_init__(self) -> None:
        check_predicate(self.predicate, self.schema, on_stream=False)

    @property
    def schema(self) -> Schema:
        return self.left.schema + self.right.schema


@dataclass(frozen=True, slots=True)
class TrackAggregation(Windows):
    """Aggregates over each window or group of which some follow the places of its tuples through time.

    Meaning  as WindowAggregation; a track goes through the tuples by tick, ties in the order of the window (C24).
    Bounds   a speed over nothing or over no time is NULL; a query that gives no tuple then selects those that are
             not (C7, C26). The tick of a window does not change.
    Source   001 Sec. 2 AvgSpd.
    State    none.
    """

    input: Windows
    groups: tuple[Item, ...]
    aggregates: tuple[Aggregate | Track, ...]

    def __post_init__(self) -> None:
        check_items(self.groups, self.input.schema, on_stream=False, may_be_empty=True)
        if not any(isinstance(aggregate, Track) for aggregate in self.aggregates):
            raise PlanError("a track aggregation has a track")
        for aggregate in self.aggregates:
            if isinstance(aggregate, Track):
                check_reads(aggregate.place, self.input.schema, on_stream=False)
                check_reads(aggregate.tick, self.input.schema, on_stream=False)
            elif aggregate.argument is not None:
                check_reads(aggregate.argument, self.input.schema, on_stream=False)

    @property
    def schema(self) -> Schema:
        groups = tuple(item.attribute for item in self.groups)
        return Schema(groups + tuple(aggregate.attribute for aggregate in self.aggregates))


@dataclass(frozen=True, slots=True)
class WindowDistinct(Windows):
    """Each tuple of each window once.

    Meaning  the first of equal tuples stays, so an order stays too; NULL equals NULL here. REDUCED is the same (R16).
    Bounds   the tick of a window does not change.
    Source   CQL (SELECT DISTINCT); 002 Sec. 4 (duplicate elimination, duplicate reduction).
    State    none; over solutions, what is valid of the input.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class WindowFirst(Windows):
    """The first so many tuples of each window, or of each group of its tuples, by a value.

    Meaning  the smallest values first, ties by the tuples themselves; a tuple without a value is never among them.
    Bounds   fewer where there are fewer; groups by `per`, in the order of their values.
    Source   001 Sec. 1 (nearest neighbours, mentioned).
    State    none.
    """

    input: Windows
    per: tuple[Expression, ...]
    by: Expression
    count: int

    def __post_init__(self) -> None:
        for expression in (*self.per, self.by):
            check_reads(expression, self.input.schema, on_stream=False)
        if self.count < 1:
            raise PlanError("the first tuples are at least one")

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class WindowGrown(Windows):
    """Only those windows to which a tuple was added.

    Meaning  a window stays if current \\\\ previous has a tuple, previous being the window of its key before it.
    Bounds   the first window is compared with the empty one. It stands above the conditions on a lone region or
             everything, so that RStream re-emits only when a tuple was added to its input (C5, C29).
    Source   001 Sec. 3.2.1 ("for each tuple added to its input relation").
    State    the previous window; over a range that never evicts, its number of tuples.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class WindowMerge(Windows):
    """The windows of all keys as one.

    Meaning  at every tick with a new window, the union over the keys of the last window of each (3.4).
    Bounds   one window per tick, in the order of the keys.
    Source   001 Def. 2.2: R(t) is one bag.
    State    the last window of every key.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        return self.input.schema


class JoinType(Enum):
    """What a join emits of two sides; a mark join emits every left row with whether it matches."""

    INNER = "join"
    LEFT = "left join"
    SEMI = "semi join"
    ANTI = "anti join"
    MARK = "mark join"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class RelationJoin(Windows):
    """Pairs of tuples of two relations for which a predicate is true, or the left tuples that have a pair or have none.

    Meaning  at every tick at which one side has a window: the pairs of R(t) and S(t), left-major; R(t) is the last
             window, for several keys the union of the last of each. A left join adds the left tuples without a pair,
             with NULL for the right (R14, R26). A semi join gives the left tuples with a pair, an anti join those
             without one; NOT IN is an anti join whose predicate is also true where the comparison is unknown. In a
             natural join, tuples pair that have no two different values in a common column, where NULL fits any value
             (R7, R22); a pair has common columns once. MINUS is a natural anti join: a pair counts there if both of its
             tuples have a value in some common column.
    Bounds   a side that has not started is empty (C16); one window per tick. A predicate that is an error is not true.
    Source   001 Def. 2.2, Sec. 3.1; CQL (LEFT JOIN, IN, EXISTS); 002 Defs. 10, 12, 13, corrected; W3C 18.5.
    State    the relations of both sides.
    """

    left: Windows
    right: Windows
    predicate: Expression
    join_type: JoinType = JoinType.INNER
    natural: bool = False

    def __post_init__(self) -> None:
        if self.join_type is JoinType.MARK:
            raise PlanError("a relation has no column for the mark of a mark join")
        if self.natural and not (of_terms(self.left) and of_terms(self.right)):
            raise PlanError("only relations of terms have a natural join")
        check_predicate(self.predicate, self.pair, on_stream=False)

    @property
    def pair(self) -> Schema:
        """The columns of a pair of tuples, which the predicate reads."""
        if not self.natural:
            return self.left.schema + self.right.schema
        return merged(self.left.schema, self.right.schema)

    @property
    def schema(self) -> Schema:
        return self.left.schema if self.join_type in (JoinType.SEMI, JoinType.ANTI) else self.pair


@dataclass(frozen=True, slots=True)
class RelationUnion(Windows):
    """All tuples of two relations.

    Meaning  the tuples of R(t) and then those of S(t): UNION ALL (R7); UNION is the distinct ones of it. By name, a
             column that one side lacks is NULL in its tuples.
    Bounds   instants as RelationJoin; unless by name, both sides have columns of the same types, named as on the left.
    Source   CQL (UNION); 002 Def. 9 (UNION, and windows of several streams; R7, R10).
    State    the relations of both sides; over solutions none, as the sides are read in step (R24).
    """

    left: Windows
    right: Windows
    by_name: bool = False

    def __post_init__(self) -> None:
        if not self.by_name:
            _check_alike(self.left.schema, self.right.schema)
        elif not (of_terms(self.left) and of_terms(self.right)):
            raise PlanError("only relations of terms have a union by name")

    @property
    def schema(self) -> Schema:
        return merged(self.left.schema, self.right.schema) if self.by_name else self.left.schema


@dataclass(frozen=True, slots=True)
class RelationExcept(Windows):
    """The tuples of one relation without those of another.

    Meaning  bag difference R(t) \\\\ S(t): EXCEPT ALL; EXCEPT is that with a distinct left side.
    Bounds   as RelationUnion; NULL equals NULL here.
    Source   CQL (EXCEPT).
    State    the relations of both sides.
    """

    left: Windows
    right: Windows

    def __post_init__(self) -> None:
        _check_alike(self.left.schema, self.right.schema)

    @property
    def schema(self) -> Schema:
        return self.left.schema


@dataclass(frozen=True, slots=True)
class RelationIntersect(Windows):
    """The tuples that two relations have in common.

    Meaning  each tuple as often as in the side that has it least: INTERSECT ALL; INTERSECT is the distinct ones.
    Bounds   as RelationUnion; NULL equals NULL here.
    Source   CQL (INTERSECT).
    State    the relations of both sides.
    """

    left: Windows
    right: Windows

    def __post_init__(self) -> None:
        _check_alike(self.left.schema, self.right.schema)

    @property
    def schema(self) -> Schema:
        return self.left.schema


def _check_alike(left: Schema, right: Schema) -> None:
    if [a.type for a in left] != [a.type for a in right]:
        raise PlanError(f"{left} and {right} do not have columns of the same types")


def merged(left: Schema, right: Schema) -> Schema:
    """The columns of two relations, common ones once."""
    return Schema(tuple(dict.fromkeys((*left, *right))))


def of_terms(op: Windows) -> bool:
    """Whether a relation has statements or solutions: each of its columns holds terms."""
    return all(attribute.type is Type.TERM for attribute in op.schema)


def restricts(op: WindowProject) -> bool:
    """Whether a projection only keeps columns: SELECT, which hides all other variables, in contrast to BIND."""
    return all(item.expression in (Column(item.attribute), Literal(None, item.attribute.type)) for item in op.items)
