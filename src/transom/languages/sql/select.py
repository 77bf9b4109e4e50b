"""Translation of SELECT that SNEEql and CQL share: select lists, groups, conditions and source names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from transom.algebra.expressions.expression import Column, Expression, NamedExpression
from transom.algebra.operator import Plan, Stream
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive
from transom.algebra.streams import SpeedLimit
from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.sources import FromQuery
from transom.errors import LanguageRule, NameProblem, Span, TypeProblem, Unsupported
from transom.languages.sql.dialects import WINDOW_FUNCTIONS, HalfOpenWindow, name_span, window_of_call
from transom.languages.sql.scope import (
    GroupScope,
    SourceScope,
    VisibleSource,
    has_aggregate,
    nodes_in,
    unique_attribute,
)
from transom.languages.sql.syntax import Binary, FunctionCall, Name, Node, SelectItem, SqlLiteral
from transom.languages.sql.translate import COMPARISONS, condition, translate
from transom.languages.sql.unparse import unparse
from transom.model.schema import Attribute, Schema
from transom.model.types import Type

HAVING_HINT = "put conditions on aggregates into HAVING"
MAX_SOURCES = 30
"""Most extents and subqueries in one query, over all its FROM clauses."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A warning about something legal that is probably not intended, with its span in the text."""

    message: str
    span: Span

    def line(self, text: str, name: str | None, prefix: str = "") -> str:
        """Return the warning as a line `name:line:column: prefix message`; `text` is the query, `name` its file."""
        line, column = self.span.position(text)
        return f"{name or 'query'}:{line}:{column}: {prefix}{self.message}"


@dataclass(frozen=True, slots=True)
class Translation:
    """The algebra of a query, and warnings for its author."""

    plan: Plan
    warnings: tuple[Remark, ...] = ()


StreamViews: TypeAlias = Callable[[Extent, Schema], Stream]
"""Gives the stream of an extent that a query defines, with the schema that is asked for."""


def unsupported_view(extent: Extent, schema: Schema) -> Stream:
    """Always raise Unsupported: the default for translators that cannot plan sources defined by queries."""
    raise Unsupported("a query as an extent", f"nothing here can read {extent.name}", "never")


@dataclass(slots=True)
class SelectTranslator:
    """Base class of the translators of SQL-like languages."""

    catalog: Catalog
    warnings: list[Remark] = field(default_factory=list)
    sources: int = 0
    views: StreamViews = field(default=unsupported_view, kw_only=True)

    def count_source(self, span: Span) -> None:
        """Count one more source of FROM; raises LanguageRule if the query has more than MAX_SOURCES."""
        self.sources += 1
        if self.sources > MAX_SOURCES:
            raise LanguageRule(f"more than {MAX_SOURCES} sources", span=span, hint="split it into several queries")

    def extent(self, name: str, span: Span) -> Extent:
        """Return the extent (source or table) that the catalog calls `name`; raises NameProblem if there is none.

        If its speed limit mixes up objects, a warning is added to `warnings`, once for each extent.
        """
        try:
            extent = self.catalog.extent(name)
        except NameProblem as error:
            error.span = span
            raise
        message = extent.speed_limit_warning
        if message is not None and all(remark.message != message for remark in self.warnings):
            self.warnings.append(Remark(message, span))
        return extent

    def open_extent(self, extent: Extent, schema: Schema) -> Stream | StoredTable:
        """Return the plan that reads an extent: of the query that defines it, else a stored table or stream operator.

        Sensed extents give StreamAcquire, pushed ones StreamReceive. A declared `max_speed` adds a SpeedLimit, which
        rejects rows that an object cannot have reached.
        """
        if extent.kind is ExtentKind.STORED:
            return StoredTable(extent.name, schema)
        if isinstance(extent.source, FromQuery):
            stream = self.views(extent, schema)
        elif extent.kind is ExtentKind.SENSED:
            stream = StreamAcquire(extent.name, extent.every or 1, extent.sites, schema)
        else:
            stream = StreamReceive(extent.name, schema)
        if extent.max_speed is None or extent.position is None:
            return stream
        key = () if extent.object is None else tuple(schema.find(None, extent.object))
        return SpeedLimit(stream, extent.position, extent.max_speed, key, extent.forget_after if key else None)

    def where(self, node: Node, scope: SourceScope) -> Expression:
        """Translate the condition of WHERE; raises LanguageRule if it contains an aggregate."""
        if has_aggregate(node, scope.aggregates) and not scope.on_stream:
            raise LanguageRule("an aggregate is not allowed in WHERE", span=node.span, hint=HAVING_HINT)
        self.warn_about_null(node)
        return condition(node, scope, "WHERE")

    def refuse_window_functions(self, nodes: Iterable[Node | None], source_name: str) -> None:
        """Raise LanguageRule for a window function such as TUMBLE; its hint has a window after `source_name`.

        The hint has the window that the query needs after `source_name` instead.
        """
        for node in nodes:
            for part in nodes_in(node) if node is not None else ():
                if isinstance(part, FunctionCall) and part.name in WINDOW_FUNCTIONS:
                    session = part.name.startswith("SESSION")
                    what = "there are no session windows" if session else f"{part.name} is not a function here"
                    raise LanguageRule(
                        f"{what}: a window is written in brackets after its source",
                        span=name_span(part),
                        hint=self.window_hint(source_name, window_of_call(part)),
                    )

    def window_hint(self, source: str, window: HalfOpenWindow | None) -> str:
        """Return a hint: the window to write after `source` instead of TUMBLE or the like (None: an example).

        Each language overrides this. Without `window` the hint has an example.
        """
        raise NotImplementedError

    def warn_about_null(self, node: Node) -> None:
        """Add a warning for each comparison with the literal NULL in a condition: such a comparison is never true."""
        for part in nodes_in(node):
            if not isinstance(part, Binary) or part.operator not in COMPARISONS:
                continue
            if SqlLiteral(None) in (part.left, part.right):
                self.warnings.append(Remark("a comparison with NULL is never true; IS NULL asks for it", part.span))

    def groups(self, nodes: Sequence[Node], scope: SourceScope) -> dict[Expression, Attribute]:
        """Translate GROUP BY; returns its distinct expressions, each with its output attribute."""
        groups: dict[Expression, Attribute] = {}
        taken: set[str] = set()
        for node in nodes:
            if has_aggregate(node, scope.aggregates):
                example = next((f", such as {a.name}" for a in scope.star_attributes()), "")
                raise LanguageRule(
                    "an aggregate is not allowed in GROUP BY", span=node.span, hint=f"group by an attribute{example}"
                )
            expression = translate(node, scope)
            if expression not in groups:
                groups[expression] = unique_attribute(output_attribute(node, None, expression), taken)
                taken.add(groups[expression].label)
        return groups

    def items(
        self, items: Sequence[SelectItem], star: Span, scope: SourceScope | GroupScope
    ) -> tuple[NamedExpression, ...]:
        """Translate the select list; an empty one is the `*` at the span `star`; NameProblem for duplicate names.

        `star` is the span of `*`.
        """
        if not items:
            if isinstance(scope, GroupScope):
                raise LanguageRule(
                    "SELECT * cannot be used with GROUP BY, HAVING or aggregates",
                    span=star,
                    hint="list the grouped columns and the aggregates",
                )
            return expand_star(scope, star)
        columns: list[NamedExpression] = []
        taken: set[str] = set()
        for item in items:
            for column in self.columns(item, scope):
                if column.expression.type is Type.NULL:
                    raise TypeProblem(
                        "NULL alone has no type", span=item.span, hint="write CAST(NULL AS integer), or another type"
                    )
                if column.attribute.label in taken:
                    raise NameProblem(
                        f"two columns are called {column.attribute.label}", span=item.span, hint="rename one with AS"
                    )
                taken.add(column.attribute.label)
                columns.append(column)
        return tuple(columns)

    def columns(self, item: SelectItem, scope: SourceScope | GroupScope) -> tuple[NamedExpression, ...]:
        """Return the output columns of a select item: only one, unless a language overrides this."""
        expression = translate(item.expression, scope)
        return (NamedExpression(expression, output_attribute(item.expression, item.alias, expression)),)


