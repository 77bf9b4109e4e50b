"""Translates CQL to algebra: windows turn streams into relations, converters turn relations into streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from transom.algebra.expressions.expression import Column, Expression, call, identity_items
from transom.algebra.expressions.expression import NamedExpression as Output
from transom.algebra.expressions.tracks import TrackFunction
from transom.algebra.operator import Operator, Plan, Stream, Windows
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    SuppressUnchanged,
    TrackAggregation,
    WindowAggregation,
    WindowDistinct,
    WindowProject,
    WindowSelect,
)
from transom.algebra.state.bounds import single_extent
from transom.algebra.streams import DStream, IStream, RStream, StreamProject
from transom.algebra.tree import is_stream
from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent, ExtentKind
from transom.errors import LanguageRule, Span
from transom.languages.cql.conditions import (
    SubqueryCondition,
    and_together,
    apply_set_operation,
    isolate_columns,
    reads_only,
    split_conditions,
)
from transom.languages.cql.scope import (
    STAMPS,
    LocatedSource,
    ParameterValues,
    RelationScope,
    TrackGroupScope,
    relation_argument,
)
from transom.languages.cql.sources import (
    FromItem,
    JoinedItem,
    SourceItem,
    first_source_name,
    from_clause_relation,
    source_items,
)
from transom.languages.cql.syntax import (
    Convert,
    Converter,
    Query,
    Select,
    SetOperation,
    Source,
    Table,
)
from transom.languages.cql.top_k import merge_keys, translate_first
from transom.languages.cql.windows import WindowTranslator, window_hint
from transom.languages.sql.dialects import HalfOpenWindow
from transom.languages.sql.scope import GroupScope, SourceScope, has_aggregate, names_in
from transom.languages.sql.select import (
    HAVING_HINT,
    SelectTranslator,
    StreamViews,
    Translation,
    alias_names,
    check_source_names,
    rename_columns,
    unsupported_view,
)
from transom.languages.sql.syntax import Exists, FunctionCall, InSubquery, Node, SelectItem, Unary
from transom.languages.sql.translate import apply_comparison, condition, read_strings_as_instants
from transom.languages.sql.translate import translate as translate_expression
from transom.languages.sql.type_messages import shorten
from transom.model.geometry.space import Position
from transom.model.schema import Attribute
from transom.model.types import Value


def translate(
    query: Query, catalog: Catalog, parameters: Mapping[str, Value] | None = None, views: StreamViews = unsupported_view
) -> Translation:
    """Translate a CQL query to a plan with given parameter values; `views` plans sources defined by queries."""
    translator = _CqlTranslator(catalog, parameters=ParameterValues(parameters or {}, catalog.parameters), views=views)
    plan = translator.query(query)
    if not is_stream(plan):
        plan = merge_keys(plan)  # type: ignore[arg-type]
    translator.parameters.check()
    return Translation(plan, tuple(translator.warnings))


@dataclass(slots=True)
class _PreparedSelect:
    """A SELECT with FROM and WHERE translated; `outer_conditions` read columns of the outer query."""

    tables: list[FromItem]
    scope: RelationScope
    where: Expression | None
    subquery_conditions: list[SubqueryCondition]
    outer_conditions: list[Expression]

    @property
    def items(self) -> list[SourceItem]:
        """The FROM sources of this SELECT, from left to right, including those inside joins."""
        return [item for table in self.tables for item in source_items(table)]

    def plan(self) -> Windows:
        """Return the plan of FROM and WHERE; subqueries in WHERE become semi joins, negated ones anti joins."""
        plan = from_clause_relation(self.tables)
        if self.where is not None:
            plan = WindowSelect(plan, self.where)
        for subquery in self.subquery_conditions:
            join_type = JoinType.ANTI if subquery.negated else JoinType.SEMI
            plan = RelationJoin(plan, subquery.relation, subquery.predicate, join_type)
        return plan


@dataclass(slots=True)
class _CqlTranslator(SelectTranslator):
    """Translates one CQL query and its subqueries; `subquery_count` numbers those in conditions."""

    parameters: ParameterValues = field(kw_only=True)
    subquery_count: int = 0
    positions: dict[Query, Position] = field(default_factory=dict)
    crowded: set[Query] = field(default_factory=set)
    """Positions of subqueries that select the coordinates of a source."""

    def query(self, query: Query) -> Plan:
        """Translate a query to the plan of a relation, or of a stream if a converter such as RSTREAM is outermost."""
        match query:
            case Convert():
                span = Span(query.span.start, query.span.start + len(query.converter.value))
                return self.convert(query.converter, query.query, span)
            case Select(converter=Converter() as converter):
                return self.convert(converter, query, query.head_span)
            case Select():
                return self.select(query)
            case SetOperation():
                word = query.combination.value
                message = f"{word} needs relations, and this side is a stream"
                hint = f"write one RStream around the whole {word}"
                return apply_set_operation(
                    query,
                    self.translate_relation(query.left, message, hint),
                    self.translate_relation(query.right, message, hint),
                )
            case _:
                assert_never(query)

    def translate_relation(self, query: Query, message: str, hint: str) -> Windows:
        """Translate a query that must be a relation; raises LanguageRule with `message` and `hint` for a stream."""
        plan = self.query(query)
        if is_stream(plan):
            raise LanguageRule(message, span=query.span, hint=hint)
        return plan  # type: ignore[return-value]

    def convert(self, converter: Converter, query: Query, span: Span) -> Stream:
        """Translate a query with a converter at `span`; RStream of a window that only grows emits when it grew (C5)."""
        if isinstance(query, Select) and (query.converter is None or query.head_span == span):
            plan = self.select(query, suppress_unchanged=converter is Converter.RSTREAM)
        else:
            inner = query.converter if isinstance(query, Select | Convert) else None
            message = (
                f"{converter.value} needs a relation, and {inner.value if inner else 'this'} has already made a stream"
            )
            plan = self.translate_relation(query, message, "keep one of the two converters")
        match converter:
            case Converter.RSTREAM:
                return RStream(plan)
            case Converter.ISTREAM:
                return IStream(plan)
            case Converter.DSTREAM:
                return DStream(plan)

    def select(self, query: Select, *, suppress_unchanged: bool = False) -> Windows:
        """Translate a SELECT to windows; `suppress_unchanged` omits a growing window when no row was added."""
        prepared = self.prepare_select(query, None)
        scope, items = prepared.scope, prepared.items
        suppress = suppress_unchanged and len(items) == 1 and items[0].only_grows and not prepared.subquery_conditions
        grouped = bool(query.group_by) or query.having is not None
        expressions = [item.expression for item in query.items] + ([] if query.first is None else [query.first.by])
        if grouped or any(has_aggregate(node, scope.aggregates) for node in expressions):
            plan = self.select_with_aggregates(query, prepared, suppress)
        else:
            columns = self.items(query.items, query.star_span, scope)
            first = translate_first(query.first, scope)
            plan = SuppressUnchanged(prepared.plan()) if suppress else prepared.plan()
            plan = WindowProject(plan if first is None else first.apply(plan), columns)
            self.record_position(query, items, columns)
        return WindowDistinct(merge_keys(plan)) if query.distinct else plan

    def select_with_aggregates(self, query: Select, prepared: _PreparedSelect, suppress: bool) -> Windows:
        """Translate a SELECT with GROUP BY or aggregates; `suppress` omits a growing window when no row was added."""
        scope, items = prepared.scope, prepared.items
        groups = self.groups(query.group_by, scope)
        keys = items[0].keys if len(items) == 1 else ()
        if not query.group_by:
            groups = {Column(key): key for key in keys}
        inner = TrackGroupScope(scope, groups, relations=scope, grouped=bool(query.group_by))
        columns = self.items(query.items, query.star_span, inner)
        having = None if query.having is None else condition(query.having, inner, "HAVING")
        first = translate_first(query.first, inner)
        if not groups and not inner.aggregates and not inner.tracks:
            inner.add_count()
        plan = prepared.plan()
        if suppress:
            plan = SuppressUnchanged(plan)
        if any(Column(key) not in groups for key in keys):
            plan = merge_keys(plan)
        by = tuple(Output(*group) for group in groups.items())
        if inner.tracks:
            plan = TrackAggregation(plan, by, (*inner.aggregates, *inner.tracks.values()))
        else:
            plan = WindowAggregation(plan, by, inner.aggregates)
        for track in inner.tracks.values():
            if track.function is TrackFunction.AVGSPD:
                plan = WindowSelect(plan, call("NOT", call("IS NULL", Column(track.attribute))))
        if having is not None:
            plan = WindowSelect(plan, having)
        if first is not None:
            plan = first.apply(plan)
        return plan if columns == identity_items(plan.schema) else WindowProject(plan, columns)

    def prepare_select(self, query: Select, outer: RelationScope | None) -> _PreparedSelect:
        """Translate FROM and WHERE of a SELECT; `outer` has the names of the query around a WHERE subquery."""
        expressions = [*(item.expression for item in query.items), query.where, *query.group_by, query.having]
        self.refuse_window_functions(expressions, first_source_name(query.tables))
        tables = [self.table(table) for table in query.tables]
        items = [item for table in tables for item in source_items(table)]
        check_source_names((item.visible, item.source.span) for item in items)
        scope = self.scope(items, outer, alias_names(query.items))
        scope.conditions = frozenset(names_in(query.where))
        plain, subquery_nodes = split_conditions(query.where)
        conditions = [self.where(node, scope) for node in plain]
        subquery_conditions = [self.subquery_condition(node, scope) for node in subquery_nodes]
        attributes = frozenset(attribute for item in items for attribute in item.attributes)
        inner_conditions = [conjunct for conjunct in conditions if reads_only(conjunct, attributes)]
        outer_conditions = [conjunct for conjunct in conditions if not reads_only(conjunct, attributes)]
        for node, subquery in zip(subquery_nodes, subquery_conditions, strict=True):
            if not reads_only(subquery.predicate, attributes | frozenset(subquery.relation.schema)):
                raise LanguageRule(
                    "a subquery can use columns of the query around it, but not of one further out",
                    span=node.span,
                    hint="join the sources in FROM",
                )
        return _PreparedSelect(tables, scope, and_together(inner_conditions), subquery_conditions, outer_conditions)

    def window_hint(self, source: str, window: HalfOpenWindow | None) -> str:
        """Return a hint: the CQL window to write after `source` instead of TUMBLE or the like (None: an example)."""
        return window_hint(source, window, self.catalog.calendar)

    def scope(
        self, items: Sequence[SourceItem], outer: RelationScope | None, aliases: frozenset[str] = frozenset()
    ) -> RelationScope:
        """Return the names visible in a query: of its FROM sources `items`, `aliases` of its items, then `outer`."""
        return RelationScope(
            self.catalog.calendar,
            [item.visible for item in items],
            on_stream=False,
            aliases=aliases,
            regions=self.catalog.regions,
            parameters=self.parameters,
            warnings=self.warnings,
            outer=outer,
        )

    def subquery_condition(self, node: Node, scope: RelationScope) -> SubqueryCondition:
        """Translate `[NOT] x IN (SELECT ...)` or `[NOT] EXISTS (SELECT ...)` to a semi join or an anti join."""
        negated = False
        while isinstance(node, Unary):
            node, negated = node.operand, not negated
        assert isinstance(node, InSubquery | Exists)  # noqa: S101 - split_conditions() found it
        query: Query = node.query  # type: ignore[assignment]
        plan, columns, conditions = self.subquery_relation(query, scope, with_columns=isinstance(node, InSubquery))
        if isinstance(node, InSubquery):
            negated ^= node.negated
            if len(columns) != 1:
                raise LanguageRule(
                    f"IN compares with one column, not {len(columns)}", span=query.span, hint="select one column"
                )
            sides = read_strings_as_instants(
                [translate_expression(node.operand, scope), columns[0]], [node.operand, node], scope
            )
            equal = apply_comparison(node, "=", *sides)
            conditions = [*conditions, call("OR", equal, call("IS NULL", equal)) if negated else equal]
        self.subquery_count += 1
        return isolate_columns(plan, conditions, negated, self.subquery_count)

    def subquery_relation(
        self, query: Query, scope: RelationScope, *, with_columns: bool
    ) -> tuple[Windows, list[Expression], list[Expression]]:
        """Return a WHERE subquery's plan, its columns (none unless `with_columns`), its conditions on outer `scope`."""
        needs_relation = isinstance(query, Select) and (query.distinct or query.group_by or query.having or query.first)
        if isinstance(query, Select) and not (query.converter or needs_relation):
            prepared = self.prepare_select(query, scope)
            if not any(has_aggregate(item.expression, scope.aggregates) for item in query.items):
                columns = self.items(query.items, query.star_span, prepared.scope) if with_columns else ()
                return prepared.plan(), [column.expression for column in columns], prepared.outer_conditions
        message = "a subquery in a condition needs a relation, and this one gives a stream"
        plan = self.translate_relation(query, message, "leave out the converter")
        return plan, [Column(attribute) for attribute in plan.schema], []

    def columns(self, item: SelectItem, scope: SourceScope | GroupScope) -> tuple[Output, ...]:
        """Return the output columns of a select item; Stamps(R) has two, the position g and the tick t (C10)."""
        node = item.expression
        if not isinstance(node, FunctionCall) or node.name != "STAMPS" or not isinstance(scope, RelationScope):
            return SelectTranslator.columns(self, item, scope)
        if item.alias is not None:
            raise LanguageRule(
                "Stamps gives two columns, g and t, so one AS cannot name it",
                span=item.span,
                hint=f"leave AS {shorten(item.alias)} out, or select g AS place, t AS moment instead",
            )
        source = relation_argument(node, scope)
        return tuple(Output(stamp := source.stamp(name), Attribute(name, stamp.type)) for name in STAMPS)

    def table(self, table: Table) -> FromItem:
        """Translate an item of FROM: one source, or a tree of joins with their ON conditions."""
        if isinstance(table, Source):
            return self.source(table)
        left, right = self.table(table.left), self.source(table.right)
        scope = self.scope([*source_items(left), right], None)
        if has_aggregate(table.on, scope.aggregates):
            raise LanguageRule("an aggregate is not allowed in ON", span=table.on.span, hint=HAVING_HINT)
        self.warn_about_null(table.on)
        return JoinedItem(left, right, condition(table.on, scope, "ON"), table.outer)

    def source(self, source: Source) -> SourceItem:
        """Translate a source of FROM, check its window and collect its warnings."""
        self.count_source(source.span)
        item = (
            self.subquery_source(source, source.input)
            if not isinstance(source.input, str)
            else self.extent_source(source)
        )
        item.check()
        self.warnings += item.remarks()
        return item

    def extent_source(self, source: Source) -> SourceItem:
        """Translate a FROM source that the catalog declares: the plan that reads it, and the names visible in it."""
        assert isinstance(source.input, str)  # noqa: S101 - source() checked it
        extent = self.extent(source.input, source.input_span)
        name = source.alias or extent.name
        schema = extent.schema.qualified(name)
        tagged = extent.kind is not ExtentKind.STORED
        visible = LocatedSource(
            name, schema, tagged, extent=extent.name, time_column=extent.time_column, position=extent.position
        )
        stream = self.open_extent(extent, schema)
        forget_after = self.forget_after(stream, extent)
        has_several_objects = extent.object is None and extent.keys != 1
        window_translator = WindowTranslator(
            self.catalog.calendar,
            self.catalog.regions,
            extent.position,
            extent.object,
            extent.name,
            forget_after,
            has_several_objects,
        )
        return SourceItem(source, stream, visible, window_translator)

    def forget_after(self, plan: Operator, *extents: Extent) -> int | None:
        """Return the least `forget_after`, in ticks, of `extents` and the one `plan` reads; None if none has it."""
        extent_name = single_extent(plan)
        declaring = [*extents, *([] if extent_name is None else [self.catalog.extent(extent_name)])]
        return min((e.forget_after for e in declaring if e.forget_after is not None), default=None)

    def subquery_source(self, source: Source, query: Query) -> SourceItem:
        """Translate a subquery in FROM; if it is a stream, the window of the source applies to it."""
        plan = self.query(query)
        if source.alias is not None:
            columns = rename_columns(plan.schema, source.alias, source.span)
            project = StreamProject if is_stream(plan) else WindowProject
            plan = project(plan, columns)  # type: ignore[arg-type]
        inner = query.query if isinstance(query, Convert) else query
        position, crowded = self.positions.get(inner), inner in self.crowded
        visible = LocatedSource(source.alias, plan.schema, is_stream(plan), position=position)
        name = source.alias or "the subquery"
        forget_after = self.forget_after(plan)
        window_translator = WindowTranslator(
            self.catalog.calendar, self.catalog.regions, position, None, name, forget_after, crowded
        )
        return SourceItem(source, plan, visible, window_translator)

    def record_position(self, query: Select, items: Sequence[SourceItem], columns: Sequence[Output]) -> None:
        """Record the position columns of a SELECT, for outer queries, if it outputs all coordinates of a source."""
        for item in items:
            position = item.output_position(columns)
            if position is not None and query not in self.positions:
                self.positions[query] = position
                if item.has_several_objects and query.where is None:
                    self.crowded.add(query)
