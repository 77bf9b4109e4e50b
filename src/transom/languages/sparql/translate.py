"""SPARQL syntax to algebra: Algorithm 1 of the document as R8 to R13 read it, and section 18.2 of SPARQL 1.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import assert_never

from transom.algebra.expressions import TRUE, Column, Expression, Item, conjunction
from transom.algebra.operator import Windows
from transom.algebra.rdf.forms import Ask, Construct, Describe, Template
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, Place
from transom.algebra.rdf.solutions import extend, join, left_join, minus, project, union, variables
from transom.algebra.relations import WindowAggregation, WindowDistinct, WindowSelect
from transom.algebra.sequences import OrderBy, Slice, SortKey
from transom.algebra.sources import Values
from transom.algebra.terms import variable
from transom.algebra.tree import Question
from transom.catalog.catalog import Catalog
from transom.errors import LanguageRule, Unsupported
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.dataset import Dataset, Size, Target, dataset, size_of
from transom.languages.sparql.names import Names
from transom.languages.sparql.parameters import with_parameters
from transom.languages.sparql.remarks import remarks
from transom.languages.sparql.rules import check
from transom.languages.sparql.scope import columns, found, is_aggregated, visible
from transom.languages.sparql.translate_expressions import Expressions
from transom.languages.sparql.triples import Row, Triples, path, term
from transom.languages.sql.select import Remark, Views
from transom.model.rdf.terms import IRI
from transom.model.time import Calendar
from transom.model.types import Value

UNIT = BasicGraphPattern(())
"""The pattern of an empty group: one solution without bindings, always valid."""
NOTHING = Values((), ())


@dataclass(frozen=True, slots=True)
class Translation:
    """What a query means, and what its author should be told."""

    plan: Question
    warnings: tuple[Remark, ...] = ()


def translate(
    query: syntax.Query,
    catalog: Catalog,
    base: str | None = None,
    parameters: Mapping[str, Value] | None = None,
    views: Views | None = None,
) -> Translation:
    """The algebra of a query; relative IRIs are seen from `base`. SPARQL reads no `views`."""
    query = with_parameters(query, parameters or {}, catalog.parameters)
    check(query, catalog.rdf.prefixes)
    names = Names.of(query, catalog.rdf.prefixes, base)
    translator = _Translator(names, dataset(query.form, names, catalog.rdf, catalog.calendar), catalog.calendar)
    plan = translator.form(query.form)
    check_windows(query.form, translator.used)
    return Translation(plan, tuple(remarks(query.form)))


def check_windows(form: syntax.Form, used: set[int]) -> None:
    """A window that governs no pattern over a stream is not meant (R9)."""
    for group in found(form, syntax.Group):
        if group.window is not None and id(group.window) not in used:
            raise LanguageRule(
                "a window that governs no pattern over a stream",
                span=group.window.span,
                hint="put it into the group of the triples that it is for, or leave it out",
            )


@dataclass(frozen=True, slots=True)
class _Around:
    """Where a pattern stands: what it is matched against, and the nearest window around it (R9)."""

    target: Target
    window: syntax.Window | None = None


@dataclass(frozen=True, slots=True)
class _Translator:
    """Translates one query; `used` are the windows that govern some pattern."""

    names: Names
    dataset: Dataset
    calendar: Calendar
    used: set[int] = field(default_factory=set)

    def form(self, form: syntax.Form) -> Question:
        """A whole query."""
        around = _Around(self.dataset.default)
        match form:
            case syntax.Select():
                return self.select(form, around)
            case syntax.Ask():
                return Ask(self.sliced(self.solved(form, around), form.modifiers))
            case syntax.Construct(template=template, where=where):
                statements = template
                if statements is None:
                    blocks = [one for one in where.elements if isinstance(one, syntax.TriplesBlock)]
                    statements = tuple(one for block in blocks for one in block.statements)
                below = self.sliced(self.solved(form, around), form.modifiers)
                return Construct(below, tuple(map(self.template, Triples(self.names).rows(statements))))
            case syntax.Describe(items=items, where=where):
                listed: Sequence[terms.Variable | terms.IriName] = items
                if not items and where is not None:
                    listed = [terms.Variable(name) for name in visible(where)]
                resources = tuple(
                    variable(i.name) if isinstance(i, terms.Variable) else self.names.iri(i) for i in listed
                )
                below = self.sliced(self.solved(form, around), form.modifiers)
                return Describe(below, resources, self.dataset.default.statements)
            case _:
                assert_never(form)

    def template(self, row: Row) -> Template:
        """One statement of a template; it has no paths."""
        verb = row.verb
        place: Place = verb if isinstance(verb, IRI | Column) else self.names.iri(verb)  # type: ignore[arg-type]
        return Template(row.subject, place, row.object)

    def select(self, query: syntax.Select, around: _Around) -> Windows:
        """SELECT, of a query or of a subquery."""
        kept = tuple(dict.fromkeys(variable(name) for name in columns(query)))
        solutions: Windows = project(self.solved(query, around, kept), kept)
        if query.kind is not None:
            solutions = WindowDistinct(solutions)
        return self.sliced(solutions, query.modifiers)

    def sliced(self, solutions: Windows, modifiers: syntax.Modifiers) -> Windows:
        """LIMIT and OFFSET; `solved` has put what they count in order."""
        if modifiers.limit is None and modifiers.offset is None:
            return solutions
        return Slice(solutions, modifiers.offset or 0, modifiers.limit)

    def solved(self, form: syntax.Form, around: _Around, kept: tuple[Column, ...] = ()) -> Windows:
        """The pattern of a query, grouped, with the expressions of its SELECT, and in order (W3C 18.2.4)."""
        modifiers = form.modifiers
        solutions = UNIT if form.where is None else self.group(form.where, around)
        words = self.expressions(around)
        items = form.items if isinstance(form, syntax.Select) else ()
        named = [(item.variable.name, words.term(item.expression)) for item in items if isinstance(item, syntax.Named)]
        having = [words.condition(one) for one in modifiers.having]
        order = tuple(SortKey(words.term(key.expression), key.descending) for key in modifiers.order_by)
        if is_aggregated(form):
            solutions = self.grouped(form, solutions, words)
        if having:
            solutions = WindowSelect(solutions, conjunction(having))
        if modifiers.values is not None:
            solutions = joined(solutions, self.values(modifiers.values))
        for name, expression in named:
            solutions = extend(solutions, Item(expression, variable(name).attribute))
        if order or modifiers.limit is not None or modifiers.offset is not None:
            solutions = OrderBy(solutions, order, kept or variables(solutions))
        return solutions

    def grouped(self, form: syntax.Form, below: Windows, words: Expressions) -> Windows:
        """GROUP BY and the aggregates that the expressions of a query ask for; those see a key that has a name."""
        keys: dict[Column, Item] = {}
        for place, key in enumerate(form.modifiers.group_by):
            if isinstance(key, syntax.Named):
                column = variable(key.variable.name)
                expression: Expression = column
                below = extend(below, Item(words.term(key.expression), column.attribute))
            else:
                expression = words.term(key)
                column = expression if isinstance(expression, Column) else variable(f".key{place}")
            keys[column] = Item(expression, column.attribute)
        aggregates = tuple(words.aggregate(one, column) for one, column in tuple(words.collected.items()))
        return WindowAggregation(below, tuple(keys.values()), aggregates)

    def expressions(self, around: _Around) -> Expressions:
        """What translates expressions at a place."""
        return Expressions(self.names, lambda group: self.group(group, around), {})

    def group(self, group: syntax.Group, around: _Around) -> Windows:
        """A group, with its filters on top of everything else in it (R12)."""
        solutions, condition = self.parts(group, around)
        return solutions if condition == TRUE else WindowSelect(solutions, condition)

    def parts(self, group: syntax.Group, around: _Around) -> tuple[Windows, Expression]:
        """What a group matches, and its filters (W3C 18.2.2)."""
        here = around if group.window is None else replace(around, window=group.window)
        words = self.expressions(here)
        solutions: Windows = UNIT
        statements: list[terms.Statement] = []
        conditions: list[Expression] = []
        for element in group.elements:
            if isinstance(element, syntax.TriplesBlock):
                statements += element.statements
                continue
            if isinstance(element, syntax.Filter):
                conditions.append(words.condition(element.condition))
                continue
            solutions = joined(solutions, self.basic(statements, here))
            statements = []
            match element:
                case syntax.Optional(group=inner):
                    right, condition = self.parts(inner, here)
                    solutions = left_join(solutions, right, condition)
                case syntax.Minus(group=inner):
                    solutions = minus(solutions, self.group(inner, here))
                case syntax.Bind(expression=expression, variable=bound):
                    solutions = extend(solutions, Item(words.term(expression), variable(bound.name).attribute))
                case syntax.Union(groups=groups):
                    solutions = joined(solutions, reduce(union, (self.group(one, here) for one in groups)))
                case syntax.Graph():
                    solutions = joined(solutions, self.graph(element, here))
                case syntax.Values():
                    solutions = joined(solutions, self.values(element))
                case syntax.Group():
                    solutions = joined(solutions, self.group(element, here))
                case syntax.Select():
                    solutions = joined(solutions, self.select(element, here))
                case syntax.Service():
                    refused = Unsupported("SERVICE", "a query asks no other endpoints", "never")
                    refused.span = element.span
                    raise refused
                case _:
                    assert_never(element)
        solutions = joined(solutions, self.basic(statements, here))
        return solutions, conjunction(conditions)

    def graph(self, pattern: syntax.Graph, around: _Around) -> Windows:
        """GRAPH: one source by its name, or the union of all, with their names (R10)."""
        if not isinstance(pattern.name, terms.Variable):
            target = self.dataset.named.get(self.names.iri(pattern.name).value)
            solutions = self.group(pattern.group, replace(around, target=target or Target()))
            return NOTHING if target is None else solutions
        column = variable(pattern.name.name)
        found: Windows | None = None
        for iri, target in self.dataset.named.items():
            inside = self.group(pattern.group, replace(around, target=target))
            one = joined(inside, Values((column,), ((IRI(iri),),)))
            found = one if found is None else union(found, one)
        return Values((column,), ()) if found is None else found

    def values(self, values: syntax.Values) -> Values:
        """VALUES."""
        rows = tuple(tuple(None if value is None else term(value, self.names) for value in row) for row in values.rows)
        return Values(tuple(variable(one.name) for one in values.variables), rows)

    def basic(self, statements: Sequence[terms.Statement], around: _Around) -> BasicGraphPattern:
        """A basic graph pattern; each triple pattern has its window (002 Alg. 1, Triple)."""
        triples = Triples(self.names)
        parts: list[Windows] = []
        for row in triples.rows(statements):
            self.match(row, around, triples, parts)
        return BasicGraphPattern(tuple(parts))

    def match(self, row: Row, around: _Around, triples: Triples, parts: list[Windows]) -> None:
        """One triple of a pattern; a path of steps is a chain of them (W3C 18.2.2.4)."""
        match row.verb:
            case IRI() | Column() as predicate:
                parts.append(around.target.pattern(self.size(around), row.subject, predicate, row.object))
            case terms.Iri() | terms.PrefixedName() as name:
                self.match(row._replace(verb=self.names.iri(name)), around, triples, parts)
            case terms.Inverse(path=inner):
                self.match(Row(row.object, inner, row.subject), around, triples, parts)
            case terms.Sequence(steps=steps):
                places = [row.subject, *(triples.fresh() for _ in steps[1:]), row.object]
                for start, step, end in zip(places, steps, places[1:]):
                    self.match(Row(start, step, end), around, triples, parts)
            case way:
                parts.append(self.walk(row, way, around))

    def walk(self, row: Row, way: terms.Path, around: _Around) -> Windows:
        """A path that is more than a chain: it is walked through the statements that are valid."""
        size = self.size(around)
        if size is not None and size.count and around.target.streams:
            raise LanguageRule(
                "a path in a group with ELEMS",
                span=way.span,
                detail="ELEMS of a group counts the solutions of each triple pattern, and a path is none",
                hint="put WINDOW ELEMS behind FROM STREAM, or use WINDOW RANGE",
            )
        below = around.target.statements if size is None else around.target.through(size)
        return PathPattern(below, row.subject, path(way, self.names), row.object)

    def size(self, around: _Around) -> Size | None:
        """The window around a pattern, in ticks; over stored graphs there is none (R13)."""
        if around.window is None or not around.target.streams:
            return None
        self.used.add(id(around.window))
        return size_of(around.window, self.calendar)


def joined(left: Windows, right: Windows) -> Windows:
    """A join; what is joined with an empty group stays as it is."""
    if left == UNIT:
        return right
    return left if right == UNIT else join(left, right)
