"""What of SPARQL 1.1 a text has: counted in its syntax, not in what drew it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transom.languages.sparql import syntax, terms
from transom.languages.sparql.parse import parse
from transom.languages.sparql.scope import aggregates, find_nodes, visible_variables

INNER = {syntax.Minus: "MINUS", syntax.Bind: "BIND", syntax.Filter: "FILTER", syntax.Select: "a subquery"}


def features(text: str) -> set[str]:
    """The features that a query has."""
    form = parse(text).form
    return {*_groups(form), *_paths(form), *_exists(form), *_subqueries(form), *_patterns(form)}


def _groups(form: syntax.Form) -> Iterator[str]:
    """Aggregates, what they are grouped by, and what is made of them."""
    for one in find_nodes(form, syntax.Aggregate):
        yield "aggregates"
        yield one.name
        if one.distinct:
            yield f"{one.name} DISTINCT"
        if one.operand is None:
            yield "COUNT(*)"
    for select in find_nodes(form, syntax.Select):
        if select.modifiers.group_by:
            yield "GROUP BY"
        if any(not isinstance(key, terms.Variable) for key in select.modifiers.group_by):
            yield "GROUP BY an expression"
        if select.modifiers.having:
            yield "HAVING"
        for item in select.items:
            over = item.expression if isinstance(item, syntax.AliasedExpression) else item
            if not isinstance(over, syntax.Aggregate) and any(True for _ in aggregates(over)):
                yield "an expression over aggregates"


def _paths(form: syntax.Form) -> Iterator[str]:
    """Property paths, by their signs."""
    signs = {terms.SequencePath: "/", terms.AlternativePath: "|", terms.NegatedPropertySet: "!"}
    for one in find_nodes(form, terms.InversePath, *signs, terms.RepeatedPath):
        yield "paths"
        yield f"path {one.sign if isinstance(one, terms.RepeatedPath) else signs.get(type(one), '^')}"


def _exists(form: syntax.Form) -> Iterator[str]:
    """EXISTS, where it stands, and what stands in it."""
    for one in find_nodes(form, syntax.Exists):
        yield "NOT EXISTS" if one.negated else "EXISTS"
        yield "EXISTS or NOT EXISTS"
        for kind, said in INNER.items():
            if _holds(one.group, kind):
                yield f"EXISTS with {said} in it"
        if _holds(one.group, syntax.Exists):
            yield "EXISTS in EXISTS"
        conditions = [element for element in one.group.elements if isinstance(element, syntax.Filter)]
        if {variable.name for variable in find_nodes(tuple(conditions), terms.Variable)} - set(
            visible_variables(one.group)
        ):
            yield "EXISTS with a condition on what is around it"
    for place, kind in (("BIND", syntax.Bind), ("SELECT", syntax.AliasedExpression), ("OPTIONAL", syntax.Optional)):
        for one in find_nodes(form, kind):
            if _holds(one, syntax.Exists):
                yield f"EXISTS in {place}"
    for one in find_nodes(form, syntax.Filter):
        if not isinstance(one.condition, syntax.Exists) and _holds(one.condition, syntax.Exists):
            yield "EXISTS within a condition"


def _subqueries(form: syntax.Form) -> Iterator[str]:
    """Subqueries and their own modifiers."""
    for one in find_nodes(form, syntax.Select):
        if one is form:
            continue
        yield "subqueries"
        if one.modifiers.limit is not None:
            yield "a subquery with ORDER BY and LIMIT"
        if one.kind == "DISTINCT":
            yield "a subquery with DISTINCT"
        if any(_holds(item, syntax.Aggregate) for item in one.items):
            yield "a subquery with aggregates"


def _patterns(form: syntax.Form) -> Iterator[str]:
    """MINUS, VALUES, BIND, and what else a group has."""
    for group in find_nodes(form, syntax.GroupPattern):
        before: set[str] = set()
        maybe: set[str] = set()
        for element in group.elements:
            here = set(visible_variables(element))
            if isinstance(element, syntax.Minus):
                common = before & set(visible_variables(element.group))
                yield "MINUS"
                yield f"MINUS {'with' if common else 'without'} variables in common"
                if common & maybe:
                    yield "MINUS with variables in common that may be unbound"
            if isinstance(element, syntax.Optional | syntax.Union | syntax.Values):
                maybe |= here - (before - maybe)
            before |= here
    for one in find_nodes(form, syntax.Values):
        yield "VALUES"
        if any(value is None for row in one.rows for value in row):
            yield "VALUES with UNDEF"
    kinds = {"BIND": syntax.Bind, "OPTIONAL": syntax.Optional, "UNION": syntax.Union, "GRAPH": syntax.GraphPattern}
    yield from (name for name, kind in kinds.items() if _holds(form, kind))


def _holds(tree: Any, kind: type) -> bool:
    """Whether a tree has such a part."""
    return any(True for _ in find_nodes(tree, kind))
