"""Parses SPARQL texts to syntax trees."""

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
from transom.languages.sparql.parse_errors import explain_failure
from transom.languages.sparql.parse_terms import TermBuilder
from transom.languages.sparql.syntax import Expression, GroupPattern, Modifiers, SparqlQuery
from transom.languages.sparql.terms import IriName, TriplesSameSubject, Variable
from transom.languages.sql.parse import MAX_TEXT_LENGTH, check_depth, whole_number


def parse(text: str) -> SparqlQuery:
    """Parse the text of a SPARQL query to its syntax tree; raises ParseError, with the position, if it is malformed."""
    if len(text) > MAX_TEXT_LENGTH:
        raise ParseError(
            f"a query is at most {MAX_TEXT_LENGTH:,} characters long",
            span=Span(MAX_TEXT_LENGTH, len(text)),
            text=text,
            hint=f"this one has {len(text):,}",
        )
    unescaped, offsets = unescape(text)
    try:
        tree = parser("sparql").parse(unescaped)
        check_depth(tree, unescaped)
        query: SparqlQuery = _SparqlBuilder(offsets).transform(tree)
        return query
    except UnexpectedInput as error:
        failure = explain_failure(error, unescaped)
    except ParseError as error:
        failure = error
    except VisitError as error:
        if not isinstance(error.orig_exc, TransomError):
            raise
        raise error.orig_exc.within(text) from None
    if failure.span is not None:
        failure.span = offsets.span(failure.span)
    failure.text = text
    raise failure from None


