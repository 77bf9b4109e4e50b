"""Scopes of variables, and traversal of syntax trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

from transom.languages.sparql import syntax, terms
from transom.languages.sparql.syntax import Element, Expression, GroupPattern, Select

Kind = TypeVar("Kind")


def visible_variables(pattern: GroupPattern | Element) -> tuple[str, ...]:
    """Return the names of the variables that a pattern may bind, in the order of their first occurrence."""
    return tuple(dict.fromkeys(variable.name for variable in _visible(pattern)))


def _visible(pattern: GroupPattern | Element) -> Iterator[terms.Variable]:
    """Yield the variables that a pattern may bind (in scope, says W3C); a variable may be repeated."""
    match pattern:
        case syntax.TriplesBlock():
            yield from find_nodes(pattern, terms.Variable)
        case syntax.Bind(variable=variable):
            yield variable
        case syntax.Values(variables=variables):
            yield from variables
        case syntax.GroupPattern(elements=elements):
            for element in elements:
                yield from _visible(element)
        case syntax.Optional(group=group):
            yield from _visible(group)
        case syntax.Union(groups=groups):
            for group in groups:
                yield from _visible(group)
        case syntax.GraphPattern(name=name, group=group) | syntax.Service(name=name, group=group):
            if isinstance(name, terms.Variable):
                yield name
            yield from _visible(group)
        case syntax.Select():
            yield from (terms.Variable(name) for name in select_variables(pattern))
        case syntax.Filter() | syntax.Minus():
            pass


def select_variables(query: Select) -> tuple[str, ...]:
    """Return the names of the variables that a SELECT returns; for `SELECT *`, all that WHERE or VALUES may bind."""
    if query.items:
        return tuple(
            item.variable.name if isinstance(item, syntax.AliasedExpression) else item.name for item in query.items
        )
    trailing = [] if query.modifiers.values is None else _visible(query.modifiers.values)
    return tuple(dict.fromkeys([*visible_variables(query.where), *(variable.name for variable in trailing)]))


def find_nodes(tree: Any, *kinds: type[Kind]) -> Iterator[Kind]:
    """Yield all nodes of the classes `kinds` in a syntax tree, including its root, in text order."""
    if isinstance(tree, kinds):
        yield tree
    for child in children(tree):
        yield from find_nodes(child, *kinds)


def outermost_groups(tree: Any) -> Iterator[GroupPattern]:
    """Yield the groups `{ ... }` of a syntax tree that are not inside another group; a group yields itself."""
    if isinstance(tree, GroupPattern):
        yield tree
        return
    for child in children(tree):
        yield from outermost_groups(child)


def children(node: Any) -> Iterator[Any]:
    """Yield the direct children of a syntax node or tuple."""
    if isinstance(node, tuple):
        yield from node
    else:
        node_type: Any = type(node)
        yield from (getattr(node, name) for name in _child_fields(node_type))


@cache
def _child_fields(node_type: type) -> tuple[str, ...]:
    """Return the fields of a syntax node class that may hold child nodes; empty for any other class."""
    return tuple(field.name for field in fields(node_type) if field.compare) if is_dataclass(node_type) else ()


def outside_aggregates(expression: Expression) -> Iterator[terms.Variable]:
    """Yield the variables of an expression that are not inside an aggregate or EXISTS."""
    if isinstance(expression, terms.Variable):
        yield expression
    elif not isinstance(expression, syntax.Aggregate | syntax.Exists):
        for child in _operands(expression):
            yield from outside_aggregates(child)


def aggregates(expression: Expression) -> Iterator[syntax.Aggregate]:
    """Yield the outermost aggregates of an expression that are not inside EXISTS."""
    if isinstance(expression, syntax.Aggregate):
        yield expression
    elif not isinstance(expression, syntax.Exists):
        for child in _operands(expression):
            yield from aggregates(child)


def _operands(expression: Any) -> Iterable[Any]:
    """Yield the syntax nodes that are direct operands or call arguments of a SPARQL expression."""
    for child in children(expression):
        if isinstance(child, tuple):
            yield from child
        elif is_dataclass(child):
            yield child


def is_aggregated(query: syntax.Form) -> bool:
    """Whether a query groups its solutions, by GROUP BY or because it has an aggregate."""
    modifiers = query.modifiers
    listed = query.items if isinstance(query, Select) else ()
    expressions: list[Any] = [*listed, *modifiers.having, *modifiers.order_by]
    return bool(modifiers.group_by) or any(True for expression in expressions for _ in aggregates(expression))
