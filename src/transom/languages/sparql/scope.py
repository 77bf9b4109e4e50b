"""Which variables a pattern makes visible, and walks over syntax trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

from transom.languages.sparql import syntax, terms
from transom.languages.sparql.syntax import Element, Expression, Group, Select

Kind = TypeVar("Kind")


def visible(pattern: Group | Element) -> tuple[str, ...]:
    """The variables in scope after a pattern, in the order in which the text names them."""
    return tuple(dict.fromkeys(variable.name for variable in _visible(pattern)))


def _visible(pattern: Group | Element) -> Iterator[terms.Variable]:
    match pattern:
        case syntax.TriplesBlock():
            yield from found(pattern, terms.Variable)
        case syntax.Bind(variable=variable):
            yield variable
        case syntax.Values(variables=variables):
            yield from variables
        case syntax.Group(elements=elements):
            for element in elements:
                yield from _visible(element)
        case syntax.Optional(group=group):
            yield from _visible(group)
        case syntax.Union(groups=groups):
            for group in groups:
                yield from _visible(group)
        case syntax.Graph(name=name, group=group) | syntax.Service(name=name, group=group):
            if isinstance(name, terms.Variable):
                yield name
            yield from _visible(group)
        case syntax.Select():
            yield from (terms.Variable(name) for name in columns(pattern))
        case syntax.Filter() | syntax.Minus():
            pass


def columns(query: Select) -> tuple[str, ...]:
    """The variables that a SELECT returns."""
    if query.items:
        return tuple(one.variable.name if isinstance(one, syntax.Named) else one.name for one in query.items)
    after = [] if query.modifiers.values is None else _visible(query.modifiers.values)
    return tuple(dict.fromkeys([*visible(query.where), *(variable.name for variable in after)]))


def found(tree: Any, *kinds: type[Kind]) -> Iterator[Kind]:
    """All parts of some kinds in a tree, in the order of the text."""
    if isinstance(tree, kinds):
        yield tree
    for child in children(tree):
        yield from found(child, *kinds)


def outermost(tree: Any) -> Iterator[Group]:
    """The groups in a tree that stand in no other one; a group is its own."""
    if isinstance(tree, Group):
        yield tree
        return
    for child in children(tree):
        yield from outermost(child)


def children(tree: Any) -> Iterator[Any]:
    """What a tree directly holds."""
    if isinstance(tree, tuple):
        yield from tree
    else:
        kind: Any = type(tree)
        yield from (getattr(tree, name) for name in _parts(kind))


@cache
def _parts(kind: type) -> tuple[str, ...]:
    """The fields of a node that may hold nodes; of anything else none."""
    return tuple(field.name for field in fields(kind) if field.compare) if is_dataclass(kind) else ()


def outside_aggregates(expression: Expression) -> Iterator[terms.Variable]:
    """The variables of an expression that no aggregate takes in, without those of its patterns."""
    if isinstance(expression, terms.Variable):
        yield expression
    elif not isinstance(expression, syntax.Aggregate | syntax.Exists):
        for child in _expressions(expression):
            yield from outside_aggregates(child)


def aggregates(expression: Expression) -> Iterator[syntax.Aggregate]:
    """The aggregates of an expression; those of a subquery in it are its own."""
    if isinstance(expression, syntax.Aggregate):
        yield expression
    elif not isinstance(expression, syntax.Exists):
        for child in _expressions(expression):
            yield from aggregates(child)


def _expressions(expression: Any) -> Iterable[Any]:
    """The operands of an expression."""
    for child in children(expression):
        if isinstance(child, tuple):
            yield from child
        elif is_dataclass(child):
            yield child


def is_aggregated(query: syntax.Form) -> bool:
    """Whether solutions are grouped: by GROUP BY, or because an aggregate asks for it."""
    modifiers = query.modifiers
    listed = query.items if isinstance(query, Select) else ()
    written: list[Any] = [*listed, *modifiers.having, *modifiers.order_by]
    return bool(modifiers.group_by) or any(True for one in written for _ in aggregates(one))
