"""SPARQL text to syntax."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from lark import Token, UnexpectedInput
from lark.exceptions import VisitError
from lark.tree import Meta
from lark.visitors import v_args

from transom.errors import ParseError, Span, TransomError
from transom.languages.grammars import parser
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.characters import unescape
from transom.languages.sparql.failures import explain_failure
from transom.languages.sparql.parse_terms import Terms
from transom.languages.sparql.syntax import Expression, Group, Modifiers, Query
from transom.languages.sparql.terms import IriName, Statement, Variable
from transom.languages.sql.parse import LONGEST, check_depth, whole_number


def parse(text: str) -> Query:
    """The syntax tree of a SPARQL query; ParseError with the place if it is none."""
    if len(text) > LONGEST:
        raise ParseError(
            f"a query is at most {LONGEST:,} characters long",
            span=Span(LONGEST, len(text)),
            text=text,
            hint=f"this one has {len(text):,}",
        )
    plain, places = unescape(text)
    try:
        tree = parser("sparql").parse(plain)
        check_depth(tree, plain)
        query: Query = _Builder(places).transform(tree)
        return query
    except UnexpectedInput as error:
        failure = explain_failure(error, plain)
    except ParseError as error:
        failure = error
    except VisitError as error:
        if not isinstance(error.orig_exc, TransomError):
            raise
        raise error.orig_exc.within(text) from None
    if failure.span is not None:
        failure.span = places.span(failure.span)
    failure.text = text
    raise failure from None


@v_args(meta=True)
class _Builder(Terms):
    """Builds a query."""

    # forms

    def start(self, meta: Meta, children: list[Any]) -> Query:
        return Query(children[0], children[1], self.at(meta))

    def prologue(self, meta: Meta, children: list[Any]) -> Any:
        return tuple(children)

    def base(self, meta: Meta, children: list[Token]) -> syntax.Base:
        return syntax.Base(children[0][1:-1], self.at(meta))

    def prefix(self, meta: Meta, children: list[Token]) -> syntax.Prefix:
        name, iri = children
        if name.index(":") != len(name) - 1:
            raise ParseError(f"{str(name)!r} is no prefix", span=self.on(name), hint="a prefix ends with its colon")
        return syntax.Prefix(str(name[:-1]), iri[1:-1], self.at(meta))

    def select(self, meta: Meta, children: list[Any]) -> syntax.Select:
        kind: Any = children.pop(0).upper() if isinstance(children[0], Token) else None
        items, sources, where, modifiers, values = children
        return syntax.Select(kind, items, sources, where, replace(modifiers, values=values), self.at(meta))

    def sub_select(self, meta: Meta, children: list[Any]) -> syntax.Select:
        children.insert(2 if isinstance(children[0], Token) else 1, ())
        return self.select(meta, children)

    def construct(self, meta: Meta, children: list[Any]) -> syntax.Construct:
        template, sources, where, modifiers, values = children
        return syntax.Construct(template, sources, where, replace(modifiers, values=values), self.at(meta))

    def short_construct(self, meta: Meta, children: list[Any]) -> syntax.Construct:
        sources, where, modifiers, values = children
        for element in where.elements:
            if not isinstance(element, syntax.TriplesBlock):
                raise ParseError(
                    "CONSTRUCT WHERE takes triples alone",
                    span=element.span,
                    hint="write the template in braces before WHERE",
                )
            _without_paths(element.statements)
        return syntax.Construct(None, sources, where, replace(modifiers, values=values), self.at(meta))

    def describe(self, meta: Meta, children: list[Any]) -> syntax.Describe:
        items, sources, *where, modifiers, values = children
        group = where[0] if where else None
        return syntax.Describe(items, sources, group, replace(modifiers, values=values), self.at(meta))

    def ask(self, meta: Meta, children: list[Any]) -> syntax.Ask:
        sources, where, modifiers, values = children
        return syntax.Ask(sources, where, replace(modifiers, values=values), self.at(meta))

    def items(self, meta: Meta, children: list[Any]) -> Any:
        return () if isinstance(children[0], Token) else tuple(children)

    resources = items

    def named(self, meta: Meta, children: list[Any]) -> syntax.Named:
        return syntax.Named(children[0], children[1], self.at(meta))

    def template(self, meta: Meta, children: list[Any]) -> tuple[Statement, ...]:
        statements: tuple[Statement, ...] = children[0] if children else ()
        _without_paths(statements)
        return statements

    # sources and windows

    def dataset(self, meta: Meta, children: list[Any]) -> Any:
        return tuple(children)

    def default_graph(self, meta: Meta, children: list[IriName]) -> syntax.GraphSource:
        return syntax.GraphSource(children[0], False, self.at(meta))

    def named_graph(self, meta: Meta, children: list[IriName]) -> syntax.GraphSource:
        return syntax.GraphSource(children[0], True, self.at(meta))

    def default_stream(self, meta: Meta, children: list[Any]) -> syntax.StreamSource:
        return syntax.StreamSource(children[0], children[1], False, self.at(meta))

    def named_stream(self, meta: Meta, children: list[Any]) -> syntax.StreamSource:
        return syntax.StreamSource(children[0], children[1], True, self.at(meta))

    def range_window(self, meta: Meta, children: list[syntax.Duration]) -> syntax.RangeWindow:
        return syntax.RangeWindow(children[0], children[1] if len(children) == 2 else None, self.at(meta))

    def fixed_window(self, meta: Meta, children: list[syntax.Duration]) -> syntax.FixedWindow:
        return syntax.FixedWindow(children[0], self.at(meta))

    def element_window(self, meta: Meta, children: list[Token]) -> syntax.ElementWindow:
        return syntax.ElementWindow(self.whole(children[0]), self.at(meta), self.on(children[0]))

    def duration(self, meta: Meta, children: list[Token]) -> syntax.Duration:
        unit = syntax.Unit(children[1].upper()) if len(children) == 2 else None
        return syntax.Duration(self.whole(children[0]), unit, self.at(meta))

    def whole(self, token: Token) -> int:
        """A token's number, if 64 bits hold it."""
        try:
            return whole_number(token)
        except ParseError as error:
            error.span = self.on(token)
            raise

    # clauses after the pattern

    def modifiers(self, meta: Meta, children: list[tuple[str, Any]]) -> Modifiers:
        clauses: dict[str, Any] = dict(children)
        return Modifiers(**clauses)

    def group_by(self, meta: Meta, children: list[Any]) -> tuple[str, Any]:
        return ("group_by", tuple(children))

    def having(self, meta: Meta, children: list[Any]) -> tuple[str, Any]:
        return ("having", tuple(children))

    def order_by(self, meta: Meta, children: list[Any]) -> tuple[str, Any]:
        return ("order_by", tuple(children))

    def order(self, meta: Meta, children: list[Any]) -> syntax.OrderKey:
        descending = isinstance(children[0], Token) and children[0].upper() == "DESC"
        return syntax.OrderKey(children[-1], descending, self.at(meta))

    def limit(self, meta: Meta, children: list[Token]) -> tuple[str, Any]:
        return ("limit", self.whole(children[0]))

    def offset(self, meta: Meta, children: list[Token]) -> tuple[str, Any]:
        return ("offset", self.whole(children[0]))

    def values_clause(self, meta: Meta, children: list[Any]) -> syntax.Values | None:
        return children[0] if children else None

    # patterns

    def where(self, meta: Meta, children: list[Group]) -> Group:
        return children[0] if len(children) == 1 else Group((syntax.Union(tuple(children), self.at(meta)),))

    def group(self, meta: Meta, children: list[Any]) -> Group:
        window = children.pop() if children and isinstance(children[-1], syntax.Window) else None
        return Group(tuple(children), window, self.at(meta))

    def alternatives(self, meta: Meta, children: list[Group]) -> Group | syntax.Union:
        return children[0] if len(children) == 1 else syntax.Union(tuple(children), self.at(meta))

    def optional(self, meta: Meta, children: list[Group]) -> syntax.Optional:
        return syntax.Optional(children[0], self.at(meta))

    def minus(self, meta: Meta, children: list[Group]) -> syntax.Minus:
        return syntax.Minus(children[0], self.at(meta))

    def graph(self, meta: Meta, children: list[Any]) -> syntax.Graph:
        return syntax.Graph(children[0], children[1], self.at(meta))

    def service(self, meta: Meta, children: list[Any]) -> syntax.Service:
        return syntax.Service(children[-2], children[-1], len(children) == 3, self.at(meta))

    def filter(self, meta: Meta, children: list[Expression]) -> syntax.Filter:
        return syntax.Filter(children[0], self.at(meta))

    def bind(self, meta: Meta, children: list[Any]) -> syntax.Bind:
        return syntax.Bind(children[0], children[1], self.at(meta))

    def values(self, meta: Meta, children: list[syntax.Values]) -> syntax.Values:
        return replace(children[0], span=self.at(meta))

    def data_column(self, meta: Meta, children: list[Any]) -> syntax.Values:
        return syntax.Values((children[0],), tuple((value,) for value in children[1:]), self.at(meta))

    def data_table(self, meta: Meta, children: list[Any]) -> syntax.Values:
        names, *rows = children
        for row, span in rows:
            if len(row) != len(names):
                raise ParseError(
                    f"{len(row)} values for {len(names)} variables", span=span, hint="UNDEF stands for no value"
                )
        return syntax.Values(names, tuple(row for row, _ in rows), self.at(meta))

    def data_names(self, meta: Meta, children: list[Variable]) -> tuple[Variable, ...]:
        return tuple(children)

    def data_row(self, meta: Meta, children: list[Any]) -> tuple[tuple[Any, ...], Span]:
        return tuple(children), self.at(meta)

    def undefined(self, meta: Meta, children: list[Token]) -> None:
        return None


def _without_paths(statements: Iterable[Statement]) -> None:
    """Refuse paths where triples are made, not matched."""
    for statement in statements:
        _check_nodes((statement.subject,))
        _check_properties(statement.properties)


def _check_properties(properties: Iterable[terms.Property]) -> None:
    for one in properties:
        if not isinstance(one.verb, Variable | terms.Iri | terms.PrefixedName):
            raise ParseError("a path in a template", span=one.verb.span, hint="a triple has one predicate")
        _check_nodes(one.objects)


def _check_nodes(nodes: Iterable[terms.Node]) -> None:
    for node in nodes:
        if isinstance(node, terms.Described):
            _check_properties(node.properties)
        elif isinstance(node, terms.Collection):
            _check_nodes(node.items)
