"""Operators on streams of windows, each of which is a relation; the solutions of SPARQL are relations, too."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from transom.algebra.check import check_items, check_predicate, check_reads, check_same_types
from transom.algebra.expressions.expression import Aggregate, Column, Constant, Expression, NamedExpression
from transom.algebra.expressions.tracks import TrackAggregate
from transom.algebra.operator import Windows
from transom.errors import PlanError
from transom.model.schema import Schema, merged_schema
from transom.model.types import Type


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class WindowSelect(Windows):
    """The tuples of each window for which a predicate is true.

    Meaning  a window may become empty. An error counts as false (R12).
    Bounds   the tick of a window does not change, and the predicate cannot read the tick (R12).
    Source   000 Fig. 4, Sec. 6.2; 002 Def. 8.
    State    none. With EXISTS in the predicate, the operator keeps the valid solutions of the EXISTS pattern.
    """

    input: Windows
    predicate: Expression

    def __post_init__(self) -> None:
        """Raise PlanError unless the predicate is boolean and reads only columns of the input."""
        check_predicate(self.predicate, self.input.schema, on_stream=False)

    @property
    def schema(self) -> Schema:
        """The columns of the input, unchanged."""
        return self.input.schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class WindowProject(Windows):
    """Windows with new values: a list of expressions computes a new tuple from each tuple.

    Meaning  duplicates are kept, and the tuples keep their order (R7). If a BIND gives an error, the variable is NULL.
    Bounds   the tick of a window does not change. The list of expressions may be empty, but only over RDF terms.
    Source   000 Figs. 3, 4 projectOnWindow; 002 Sec. 4 (projection); W3C 18.5.
    State    none. With EXISTS in an expression, the operator keeps the valid solutions of the EXISTS pattern.
    """

    input: Windows
    items: tuple[NamedExpression, ...]

    def __post_init__(self) -> None:
        """Raise PlanError unless the expressions read only columns of the input and have distinct names."""
        check_items(self.items, self.input.schema, on_stream=False, may_be_empty=holds_terms(self.input))

    @property
    def schema(self) -> Schema:
        """The columns that the expressions compute."""
        return Schema(tuple(item.attribute for item in self.items))


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class WindowAggregation(Windows):
    """Aggregates over each window, or over each group of its tuples.

    Meaning  without groups, each window gives one tuple. For an empty window, COUNT is 0 and other aggregates are NULL.
             With groups, each nonempty group gives one tuple. The groups are in the order of their values (S14, S16).
    Bounds   the tick of a window does not change. Over RDF terms, an error becomes NULL.
    Source   000 Fig. 4 aggregateOverWindow; W3C 18.5.1.
    State    none over rows. Over solutions, the operator keeps the valid solutions of its input.
    """

    input: Windows
    groups: tuple[NamedExpression, ...]
    aggregates: tuple[Aggregate, ...]

    def __post_init__(self) -> None:
        """Raise PlanError unless groups and aggregates read only columns of the input and have distinct names."""
        check_items(self.groups, self.input.schema, on_stream=False, may_be_empty=bool(self.aggregates))
        for aggregate in self.aggregates:
            if aggregate.argument is not None:
                check_reads(aggregate.argument, self.input.schema, on_stream=False)
        _ = self.schema

    @property
    def schema(self) -> Schema:
        """The grouping columns, then the columns of the aggregates."""
        groups = tuple(item.attribute for item in self.groups)
        return Schema(groups + tuple(aggregate.attribute for aggregate in self.aggregates))


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class WindowCrossProduct(Windows):
    """All pairs of a current window of the left side and a current window of the right side.

    Meaning  the current windows of a side are its windows of the last tick at which this side had a window. When a side
             gets a new window, new pairs are made. In a pair, each left tuple is joined with each right tuple.
    Bounds   there are no pairs before both sides have a window (S8). The tick of a pair is the tick of the newer one of
             its two windows (S9).
    Source   000 Fig. 7.
    State    the current windows of both sides.
    """

    left: Windows
    right: Windows

    def __post_init__(self) -> None:
        """Raise PlanError if a column occurs in both the left and the right input."""
        _ = self.schema

    @property
    def schema(self) -> Schema:
        """The columns of the left input, then those of the right."""
        return self.left.schema + self.right.schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class WindowJoin(Windows):
    """A cross product that keeps only the tuples for which a predicate is true.

    Meaning  the result is the same as that of WindowSelect(predicate, WindowCrossProduct(left, right)).
    Bounds   there are no pairs before both sides have a window. If no tuples match, the window of a pair is empty.
    Source   000 Sec. 6.2 ("rewrite selections over cross products into joins").
    State    the current windows of both sides.
    """

    left: Windows
    right: Windows
    predicate: Expression

    def __post_init__(self) -> None:
        """Raise PlanError unless the predicate is boolean and reads only columns of the two inputs."""
        check_predicate(self.predicate, self.schema, on_stream=False)

    @property
    def schema(self) -> Schema:
        """The columns of the left input, then those of the right."""
        return self.left.schema + self.right.schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class TrackAggregation(Windows):
    """Aggregates over each window or group, including aggregates over the positions of an object.

    Meaning  groups and empty windows are treated as in WindowAggregation. Positions are processed in the order of their
             ticks, and within a tick in the order of the window (C24).
    Bounds   a speed is NULL if there are no tuples, or if no time passes between them. If a query must not return this
             NULL, the translator adds a selection that removes it (C7, C26).
    Source   001 Sec. 2 AvgSpd.
    State    none.
    """

    input: Windows
    groups: tuple[NamedExpression, ...]
    aggregates: tuple[Aggregate | TrackAggregate, ...]

    def __post_init__(self) -> None:
        """Raise PlanError unless all expressions read only the input and an aggregate over positions occurs."""
        check_items(self.groups, self.input.schema, on_stream=False, may_be_empty=True)
        if not any(isinstance(aggregate, TrackAggregate) for aggregate in self.aggregates):
            raise PlanError("a track aggregation needs a track aggregate")
        for aggregate in self.aggregates:
            if isinstance(aggregate, TrackAggregate):
                check_reads(aggregate.point, self.input.schema, on_stream=False)
                check_reads(aggregate.tick, self.input.schema, on_stream=False)
            elif aggregate.argument is not None:
                check_reads(aggregate.argument, self.input.schema, on_stream=False)

    @property
    def schema(self) -> Schema:
        """The grouping columns, then the columns of the aggregates."""
        groups = tuple(item.attribute for item in self.groups)
        return Schema(groups + tuple(aggregate.attribute for aggregate in self.aggregates))


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class WindowDistinct(Windows):
    """Each window without duplicate tuples.

    Meaning  of several equal tuples, only the first is kept. Two NULLs count as equal. REDUCED does the same (R16).
    Bounds   the tick of a window does not change.
    Source   CQL (SELECT DISTINCT); 002 Sec. 4 (duplicate elimination, duplicate reduction).
    State    none over rows. Over solutions, the operator keeps the valid solutions of its input.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        """The columns of the input, unchanged."""
        return self.input.schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class WindowTopK(Windows):
    """In each window or group, the `count` tuples with the smallest values of an expression.

    Meaning  tuples are sorted by this value, and then by their columns. Tuples with the value NULL are left out.
    Bounds   if there are fewer than `count` tuples, all tuples are returned. The groups are in the order of their
             values.
    Source   001 Sec. 1, which mentions nearest neighbours.
    State    none.
    """

    input: Windows
    per: tuple[Expression, ...]
    by: Expression
    count: int

    def __post_init__(self) -> None:
        """Raise PlanError unless the expressions read only the input and `count` is at least 1."""
        for expression in (*self.per, self.by):
            check_reads(expression, self.input.schema, on_stream=False)
        if self.count < 1:
            raise PlanError("a top-k needs a count of at least 1")

    @property
    def schema(self) -> Schema:
        """The columns of the input, unchanged."""
        return self.input.schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class SuppressUnchanged(Windows):
    """Only the windows to which a tuple was added.

    Meaning  a window is kept if it contains some tuple more often than the previous window of the same key.
    Bounds   the first window is compared with an empty window. If the only window of a query is by region or unbounded,
             the query uses this operator. RStream then returns only windows to which a tuple was added (C5, C29).
    Source   001 Sec. 3.2.1 ("for each tuple added to its input relation").
    State    the previous window. If the range never drops tuples, the operator keeps only the number of tuples.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        """The columns of the input, unchanged."""
        return self.input.schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class WindowMerge(Windows):
    """One window per tick, which unites the windows of all keys.

    Meaning  when a key gets a new window, the latest windows of all keys are united.
    Bounds   the tuples of the window are in the order of the keys.
    Source   001 Def. 2.2, in which a relation has one bag at each instant.
    State    the latest window of every key.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        """The columns of the input, unchanged."""
        return self.input.schema