@v_args(meta=True)
class _SparqlBuilder(TermBuilder):
    """Builds the syntax tree of a query from its parse tree."""

    # forms

    def start(self, meta: Meta, children: list[Any]) -> SparqlQuery:
        """Build the root of the syntax tree: prologue, and SELECT, ASK, CONSTRUCT or DESCRIBE query."""
        return SparqlQuery(children[0], children[1], self.node_span(meta))

    def prologue(self, meta: Meta, children: list[Any]) -> Any:
        """Return the BASE and PREFIX declarations before a query, as a tuple of Base and Prefix nodes."""
        return tuple(children)

    def base(self, meta: Meta, children: list[Token]) -> syntax.Base:
        """Build the syntax node of `BASE <iri>`."""
        return syntax.Base(children[0][1:-1], self.node_span(meta))

    def prefix(self, meta: Meta, children: list[Token]) -> syntax.Prefix:
        """Build the syntax node of `PREFIX name: <iri>`; raises ParseError if the name does not end with its colon."""
        name, iri = children
        if name.index(":") != len(name) - 1:
            raise ParseError(
                f"{str(name)!r} is not a prefix", span=self.token_span(name), hint="end the prefix with a colon"
            )
        return syntax.Prefix(str(name[:-1]), iri[1:-1], self.node_span(meta))

    def select(self, meta: Meta, children: list[Any]) -> syntax.Select:
        """Build the syntax node of a SELECT query from its clauses."""
        kind: Any = children.pop(0).upper() if isinstance(children[0], Token) else None
        items, sources, where, modifiers, values = children
        return syntax.Select(kind, items, sources, where, replace(modifiers, values=values), self.node_span(meta))

    def sub_select(self, meta: Meta, children: list[Any]) -> syntax.Select:
        """Build the syntax node of a subquery: a SELECT without FROM."""
        children.insert(2 if isinstance(children[0], Token) else 1, ())
        return self.select(meta, children)

    def construct(self, meta: Meta, children: list[Any]) -> syntax.Construct:
        """Build the syntax node of `CONSTRUCT { template } ...`."""
        template, sources, where, modifiers, values = children
        return syntax.Construct(template, sources, where, replace(modifiers, values=values), self.node_span(meta))

    def short_construct(self, meta: Meta, children: list[Any]) -> syntax.Construct:
        """Build the syntax node of `CONSTRUCT WHERE { ... }`; raises ParseError unless it consists of triples alone."""
        sources, where, modifiers, values = children
        for element in where.elements:
            if not isinstance(element, syntax.TriplesBlock):
                raise ParseError(
                    "CONSTRUCT WHERE takes only triples",
                    span=element.span,
                    hint="write the template in braces before WHERE",
                )
            _check_no_paths(element.statements)
        return syntax.Construct(None, sources, where, replace(modifiers, values=values), self.node_span(meta))

    def describe(self, meta: Meta, children: list[Any]) -> syntax.Describe:
        """Build the syntax node of a DESCRIBE query, whose pattern is optional."""
        items, sources, *where, modifiers, values = children
        group = where[0] if where else None
        return syntax.Describe(items, sources, group, replace(modifiers, values=values), self.node_span(meta))

    def ask(self, meta: Meta, children: list[Any]) -> syntax.Ask:
        """Build the syntax node of an ASK query."""
        sources, where, modifiers, values = children
        return syntax.Ask(sources, where, replace(modifiers, values=values), self.node_span(meta))

    def items(self, meta: Meta, children: list[Any]) -> Any:
        """Return the items of SELECT (variables, expressions) or DESCRIBE (resources) as a tuple, empty for `*`."""
        return () if isinstance(children[0], Token) else tuple(children)

    resources = items

    def named(self, meta: Meta, children: list[Any]) -> syntax.AliasedExpression:
        """Build the syntax node of `(expression AS ?variable)`."""
        return syntax.AliasedExpression(children[0], children[1], self.node_span(meta))

    def template(self, meta: Meta, children: list[Any]) -> tuple[TriplesSameSubject, ...]:
        """Return the triples of a CONSTRUCT template; raises ParseError if a predicate is a property path."""
        statements: tuple[TriplesSameSubject, ...] = children[0] if children else ()
        _check_no_paths(statements)
        return statements

    # sources and windows

    def dataset(self, meta: Meta, children: list[Any]) -> Any:
        """Return the syntax nodes of all FROM clauses of a query as a tuple."""
        return tuple(children)

    def default_graph(self, meta: Meta, children: list[IriName]) -> syntax.GraphSource:
        """Build the syntax node of `FROM <iri>`."""
        return syntax.GraphSource(children[0], False, self.node_span(meta))

    def named_graph(self, meta: Meta, children: list[IriName]) -> syntax.GraphSource:
        """Build the syntax node of `FROM NAMED <iri>`."""
        return syntax.GraphSource(children[0], True, self.node_span(meta))

    def default_stream(self, meta: Meta, children: list[Any]) -> syntax.StreamSource:
        """Build the syntax node of `FROM STREAM <iri> window`."""
        return syntax.StreamSource(children[0], children[1], False, self.node_span(meta))

    def named_stream(self, meta: Meta, children: list[Any]) -> syntax.StreamSource:
        """Build the syntax node of `FROM NAMED STREAM <iri> window`."""
        return syntax.StreamSource(children[0], children[1], True, self.node_span(meta))

    def range_window(self, meta: Meta, children: list[syntax.Duration]) -> syntax.RangeWindow:
        """Build the syntax node of `WINDOW RANGE width SLIDE [slide]`."""
        return syntax.RangeWindow(children[0], children[1] if len(children) == 2 else None, self.node_span(meta))

    def fixed_window(self, meta: Meta, children: list[syntax.Duration]) -> syntax.FixedWindow:
        """Build the syntax node of `WINDOW RANGE width FIXED`."""
        return syntax.FixedWindow(children[0], self.node_span(meta))

    def element_window(self, meta: Meta, children: list[Token]) -> syntax.ElementWindow:
        """Build the syntax node of `WINDOW ELEMS n`, a count-based window."""
        return syntax.ElementWindow(self.integer(children[0]), self.node_span(meta), self.token_span(children[0]))

    def duration(self, meta: Meta, children: list[Token]) -> syntax.Duration:
        """Build the syntax node of a duration such as `10 S`; without a unit it is in milliseconds."""
        unit = syntax.TimeUnit(children[1].upper()) if len(children) == 2 else None
        return syntax.Duration(self.integer(children[0]), unit, self.node_span(meta))

    def integer(self, token: Token) -> int:
        """Return the value of an integer token; raises ParseError at the token if it does not fit into 64 bits."""
        try:
            return whole_number(token)
        except ParseError as error:
            error.span = self.token_span(token)
            raise

    # clauses after the pattern

    def modifiers(self, meta: Meta, children: list[tuple[str, Any]]) -> Modifiers:
        """Build the syntax node of the clauses after a pattern: GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET."""
        clauses: dict[str, Any] = dict(children)
        return Modifiers(**clauses)

    def group_by(self, meta: Meta, children: list[Any]) -> tuple[str, Any]:
        """Return GROUP BY as a field of the Modifiers node: the pair ("group_by", its expressions)."""
        return ("group_by", tuple(children))

    def having(self, meta: Meta, children: list[Any]) -> tuple[str, Any]:
        """Return HAVING as a field of the Modifiers node: the pair ("having", its conditions)."""
        return ("having", tuple(children))

    def order_by(self, meta: Meta, children: list[Any]) -> tuple[str, Any]:
        """Return ORDER BY as a field of the Modifiers node: ("order_by", its expressions with their directions)."""
        return ("order_by", tuple(children))

    def order(self, meta: Meta, children: list[Any]) -> syntax.OrderKey:
        """Build the syntax node of one expression of ORDER BY with its direction, such as `DESC(?x)`."""
        descending = isinstance(children[0], Token) and children[0].upper() == "DESC"
        return syntax.OrderKey(children[-1], descending, self.node_span(meta))

    def limit(self, meta: Meta, children: list[Token]) -> tuple[str, Any]:
        """Return LIMIT as a field of the Modifiers node: the pair ("limit", its number)."""
        return ("limit", self.integer(children[0]))

    def offset(self, meta: Meta, children: list[Token]) -> tuple[str, Any]:
        """Return OFFSET as a field of the Modifiers node: the pair ("offset", its number)."""
        return ("offset", self.integer(children[0]))

    def values_clause(self, meta: Meta, children: list[Any]) -> syntax.Values | None:
        """Return the VALUES clause at the end of a query, or None if it has none."""
        return children[0] if children else None

    # patterns

    def where(self, meta: Meta, children: list[GroupPattern]) -> GroupPattern:
        """Build the syntax node of the WHERE group; groups joined by UNION are put inside an outer group."""
        return (
            children[0] if len(children) == 1 else GroupPattern((syntax.Union(tuple(children), self.node_span(meta)),))
        )

    def group(self, meta: Meta, children: list[Any]) -> GroupPattern:
        """Build the syntax node of a group `{ ... }` with its elements and its window, if it has one."""
        window = children.pop() if children and isinstance(children[-1], syntax.Window) else None
        return GroupPattern(tuple(children), window, self.node_span(meta))

    def alternatives(self, meta: Meta, children: list[GroupPattern]) -> GroupPattern | syntax.Union:
        """Build the syntax node of `{ ... } UNION { ... }`; a single group stays a group."""
        return children[0] if len(children) == 1 else syntax.Union(tuple(children), self.node_span(meta))

    def optional(self, meta: Meta, children: list[GroupPattern]) -> syntax.Optional:
        """Build the syntax node of `OPTIONAL { ... }`."""
        return syntax.Optional(children[0], self.node_span(meta))

    def minus(self, meta: Meta, children: list[GroupPattern]) -> syntax.Minus:
        """Build the syntax node of `MINUS { ... }`."""
        return syntax.Minus(children[0], self.node_span(meta))

    def graph(self, meta: Meta, children: list[Any]) -> syntax.GraphPattern:
        """Build the syntax node of `GRAPH name { ... }`."""
        return syntax.GraphPattern(children[0], children[1], self.node_span(meta))

    def service(self, meta: Meta, children: list[Any]) -> syntax.Service:
        """Build the syntax node of `SERVICE [SILENT] name { ... }`."""
        return syntax.Service(children[-2], children[-1], len(children) == 3, self.node_span(meta))

    def filter(self, meta: Meta, children: list[Expression]) -> syntax.Filter:
        """Build the syntax node of `FILTER condition`."""
        return syntax.Filter(children[0], self.node_span(meta))

    def bind(self, meta: Meta, children: list[Any]) -> syntax.Bind:
        """Build the syntax node of `BIND (expression AS ?variable)`."""
        return syntax.Bind(children[0], children[1], self.node_span(meta))

    def values(self, meta: Meta, children: list[syntax.Values]) -> syntax.Values:
        """Build the syntax node of a VALUES pattern inside a group."""
        return replace(children[0], span=self.node_span(meta))

    def data_column(self, meta: Meta, children: list[Any]) -> syntax.Values:
        """Build the syntax node of VALUES for one variable: `?x { a b ... }`."""
        return syntax.Values((children[0],), tuple((value,) for value in children[1:]), self.node_span(meta))

    def data_table(self, meta: Meta, children: list[Any]) -> syntax.Values:
        """Build the syntax node of VALUES `(?x ?y) { (a b) ... }`; raises ParseError if a row has another length."""
        variables, *rows = children
        for row, span in rows:
            if len(row) != len(variables):
                raise ParseError(
                    f"{len(row)} values for {len(variables)} variables",
                    span=span,
                    hint="write one value for each, or UNDEF",
                )
        return syntax.Values(variables, tuple(row for row, _ in rows), self.node_span(meta))

    def data_names(self, meta: Meta, children: list[Variable]) -> tuple[Variable, ...]:
        """Return the variables that a VALUES clause binds, as a tuple."""
        return tuple(children)

    def data_row(self, meta: Meta, children: list[Any]) -> tuple[tuple[Any, ...], Span]:
        """Return a row of VALUES as the pair of its values (None for UNDEF) and its span in the text."""
        return tuple(children), self.node_span(meta)

    def undefined(self, meta: Meta, children: list[Token]) -> None:
        """Return None, the value of UNDEF in a row of VALUES."""
        return


def _check_no_paths(statements: Iterable[TriplesSameSubject]) -> None:
    """Raise ParseError if triples of a CONSTRUCT template contain a property path."""
    for statement in statements:
        _check_nodes((statement.subject,))
        _check_properties(statement.properties)


def _check_properties(properties: Iterable[terms.PredicateObjectList]) -> None:
    """Raise ParseError if a predicate in the property lists of a CONSTRUCT template is a property path."""
    for property_list in properties:
        if not isinstance(property_list.verb, Variable | terms.Iri | terms.PrefixedName):
            raise ParseError(
                "a template cannot contain a path", span=property_list.verb.span, hint="write one predicate"
            )
        _check_nodes(property_list.objects)


def _check_nodes(nodes: Iterable[terms.Node]) -> None:
    """Raise ParseError if an RDF list or brackets in a CONSTRUCT template contain a property path."""
    for node in nodes:
        if isinstance(node, terms.BlankNodePropertyList):
            _check_properties(node.properties)
        elif isinstance(node, terms.RdfCollection):
            _check_nodes(node.items)
