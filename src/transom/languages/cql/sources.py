"""The sources of a CQL query: extents and subqueries, their windows and their joins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from transom.algebra.cql_windows import table_window
from transom.algebra.expressions.expression import TRUE, Column, Expression, NamedExpression
from transom.algebra.operator import Stream, Windows
from transom.algebra.periods import EveryPeriod, PeriodRange
from transom.algebra.relations import JoinType, RelationJoin
from transom.algebra.sources import StoredTable
from transom.algebra.streams import find_position_columns
from transom.algebra.tree import is_stream
from transom.algebra.windows import Coordinate, CoordinateRange, Every, OnArrival, RegionRange, UnboundedRange, Window
from transom.errors import LanguageRule
from transom.languages.cql.scope import LocatedSource
from transom.languages.cql.syntax import Join, Source, Table
from transom.languages.cql.windows import WindowTranslator
from transom.languages.sql.select import Remark
from transom.languages.sql.type_messages import gap_warning, or_list, overlap_warning, shorten
from transom.languages.sql.unparse import unparse
from transom.model.geometry.space import Position
from transom.model.schema import Attribute

WINDOW_HINT = "write [NOW], [ROWS 10], [RANGE '5 minutes'] or [UNBOUNDED] after it"


@dataclass(slots=True)
class SourceItem:
    """A FROM source during translation: its input plan, its visible names and the keys of its window."""

    source: Source
    input: Stream | StoredTable | Windows
    visible: LocatedSource
    window_translator: WindowTranslator
    keys: tuple[Attribute, ...] = ()

    def check(self) -> None:
        """Check that a stream has a window and a table or relation has none, and resolve the PARTITION BY keys.

        Raises LanguageRule if the check fails.
        """
        window = self.source.window
        if isinstance(self.input, StoredTable) or not is_stream(self.input):
            if window is not None:
                table = self.source.input if isinstance(self.source.input, str) else None
                source_text = f"{table} is a table" if table else "this subquery gives a relation"
                raise LanguageRule(
                    f"{source_text}, and windows are for streams", span=window.span, hint="leave the window out"
                )
            return
        if window is None:
            raise LanguageRule("this stream needs a window", span=self.source.span, hint=WINDOW_HINT)
        self.keys = tuple(self.partition_attribute(index) for index in range(len(window.partition)))
        if len(set(self.keys)) < len(self.keys):
            raise LanguageRule("PARTITION BY has one attribute twice", span=window.span, hint="leave one of them out")
        self.visible.range_ticks = self.window_translator.range_ticks(window)
        self.visible.object = None if self.keys else self.window_translator.object
        _ = self.plan()

    def partition_attribute(self, index: int) -> Attribute:
        """Return the attribute that the `index`-th name of PARTITION BY means, counted from 0.

        Raises LanguageRule if there is no such attribute, or if there are several.
        """
        window = self.source.window
        assert window is not None  # noqa: S101 - check() checked it
        name = window.partition[index]
        matches = self.input.schema.find(name.qualifier, name.name)
        if len(matches) != 1:
            names = or_list([attribute.name for attribute in self.input.schema])
            label = shorten(unparse(name))
            message = f"ambiguous attribute {label}" if matches else f"no attribute is called {label}"
            hint = f"PARTITION BY takes one attribute of {self.window_translator.name}: {names}"
            raise LanguageRule(message, span=name.span, hint=hint)
        return matches[0]

    def plan(self) -> Windows:
        """Return the plan of this source: a scan of its table, its subquery, or a window over its stream."""
        if isinstance(self.input, StoredTable):
            return table_window(self.input)
        window = self.source.window
        if window is None:
            relation: Windows = self.input  # type: ignore[assignment]
            return relation
        stream: Stream = self.input  # type: ignore[assignment]
        forget = self.window_translator.forget_after if self.keys else None
        return replace(
            self.window_translator.window(window, stream, self.keys), tags=tuple(self.visible.used), forget_after=forget
        )

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns of this source's relation, including the tick or index column if the query reads it."""
        return (*self.visible.schema, *self.visible.used)

    def remarks(self) -> Iterator[Remark]:
        """Yield warnings about a window that is legal but probably not what the author meant."""
        plan, window = self.plan(), self.source.window
        if not isinstance(plan, Window) or window is None:
            return
        if isinstance(plan.range, RegionRange):
            message = "a row that entered the region stays in its window; a range of time beside it bounds it"
            yield Remark(message, window.span)  # C23
        if isinstance(plan.range, PeriodRange) and isinstance(plan.slide, EveryPeriod):
            from transom.languages.sql.calendar_windows import leaves_gaps

            if leaves_gaps(plan.range, plan.slide):
                yield Remark("rows between two windows are in none of them", window.span)
        if isinstance(plan.range, CoordinateRange) and isinstance(plan.slide, Every):
            same = plan.range.coordinate is plan.slide.coordinate
            by_time = plan.slide.coordinate is Coordinate.TICK and window.slide is not None
            if same and plan.slide.step > 1 - plan.range.low.offset > 1:
                gap = plan.slide.step - (1 - plan.range.low.offset)
                better = self.window_translator.window_without_gap(window, plan.slide.step, gap) if by_time else None
                yield Remark(gap_warning(better), window.span)
            if same and by_time and plan.slide.step == -plan.range.low.offset:
                suggestion = self.window_translator.non_overlapping_window(window, plan.slide.step)
                yield Remark(overlap_warning(suggestion), window.span)
        if plan.by_distance and not plan.key and self.window_translator.has_several_objects:
            message = f"distances are measured from row to row of {self.window_translator.name}, across all objects"
            hint = "write PARTITION BY in its window"
            if isinstance(self.source.input, str):
                hint = "declare its `object` in the catalog and write PARTITION BY, or declare keys: 1"
            yield Remark(f"{message}; {hint}", window.span)  # C31

    @property
    def has_several_objects(self) -> bool:
        """Whether rows of this source may belong to several moving objects."""
        return self.window_translator.object is not None or self.window_translator.has_several_objects

    def output_position(self, columns: Sequence[NamedExpression]) -> Position | None:
        """Return the position of this source's rows in the output `columns`, or None if a coordinate is missing."""
        position = self.visible.position
        if position is None:
            return None
        names = {column.expression: column.attribute.name for column in columns}
        coordinates = [names.get(Column(a)) for a in find_position_columns(self.visible.schema, position)]
        x, y = coordinates[0], coordinates[-1]
        if x is None or y is None:
            return None
        return replace(position, x=x, y=y if len(coordinates) == 2 else None)

    @property
    def only_grows(self) -> bool:
        """Whether rows never leave the window, so that RStream emits only when a row was added (C5)."""
        plan = self.plan()
        return (
            isinstance(plan, Window)
            and isinstance(plan.slide, OnArrival)
            and isinstance(plan.range, RegionRange | UnboundedRange)
        )


