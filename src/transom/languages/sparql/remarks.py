"""Warnings about legal SPARQL that is probably not intended: windows, variables without a value, predicates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from transom.catalog.reading.wording import nearest
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.scope import find_nodes, outside_aggregates, visible_variables
from transom.languages.sparql.translation.names import NameResolver
from transom.languages.sparql.unparse import expression as expression_text
from transom.languages.sparql.unparse_terms import iri as iri_text
from transom.languages.sql.select import Remark


def remarks(form: syntax.Form) -> Iterator[Remark]:
    """Yield warnings about legal but probably unintended parts of a query; they need no access to the data."""
    yield from _window_remarks(form)
    yield from _unbound_remarks(form)
    yield from _having_remarks(form)


def _window_remarks(form: syntax.Form) -> Iterator[Remark]:
    """Yield warnings for windows whose slide has no unit (R2) or does not divide the range (R4)."""
    windows = [source.window for source in form.sources if isinstance(source, syntax.StreamSource)]
    windows += [group.window for group in find_nodes(form, syntax.GroupPattern) if group.window is not None]
    for window in windows:
        if not isinstance(window, syntax.RangeWindow) or window.slide is None:
            continue
        width, slide = window.width, window.slide
        if slide.unit is None and width.unit not in (None, syntax.TimeUnit.MS):
            yield Remark(f"SLIDE {slide.count} is {slide.count} ms; write its unit as well", slide.span)
        if width.milliseconds % slide.milliseconds:
            yield Remark("the slide does not divide the range: elements stay for different lengths of time", slide.span)


def _unbound_remarks(form: syntax.Form) -> Iterator[Remark]:
    """Yield a warning for each variable that no part of the query binds, at its first occurrence."""
    bound = {variable.name for variable in binding_variables(form)}
    missing = [variable for variable in find_nodes(form, terms.Variable) if variable.name not in bound]
    for select in find_nodes(form, syntax.Select):
        inside = {*visible_variables(select.where), *_select_bindings(select)}
        missing += [item for item in select.items if isinstance(item, terms.Variable) and item.name not in inside]
    seen: set[str] = set()
    for variable in sorted(missing, key=lambda item: item.span.start):
        if variable.name not in seen:
            seen.add(variable.name)
            similar = nearest(variable.name, sorted(bound - {variable.name}))
            hint = f"; did you mean ?{similar}?" if similar else ""
            yield Remark(f"?{variable.name} is never bound: no pattern gives it a value{hint}", variable.span)


def _having_remarks(form: syntax.Form) -> Iterator[Remark]:
    """Yield a warning for each variable of a HAVING that only SELECT binds, after HAVING is evaluated (W3C 18.2.4)."""
    for select in find_nodes(form, syntax.Select):
        keys = [key for key in select.modifiers.group_by if isinstance(key, syntax.AliasedExpression)]
        bound = {*visible_variables(select.where), *(key.variable.name for key in keys)}
        aliases = {
            item.variable.name: expression_text(item.expression)
            for item in select.items
            if isinstance(item, syntax.AliasedExpression) and item.variable.name not in bound
        }
        for condition in select.modifiers.having:
            for variable in outside_aggregates(condition):
                if variable.name in aliases:
                    reason = f"?{variable.name} is named in SELECT, and HAVING cannot see it"
                    yield Remark(f"{reason}: write {aliases[variable.name]}", variable.span)


def binding_variables(form: syntax.Form) -> Iterator[terms.Variable]:
    """Yield the variables that some part of the query binds; a variable may be repeated."""
    for block in find_nodes(form, syntax.TriplesBlock):
        yield from find_nodes(block, terms.Variable)
    for bind in find_nodes(form, syntax.Bind):
        yield bind.variable
    for aliased in find_nodes(form, syntax.AliasedExpression):
        yield aliased.variable
    for values in find_nodes(form, syntax.Values):
        yield from values.variables
    names = [graph.name for graph in find_nodes(form, syntax.GraphPattern)] + [
        service.name for service in find_nodes(form, syntax.Service)
    ]
    yield from (name for name in names if isinstance(name, terms.Variable))


def _select_bindings(select: syntax.Select) -> Iterator[str]:
    """Yield the names of the variables that a SELECT binds outside its WHERE pattern, by AS or VALUES."""
    modifiers = select.modifiers
    for item in (*select.items, *modifiers.group_by):
        if isinstance(item, syntax.AliasedExpression):
            yield item.variable.name
    if modifiers.values is not None:
        yield from (variable.name for variable in modifiers.values.variables)


def unknown_predicates(
    query: syntax.SparqlQuery,
    names: NameResolver,
    predicates: Collection[str],
    unread: Collection[syntax.GraphPattern],
    elsewhere: Callable[[str], str | None],
) -> Iterator[Remark]:
    """Yield a warning for each predicate of a query that is not among `predicates`, the IRIs in the data.

    Predicates in the GRAPH patterns `unread`, which match nothing, are left out. `elsewhere` says in which graph that
    the query does not read an IRI is a predicate, and how to read the graph.
    """
    left_out = {id(predicate) for pattern in unread for predicate in _predicates(pattern)}
    for predicate in _predicates(query.form):
        iri = names.iri(predicate).value
        if iri in predicates or id(predicate) in left_out:
            continue
        location = elsewhere(iri)
        if location is not None:
            yield Remark(f"{iri_text(predicate)} occurs in {location}", predicate.span)
            continue
        similar = nearest(iri, sorted(predicates))
        hint = f"; did you mean <{similar}>?" if similar else ""
        yield Remark(f"no statement has the predicate <{iri}>{hint}", predicate.span)


def _predicates(tree: syntax.Form | syntax.GraphPattern) -> Iterator[terms.IriName]:
    """Yield the predicates in a tree's triple patterns and paths, except inside negated property sets `!(p|q)`."""
    for block in find_nodes(tree, syntax.TriplesBlock):
        for part in find_nodes(block, terms.PredicateObjectList):
            if not any(find_nodes(part.verb, terms.NegatedPropertySet)):
                yield from find_nodes(part.verb, terms.Iri)
                yield from find_nodes(part.verb, terms.PrefixedName)
