"""CQL syntax to algebra: windows make relations of streams, and converters make streams of relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from transom.algebra.bounds import extent_of
from transom.algebra.expressions import Column, Expression, call, unchanged
from transom.algebra.expressions import Item as Output
from transom.algebra.operator import Operator, Plan, Stream, Windows
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    TrackAggregation,
    WindowAggregation,
    WindowDistinct,
    WindowFirst,
    WindowGrown,
    WindowMerge,
    WindowProject,
    WindowSelect,
)
from transom.algebra.streams import DStream, IStream, RStream, StreamProject, place_columns
from transom.algebra.tracks import TrackFunction
from transom.algebra.tree import is_stream, keyed
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent, Kind
from transom.errors import LanguageRule, Span, TypeProblem
from transom.languages.cql.conditions import Condition, both, combine, conjuncts, reads_only, set_apart
from transom.languages.cql.scope import STAMPS, Given, Located, Relations, TrackGrouped, relation_of
from transom.languages.cql.sources import From, Item, Joined, items_of, product
from transom.languages.cql.syntax import Combine, Convert, Converter, First, Query, Select, Source, Table
from transom.languages.cql.windows import Frame
from transom.languages.sql.scope import Grouped, Sources, has_aggregate
from transom.languages.sql.select import Selecting, Translation, Views, check_names, given, no_views, renamed
from transom.languages.sql.syntax import Exists, Function, InQuery, Node, SelectItem, Unary
from transom.languages.sql.translate import Scope, as_instants, compare, condition
from transom.languages.sql.translate import translate as translate_expression
from transom.languages.sql.wording import a
from transom.model.schema import Attribute
from transom.model.space import Position
from transom.model.types import Type, Value


def translate(
    query: Query, catalog: Catalog, parameters: Mapping[str, Value] | None = None, views: Views = no_views
) -> Translation:
    """The algebra of a query; names that no source has are parameters, if they have a value (C8)."""
    translator = _Translator(catalog, parameters=Given(parameters or {}, catalog.parameters), views=views)
    plan = translator.query(query)
    if not is_stream(plan):
        plan = merged(plan)  # type: ignore[arg-type]
    translator.parameters.check()
    return Translation(plan, tuple(translator.warnings))


def merged(plan: Windows) -> Windows:
    """A relation as one bag per instant, whatever keys it has."""
    return WindowMerge(plan) if keyed(plan) else plan


@dataclass(frozen=True, slots=True)
class _Ranked:
    """FIRST, with its expressions translated."""

    count: int
    by: Expression
    per: tuple[Expression, ...]

    def of(self, plan: Windows) -> Windows:
        """The first rows of the windows of all keys together."""
        return WindowFirst(merged(plan), self.per, self.by, self.count)


def ranked(first: First | None, scope: Scope) -> _Ranked | None:
    """What FIRST ranks rows by, and within which groups."""
    if first is None:
        return None
    if not first.count:
        raise LanguageRule("the first 0 rows", span=first.span, hint="write FIRST 1 BY ..")
    by = translate_expression(first.by, scope)
    if by.type in (Type.NULL, Type.POINT, Type.LINE):
        raise TypeProblem(
            f"{a(by.type)} has no order", span=first.by.span, hint="rank by a number, such as DISTANCE(g, POINT(0, 0))"
        )
    return _Ranked(first.count, by, tuple(translate_expression(node, scope) for node in first.per))


@dataclass(slots=True)
class _Prepared:
    """A SELECT whose FROM and WHERE are translated; `outside` are the conditions on the query around it."""

    tables: list[From]
    scope: Relations
    where: Expression | None
    questions: list[Condition]
    outside: list[Expression]

    @property
    def items(self) -> list[Item]:
        """All sources, in their order."""
        return [item for table in self.tables for item in items_of(table)]

    def plan(self) -> Windows:
        """The relation behind FROM and WHERE."""
        plan = product(self.tables)
        if self.where is not None:
            plan = WindowSelect(plan, self.where)
        for asked in self.questions:
            join_type = JoinType.ANTI if asked.negated else JoinType.SEMI
            plan = RelationJoin(plan, asked.relation, asked.predicate, join_type)
        return plan


@dataclass(slots=True)
class _Translator(Selecting):
    parameters: Given = field(kw_only=True)
    asked: int = 0
    positions: dict[Query, Position] = field(default_factory=dict)
    """The positions that subqueries hand on."""

    def query(self, query: Query) -> Plan:
        """A query is a relation, or a converter around one."""
        match query:
            case Convert():
                place = Span(query.span.start, query.span.start + len(query.converter.value))
                return self.convert(query.converter, query.query, place)
            case Select(converter=Converter() as converter):
                return self.convert(converter, query, query.head_span)
            case Select():
                return self.select(query)
            case Combine():
                words = f"{query.combination.value} of a stream"
                return combine(query, self.relation(query.left, words), self.relation(query.right, words))
            case _:
                assert_never(query)

    def relation(self, query: Query, words: str) -> Windows:
        """A query that is no stream."""
        plan = self.query(query)
        if is_stream(plan):
            raise LanguageRule(words, span=query.span, hint="put one converter around the whole query")
        return plan  # type: ignore[return-value]

    def convert(self, converter: Converter, query: Query, span: Span) -> Stream:
        """RStream, IStream or DStream of a relation; over a window that only grows RStream waits for growth (C5)."""
        if isinstance(query, Select) and (query.converter is None or query.head_span == span):
            plan = self.select(query, grown=converter is Converter.RSTREAM)
        else:
            plan = self.relation(query, f"{converter.value} of a stream")
        match converter:
            case Converter.RSTREAM:
                return RStream(plan)
            case Converter.ISTREAM:
                return IStream(plan)
            case Converter.DSTREAM:
                return DStream(plan)

    def select(self, query: Select, *, grown: bool = False) -> Windows:
        """FROM, WHERE, GROUP BY, HAVING, FIRST, the select list and DISTINCT, in this order."""
        prepared = self.prepare(query, None)
        scope, items = prepared.scope, prepared.items
        growing = grown and len(items) == 1 and items[0].only_grows and not prepared.questions
        grouped = bool(query.group_by) or query.having is not None
        asked = [item.expression for item in query.items] + ([] if query.first is None else [query.first.by])
        if grouped or any(has_aggregate(node, scope.aggregates) for node in asked):
            plan = self.aggregated(query, prepared, growing)
        else:
            columns = self.items(query.items, query.star_span, scope)
            first = ranked(query.first, scope)
            plan = WindowGrown(prepared.plan()) if growing else prepared.plan()
            plan = WindowProject(plan if first is None else first.of(plan), columns)
            self.hand_on(query, items, columns)
        return WindowDistinct(merged(plan)) if query.distinct else plan

    def aggregated(self, query: Select, prepared: _Prepared, growing: bool) -> Windows:
        """Groups and aggregates; without GROUP BY, the keys of a lone window group its tuples (C14)."""
        scope, items = prepared.scope, prepared.items
        groups = self.groups(query.group_by, scope)
        keys = items[0].keys if len(items) == 1 else ()
        if not query.group_by:
            groups = {Column(key): key for key in keys}
        inner = TrackGrouped(scope, groups, relations=scope, grouped=bool(query.group_by))
        columns = self.items(query.items, query.star_span, inner)
        having = None if query.having is None else condition(query.having, inner, "HAVING")
        first = ranked(query.first, inner)
        if not groups and not inner.aggregates and not inner.tracks:
            inner.count()
        plan = prepared.plan()
        if growing:
            plan = WindowGrown(plan)
        if any(Column(key) not in groups for key in keys):
            plan = merged(plan)
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
            plan = first.of(plan)
        return plan if columns == unchanged(plan.schema) else WindowProject(plan, columns)

    def prepare(self, query: Select, around: Relations | None) -> _Prepared:
        """FROM and WHERE of a query; its plan is built when everything is known that its windows keep."""
        tables = [self.table(table) for table in query.tables]
        items = [item for table in tables for item in items_of(table)]
        check_names((item.visible, item.source.span) for item in items)
        scope = self.scope(items, around, given(query.items))
        plain, questions = conjuncts(query.where)
        conditions = [self.where(node, scope) for node in plain]
        asked = [self.question(node, scope) for node in questions]
        own = frozenset(attribute for item in items for attribute in item.attributes)
        inside = [one for one in conditions if reads_only(one, own)]
        outside = [one for one in conditions if not reads_only(one, own)]
        for node, one in zip(questions, asked, strict=True):
            if not reads_only(one.predicate, own | frozenset(one.relation.schema)):
                raise LanguageRule(
                    "a condition on a query two levels around", span=node.span, hint="join the sources in FROM"
                )
        return _Prepared(tables, scope, both(inside), asked, outside)

    def scope(self, items: Sequence[Item], around: Relations | None, names: frozenset[str] = frozenset()) -> Relations:
        """The names that some sources offer."""
        return Relations(
            self.catalog.calendar,
            [item.visible for item in items],
            on_stream=False,
            given=names,
            regions=self.catalog.regions,
            parameters=self.parameters,
            warnings=self.warnings,
            around=around,
        )

    def question(self, node: Node, scope: Relations) -> Condition:
        """[NOT] IN (SELECT ..) and [NOT] EXISTS (SELECT ..): whether another relation has a match."""
        negated = False
        while isinstance(node, Unary):
            node, negated = node.operand, not negated
        assert isinstance(node, InQuery | Exists)  # noqa: S101 - conjuncts() found it
        query: Query = node.query  # type: ignore[assignment]
        plan, columns, conditions = self.answers(query, scope, listed=isinstance(node, InQuery))
        if isinstance(node, InQuery):
            negated ^= node.negated
            if len(columns) != 1:
                raise LanguageRule(
                    f"IN compares with one column, not {len(columns)}", span=query.span, hint="select one column"
                )
            sides = as_instants([translate_expression(node.operand, scope), columns[0]], [node.operand, node], scope)
            equal = compare(node, "=", *sides)
            conditions = [*conditions, call("OR", equal, call("IS NULL", equal)) if negated else equal]
        self.asked += 1
        return set_apart(plan, conditions, negated, self.asked)

    def answers(
        self, query: Query, scope: Relations, *, listed: bool
    ) -> tuple[Windows, list[Expression], list[Expression]]:
        """The relation of a subquery in a condition, its columns, and its conditions on the query around it."""
        more = isinstance(query, Select) and (query.distinct or query.group_by or query.having or query.first)
        if isinstance(query, Select) and not (query.converter or more):
            prepared = self.prepare(query, scope)
            if not any(has_aggregate(item.expression, scope.aggregates) for item in query.items):
                columns = self.items(query.items, query.star_span, prepared.scope) if listed else ()
                return prepared.plan(), [column.expression for column in columns], prepared.outside
        plan = self.relation(query, "a stream in a condition")
        return plan, [Column(attribute) for attribute in plan.schema], []

    def columns(self, item: SelectItem, scope: Sources | Grouped) -> tuple[Output, ...]:
        """The columns that an item stands for; Stamps are two, the place and the time (C10)."""
        node = item.expression
        if not isinstance(node, Function) or node.name != "STAMPS" or not isinstance(scope, Relations):
            return Selecting.columns(self, item, scope)
        if item.alias is not None:
            raise LanguageRule(
                "one name for two columns, g and t", span=item.span, hint="select g AS place, t AS moment"
            )
        source = relation_of(node, scope)
        return tuple(Output(stamp := source.stamp(name), Attribute(name, stamp.type)) for name in STAMPS)

    def table(self, table: Table) -> From:
        """One item of FROM with its joins."""
        if isinstance(table, Source):
            return self.source(table)
        left, right = self.table(table.left), self.source(table.right)
        scope = self.scope([*items_of(left), right], None)
        if has_aggregate(table.on, scope.aggregates):
            raise LanguageRule("an aggregate in ON", span=table.on.span, hint="conditions on aggregates go to HAVING")
        self.warn_about_null(table.on)
        return Joined(left, right, condition(table.on, scope, "ON"), table.outer)

    def source(self, source: Source) -> Item:
        """An extent or a subquery; a stream has a window."""
        self.count_source(source.span)
        item = self.of_query(source, source.input) if not isinstance(source.input, str) else self.of_extent(source)
        item.check()
        self.warnings += item.remarks()
        return item

    def of_extent(self, source: Source) -> Item:
        """A declared source of rows."""
        assert isinstance(source.input, str)  # noqa: S101 - source() asked
        extent = self.extent(source.input, source.input_span)
        name = source.alias or extent.name
        schema = extent.schema.qualified(name)
        visible = Located(name, schema, extent.kind is not Kind.STORED, position=extent.position)
        stream = self.opened(extent, schema)
        forget = self.forgets(stream, extent)
        several = extent.object is None and extent.keys != 1
        frame = Frame(
            self.catalog.calendar, self.catalog.regions, extent.position, extent.object, extent.name, forget, several
        )
        return Item(source, stream, visible, frame)

    def forgets(self, plan: Operator, *extents: Extent) -> int | None:
        """After how many ticks an unseen key is forgotten: the least that the extents below declare (E8)."""
        below = extent_of(plan)
        found = [*extents, *([] if below is None else [self.catalog.extent(below)])]
        return min((e.forget_after for e in found if e.forget_after is not None), default=None)

    def of_query(self, source: Source, query: Query) -> Item:
        """A subquery: a relation as it is, a stream under a window."""
        plan = self.query(query)
        if source.alias is not None:
            columns = renamed(plan.schema, source.alias, source.span)
            project = StreamProject if is_stream(plan) else WindowProject
            plan = project(plan, columns)  # type: ignore[arg-type]
        position = self.positions.get(query.query if isinstance(query, Convert) else query)
        visible = Located(source.alias, plan.schema, is_stream(plan), position=position)
        name = source.alias or "the subquery"
        forget = self.forgets(plan)
        frame = Frame(self.catalog.calendar, self.catalog.regions, position, None, name, forget)
        return Item(source, plan, visible, frame)

    def hand_on(self, query: Select, items: Sequence[Item], columns: Sequence[Output]) -> None:
        """Remember the position of a subquery that selects the columns of one."""
        for item in items:
            position = item.visible.position
            if position is None:
                continue
            names = {column.expression: column.attribute.name for column in columns}
            found = [names.get(Column(a)) for a in place_columns(item.visible.schema, position)]
            if found[0] is not None and found[-1] is not None:
                y = found[1] if len(found) == 2 else None
                self.positions.setdefault(query, replace(position, x=found[0], y=y))
