"""Rules of the language beyond its grammar, on prefixes, windows, sources, blank nodes, aggregates and scopes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from transom.errors import LanguageRule, NameProblem
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.scope import (
    aggregates,
    find_nodes,
    is_aggregated,
    outermost_groups,
    outside_aggregates,
    visible_variables,
)
from transom.languages.sparql.syntax import Expression, GroupPattern, Select, SparqlQuery

VOLATILE = ("NOW", "RAND", "UUID", "STRUUID")
"""Functions whose value depends on when they are called."""


def check(query: SparqlQuery, catalog_prefixes: Mapping[str, str] | None = None) -> None:
    """Raise LanguageRule or NameProblem if a query breaks a rule that the grammar cannot express.

    `catalog_prefixes` are those that the catalog declares (R27).
    """
    check_names(query, catalog_prefixes or {})
    for group in find_nodes(query.form, GroupPattern):
        if group.window is not None:
            check_window(group.window)
    check_sources(query.form.sources)
    if any(isinstance(source, syntax.StreamSource) for source in query.form.sources):
        check_volatile(query)
    check_labels(query.form)
    check_form(query.form)


def check_names(query: SparqlQuery, catalog_prefixes: Mapping[str, str]) -> None:
    """Raise NameProblem for a prefix that neither the query nor the catalog declares."""
    declared = {*catalog_prefixes, *(entry.name for entry in query.prologue if isinstance(entry, syntax.Prefix))}
    for name in find_nodes(query.form, terms.PrefixedName):
        if name.prefix not in declared:
            raise NameProblem(
                f"no prefix is called {name.prefix}:",
                span=name.span,
                hint=f"write PREFIX {name.prefix}: <...> first, or declare it in the catalog",
            )


def check_window(window: syntax.Window) -> None:
    """Raise LanguageRule if a window's range, slide or ELEMS is 0, or if its slide exceeds its range (R21)."""
    if isinstance(window, syntax.ElementWindow):
        if window.count == 0:
            raise LanguageRule("a window cannot have 0 elements", span=window.count_span, hint="write ELEMS 1 or more")
        return
    slide = window.slide if isinstance(window, syntax.RangeWindow) else None
    for duration, name in ((window.width, "RANGE"), (slide, "SLIDE")):
        if duration is not None and duration.count == 0:
            raise LanguageRule(f"{name} cannot be 0", span=duration.span, hint=f"write {name} 1 or more")
    if slide is not None and slide.milliseconds > window.width.milliseconds:
        raise LanguageRule(
            "a SLIDE larger than the RANGE would miss elements",
            span=slide.span,
            hint="without a unit SLIDE counts milliseconds: write its unit, or a smaller SLIDE"
            if slide.unit is None
            else "make SLIDE at most as large as RANGE",
        )


def check_sources(sources: Iterable[syntax.Source]) -> None:
    """Check the windows in FROM; raises LanguageRule if a named stream shares its name with another source."""
    seen: dict[terms.IriName, bool] = {}
    for source in sources:
        if isinstance(source, syntax.StreamSource):
            check_window(source.window)
        if not source.named:
            continue
        stream = isinstance(source, syntax.StreamSource)
        if source.name in seen and (stream or seen[source.name]):
            raise LanguageRule(
                "two sources have the same name", span=source.span, hint="a GRAPH pattern could mean both; keep one"
            )
        seen[source.name] = stream


def check_volatile(query: SparqlQuery) -> None:
    """Raise LanguageRule for NOW, RAND or UUID in a query: their values change while a solution is valid (R28)."""
    for call in find_nodes(query.form, syntax.BuiltinCall):
        if call.name in VOLATILE:
            raise LanguageRule(
                f"{call.name}() cannot be used over a stream",
                span=call.span,
                detail="its value would change while a solution is valid",
                hint="leave it out, or read stored graphs only",
            )


def check_labels(form: syntax.Form) -> None:
    """Raise LanguageRule if a blank node label occurs in two basic graph patterns of a query."""
    owner: dict[str, int] = {}
    patterns = count(1)
    for part in (form.where, *_clauses(form)):
        for group in outermost_groups(part):
            _check_group_labels(group, owner, patterns)


def _check_group_labels(group: GroupPattern, pattern_of_label: dict[str, int], pattern_numbers: Iterator[int]) -> None:
    """Raise LanguageRule for a blank node label in two basic graph patterns; `pattern_of_label`: label to number.

    `pattern_of_label` has the number of the pattern that uses each label; `pattern_numbers` yields new numbers.
    """
    current = next(pattern_numbers)
    for element in group.elements:
        if isinstance(element, syntax.TriplesBlock):
            for node in find_nodes(element, terms.BlankNode):
                if pattern_of_label.setdefault(node.label, current) != current:
                    raise LanguageRule(
                        f"_:{node.label} is used in two basic graph patterns",
                        span=node.span,
                        hint="write a variable instead, or another label",
                    )
            continue
        for inner in outermost_groups(element):
            _check_group_labels(inner, pattern_of_label, pattern_numbers)
        if not isinstance(element, syntax.Filter):
            current = next(pattern_numbers)


