"""Translates SPARQL to algebra by Algorithm 1 of the document, as R8 to R13 read it, and SPARQL 1.1 section 18.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import assert_never

from transom.algebra.expressions.expression import TRUE, Column, Expression, NamedExpression, conjunction
from transom.algebra.expressions.terms import variable
from transom.algebra.operator import Windows
from transom.algebra.rdf.forms import Ask, Construct, Describe, TripleTemplate
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TermPattern
from transom.algebra.rdf.solutions import extend, join, left_join, minus, project, union, variables
from transom.algebra.relations import WindowAggregation, WindowDistinct, WindowSelect
from transom.algebra.sequences import OrderBy, Slice, SortKey
from transom.algebra.sources import Values
from transom.algebra.tree import RdfPlan
from transom.catalog.catalog import Catalog
from transom.errors import LanguageRule, Unsupported
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.remarks import remarks
from transom.languages.sparql.rules import check
from transom.languages.sparql.scope import find_nodes, is_aggregated, select_variables, visible_variables
from transom.languages.sparql.translation.dataset import (
    Dataset,
    MatchTarget,
    WindowSize,
    translate_dataset,
    window_size_of,
)
from transom.languages.sparql.translation.expressions import ExpressionTranslator
from transom.languages.sparql.translation.names import NameResolver
from transom.languages.sparql.translation.parameters import with_parameters
from transom.languages.sparql.translation.triples import TripleBuilder, TriplePath, translate_path, translate_term
from transom.languages.sql.select import Remark, StreamViews
from transom.model.rdf.terms import IRI
from transom.model.time import Calendar
from transom.model.types import Value

EMPTY_PATTERN = BasicGraphPattern(())
"""The pattern of an empty group: one solution without bindings, always valid."""
NO_SOLUTIONS = Values((), ())


@dataclass(frozen=True, slots=True)
class RdfTranslation:
    """The algebra of a query, and warnings for its author."""

    plan: RdfPlan
    warnings: tuple[Remark, ...] = ()


def translate(
    query: syntax.SparqlQuery,
    catalog: Catalog,
    base: str | None = None,
    parameters: Mapping[str, Value] | None = None,
    views: StreamViews | None = None,
) -> RdfTranslation:
    """Translate a SPARQL query; `base` resolves relative IRIs, `parameters` bind variables; `views` is not used."""
    query = with_parameters(query, parameters or {}, catalog.parameters)
    check(query, catalog.rdf.prefixes)
    names = NameResolver.of(query, catalog.rdf.prefixes, base)
    translator = _SparqlTranslator(
        names, translate_dataset(query.form, names, catalog.rdf, catalog.calendar), catalog.calendar
    )
    plan = translator.form(query.form)
    check_windows(query.form, translator.used)
    return RdfTranslation(plan, tuple(remarks(query.form)))


def check_windows(form: syntax.Form, used_window_ids: set[int]) -> None:
    """Raise LanguageRule for a group's WINDOW that no stream used: its id() is not in `used_window_ids` (R9)."""
    for group in find_nodes(form, syntax.GroupPattern):
        if group.window is not None and id(group.window) not in used_window_ids:
            raise LanguageRule(
                "this window applies to no pattern over a stream",
                span=group.window.span,
                hint="move it into the group of its triples, or leave it out",
            )


@dataclass(frozen=True, slots=True)
class _PatternContext:
    """The context of a pattern: what it is matched against, and the nearest enclosing window (R9)."""

    target: MatchTarget
    window: syntax.Window | None = None


