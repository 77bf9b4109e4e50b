"""Operators from solutions to solutions; at each instant they are those of SPARQL, on bags."""

from __future__ import annotations

from dataclasses import dataclass, field

from transom.algebra.check import check_boolean
from transom.algebra.expressions import Aggregate, Column, Expression, Item
from transom.algebra.rdf.operator import Solutions
from transom.errors import PlanError
from transom.model.rdf.terms import Term


def both(left: Solutions, right: Solutions) -> tuple[Column, ...]:
    """The variables of two inputs, each once."""
    return tuple(dict.fromkeys((*left.variables, *right.variables)))


@dataclass(frozen=True, slots=True)
class Filter(Solutions):
    """The solutions for which a condition is true.

    Meaning  at each instant the solutions whose condition is true; an error is not true (R12).
    Bounds   the instant itself is no part of the condition (R12).
    Source   002 Def. 8.
    State    none; with EXISTS, what is valid of its pattern.
    """

    input: Solutions
    condition: Expression

    def __post_init__(self) -> None:
        check_boolean(self.condition)

    @property
    def variables(self) -> tuple[Column, ...]:
        return self.input.variables


@dataclass(frozen=True, slots=True)
class Union(Solutions):
    """The solutions of both sides.

    Meaning  multiplicities add up: n = n1 + n2 (R7).
    Bounds   variables of one side only are unbound in solutions of the other.
    Source   002 Def. 9.
    State    none; the sides are read in step (R24).
    """

    left: Solutions
    right: Solutions

    @property
    def variables(self) -> tuple[Column, ...]:
        return both(self.left, self.right)


@dataclass(frozen=True, slots=True)
class Join(Solutions):
    """Pairs of compatible solutions, merged.

    Meaning  a solution comes as often as the sum of n1 * n2 over all compatible pairs that are valid at one instant and
             merge to it (R7).
    Bounds   an unbound variable is compatible with any term (R22).
    Source   002 Def. 10.
    State    what is valid of each side.
    """

    left: Solutions
    right: Solutions

    @property
    def variables(self) -> tuple[Column, ...]:
        return both(self.left, self.right)


@dataclass(frozen=True, slots=True)
class LeftJoin(Solutions):
    """Pairs of compatible solutions, and the solutions of the left side that have no partner.

    Meaning  a solution comes as often as the sum of n1 * n2 over compatible pairs whose merge fulfils the condition; a
             left solution that has no such partner at that instant comes n1 times (R14).
    Bounds   a condition that is an error is not fulfilled; with an empty right side all of the left is there (R26).
    Source   002 Defs. 12, 13, corrected.
    State    what is valid of each side.
    """

    left: Solutions
    right: Solutions
    condition: Expression | None = None

    def __post_init__(self) -> None:
        if self.condition is not None:
            check_boolean(self.condition)

    @property
    def variables(self) -> tuple[Column, ...]:
        return both(self.left, self.right)


@dataclass(frozen=True, slots=True)
class Minus(Solutions):
    """The solutions of the left side that nothing on the right speaks against.

    Meaning  a solution of the left side stays where no solution on the right, valid at that instant, is compatible with
             it and has a variable in common.
    Bounds   solutions without a common bound variable take nothing away.
    Source   W3C 18.5.
    State    what is valid of each side.
    """

    left: Solutions
    right: Solutions

    @property
    def variables(self) -> tuple[Column, ...]:
        return self.left.variables


@dataclass(frozen=True, slots=True)
class Extend(Solutions):
    """Solutions with one more variable.

    Meaning  the variable gets the value of the expression; it stays unbound where that is an error.
    Bounds   the variable is new.
    Source   W3C 18.5.
    State    none; with EXISTS, what is valid of its pattern.
    """

    input: Solutions
    item: Item

    def __post_init__(self) -> None:
        if self.item.attribute in self.input.schema:
            raise PlanError(f"{self.item.attribute.name} has a meaning already")

    @property
    def variables(self) -> tuple[Column, ...]:
        return (*self.input.variables, Column(self.item.attribute))


