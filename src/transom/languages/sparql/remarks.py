"""What is legal in SPARQL and probably not meant: windows, variables without a value, predicates that nobody uses."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from transom.catalog.wording import nearest
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.names import Names
from transom.languages.sparql.scope import found, visible
from transom.languages.sql.select import Remark


def remarks(form: syntax.Form) -> Iterator[Remark]:
    """What a query alone shows."""
    yield from _windows(form)
    yield from _unbound(form)


def _windows(form: syntax.Form) -> Iterator[Remark]:
    """A slide without a unit (R2), or one that does not divide the range (R4)."""
    windows = [source.window for source in form.sources if isinstance(source, syntax.StreamSource)]
    windows += [group.window for group in found(form, syntax.Group) if group.window is not None]
    for window in windows:
        if not isinstance(window, syntax.RangeWindow) or window.slide is None:
            continue
        width, slide = window.width, window.slide
        if slide.unit is None and width.unit not in (None, syntax.Unit.MS):
            yield Remark(f"SLIDE {slide.count} is {slide.count} ms; write its unit as well", slide.span)
        if width.milliseconds % slide.milliseconds:
            yield Remark("the slide does not divide the range: elements stay for different lengths of time", slide.span)


def _unbound(form: syntax.Form) -> Iterator[Remark]:
    """Variables that nothing gives a value to: each once, where the text names it first."""
    bound = {variable.name for variable in giving(form)}
    missing = [variable for variable in found(form, terms.Variable) if variable.name not in bound]
    for select in found(form, syntax.Select):
        inside = {*visible(select.where), *_after(select)}
        missing += [one for one in select.items if isinstance(one, terms.Variable) and one.name not in inside]
    seen: set[str] = set()
    for variable in sorted(missing, key=lambda one: one.span.start):
        if variable.name not in seen:
            seen.add(variable.name)
            near = nearest(variable.name, sorted(bound - {variable.name}))
            hint = f"; did you mean ?{near}?" if near else ""
            yield Remark(f"?{variable.name} is never bound: no pattern gives it a value{hint}", variable.span)


def giving(form: syntax.Form) -> Iterator[terms.Variable]:
    """The variables that some part of a query gives a value to."""
    for block in found(form, syntax.TriplesBlock):
        yield from found(block, terms.Variable)
    for bind in found(form, syntax.Bind):
        yield bind.variable
    for named in found(form, syntax.Named):
        yield named.variable
    for values in found(form, syntax.Values):
        yield from values.variables
    names = [graph.name for graph in found(form, syntax.Graph)] + [one.name for one in found(form, syntax.Service)]
    yield from (name for name in names if isinstance(name, terms.Variable))


def _after(select: syntax.Select) -> Iterator[str]:
    """The variables that a SELECT gives a value to beside its pattern."""
    modifiers = select.modifiers
    for named in (*select.items, *modifiers.group_by):
        if isinstance(named, syntax.Named):
            yield named.variable.name
    if modifiers.values is not None:
        yield from (variable.name for variable in modifiers.values.variables)


def unknown_predicates(query: syntax.Query, names: Names, known: Collection[str]) -> Iterator[Remark]:
    """Predicates of patterns that are not among those that the statements have."""
    for predicate in _predicates(query.form):
        iri = names.iri(predicate).value
        if iri not in known:
            near = nearest(iri, sorted(known))
            hint = f"; did you mean <{near}>?" if near else ""
            yield Remark(f"no statement has the predicate <{iri}>{hint}", predicate.span)


def _predicates(form: syntax.Form) -> Iterator[terms.IriName]:
    for block in found(form, syntax.TriplesBlock):
        for part in found(block, terms.Property):
            if not any(found(part.verb, terms.NoneOf)):
                yield from found(part.verb, terms.Iri)
                yield from found(part.verb, terms.PrefixedName)
