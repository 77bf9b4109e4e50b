"""Decorrelation of EXISTS: its pattern becomes a relation that is joined with the outer solutions on keys.

Inside EXISTS, variables of the outer solution are replaced by their terms (W3C 18.6). Here the pattern is rewritten so
that it can be evaluated once for all outer solutions: a variable that is bound outside becomes a key column of the
pattern, and expressions that read the variable read the column. If an operator needs a key that its input does not
bind, its input is joined with the domain, the distinct outer solutions. The result is then joined on the keys.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import reduce
from itertools import product
from typing import TypeVar

from transom.algebra.expressions.expression import (
    TRUE,
    Aggregate,
    AggregateFunction,
    Call,
    Column,
    Constant,
    Exists,
    Expression,
    NamedExpression,
    conjunction,
    identity_items,
    rewrite,
)
from transom.algebra.expressions.functions import Function
from transom.algebra.expressions.terms import as_type, term_call, term_literal, variable
from transom.algebra.operator import Windows
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern, without_blank_nodes
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
    is_column_selection,
)
from transom.algebra.sequences import OrderBy, Slice
from transom.algebra.sources import Values
from transom.algebra.tree import pattern_of_exists
from transom.algebra.windows import Window
from transom.errors import PlanError
from transom.model.rdf import terms
from transom.model.rdf.terms import IRI
from transom.model.schema import Attribute
from transom.model.types import Type
from transom.physical.rdf.bindings import OUTER_MARKER, bound_variables
from transom.physical.rdf.paths import RepeatedPath, count_zero_length_matches, expand_path

T = TypeVar("T")
UNBOUND = term_literal(IRI("urn:transom:unbound"))
"""The value of a key whose variable is unbound, so that keys compare as values."""
ERROR = Constant(None, Type.TERM)
_ZERO = term_literal(terms.integer(0))
_EMPTY: Mapping[AggregateFunction, Expression] = {
    AggregateFunction.COUNT: _ZERO,
    AggregateFunction.SUM: _ZERO,
    AggregateFunction.AVG: _ZERO,
    AggregateFunction.GROUP_CONCAT: term_literal(terms.Literal("")),
}
"""Aggregates of no solutions; other functions are an error."""


@dataclass(frozen=True, slots=True)
class Decorrelated:
    """A decorrelated EXISTS pattern, its join columns, and the items that add those columns to outer solutions."""

    pattern: Windows
    keys: tuple[str, ...]
    key_items: tuple[NamedExpression, ...]


def decorrelate(outer: Windows, pattern: Windows) -> Decorrelated:
    """Rewrite an EXISTS pattern to one relation, to be joined with all solutions of `outer` on key columns.

    The pattern is rewritten once for each choice of which of the uncertain outer variables are bound.
    """
    mentioned, always_bound = mentioned_variables(pattern), bound_variables(outer)
    depth = 1 + max(
        (int(name.rpartition(OUTER_MARKER)[2]) for name in outer.schema.names if OUTER_MARKER in name), default=0
    )
    columns = {name: f"{name}{OUTER_MARKER}{depth}" for name in outer.schema.names if name in mentioned}
    key_items = {name: outer_key(name, column, always_bound) for name, column in columns.items()}
    domain = extend_all(outer, key_items.values())
    maybe_unbound = [name for name in columns if name not in always_bound]
    parts: list[tuple[OuterScope, Windows]] = []
    for flags in product((True, False), repeat=len(maybe_unbound)):
        bound_flags = dict(zip(maybe_unbound, flags, strict=True))
        scope = OuterScope(
            _select_bound(domain, columns, bound_flags), {n: c for n, c in columns.items() if bound_flags.get(n, True)}
        )
        rewritten = scope.filter_compatible(scope.rewrite_pattern(pattern))
        rewritten = scope.bind_keys(rewritten, [columns[name] for name, is_bound in bound_flags.items() if is_bound])
        unbound_items = [_assignment(columns[name], UNBOUND) for name, is_bound in bound_flags.items() if not is_bound]
        parts.append((scope, extend_all(rewritten, unbound_items)))
    used_columns = [c for c in columns.values() if any(c in rewritten.schema.names for _, rewritten in parts)]
    branches: list[Windows] = [
        project(scope.bind_keys(rewritten, used_columns), _variables(used_columns)) for scope, rewritten in parts
    ]
    union_of_branches = reduce(union, branches)
    plain_keys = {name: column for name, column in columns.items() if column in used_columns and name in always_bound}
    union_of_branches = extend_all(
        union_of_branches, [_assignment(name, variable(column)) for name, column in plain_keys.items()]
    )
    keys = [name if name in plain_keys else column for name, column in columns.items() if column in used_columns]
    needed_items = tuple(key_items[name] for name in maybe_unbound if columns[name] in used_columns)
    return Decorrelated(project(union_of_branches, _variables(keys)), tuple(keys), needed_items)


def _assignment(name: str, expression: Expression) -> NamedExpression:
    """Build the projection item that assigns an expression to the variable `name`."""
    return NamedExpression(expression, variable(name).attribute)


def outer_key(name: str, column: str, always_bound: Collection[str]) -> NamedExpression:
    """Build the output item `column` from variable `name`: UNBOUND for NULL unless it is in `always_bound`."""
    term = variable(name)
    return _assignment(column, term if name in always_bound else term_call("COALESCE", term, UNBOUND))


def extend_all(op: Windows, items: Iterable[NamedExpression]) -> Windows:
    """Extend the solutions of a relation by computed variables, one after another, as BIND does."""
    return reduce(extend, items, op)


def mentioned_variables(value: object) -> frozenset[str]:
    """The variables that a pattern or an expression reads or binds, except those that a nested SELECT hides."""
    match value:
        case Attribute(name=name):
            return frozenset((name,))
        case Window() | StoredGraph() | Function():
            return frozenset()
        case tuple():
            return frozenset[str]().union(*map(mentioned_variables, value))
        case WindowProject(input=input) if is_column_selection(value):
            return mentioned_variables(input) & frozenset(value.schema.names)
        case _ if is_dataclass(value):
            return frozenset[str]().union(*(mentioned_variables(getattr(value, field.name)) for field in fields(value)))
        case _:
            return frozenset()


def rename_variables(value: T, new_names: Mapping[str, str]) -> T:
    """Rename variables everywhere in a pattern or an expression; `new_names` maps old names to new ones."""
    if isinstance(value, Attribute):
        return replace(value, name=new_names.get(value.name, value.name))
    if isinstance(value, tuple):
        return tuple(rename_variables(part, new_names) for part in value)  # type: ignore[return-value]
    if not is_dataclass(value) or isinstance(value, type | Window | StoredGraph | Function):
        return value
    old_values = {field.name: getattr(value, field.name) for field in fields(value)}
    changed = {name: new for name, old in old_values.items() if (new := rename_variables(old, new_names)) != old}
    return replace(value, **changed) if changed else value


def _variables(columns: Iterable[str]) -> tuple[Column, ...]:
    """The variables with these names, as column expressions."""
    return tuple(map(variable, columns))


def _select_bound(domain: Windows, columns: Mapping[str, str], bound_flags: Mapping[str, bool]) -> Windows:
    """Keep the rows of `domain` whose variables are bound (flag true) or not (false); `columns`: variable to column."""
    conditions: list[Expression] = []
    for name, is_bound in bound_flags.items():
        same = term_call("sameTerm", variable(columns[name]), UNBOUND)
        conditions.append(term_call("!", same) if is_bound else same)
    return WindowSelect(domain, conjunction(conditions)) if conditions else domain


@dataclass(frozen=True, slots=True)
class OuterScope:
    """The outer solutions of an EXISTS pattern, and the key column of each variable that all of them bind."""

    domain: Windows
    keys: Mapping[str, str]

    def keys_in(self, op: Windows) -> list[str]:
        """Return the names of the columns of `op` that hold variables from outside an EXISTS (key columns)."""
        columns = set(self.keys.values())
        return [name for name in op.schema.names if name in columns]

    def bind_keys(self, op: Windows, needed: Iterable[str]) -> Windows:
        """Join `op` with the key columns of the outer solutions, unless `op` always binds all `needed` ones itself."""
        if set(needed) <= bound_variables(op):
            return op
        columns = dict.fromkeys((*self.keys_in(op), *needed))
        return join(WindowDistinct(project(self.domain, _variables(columns))), op)

    def filter_compatible(self, op: Windows) -> Windows:
        """Keep the solutions of an EXISTS pattern that agree with the solution outside the EXISTS.

        A variable that is also bound outside must be unbound in the pattern, or have the outer term.
        """
        for name in op.schema.names:
            if name in self.keys:
                key = self.keys[name]
                same = term_call("sameTerm", variable(name), variable(key))
                fits = term_call("||", term_call("!", term_call("BOUND", variable(name))), same)
                op = WindowSelect(self.bind_keys(op, [key]), fits)
        return op

    def rewrite_expression(self, expression: Expression, inner_variables: Collection[str]) -> Expression:
        """Rewrite an expression inside EXISTS so that it reads the outer solution's variables as key columns.

        A variable that is also one of `inner_variables` is read from its key only where the pattern leaves it unbound.
        """

        columns = set(self.keys.values())

        def substitute(part: Expression) -> Expression:
            """Replace a variable of the outer query, BOUND of one, or a nested EXISTS; else return `part`."""
            match part:
                case Column(name=name) if name in self.keys:
                    key = variable(self.keys[name])
                    return term_call("COALESCE", part, key) if name in inner_variables else key
                case Call(function=Function(name="BOUND"), arguments=(Call(),)):
                    return TRUE
                case Call(function=Function(name="BOUND"), arguments=(Column(name=name),)) if name in columns:
                    return TRUE
                case Exists():
                    return self._inner_exists(
                        pattern_of_exists(part), [name for name in inner_variables if name in self.keys]
                    )
                case _:
                    return part

        return rewrite(expression, substitute)

    def _inner_exists(self, pattern: Windows, ambiguous: list[str]) -> Expression:
        """Rewrite a nested EXISTS to read key columns; `ambiguous` variables: where the enclosing pattern binds none.

        A variable in `ambiguous` has the term that the pattern binds, otherwise the outer term.
        """
        if not ambiguous:
            return Exists(rename_variables(pattern, self.keys))
        name, *remaining = ambiguous
        inner_scope = replace(self, keys={outer: key for outer, key in self.keys.items() if outer != name})
        bound_inside = term_call("BOUND", variable(name))
        condition = term_call(
            "IF", bound_inside, inner_scope._inner_exists(pattern, remaining), self._inner_exists(pattern, remaining)
        )
        return as_type(condition, Type.BOOLEAN)

    def _required_keys(self, *expressions: Expression | None) -> list[str]:
        """The sorted names of key columns (outer variables of an EXISTS) that expressions read; skips None."""
        columns = set(self.keys.values())
        return sorted(mentioned_variables(tuple(e for e in expressions if e is not None)) & columns)

    def rewrite_pattern(self, op: Windows) -> Windows:
        """Rewrite an EXISTS pattern so that its key columns tell for which outer solutions it has matches."""
        match op:
            case BasicGraphPattern(parts=parts) if any(isinstance(part, PathPattern) for part in parts):
                joined = reduce(join, map(self.rewrite_pattern, parts))
                return project(joined, map(Column, without_blank_nodes(joined.schema)))
            case PathPattern(path=path) if isinstance(path, RepeatedPath):
                return self._rewrite_closure(op)
            case PathPattern():
                return self.rewrite_pattern(expand_path(op))
            case TriplePattern() | BasicGraphPattern():
                return rename_variables(op, self.keys)
            case Values():
                rows = rename_variables(op, self.keys)
                return self.bind_keys(rows, self.keys_in(rows))
            case WindowSelect(input=input, predicate=predicate):
                below = self.rewrite_pattern(input)
                condition = self.rewrite_expression(predicate, below.schema.names)
                return WindowSelect(self.bind_keys(below, self._required_keys(condition)), condition)
            case RelationUnion(left=left, right=right):
                first, second = self.rewrite_pattern(left), self.rewrite_pattern(right)
                keys_of_both = dict.fromkeys((*self.keys_in(first), *self.keys_in(second)))
                return union(self.bind_keys(first, keys_of_both), self.bind_keys(second, keys_of_both))
            case RelationJoin(left=left, right=right, predicate=predicate):
                first, second = self.rewrite_pattern(left), self.rewrite_pattern(right)
                condition = self.rewrite_expression(predicate, (*first.schema.names, *second.schema.names))
                if op.join_type is not JoinType.INNER:
                    first = self.bind_keys(first, [*self.keys_in(second), *self._required_keys(condition)])
                return replace(op, left=first, right=second, predicate=condition)
            case WindowAggregation():
                return self._rewrite_aggregation(op)
            case WindowProject(input=input) if is_column_selection(op):
                visible = set(op.schema.names)
                inner_scope = replace(self, keys={name: key for name, key in self.keys.items() if name in visible})
                below = inner_scope.rewrite_pattern(input)
                columns = [*self.keys_in(below), *(name for name in below.schema.names if name in visible)]
                return project(below, _variables(columns))
            case WindowProject(input=input, items=(*_, item)):
                below = self.rewrite_pattern(input)
                value = self.rewrite_expression(item.expression, below.schema.names)
                return extend(self.bind_keys(below, self._required_keys(value)), NamedExpression(value, item.attribute))
            case WindowDistinct(input=input) | Slice(input=input):
                return replace(op, input=self.rewrite_pattern(input))
            case OrderBy(input=input, keys=keys, ties=ties):
                below = self.rewrite_pattern(input)
                names = below.schema.names
                order = tuple(replace(key, expression=self.rewrite_expression(key.expression, names)) for key in keys)
                return OrderBy(
                    self.bind_keys(below, self._required_keys(*(key.expression for key in order))), order, ties
                )
            case _:
                raise PlanError(f"{type(op).__name__} does not give solutions")

    def _rewrite_closure(self, op: PathPattern) -> Windows:
        """Rewrite a `?`, `*` or `+` path in EXISTS; an empty path connects a term that is bound outside with itself.

        This includes outer terms that are in no statement.
        """
        paths = rename_variables(op, self.keys)
        bound_outside = [isinstance(term, Column) and term.name in self.keys for term in op.items]
        constant = [not isinstance(term, Column) for term in op.items]
        start, end = (outside or inside for outside, inside in zip(bound_outside, constant, strict=True))
        if not count_zero_length_matches(op.path, start, end) or count_zero_length_matches(op.path, *constant):
            return paths
        columns = self.keys_in(paths)
        outer_terms: Windows = WindowDistinct(project(self.domain, _variables(columns)))
        if len(columns) > 1:
            outer_terms = WindowSelect(outer_terms, term_call("sameTerm", *_variables(columns)))
        node, first, second = _variables(("path node", "path link", "path other"))
        ends = (TriplePattern(op.input, node, first, second), TriplePattern(op.input, second, first, node))
        nodes = union(*(project(pattern, (node,)) for pattern in ends))
        not_in_statements = minus(extend_all(outer_terms, [_assignment(node.name, variable(columns[0]))]), nodes)
        free_names = [name for name in paths.schema.names if name not in columns]
        zero_length = extend_all(not_in_statements, [_assignment(name, variable(columns[0])) for name in free_names])
        return union(paths, project(zero_length, variables(paths)))

    def _rewrite_aggregation(self, op: WindowAggregation) -> Windows:
        """Rewrite an aggregation inside EXISTS so that it also groups by the outer solution's key columns.

        Without GROUP BY, each outer solution has one group, even if it has no rows.
        """
        below = self.rewrite_pattern(op.input)
        names = below.schema.names
        keys = tuple(
            NamedExpression(self.rewrite_expression(key.expression, names), key.attribute) for key in op.groups
        )
        aggregates = tuple(
            aggregate
            if aggregate.argument is None
            else replace(aggregate, argument=self.rewrite_expression(aggregate.argument, names))
            for aggregate in op.aggregates
        )
        below = self.bind_keys(
            below, self._required_keys(*(k.expression for k in keys), *(a.argument for a in aggregates))
        )
        columns = self.keys_in(below)
        if not columns:
            return WindowAggregation(below, keys, aggregates)
        outer = identity_items(variable(column).attribute for column in columns)
        if op.groups:
            return WindowAggregation(below, (*outer, *keys), aggregates)
        return self._aggregate_all(below, outer, aggregates)

    def _aggregate_all(
        self, below: Windows, outer: tuple[NamedExpression, ...], aggregates: tuple[Aggregate, ...]
    ) -> Windows:
        """Aggregate the rows of `below` per outer solution, whose key columns are `outer`, also where it has no rows.

        `outer` are the key columns of the outer solution.
        """
        row_count = variable("the members")
        raw_columns = {aggregate.attribute: variable(f"the {aggregate.attribute.name}") for aggregate in aggregates}
        renamed = tuple(
            replace(aggregate, attribute=raw_columns[aggregate.attribute].attribute) for aggregate in aggregates
        )
        count = Aggregate(AggregateFunction.COUNT, None, row_count.attribute)
        groups = WindowAggregation(below, outer, (count, *renamed))
        columns = tuple(Column(key.attribute) for key in outer)
        result: Windows = left_join(WindowDistinct(project(self.domain, columns)), groups)
        has_rows = term_call("BOUND", row_count)
        for aggregate in aggregates:
            value = term_call("IF", has_rows, raw_columns[aggregate.attribute], _EMPTY.get(aggregate.function, ERROR))
            result = extend(result, NamedExpression(value, aggregate.attribute))
        return project(result, (*columns, *(Column(aggregate.attribute) for aggregate in aggregates)))