def output_attribute(node: Node, alias: str | None, expression: Expression) -> Attribute:
    """Return the output attribute of a select item, named by its alias, else its column, else its canonical text."""
    if alias is not None:
        return Attribute(alias, expression.type)
    if isinstance(node, Name):
        return Attribute(node.name, expression.type, node.qualifier)
    return Attribute(unparse(node), expression.type)


def alias_names(items: Sequence[SelectItem]) -> frozenset[str]:
    """Return the aliases (names after AS) of a select list."""
    return frozenset(item.alias for item in items if item.alias is not None)


def expand_star(scope: SourceScope, span: Span) -> tuple[NamedExpression, ...]:
    """Expand `*` to all attributes, under their bare names if these are distinct, else under qualified names."""
    attributes = scope.star_attributes()
    bare = len({a.name for a in attributes}) == len(attributes)
    if not bare and len({a.label for a in attributes}) < len(attributes):
        raise NameProblem("two columns of * have one name", span=span, hint="list the columns and rename one with AS")
    return tuple(
        NamedExpression(Column(a), Attribute(a.name, a.type, None if bare else a.qualifier)) for a in attributes
    )


def check_source_names(sources: Iterable[tuple[VisibleSource, Span]]) -> None:
    """Raise NameProblem if two sources of FROM have the same name, or columns that cannot be distinguished (S21)."""
    names: set[str | None] = {None}
    columns: set[tuple[str | None, str]] = set()
    for visible, span in sources:
        name = visible.qualifier
        labels = {(a.qualifier, a.name): a.label for a in visible.schema}
        duplicate = next((label for column, label in labels.items() if column in columns), None)
        if name is not None and name in names:
            raise NameProblem(f"two sources are called {name}", span=span, hint="give one of them another name with AS")
        if duplicate is not None:
            raise NameProblem(
                f"two sources have a column {duplicate}", span=span, hint="give the subquery a name with AS"
            )
        names.add(name)
        columns |= labels.keys()


def rename_columns(schema: Schema, alias: str, span: Span) -> tuple[NamedExpression, ...]:
    """Return items that rename a subquery's columns to `alias.column`; raises NameProblem if two have the same name."""
    names = Counter(a.name for a in schema)
    duplicate = next((name for name, times in names.items() if times > 1), None)
    if duplicate is not None:
        raise NameProblem(f"two columns of {alias} are called {duplicate}", span=span, hint="rename one with AS")
    return tuple(NamedExpression(Column(a), Attribute(a.name, a.type, alias)) for a in schema)
