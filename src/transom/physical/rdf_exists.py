"""EXISTS in a plan for Spark: its pattern as solutions that say for which solutions around it they hold.

Inside EXISTS the variables of the solution around the pattern stand for their terms (W3C 18.6). Here the pattern is
rewritten so that it can be evaluated once for all of them: a variable that is bound outside becomes a key column of the
pattern, and what reads the variable reads the column. Where an operator needs a key that its input does not bind, its
input is joined with the domain, the distinct solutions around the pattern. The result is then joined on the keys.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import reduce
from itertools import product
from typing import TypeVar

from transom.algebra.expressions import (
    TRUE,
    Aggregate,
    AggregateFunction,
    Call,
    Column,
    Exists,
    Expression,
    Item,
    Literal,
    conjunction,
    rewrite,
    unchanged,
)
from transom.algebra.functions import Function
from transom.algebra.operator import Windows
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern, visible
from transom.algebra.rdf.solutions import extend, join, left_join, minus, project, union, variables
from transom.algebra.rdf.statements import StoredGraph
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    RelationUnion,
    WindowAggregation,
    WindowDistinct,
    WindowProject,
    WindowSelect,
    restricts,
)
from transom.algebra.sequences import OrderBy, Slice
from transom.algebra.sources import Values
from transom.algebra.terms import as_type, term_call, term_literal, variable
from transom.algebra.tree import pattern_of
from transom.algebra.windows import Window
from transom.errors import PlanError
from transom.model.rdf import terms
from transom.model.rdf.terms import IRI
from transom.model.schema import Attribute
from transom.model.types import Type
from transom.physical.rdf_known import OUTER, bound
from transom.physical.rdf_paths import Repeated, as_patterns, leads_nowhere

T = TypeVar("T")
UNBOUND = term_literal(IRI("urn:transom:unbound"))
"""What a key holds where its variable is unbound, so that keys are compared as values."""
ERROR = Literal(None, Type.TERM)
_ZERO = term_literal(terms.integer(0))
_EMPTY: Mapping[AggregateFunction, Expression] = {
    AggregateFunction.COUNT: _ZERO,
    AggregateFunction.SUM: _ZERO,
    AggregateFunction.AVG: _ZERO,
    AggregateFunction.GROUP_CONCAT: term_literal(terms.Literal("")),
}
"""Aggregates of no solution; the others are errors."""


@dataclass(frozen=True, slots=True)
class Correlated:
    """The pattern of an EXISTS as solutions over keys, and the variables that the solutions around it need as keys."""

    pattern: Windows
    keys: tuple[str, ...]
    made: tuple[Item, ...]


def correlated(outer: Windows, pattern: Windows) -> Correlated:
    """The pattern of an EXISTS about some solutions; keys that may be unbound outside are `made` of their variables."""
    asked, sure = seen(pattern), bound(outer)
    depth = 1 + max((int(name.rpartition(OUTER)[2]) for name in outer.schema.names if OUTER in name), default=0)
    columns = {name: f"{name}{OUTER}{depth}" for name in outer.schema.names if name in asked}
    made = {name: key_of(name, column, sure) for name, column in columns.items()}
    domain = extended(outer, made.values())
    maybe = [name for name in columns if name not in sure]
    parts: list[tuple[Around, Windows]] = []
    for states in product((True, False), repeat=len(maybe)):
        loose = dict(zip(maybe, states, strict=True))
        around = Around(_chosen(domain, columns, loose), {n: c for n, c in columns.items() if loose.get(n, True)})
        found = around.fitting(around.inside(pattern))
        found = around.with_keys(found, [columns[name] for name, is_bound in loose.items() if is_bound])
        free = [_item(columns[name], UNBOUND) for name, is_bound in loose.items() if not is_bound]
        parts.append((around, extended(found, free)))
    wanted = [c for c in columns.values() if any(c in found.schema.names for _, found in parts)]
    full: list[Windows] = [project(around.with_keys(found, wanted), _variables(wanted)) for around, found in parts]
    together = reduce(union, full)
    plain = {name: column for name, column in columns.items() if column in wanted and name in sure}
    together = extended(together, [_item(name, variable(column)) for name, column in plain.items()])
    keys = [name if name in plain else column for name, column in columns.items() if column in wanted]
    needed = tuple(made[name] for name in maybe if columns[name] in wanted)
    return Correlated(project(together, _variables(keys)), tuple(keys), needed)


def _item(name: str, expression: Expression) -> Item:
    return Item(expression, variable(name).attribute)


def key_of(name: str, column: str, sure: Collection[str]) -> Item:
    """A key that is always bound and equal where a variable is the same or unbound."""
    term = variable(name)
    return _item(column, term if name in sure else term_call("COALESCE", term, UNBOUND))


def extended(op: Windows, items: Iterable[Item]) -> Windows:
    """Solutions with some more variables."""
    return reduce(extend, items, op)


def seen(value: object) -> frozenset[str]:
    """The variables that a pattern or an expression looks at or binds, and that have the same meaning outside."""
    match value:
        case Attribute(name=name):
            return frozenset((name,))
        case Window() | StoredGraph() | Function():
            return frozenset()
        case tuple():
            return frozenset[str]().union(*map(seen, value))
        case WindowProject(input=input) if restricts(value):
            return seen(input) & frozenset(value.schema.names)
        case _ if is_dataclass(value):
            return frozenset[str]().union(*(seen(getattr(value, field.name)) for field in fields(value)))
        case _:
            return frozenset()


def renamed(value: T, called: Mapping[str, str]) -> T:
    """A pattern or an expression with other names of variables, everywhere in it."""
    if isinstance(value, Attribute):
        return replace(value, name=called.get(value.name, value.name))
    if isinstance(value, tuple):
        return tuple(renamed(part, called) for part in value)  # type: ignore[return-value]
    if not is_dataclass(value) or isinstance(value, type | Window | StoredGraph | Function):
        return value
    now = {field.name: getattr(value, field.name) for field in fields(value)}
    changed = {name: new for name, old in now.items() if (new := renamed(old, called)) != old}
    return replace(value, **changed) if changed else value


def _variables(columns: Iterable[str]) -> tuple[Column, ...]:
    return tuple(map(variable, columns))


def _chosen(domain: Windows, columns: Mapping[str, str], loose: Mapping[str, bool]) -> Windows:
    """The solutions in which some variables are bound and some are not."""
    conditions: list[Expression] = []
    for name, is_bound in loose.items():
        same = term_call("sameTerm", variable(columns[name]), UNBOUND)
        conditions.append(term_call("!", same) if is_bound else same)
    return WindowSelect(domain, conjunction(conditions)) if conditions else domain


@dataclass(frozen=True, slots=True)
class Around:
    """The solutions around a pattern, and the key column of each of their variables that is bound in all of them."""

    domain: Windows
    keys: Mapping[str, str]

    def present(self, op: Windows) -> list[str]:
        """The keys among the variables of solutions."""
        columns = set(self.keys.values())
        return [name for name in op.schema.names if name in columns]

    def with_keys(self, op: Windows, wanted: Iterable[str]) -> Windows:
        """Solutions that bind some keys, if need be joined with the domain."""
        if set(wanted) <= bound(op):
            return op
        columns = dict.fromkeys((*self.present(op), *wanted))
        return join(WindowDistinct(project(self.domain, _variables(columns))), op)

    def fitting(self, op: Windows) -> Windows:
        """The solutions that bind no variable to another term than the solution around them."""
        for name in op.schema.names:
            if name in self.keys:
                key = self.keys[name]
                same = term_call("sameTerm", variable(name), variable(key))
                fits = term_call("||", term_call("!", term_call("BOUND", variable(name))), same)
                op = WindowSelect(self.with_keys(op, [key]), fits)
        return op

    def expression(self, expression: Expression, own: Collection[str]) -> Expression:
        """An expression that reads the keys instead of variables bound outside; `own` are the pattern's variables."""

        columns = set(self.keys.values())

        def change(one: Expression) -> Expression:
            match one:
                case Column(name=name) if name in self.keys:
                    key = variable(self.keys[name])
                    return term_call("COALESCE", one, key) if name in own else key
                case Call(function=Function(name="BOUND"), arguments=(Call(),)):
                    return TRUE
                case Call(function=Function(name="BOUND"), arguments=(Column(name=name),)) if name in columns:
                    return TRUE
                case Exists():
                    return self._asked(pattern_of(one), [name for name in own if name in self.keys])
                case _:
                    return one

        return rewrite(expression, change)

    def _asked(self, pattern: Windows, twice: list[str]) -> Expression:
        """An EXISTS inside; a variable that is also bound inside has that term where there is one."""
        if not twice:
            return Exists(renamed(pattern, self.keys))
        name, *others = twice
        outside = replace(self, keys={own: key for own, key in self.keys.items() if own != name})
        bound_inside = term_call("BOUND", variable(name))
        asked = term_call("IF", bound_inside, outside._asked(pattern, others), self._asked(pattern, others))
        return as_type(asked, Type.BOOLEAN)

    def _needed(self, *expressions: Expression | None) -> list[str]:
        columns = set(self.keys.values())
        return sorted(seen(tuple(e for e in expressions if e is not None)) & columns)

    def inside(self, op: Windows) -> Windows:
        """A pattern evaluated for every solution around it; it binds the keys on which that depends."""
        match op:
            case BasicGraphPattern(parts=parts) if any(isinstance(part, PathPattern) for part in parts):
                joined = reduce(join, map(self.inside, parts))
                return project(joined, map(Column, visible(joined.schema)))
            case PathPattern(path=path) if isinstance(path, Repeated):
                return self._closure(op)
            case PathPattern():
                return self.inside(as_patterns(op))
            case TriplePattern() | BasicGraphPattern():
                return renamed(op, self.keys)
            case Values():
                rows = renamed(op, self.keys)
                return self.with_keys(rows, self.present(rows))
            case WindowSelect(input=input, predicate=predicate):
                below = self.inside(input)
                asked = self.expression(predicate, below.schema.names)
                return WindowSelect(self.with_keys(below, self._needed(asked)), asked)
            case RelationUnion(left=left, right=right):
                one, other = self.inside(left), self.inside(right)
                both = dict.fromkeys((*self.present(one), *self.present(other)))
                return union(self.with_keys(one, both), self.with_keys(other, both))
            case RelationJoin(left=left, right=right, predicate=predicate):
                one, other = self.inside(left), self.inside(right)
                asked = self.expression(predicate, (*one.schema.names, *other.schema.names))
                if op.join_type is not JoinType.INNER:
                    one = self.with_keys(one, [*self.present(other), *self._needed(asked)])
                return replace(op, left=one, right=other, predicate=asked)
            case WindowAggregation():
                return self._aggregation(op)
            case WindowProject(input=input) if restricts(op):
                kept = set(op.schema.names)
                within = replace(self, keys={name: key for name, key in self.keys.items() if name in kept})
                below = within.inside(input)
                columns = [*self.present(below), *(name for name in below.schema.names if name in kept)]
                return project(below, _variables(columns))
            case WindowProject(input=input, items=(*_, item)):
                below = self.inside(input)
                made = self.expression(item.expression, below.schema.names)
                return extend(self.with_keys(below, self._needed(made)), Item(made, item.attribute))
            case WindowDistinct(input=input) | Slice(input=input):
                return replace(op, input=self.inside(input))
            case OrderBy(input=input, keys=keys, ties=ties):
                below = self.inside(input)
                own = below.schema.names
                order = tuple(replace(key, expression=self.expression(key.expression, own)) for key in keys)
                return OrderBy(self.with_keys(below, self._needed(*(key.expression for key in order))), order, ties)
            case _:
                raise PlanError(f"{type(op).__name__} gives no solutions")

    def _closure(self, op: PathPattern) -> Windows:
        """A path of no step leads from each term that is given outside to itself, also if no statement has it."""
        found = renamed(op, self.keys)
        given = [isinstance(place, Column) and place.name in self.keys for place in op.places]
        fixed = [not isinstance(place, Column) for place in op.places]
        one, other = (outside or here for outside, here in zip(given, fixed, strict=True))
        if not leads_nowhere(op.path, one, other) or leads_nowhere(op.path, *fixed):
            return found
        columns = self.present(found)
        given_terms: Windows = WindowDistinct(project(self.domain, _variables(columns)))
        if len(columns) > 1:
            given_terms = WindowSelect(given_terms, term_call("sameTerm", *_variables(columns)))
        node, first, second = _variables(("path node", "path link", "path other"))
        ends = (TriplePattern(op.input, node, first, second), TriplePattern(op.input, second, first, node))
        nodes = union(*(project(pattern, (node,)) for pattern in ends))
        elsewhere = minus(extended(given_terms, [_item(node.name, variable(columns[0]))]), nodes)
        free = [name for name in found.schema.names if name not in columns]
        elsewhere_too = extended(elsewhere, [_item(name, variable(columns[0])) for name in free])
        return union(found, project(elsewhere_too, variables(found)))

    def _aggregation(self, op: WindowAggregation) -> Windows:
        """Groups of each solution around them; the group of all solutions exists for each, also without any."""
        below = self.inside(op.input)
        own = below.schema.names
        keys = tuple(Item(self.expression(key.expression, own), key.attribute) for key in op.groups)
        aggregates = tuple(
            one if one.argument is None else replace(one, argument=self.expression(one.argument, own))
            for one in op.aggregates
        )
        below = self.with_keys(below, self._needed(*(k.expression for k in keys), *(a.argument for a in aggregates)))
        columns = self.present(below)
        if not columns:
            return WindowAggregation(below, keys, aggregates)
        outer = unchanged(variable(column).attribute for column in columns)
        if op.groups:
            return WindowAggregation(below, (*outer, *keys), aggregates)
        return self._whole(below, outer, aggregates)

    def _whole(self, below: Windows, outer: tuple[Item, ...], aggregates: tuple[Aggregate, ...]) -> Windows:
        members = variable("the members")
        raw = {one.attribute: variable(f"the {one.attribute.name}") for one in aggregates}
        counted = tuple(replace(one, attribute=raw[one.attribute].attribute) for one in aggregates)
        count = Aggregate(AggregateFunction.COUNT, None, members.attribute)
        groups = WindowAggregation(below, outer, (count, *counted))
        columns = tuple(Column(key.attribute) for key in outer)
        every: Windows = left_join(WindowDistinct(project(self.domain, columns)), groups)
        is_there = term_call("BOUND", members)
        for one in aggregates:
            value = term_call("IF", is_there, raw[one.attribute], _EMPTY.get(one.function, ERROR))
            every = extend(every, Item(value, one.attribute))
        return project(every, (*columns, *(Column(one.attribute) for one in aggregates)))