@dataclass(frozen=True, slots=True)
class Values(Solutions):
    """Solutions written down in the query.

    Meaning  every row is a solution, always valid; None in a row is unbound.
    Bounds   equal rows add up.
    Source   W3C 10.2; GRAPH ?g joins what it finds in a stream with the name of the stream (R10).
    State    none.
    """

    variables: tuple[Column, ...] = field()
    rows: tuple[tuple[Term | None, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.variables) for row in self.rows):
            raise PlanError("every row has as many terms as there are variables")
        if len(set(self.variables)) != len(self.variables):
            raise PlanError("a variable stands only once")


@dataclass(frozen=True, slots=True)
class Aggregation(Solutions):
    """One solution per group, with the aggregates of the group.

    Meaning  at each instant, solutions with equal keys are a group; a key that is an error is unbound, and so is an
             aggregate.
    Bounds   `whole` makes one group of all solutions, also of none; with keys there is no group without solutions.
    Source   W3C 18.5.1; 002 names it as future work.
    State    what is valid of the input.
    """

    input: Solutions
    keys: tuple[Item, ...]
    aggregates: tuple[Aggregate, ...]
    whole: bool = False

    def __post_init__(self) -> None:
        if self.whole and self.keys:
            raise PlanError("one group of everything has no keys")
        if not self.whole and not self.keys:
            raise PlanError("groups need a key")
        if len(set(self.variables)) != len(self.variables):
            raise PlanError("a variable stands only once")

    @property
    def variables(self) -> tuple[Column, ...]:
        return (*(Column(key.attribute) for key in self.keys), *(Column(one.attribute) for one in self.aggregates))


@dataclass(frozen=True, slots=True)
class Project(Solutions):
    """Some variables of the solutions.

    Meaning  every solution without its other variables; solutions that become equal add up (R7). An order stays.
    Bounds   a variable that the input does not have is unbound.
    Source   002 Sec. 4 (projection).
    State    none.
    """

    input: Solutions
    variables: tuple[Column, ...] = field()

    def __post_init__(self) -> None:
        if len(set(self.variables)) != len(self.variables):
            raise PlanError("a variable stands only once")


@dataclass(frozen=True, slots=True)
class Distinct(Solutions):
    """Every solution once.

    Meaning  at each instant n := 1; an order stays, by the first of equal solutions (R16).
    Bounds   REDUCED allows more copies, and gets one (R16).
    Source   002 Sec. 4 (duplicate elimination, duplicate reduction); W3C 18.5.
    State    what is valid of the input.
    """

    input: Solutions

    @property
    def variables(self) -> tuple[Column, ...]:
        return self.input.variables


@dataclass(frozen=True, slots=True)
class SortKey:
    """One key of an order; errors come first, as if unbound."""

    expression: Expression
    descending: bool = False

    def __str__(self) -> str:
        return f"{'DESC' if self.descending else 'ASC'}({self.expression})"


@dataclass(frozen=True, slots=True)
class OrderBy(Solutions):
    """The solutions of each instant as a sequence.

    Meaning  sorted by the keys, in SPARQL's order of terms; ties by the terms of `ties`, variable by variable (R16).
    Bounds   without keys the order is that of the ties alone: any order would do, and this one is always the same.
    Source   002 Sec. 4 (tolist, order by); W3C 15.1.
    State    what is valid of the input.
    """

    input: Solutions
    keys: tuple[SortKey, ...]
    ties: tuple[Column, ...]

    @property
    def variables(self) -> tuple[Column, ...]:
        return self.input.variables


@dataclass(frozen=True, slots=True)
class Slice(Solutions):
    """A part of the sequence of each instant.

    Meaning  without the first `offset` solutions, and at most `limit` of the others.
    Bounds   it stands on an order: OrderBy, and Project and Distinct over it.
    Source   002 Sec. 4 (slice).
    State    what is valid of the input.
    """

    input: Solutions
    offset: int = 0
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.offset < 0 or (self.limit is not None and self.limit < 0):
            raise PlanError("a part of a sequence has no negative length")
        if not ordered(self.input):
            raise PlanError("a part of something without an order; an OrderBy without keys gives it one")

    @property
    def variables(self) -> tuple[Column, ...]:
        return self.input.variables


def ordered(op: object) -> bool:
    """Whether the solutions of an operator are a sequence."""
    if isinstance(op, Project | Distinct | Slice):
        return ordered(op.input)
    return isinstance(op, OrderBy)
