"""What parses and the language forbids: names without a meaning, variables out of scope, windows without a size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from transom.errors import LanguageRule, NameProblem
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.scope import aggregates, found, is_aggregated, outermost, outside_aggregates, visible
from transom.languages.sparql.syntax import Expression, Group, Query, Select

VOLATILE = ("NOW", "RAND", "UUID", "STRUUID")
"""Functions whose value depends on when they are asked."""


def check(query: Query, prefixes: Mapping[str, str] | None = None) -> None:
    """Refuse what the language forbids; `prefixes` are declared elsewhere (R27)."""
    check_names(query, prefixes or {})
    for group in found(query.form, Group):
        if group.window is not None:
            check_window(group.window)
    check_sources(query.form.sources)
    if any(isinstance(source, syntax.StreamSource) for source in query.form.sources):
        check_volatile(query)
    check_labels(query.form)
    check_form(query.form)


def check_names(query: Query, prefixes: Mapping[str, str]) -> None:
    """Every prefix is declared, in the text or in the catalog."""
    declared = {*prefixes, *(entry.name for entry in query.prologue if isinstance(entry, syntax.Prefix))}
    for name in found(query.form, terms.PrefixedName):
        if name.prefix not in declared:
            raise NameProblem(
                f"no prefix is called {name.prefix}:",
                span=name.span,
                hint=f"write PREFIX {name.prefix}: <...> first, or declare it in the catalog",
            )


def check_window(window: syntax.Window) -> None:
    """A window has a size, and a slide that is no larger (R21)."""
    if isinstance(window, syntax.ElementWindow):
        if window.count == 0:
            raise LanguageRule("a window of no elements", span=window.count_span, hint="ELEMS takes a number from 1 on")
        return
    slide = window.slide if isinstance(window, syntax.RangeWindow) else None
    for duration, name in ((window.width, "RANGE"), (slide, "SLIDE")):
        if duration is not None and duration.count == 0:
            raise LanguageRule(f"a {name} of no time", span=duration.span, hint="it takes a number from 1 on")
    if slide is not None and slide.milliseconds > window.width.milliseconds:
        raise LanguageRule(
            "a SLIDE larger than the RANGE would miss elements",
            span=slide.span,
            hint="SLIDE counts milliseconds unless it has a unit of its own"
            if slide.unit is None
            else "make SLIDE at most as large as RANGE",
        )


def check_sources(sources: Iterable[syntax.Source]) -> None:
    """Windows have a size, and a named stream stands once, so that GRAPH means one of them."""
    seen: dict[terms.IriName, bool] = {}
    for source in sources:
        if isinstance(source, syntax.StreamSource):
            check_window(source.window)
        if not source.named:
            continue
        stream = isinstance(source, syntax.StreamSource)
        if source.name in seen and (stream or seen[source.name]):
            raise LanguageRule(
                "two sources of one name", span=source.span, hint="a GRAPH pattern could mean both; keep one"
            )
        seen[source.name] = stream


def check_volatile(query: Query) -> None:
    """A function of the clock would change within the validity of a solution (R28)."""
    for call in found(query.form, syntax.Builtin):
        if call.name in VOLATILE:
            raise LanguageRule(
                f"{call.name}() over a stream",
                span=call.span,
                detail="its value would change while a solution is valid",
                hint="ask it over stored graphs only",
            )


def check_labels(form: syntax.Form) -> None:
    """A blank node belongs to one basic graph pattern."""
    owner: dict[str, int] = {}
    patterns = count(1)
    for part in (form.where, *_clauses(form)):
        for group in outermost(part):
            _labels(group, owner, patterns)


def _labels(group: Group, owner: dict[str, int], patterns: Iterator[int]) -> None:
    current = next(patterns)
    for element in group.elements:
        if isinstance(element, syntax.TriplesBlock):
            for node in found(element, terms.BlankNode):
                if owner.setdefault(node.label, current) != current:
                    raise LanguageRule(
                        f"_:{node.label} in two basic graph patterns",
                        span=node.span,
                        hint="use a variable, or another label",
                    )
            continue
        for inner in outermost(element):
            _labels(inner, owner, patterns)
        if not isinstance(element, syntax.Filter):
            current = next(patterns)


def _clauses(form: syntax.Form) -> list[object]:
    """The clauses of a form that hold expressions."""
    listed: list[object] = list(form.items) if isinstance(form, Select) else []
    return [*listed, *form.modifiers.group_by, *form.modifiers.having, *form.modifiers.order_by]


def check_form(form: syntax.Form) -> None:
    """What is selected is in scope; aggregates stand where groups are."""
    if form.where is not None:
        check_group(form.where)
    modifiers = form.modifiers
    known = set(visible(form.where)) if form.where is not None else set()
    for key in modifiers.group_by:
        no_aggregate(key.expression if isinstance(key, syntax.Named) else key, "GROUP BY")
        if isinstance(key, syntax.Named):
            _unused(key.variable, known)
    for expression in (*modifiers.having, *(key.expression for key in modifiers.order_by)):
        check_nested(expression)
    if modifiers.values is not None:
        check_values(modifiers.values)
    if isinstance(form, Select):
        check_items(form, known)
    for clause in _clauses(form):
        for group in outermost(clause):
            check_group(group)


def check_items(query: Select, known: set[str]) -> None:
    """The items of SELECT: new names are new, and with groups all is grouped or aggregated."""
    grouped = is_aggregated(query)
    keys = {
        key.variable.name if isinstance(key, syntax.Named) else key.name
        for key in query.modifiers.group_by
        if isinstance(key, syntax.Named | terms.Variable)
    }
    if grouped and not query.items:
        raise LanguageRule(
            "SELECT * with groups", span=query.span, hint="name the keys and the aggregates that are asked for"
        )
    taken = known | keys
    for item in query.items:
        expression: Expression = item.expression if isinstance(item, syntax.Named) else item
        check_nested(expression)
        if grouped:
            for variable in outside_aggregates(expression):
                if variable.name not in keys:
                    raise LanguageRule(
                        f"?{variable.name} is neither grouped nor aggregated",
                        span=variable.span,
                        hint=f"add GROUP BY ?{variable.name}, or write for example SAMPLE(?{variable.name})",
                    )
        if isinstance(item, syntax.Named):
            _unused(item.variable, taken)
            taken = taken | {item.variable.name}
            keys = keys | {item.variable.name}


def _unused(variable: terms.Variable, taken: Iterable[str]) -> None:
    """A name that AS gives is not in use yet."""
    if variable.name in taken:
        raise LanguageRule(f"?{variable.name} has a value already", span=variable.span, hint="give it another name")


def check_group(group: Group) -> None:
    """The patterns of a group, one after the other."""
    known: set[str] = set()
    for element in group.elements:
        match element:
            case syntax.Filter(condition=condition):
                no_aggregate(condition, "FILTER")
            case syntax.Bind(expression=expression, variable=variable):
                no_aggregate(expression, "BIND")
                _unused(variable, known)
            case syntax.Values():
                check_values(element)
            case syntax.Select():
                check_form(element)
            case _:
                pass
        known.update(visible(element))
        if not isinstance(element, Select):
            for inner in outermost(element):
                check_group(inner)


def check_values(values: syntax.Values) -> None:
    """A variable stands once in a table of values."""
    names = [variable.name for variable in values.variables]
    for place, variable in enumerate(values.variables):
        if variable.name in names[:place]:
            raise LanguageRule(f"?{variable.name} twice in VALUES", span=variable.span, hint="a row gives it one value")


def no_aggregate(expression: Expression, clause: str) -> None:
    """Refuse aggregates where there are no groups yet."""
    for aggregate in aggregates(expression):
        raise LanguageRule(
            f"an aggregate in {clause}", span=aggregate.span, hint="aggregates stand in SELECT, HAVING and ORDER BY"
        )


def check_nested(expression: Expression) -> None:
    """An aggregate takes no other aggregate."""
    for aggregate in aggregates(expression):
        if aggregate.operand is not None:
            for inner in aggregates(aggregate.operand):
                raise LanguageRule(
                    "an aggregate in an aggregate", span=inner.span, hint="compute the inner one in a subquery"
                )