@dataclass(slots=True)
class JoinedItem:
    """A JOIN in FROM; `outer` means LEFT JOIN."""

    left: FromItem
    right: SourceItem
    on: Expression
    outer: bool


FromItem: TypeAlias = SourceItem | JoinedItem
"""One item of FROM, joins included."""


def first_source_name(tables: Sequence[Table]) -> str:
    """Return the name of the first source in FROM, for messages: its alias, else its declared name."""
    table = tables[0]
    while isinstance(table, Join):
        table = table.left
    return table.alias or (table.input if isinstance(table.input, str) else "the subquery")


def source_items(item: FromItem) -> Iterator[SourceItem]:
    """Yield the sources of a FROM item with its joins, from left to right."""
    match item:
        case SourceItem():
            yield item
        case JoinedItem(left=left, right=right):
            yield from source_items(left)
            yield right
        case _:
            assert_never(item)


def from_item_relation(item: FromItem) -> Windows:
    """Return the plan of a FROM item: the windows of a single source, or a left-deep tree of joins."""
    match item:
        case SourceItem():
            return item.plan()
        case JoinedItem(left=left, right=right, on=on, outer=outer):
            join_type = JoinType.LEFT if outer else JoinType.INNER
            return RelationJoin(from_item_relation(left), right.plan(), on, join_type)
        case _:
            assert_never(item)


def from_clause_relation(items: list[FromItem]) -> Windows:
    """Return the plan of an entire FROM clause: the cross product of its items, from left to right (C16)."""
    plan = from_item_relation(items[0])
    for item in items[1:]:
        plan = RelationJoin(plan, from_item_relation(item), TRUE)
    return plan
