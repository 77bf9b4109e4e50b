"""What translators of SELECT have in common: select lists, groups, conditions, and the names of sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from transom.algebra.expressions import Column, Expression, Item
from transom.algebra.operator import Plan, Stream
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive
from transom.algebra.streams import WithoutJumps
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent, Kind
from transom.catalog.sources import FromQuery
from transom.errors import LanguageRule, NameProblem, Span, TypeProblem, Unsupported
from transom.languages.sql.scope import Grouped, Sources, Visible, has_aggregate, nodes_in, unused
from transom.languages.sql.syntax import Binary, Constant, Name, Node, SelectItem
from transom.languages.sql.translate import COMPARISONS, condition, translate
from transom.languages.sql.unparse import unparse
from transom.model.schema import Attribute, Schema
from transom.model.types import Type

MOST_SOURCES = 30
"""Extents and subqueries in one query, all FROM clauses taken together."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that is legal and probably not meant, with its place in the text."""

    message: str
    span: Span

    def line(self, text: str, name: str | None, word: str = "") -> str:
        """The message in one line, after the name of the text and the line and column in it."""
        line, column = self.span.position(text)
        return f"{name or 'query'}:{line}:{column}: {word}{self.message}"


@dataclass(frozen=True, slots=True)
class Translation:
    """What a query means, and what its author should be told."""

    plan: Plan
    warnings: tuple[Remark, ...] = ()


Views: TypeAlias = Callable[[Extent, Schema], Stream]
"""What an extent that is a query means, under some names for its columns."""


def no_views(extent: Extent, schema: Schema) -> Stream:
    """Where nobody knows the other languages."""
    raise Unsupported("a query as an extent", f"nothing here can read {extent.name}", "never")


@dataclass(slots=True)
class Selecting:
    """The part of a translator that every language with SELECT has."""

    catalog: Catalog
    warnings: list[Remark] = field(default_factory=list)
    sources: int = 0
    views: Views = field(default=no_views, kw_only=True)

    def count_source(self, span: Span) -> None:
        """Refuse a query of so many sources that nobody meant it."""
        self.sources += 1
        if self.sources > MOST_SOURCES:
            raise LanguageRule(
                f"more than {MOST_SOURCES} sources", span=span, hint="ask several queries instead of one"
            )

    def extent(self, name: str, span: Span) -> Extent:
        """The extent of that name; NameProblem at its place if there is none."""
        try:
            return self.catalog.extent(name)
        except NameProblem as error:
            error.span = span
            raise

    def opened(self, extent: Extent, schema: Schema) -> Stream | StoredTable:
        """What reads an extent: StreamAcquire for sensed, StreamReceive for pushed ones (S25), or its query.

        A declared speed rejects the rows that an object cannot have reached.
        """
        if extent.kind is Kind.STORED:
            return StoredTable(extent.name, schema)
        if isinstance(extent.source, FromQuery):
            stream = self.views(extent, schema)
        elif extent.kind is Kind.SENSED:
            stream = StreamAcquire(extent.name, extent.every or 1, extent.sites, schema)
        else:
            stream = StreamReceive(extent.name, schema)
        if extent.max_speed is None or extent.position is None:
            return stream
        key = () if extent.object is None else tuple(schema.find(None, extent.object))
        return WithoutJumps(stream, extent.position, extent.max_speed, key, extent.forget_after if key else None)

    def where(self, node: Node, scope: Sources) -> Expression:
        """The predicate of WHERE; aggregates are not for it."""
        if has_aggregate(node, scope.aggregates) and not scope.on_stream:
            raise LanguageRule("an aggregate in WHERE", span=node.span, hint="conditions on aggregates go to HAVING")
        self.warn_about_null(node)
        return condition(node, scope, "WHERE")

    def warn_about_null(self, node: Node) -> None:
        """A comparison with NULL is unknown for every tuple."""
        for part in nodes_in(node):
            if not isinstance(part, Binary) or part.operator not in COMPARISONS:
                continue
            if Constant(None) in (part.left, part.right):
                self.warnings.append(Remark("a comparison with NULL is never true; IS NULL asks for it", part.span))

    def groups(self, nodes: Sequence[Node], scope: Sources) -> dict[Expression, Attribute]:
        """The expressions of GROUP BY, each once, and what they become."""
        groups: dict[Expression, Attribute] = {}
        taken: set[str] = set()
        for node in nodes:
            if has_aggregate(node, scope.aggregates):
                raise LanguageRule("an aggregate in GROUP BY", span=node.span, hint="group by attributes")
            expression = translate(node, scope)
            if expression not in groups:
                groups[expression] = unused(output(node, None, expression), taken)
                taken.add(groups[expression].label)
        return groups

    def items(self, items: Sequence[SelectItem], star: Span, scope: Sources | Grouped) -> tuple[Item, ...]:
        """The select list, all columns if there is none; every column has a name of its own."""
        if not items:
            if isinstance(scope, Grouped):
                raise LanguageRule("SELECT * beside groups", span=star, hint="list the groups and aggregates")
            return everything(scope, star)
        columns: list[Item] = []
        taken: set[str] = set()
        for item in items:
            for column in self.columns(item, scope):
                if column.expression.type is Type.NULL:
                    raise TypeProblem("a column needs a type", span=item.span, hint="write CAST(NULL AS integer)")
                if column.attribute.label in taken:
                    raise NameProblem(
                        f"two columns are called {column.attribute.label}", span=item.span, hint="rename one with AS"
                    )
                taken.add(column.attribute.label)
                columns.append(column)
        return tuple(columns)

    def columns(self, item: SelectItem, scope: Sources | Grouped) -> tuple[Item, ...]:
        """The columns that an item of the select list stands for."""
        expression = translate(item.expression, scope)
        return (Item(expression, output(item.expression, item.alias, expression)),)