class JoinType(Enum):
    """The type of a join; a mark join emits every left row with a flag that says whether it matches."""

    INNER = "join"
    LEFT = "left join"
    SEMI = "semi join"
    ANTI = "anti join"
    MARK = "mark join"

    def __str__(self) -> str:
        """The join type as text for `explain`, such as `left join`."""
        return self.value


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RelationJoin(Windows):
    """An inner, left, semi or anti join of two relations, on a predicate or as a natural join.

    Meaning  the current tuples of a side are those of its latest window, or of the latest windows of all keys. At every
             tick at which a side gets a new window, the current tuples of both sides are joined, in the order of the
             left tuples. A left join also returns the left tuples without a match, with NULL in the right columns (R14,
             R26). A semi join returns the left tuples with a match. An anti join returns the left tuples without a
             match. For NOT IN, an unknown comparison counts as a match. In a natural join, tuples match if they agree
             in all common columns. NULL agrees with any value (R7, R22). Common columns occur once. MINUS is a natural
             anti join with a further condition for a match: in some common column, both tuples have a value.
    Bounds   a side without a window is empty (C16). There is one window per tick. An error counts as no match.
    Source   001 Def. 2.2, Sec. 3.1; CQL (LEFT JOIN, IN, EXISTS); 002 Defs. 10, 12, 13, corrected; W3C 18.5.
    State    the current tuples of both relations.
    """

    left: Windows
    right: Windows
    predicate: Expression
    join_type: JoinType = JoinType.INNER
    natural: bool = False

    def __post_init__(self) -> None:
        """Raise PlanError for a mark join, a natural join of columns other than RDF terms, or an invalid predicate."""
        if self.join_type is JoinType.MARK:
            raise PlanError("a relation has no column for the mark of a mark join")
        if self.natural and not (holds_terms(self.left) and holds_terms(self.right)):
            raise PlanError("only relations of terms have a natural join")
        check_predicate(self.predicate, self.pair_schema, on_stream=False)

    @property
    def pair_schema(self) -> Schema:
        """The columns of a joined pair of rows, for the predicate; shared ones occur once in a natural join."""
        if not self.natural:
            return self.left.schema + self.right.schema
        return merged_schema(self.left.schema, self.right.schema)

    @property
    def schema(self) -> Schema:
        """The output columns of the join; for a semi or anti join, only those of the left input."""
        return self.left.schema if self.join_type in (JoinType.SEMI, JoinType.ANTI) else self.pair_schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RelationUnion(Windows):
    """All tuples of two relations.

    Meaning  UNION ALL returns the current tuples of the left side, and then the current tuples of the right side (R7).
             UNION is a UNION ALL with a WindowDistinct above it.
    Bounds   the ticks are the same as for a RelationJoin. In a union by name, a column that one side lacks is NULL.
             Otherwise, both sides have columns of the same types, and the result has the column names of the left side.
    Source   CQL (UNION); 002 Def. 9 (UNION, and windows of several streams; R7, R10).
    State    the current tuples of both relations. Over solutions, the operator needs no state (R24).
    """

    left: Windows
    right: Windows
    by_name: bool = False

    def __post_init__(self) -> None:
        """Raise PlanError unless both inputs have the same column types or, in a union by name, only RDF terms."""
        if not self.by_name:
            check_same_types(self.left.schema, self.right.schema)
        elif not (holds_terms(self.left) and holds_terms(self.right)):
            raise PlanError("only relations of terms have a union by name")

    @property
    def schema(self) -> Schema:
        """The columns of the left input; in a union by name also those that only the right input has."""
        return merged_schema(self.left.schema, self.right.schema) if self.by_name else self.left.schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RelationExcept(Windows):
    """The tuples of one relation without the tuples of another relation.

    Meaning  EXCEPT ALL subtracts the right bag of tuples from the left bag. EXCEPT first removes left duplicates.
    Bounds   ticks and columns are the same as for RelationUnion. Two NULLs count as equal.
    Source   CQL (EXCEPT).
    State    the current tuples of both relations.
    """

    left: Windows
    right: Windows

    def __post_init__(self) -> None:
        """Raise PlanError unless both inputs have columns of the same types in the same order."""
        check_same_types(self.left.schema, self.right.schema)

    @property
    def schema(self) -> Schema:
        """The columns of the left input."""
        return self.left.schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RelationIntersect(Windows):
    """The tuples that two relations have in common.

    Meaning  INTERSECT ALL returns a tuple as often as the side with fewer copies has it. INTERSECT returns it once.
    Bounds   ticks and columns are the same as for RelationUnion. Two NULLs count as equal.
    Source   CQL (INTERSECT).
    State    the current tuples of both relations.
    """

    left: Windows
    right: Windows

    def __post_init__(self) -> None:
        """Raise PlanError unless both inputs have columns of the same types in the same order."""
        check_same_types(self.left.schema, self.right.schema)

    @property
    def schema(self) -> Schema:
        """The columns of the left input."""
        return self.left.schema


def holds_terms(op: Windows) -> bool:
    """Whether every column of a relation holds RDF terms, so that its rows are statements or solutions."""
    return all(attribute.type is Type.TERM for attribute in op.schema)


def is_column_selection(op: WindowProject) -> bool:
    """Whether a projection only selects columns or adds NULL columns, as SELECT does; BIND computes new ones."""
    return all(item.expression in (Column(item.attribute), Constant(None, item.attribute.type)) for item in op.items)