@dataclass(frozen=True, slots=True)
class _SparqlTranslator:
    """Translates one query; `used` are the ids of the windows that govern some pattern."""

    names: NameResolver
    dataset: Dataset
    calendar: Calendar
    used: set[int] = field(default_factory=set)

    def form(self, form: syntax.Form) -> RdfPlan:
        """Translate a SELECT, ASK, CONSTRUCT or DESCRIBE query to its plan."""
        context = _PatternContext(self.dataset.default)
        match form:
            case syntax.Select():
                return self.select(form, context)
            case syntax.Ask():
                return Ask(self.apply_limit(self.sorted_solutions(form, context), form.modifiers))
            case syntax.Construct(template=template, where=where):
                statements = template
                if statements is None:
                    blocks = [block for block in where.elements if isinstance(block, syntax.TriplesBlock)]
                    statements = tuple(statement for block in blocks for statement in block.statements)
                below = self.apply_limit(self.sorted_solutions(form, context), form.modifiers)
                return Construct(below, tuple(map(self.template, TripleBuilder(self.names).triples(statements))))
            case syntax.Describe(items=items, where=where):
                names: Sequence[terms.Variable | terms.IriName] = items
                if not items and where is not None:
                    names = [terms.Variable(name) for name in visible_variables(where)]
                resources = tuple(
                    variable(item.name) if isinstance(item, terms.Variable) else self.names.iri(item) for item in names
                )
                below = self.apply_limit(self.sorted_solutions(form, context), form.modifiers)
                return Describe(below, resources, self.dataset.default.statements)
            case _:
                assert_never(form)

    def template(self, triple: TriplePath) -> TripleTemplate:
        """Translate one triple of a CONSTRUCT template, whose predicate is a variable or an IRI, to algebra."""
        verb = triple.verb
        predicate: TermPattern = verb if isinstance(verb, IRI | Column) else self.names.iri(verb)  # type: ignore[arg-type]
        return TripleTemplate(triple.subject, predicate, triple.object)

    def select(self, query: syntax.Select, context: _PatternContext) -> Windows:
        """Return the plan of a SELECT's (or subquery's) solutions; `context`: data to match, and nearest WINDOW."""
        columns = tuple(dict.fromkeys(variable(name) for name in select_variables(query)))
        solutions: Windows = project(self.sorted_solutions(query, context, columns), columns)
        if query.kind is not None:
            solutions = WindowDistinct(solutions)
        return self.apply_limit(solutions, query.modifiers)

    def apply_limit(self, solutions: Windows, modifiers: syntax.Modifiers) -> Windows:
        """Return the plan of sorted solutions with LIMIT and OFFSET applied; unchanged if the query has none."""
        if modifiers.limit is None and modifiers.offset is None:
            return solutions
        return Slice(solutions, modifiers.offset or 0, modifiers.limit)

    def sorted_solutions(
        self, form: syntax.Form, context: _PatternContext, columns: tuple[Column, ...] = ()
    ) -> Windows:
        """Plan a query's pattern, grouping, HAVING and ORDER BY; `columns` (or all variables) break ties.

        This is W3C 18.2.4.
        """
        modifiers = form.modifiers
        solutions = EMPTY_PATTERN if form.where is None else self.group(form.where, context)
        translator = self.expressions(context)
        items = form.items if isinstance(form, syntax.Select) else ()
        aliased = [
            (item.variable.name, translator.term(item.expression))
            for item in items
            if isinstance(item, syntax.AliasedExpression)
        ]
        having = [translator.condition(condition) for condition in modifiers.having]
        order = tuple(SortKey(translator.term(key.expression), key.descending) for key in modifiers.order_by)
        if is_aggregated(form):
            solutions = self.group_solutions(form, solutions, translator)
        if having:
            solutions = WindowSelect(solutions, conjunction(having))
        if modifiers.values is not None:
            solutions = join_patterns(solutions, self.values(modifiers.values))
        for name, expression in aliased:
            solutions = extend(solutions, NamedExpression(expression, variable(name).attribute))
        if order or modifiers.limit is not None or modifiers.offset is not None:
            solutions = OrderBy(solutions, order, columns or variables(solutions))
        return solutions

    def group_solutions(self, form: syntax.Form, below: Windows, translator: ExpressionTranslator) -> Windows:
        """Group the solutions `below` by a query's GROUP BY, and compute the aggregates that `translator` collected."""
        keys: dict[Column, NamedExpression] = {}
        for index, key in enumerate(form.modifiers.group_by):
            if isinstance(key, syntax.AliasedExpression):
                column = variable(key.variable.name)
                expression: Expression = column
                below = extend(below, NamedExpression(translator.term(key.expression), column.attribute))
            else:
                expression = translator.term(key)
                column = expression if isinstance(expression, Column) else variable(f".key{index}")
            keys[column] = NamedExpression(expression, column.attribute)
        aggregates = tuple(
            translator.aggregate(aggregate, column) for aggregate, column in tuple(translator.collected.items())
        )
        return WindowAggregation(below, tuple(keys.values()), aggregates)

    def expressions(self, context: _PatternContext) -> ExpressionTranslator:
        """Return a new translator of expressions; `context` has the data and the window for patterns of EXISTS."""
        return ExpressionTranslator(self.names, lambda group: self.group(group, context), {})

    def group(self, group: syntax.GroupPattern, context: _PatternContext) -> Windows:
        """Translate a group `{ ... }` to the plan of its solutions; its FILTERs apply to the entire group (R12)."""
        solutions, condition = self.group_and_filters(group, context)
        return solutions if condition == TRUE else WindowSelect(solutions, condition)

    def group_and_filters(self, group: syntax.GroupPattern, context: _PatternContext) -> tuple[Windows, Expression]:
        """Return the plan of a group without its FILTERs, and the FILTERs joined by AND (TRUE if there are none).

        This is W3C 18.2.2.
        """
        inner_context = context if group.window is None else replace(context, window=group.window)
        translator = self.expressions(inner_context)
        solutions: Windows = EMPTY_PATTERN
        statements: list[terms.TriplesSameSubject] = []
        conditions: list[Expression] = []
        for element in group.elements:
            if isinstance(element, syntax.TriplesBlock):
                statements += element.statements
                continue
            if isinstance(element, syntax.Filter):
                conditions.append(translator.condition(element.condition))
                continue
            solutions = join_patterns(solutions, self.basic_graph_pattern(statements, inner_context))
            statements = []
            match element:
                case syntax.Optional(group=inner):
                    right, condition = self.group_and_filters(inner, inner_context)
                    solutions = left_join(solutions, right, condition)
                case syntax.Minus(group=inner):
                    solutions = minus(solutions, self.group(inner, inner_context))
                case syntax.Bind(expression=expression, variable=bound):
                    solutions = extend(
                        solutions, NamedExpression(translator.term(expression), variable(bound.name).attribute)
                    )
                case syntax.Union(groups=groups):
                    solutions = join_patterns(
                        solutions, reduce(union, (self.group(branch, inner_context) for branch in groups))
                    )
                case syntax.GraphPattern():
                    solutions = join_patterns(solutions, self.graph(element, inner_context))
                case syntax.Values():
                    solutions = join_patterns(solutions, self.values(element))
                case syntax.GroupPattern():
                    solutions = join_patterns(solutions, self.group(element, inner_context))
                case syntax.Select():
                    solutions = join_patterns(solutions, self.select(element, inner_context))
                case syntax.Service():
                    error = Unsupported(
                        "SERVICE", "a query cannot ask other endpoints", "never", hint="leave SERVICE out"
                    )
                    error.span = element.span
                    raise error
                case _:
                    assert_never(element)
        solutions = join_patterns(solutions, self.basic_graph_pattern(statements, inner_context))
        return solutions, conjunction(conditions)

    def graph(self, pattern: syntax.GraphPattern, context: _PatternContext) -> Windows:
        """Translate a pattern in `GRAPH <iri>`, or in `GRAPH ?g` to a union over all named sources (R10).

        ?g is bound to the IRI of the source.
        """
        if not isinstance(pattern.name, terms.Variable):
            target = self.dataset.named.get(self.names.iri(pattern.name).value)
            solutions = self.group(pattern.group, replace(context, target=target or MatchTarget()))
            return NO_SOLUTIONS if target is None else solutions
        column = variable(pattern.name.name)
        combined: Windows | None = None
        for iri, target in self.dataset.named.items():
            solutions_inside = self.group(pattern.group, replace(context, target=target))
            bound_to_name = join_patterns(solutions_inside, Values((column,), ((IRI(iri),),)))
            combined = bound_to_name if combined is None else union(combined, bound_to_name)
        return Values((column,), ()) if combined is None else combined

    def values(self, values: syntax.Values) -> Values:
        """Translate VALUES to an inline table of solutions, in which UNDEF is NULL."""
        rows = tuple(
            tuple(None if value is None else translate_term(value, self.names) for value in row) for row in values.rows
        )
        return Values(tuple(variable(node.name) for node in values.variables), rows)

    def basic_graph_pattern(
        self, statements: Sequence[terms.TriplesSameSubject], context: _PatternContext
    ) -> BasicGraphPattern:
        """Translate adjacent triples to a join of triple patterns, each over the window (if any) of `context`.

        This is the rule Triple of Algorithm 1 in 002.
        """
        builder = TripleBuilder(self.names)
        parts: list[Windows] = []
        for triple in builder.triples(statements):
            self.add_triple(triple, context, builder, parts)
        return BasicGraphPattern(tuple(parts))

    def add_triple(
        self, triple: TriplePath, context: _PatternContext, builder: TripleBuilder, parts: list[Windows]
    ) -> None:
        """Append the plans of a triple's patterns to `parts`; a path `p/q` gives two, joined by a blank node."""
        match triple.verb:
            case IRI() | Column() as predicate:
                parts.append(
                    context.target.pattern(self.window_size(context), triple.subject, predicate, triple.object)
                )
            case terms.Iri() | terms.PrefixedName() as name:
                self.add_triple(triple._replace(verb=self.names.iri(name)), context, builder, parts)
            case terms.InversePath(path=inner):
                self.add_triple(TriplePath(triple.object, inner, triple.subject), context, builder, parts)
            case terms.SequencePath(steps=steps):
                nodes = [triple.subject, *(builder.fresh() for _ in steps[1:]), triple.object]
                for start, step, end in zip(nodes, steps, nodes[1:]):
                    self.add_triple(TriplePath(start, step, end), context, builder, parts)
            case path:
                parts.append(self.path_pattern(triple, path, context))

    def path_pattern(self, triple: TriplePath, path: terms.PropertyPath, context: _PatternContext) -> Windows:
        """Return the plan matching a path like `p*`; LanguageRule in a group with a row-count window ELEMS n.

        Such a window is allowed if the pattern reads no stream.
        """
        window_size = self.window_size(context)
        if window_size is not None and window_size.count and context.target.streams:
            raise LanguageRule(
                "a path cannot be used in a group with ELEMS",
                span=path.span,
                detail="ELEMS of a group counts the solutions of each triple pattern, and a path is not one",
                hint="put WINDOW ELEMS after FROM STREAM, or use WINDOW RANGE",
            )
        below = context.target.statements if window_size is None else context.target.statements_in_window(window_size)
        return PathPattern(below, triple.subject, translate_path(path, self.names), triple.object)

    def window_size(self, context: _PatternContext) -> WindowSize | None:
        """Return the size of the window around a pattern, in ticks or elements, or None if no window applies (R13).

        The window is marked as used.
        """
        if context.window is None or not context.target.streams:
            return None
        self.used.add(id(context.window))
        return window_size_of(context.window, self.calendar)


def join_patterns(left: Windows, right: Windows) -> Windows:
    """Join two patterns' solutions on common variables; if one is the empty pattern `{}`, return the other."""
    if left == EMPTY_PATTERN:
        return right
    return left if right == EMPTY_PATTERN else join(left, right)