def output(node: Node, alias: str | None, expression: Expression) -> Attribute:
    """The attribute that an expression becomes: its alias, the name as written, or its canonical text."""
    if alias is not None:
        return Attribute(alias, expression.type)
    if isinstance(node, Name):
        return Attribute(node.name, expression.type, node.qualifier)
    return Attribute(unparse(node), expression.type)


def given(items: Sequence[SelectItem]) -> frozenset[str]:
    """The names that a select list gives with AS."""
    return frozenset(item.alias for item in items if item.alias is not None)


def everything(scope: Sources, span: Span) -> tuple[Item, ...]:
    """`*`: all attributes, under their bare names where one source has them."""
    attributes = scope.everything()
    bare = len({a.name for a in attributes}) == len(attributes)
    if not bare and len({a.label for a in attributes}) < len(attributes):
        raise NameProblem("two columns of * have one name", span=span, hint="list the columns and rename one with AS")
    return tuple(Item(Column(a), Attribute(a.name, a.type, None if bare else a.qualifier)) for a in attributes)


def check_names(sources: Iterable[tuple[Visible, Span]]) -> None:
    """No two sources may have one name, or columns that nothing tells apart (S21)."""
    names: set[str | None] = {None}
    columns: set[tuple[str | None, str]] = set()
    for visible, span in sources:
        name = visible.qualifier
        own = {(a.qualifier, a.name): a.label for a in visible.schema}
        twice = next((label for column, label in own.items() if column in columns), None)
        if name is not None and name in names:
            raise NameProblem(f"two sources are called {name}", span=span, hint="give one of them another name with AS")
        if twice is not None:
            raise NameProblem(f"two sources have a column {twice}", span=span, hint="give the subquery a name with AS")
        names.add(name)
        columns |= own.keys()


def renamed(schema: Schema, alias: str, span: Span) -> tuple[Item, ...]:
    """The columns of a subquery under its alias."""
    names = Counter(a.name for a in schema)
    twice = next((name for name, times in names.items() if times > 1), None)
    if twice is not None:
        raise NameProblem(f"two columns of {alias} are called {twice}", span=span, hint="rename one with AS")
    return tuple(Item(Column(a), Attribute(a.name, a.type, alias)) for a in schema)