def _clauses(form: syntax.Form) -> list[object]:
    """Return the clauses of a query that contain expressions: select items, GROUP BY, HAVING and ORDER BY."""
    clauses: list[object] = list(form.items) if isinstance(form, Select) else []
    return [*clauses, *form.modifiers.group_by, *form.modifiers.having, *form.modifiers.order_by]


def check_form(form: syntax.Form) -> None:
    """Raise LanguageRule if a query or subquery breaks a rule about its patterns, AS, GROUP BY or aggregates."""
    if form.where is not None:
        check_group(form.where)
    modifiers = form.modifiers
    bound = set(visible_variables(form.where)) if form.where is not None else set()
    for key in modifiers.group_by:
        forbid_aggregates(key.expression if isinstance(key, syntax.AliasedExpression) else key, "GROUP BY")
        if isinstance(key, syntax.AliasedExpression):
            _check_new_name(key.variable, bound)
    for expression in (*modifiers.having, *(key.expression for key in modifiers.order_by)):
        check_nested(expression)
    if modifiers.values is not None:
        check_values(modifiers.values)
    if isinstance(form, Select):
        check_items(form, bound)
    for clause in _clauses(form):
        for group in outermost_groups(clause):
            check_group(group)


def check_items(query: Select, bound_by_where: set[str]) -> None:
    """Raise LanguageRule if AS reuses a variable, or if a selected variable is neither grouped nor aggregated.

    `bound_by_where` are the variables that WHERE binds.
    """
    grouped = is_aggregated(query)
    keys = {
        key.variable.name if isinstance(key, syntax.AliasedExpression) else key.name
        for key in query.modifiers.group_by
        if isinstance(key, syntax.AliasedExpression | terms.Variable)
    }
    if grouped and not query.items:
        raise LanguageRule(
            "SELECT * cannot be used with GROUP BY or aggregates",
            span=query.span,
            hint="list the grouped variables and the aggregates",
        )
    taken = bound_by_where | keys
    for item in query.items:
        expression: Expression = item.expression if isinstance(item, syntax.AliasedExpression) else item
        check_nested(expression)
        if grouped:
            for variable in outside_aggregates(expression):
                if variable.name not in keys:
                    raise LanguageRule(
                        f"?{variable.name} is neither grouped nor aggregated",
                        span=variable.span,
                        hint=f"add GROUP BY ?{variable.name}, or write for example SAMPLE(?{variable.name})",
                    )
        if isinstance(item, syntax.AliasedExpression):
            _check_new_name(item.variable, taken)
            taken = taken | {item.variable.name}
            keys = keys | {item.variable.name}


def _check_new_name(variable: terms.Variable, taken: Iterable[str]) -> None:
    """Raise LanguageRule if AS or BIND assigns a variable that already has a value: its name is in `taken`."""
    if variable.name in taken:
        raise LanguageRule(
            f"?{variable.name} already has a value", span=variable.span, hint="choose another name after AS"
        )


def check_group(group: GroupPattern) -> None:
    """Raise LanguageRule if a FILTER, BIND, VALUES or subquery of a group or a nested group breaks a language rule."""
    bound: set[str] = set()
    for element in group.elements:
        match element:
            case syntax.Filter(condition=condition):
                forbid_aggregates(condition, "FILTER")
            case syntax.Bind(expression=expression, variable=variable):
                forbid_aggregates(expression, "BIND")
                _check_new_name(variable, bound)
            case syntax.Values():
                check_values(element)
            case syntax.Select():
                check_form(element)
            case _:
                pass
        bound.update(visible_variables(element))
        if not isinstance(element, Select):
            for inner in outermost_groups(element):
                check_group(inner)


def check_values(values: syntax.Values) -> None:
    """Raise LanguageRule if VALUES lists a variable twice."""
    names = [variable.name for variable in values.variables]
    for index, variable in enumerate(values.variables):
        if variable.name in names[:index]:
            raise LanguageRule(
                f"VALUES has ?{variable.name} twice", span=variable.span, hint="leave out one of the two"
            )


def forbid_aggregates(expression: Expression, clause: str) -> None:
    """Raise LanguageRule if an expression contains an aggregate; the message names the `clause`, such as FILTER."""
    for aggregate in aggregates(expression):
        raise LanguageRule(
            f"an aggregate is not allowed in {clause}",
            span=aggregate.span,
            hint="aggregates are allowed in SELECT, HAVING and ORDER BY",
        )


def check_nested(expression: Expression) -> None:
    """Raise LanguageRule if an expression has an aggregate inside another aggregate."""
    for aggregate in aggregates(expression):
        if aggregate.operand is not None:
            for inner in aggregates(aggregate.operand):
                raise LanguageRule(
                    "an aggregate is not allowed inside an aggregate",
                    span=inner.span,
                    hint="compute the inner one in a subquery",
                )
