"""SNEEql syntax to algebra, by the rules of Section 5 of the document. Each function names its rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from transom.algebra.expressions import Expression, Item, unchanged
from transom.algebra.operator import Plan, Stream, Windows
from transom.algebra.relations import WindowAggregation, WindowCrossProduct, WindowProject, WindowSelect
from transom.algebra.sources import StoredTable
from transom.algebra.streams import DStream, IStream, Renumber, RStream, StreamProject, StreamSelect, is_dense
from transom.algebra.tree import is_stream
from transom.algebra.windows import Window, row_window, scan, time_window
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Kind
from transom.errors import LanguageRule, Span, UsageError
from transom.languages.sneeql.syntax import (
    Convert,
    Converter,
    Query,
    RangeWindow,
    ScanWindow,
    Select,
    Source,
    Unit,
)
from transom.languages.sql.scope import Grouped, Sources, Visible, has_aggregate
from transom.languages.sql.select import Remark, Selecting, Translation, Views, check_names, given, no_views, renamed
from transom.languages.sql.translate import AGGREGATES, condition
from transom.languages.sql.wording import overlapping
from transom.model.types import Value


def translate(
    query: Query, catalog: Catalog, parameters: Mapping[str, Value] | None = None, views: Views = no_views
) -> Translation:
    """The algebra of a query. SNEEql has no parameters: any that is given is an error."""
    if parameters:
        raise UsageError("SNEEql has no parameters", hint="write the value into the query")
    translator = _Translator(catalog, views=views)
    plan = translator.query(query)
    return Translation(plan, tuple(translator.warnings))


@dataclass(slots=True)
class _Item:
    """One source of FROM on its way: what it is, how it is seen, and the window it was given."""

    source: Source
    input: Stream | StoredTable
    visible: Visible

    @property
    def is_stream(self) -> bool:
        """Whether it is a stream without a window."""
        return not isinstance(self.input, StoredTable) and self.source.window is None


class _Translator(Selecting):
    """Turns one query and its subqueries into algebra."""

    def query(self, query: Query) -> Plan:
        """A query is a stream query, a window query, or a converter around a window query."""
        if isinstance(query, Convert):
            return self.convert(query)
        items = [self.source(source) for source in query.sources]
        if len(items) == 1 and items[0].is_stream:
            return self.stream_query(query, items[0])
        for item in items:
            if item.is_stream:
                raise LanguageRule(
                    "a stream without a window beside other sources",
                    span=item.source.span,
                    hint="cross products need windows, for example [FROM NOW TO NOW SLIDE 1 SEC]",
                )
        return self.window_query(query, items)

    # Sec. 6.3: RSTREAM(q), ISTREAM(q), DSTREAM(q) => RStream, IStream, DStream of the window query.
    def convert(self, query: Convert) -> Stream:
        plan = self.query(query.query)
        if is_stream(plan):
            raise LanguageRule(
                f"{query.converter.value} of a stream",
                span=Span(query.span.start, query.span.start + len(query.converter.value)),
                hint="it makes a stream from windows: give the query inside a window, or leave the converter out",
            )
        windows: Windows = plan  # type: ignore[assignment]
        match query.converter:
            case Converter.RSTREAM:
                return RStream(windows)
            case Converter.ISTREAM:
                return IStream(windows)
            case Converter.DSTREAM:
                return DStream(windows)

    # Sec. 5: SELECT a1..an FROM s WHERE p
    #   => StreamProject [a1..an] (StreamSelect (p) (StreamAcquire (s, s.acquisitionInterval, s.sites)))
    def stream_query(self, query: Select, item: _Item) -> Stream:
        scope = Sources(self.catalog.calendar, [item.visible], on_stream=True, given=given(query.items))
        if query.group_by or query.having is not None:
            clause = query.group_by[0] if query.group_by else query.having
            raise LanguageRule(
                "GROUP BY and HAVING need windows",
                span=clause.span if clause else query.span,
                hint="give the stream a window, for example [FROM NOW-5 TO NOW SLIDE 1 MIN]",
            )
        stream = item.input
        assert not isinstance(stream, StoredTable)  # noqa: S101 - is_stream said so
        if query.where is not None:
            stream = StreamSelect(stream, self.where(query.where, scope))
        return StreamProject(stream, self.items(query.items, query.star_span, scope))

    # Sec. 5: SELECT a1..an FROM w1..wm WHERE p
    #   => WindowProject [a1..an] (WindowSelect (p) (WindowCrossProduct (w1), .., (wm)))
    # Select lists with aggregates use WindowAggregation, as in Fig. 4 (S26); HAVING is a selection above it (S16).
    def window_query(self, query: Select, items: Sequence[_Item]) -> Windows:
        check_names((item.visible, item.source.span) for item in items)
        scope = Sources(
            self.catalog.calendar, [item.visible for item in items], on_stream=False, given=given(query.items)
        )
        where = None if query.where is None else self.where(query.where, scope)
        grouped = bool(query.group_by) or query.having is not None
        if grouped or any(has_aggregate(item.expression, AGGREGATES) for item in query.items):
            groups = self.groups(query.group_by, scope)
            inner = Grouped(scope, groups)
            columns = self.items(query.items, query.star_span, inner)
            having = None if query.having is None else condition(query.having, inner, "HAVING")
            if not groups and not inner.aggregates:
                inner.count()
            plan = self.product(items, where)
            plan = WindowAggregation(plan, tuple(Item(*group) for group in groups.items()), inner.aggregates)
            if having is not None:
                plan = WindowSelect(plan, having)
            return plan if columns == unchanged(plan.schema) else WindowProject(plan, columns)
        columns = self.items(query.items, query.star_span, scope)
        return WindowProject(self.product(items, where), columns)

    # Sec. 5: WindowCrossProduct (w1), .., (wm), folded to the left; a single window needs no product (S18).
    def product(self, items: Sequence[_Item], where: Expression | None) -> Windows:
        plan: Windows = self.window(items[0])
        for item in items[1:]:
            plan = WindowCrossProduct(plan, self.window(item))
        return plan if where is None else WindowSelect(plan, where)

    # Sec. 5: s[FROM t1 TO t2 SLIDE int timeUnit] => TimeWindow (TimeScope (t1.offset, t2.offset), slide) (stream)
    # By analogy: ROWS => RowWindow over a stream numbered from 1 (S15), t[SCAN int timeUnit] => Scan (S17 without).
    def window(self, item: _Item) -> Window:
        window, input, tags = item.source.window, item.input, tuple(item.visible.used)
        if isinstance(input, StoredTable):
            if isinstance(window, RangeWindow):
                raise LanguageRule(
                    "a range window on a stored extent", span=window.span, hint="a table takes [SCAN n unit]"
                )
            return scan(input, None if window is None else self.scan_interval(window))
        if isinstance(window, ScanWindow):
            raise LanguageRule(
                "SCAN on a stream", span=window.span, hint="a stream takes [FROM NOW-n TO NOW SLIDE n unit]"
            )
        assert window is not None  # noqa: S101 - query() refused streams without a window
        if window.slide == 0:
            raise LanguageRule("a slide of 0", span=window.slide_span, hint="a slide is at least 1")
        if window.unit is Unit.ROWS:
            self.warn_about(window, window.past, window.until, window.slide)
            stream = input if is_dense(input) else Renumber(input)
            return row_window(stream, window.past, window.until, window.slide, tags)
        past, until, slide = (self.ticks(n, window) for n in (window.past, window.until, window.slide))
        self.warn_about(window, past, until, slide)
        return time_window(input, past, until, slide, tags)

    def warn_about(self, window: RangeWindow, past: int, until: int, slide: int) -> None:
        """What is legal in a window and probably not meant; FROM NOW TO NOW asks for samples and means it."""
        samples = past == until and window.unit is not Unit.ROWS
        if past < until:
            self.warnings.append(Remark("FROM is later than TO, so every window is empty", window.span))  # S19
        elif past - until + 1 < slide and not samples:
            self.warnings.append(Remark("rows between two windows are in none of them", window.span))
        elif past - until == slide and (slide > 1 or window.unit is not Unit.ROWS):
            self.warnings.append(Remark(overlapping(self.apart(window, past, until, slide)), window.span))

    def apart(self, window: RangeWindow, past: int, until: int, slide: int) -> str | None:
        """The window with one tick or row less at its beginning, in the largest unit that can say it."""
        if window.unit is Unit.ROWS:
            return _window(past - 1, until, slide, Unit.ROWS)
        for unit in (Unit.HOUR, Unit.MIN, Unit.SEC):
            size = unit.seconds * 1_000_000
            micros = [ticks * self.catalog.calendar.length for ticks in (past - 1, until, slide)]
            if not any(length % size for length in micros):
                return _window(micros[0] // size, micros[1] // size, micros[2] // size, unit)
        return None

    def scan_interval(self, window: ScanWindow) -> int:
        """The interval of a SCAN in ticks."""
        if window.unit is Unit.ROWS:
            raise LanguageRule("SCAN counts time, not rows", span=window.span, hint="use SEC, MIN or HOUR")
        if window.every == 0:
            raise LanguageRule("a scan interval of 0", span=window.every_span, hint="an interval is at least 1")
        return self.ticks(window.every, window)

    def ticks(self, count: int, window: RangeWindow | ScanWindow) -> int:
        """So many units of a window in ticks (S3)."""
        calendar, unit = self.catalog.calendar, window.unit
        ticks = calendar.ticks(count * unit.seconds * 1_000_000)
        if ticks is None:
            raise LanguageRule(
                f"{count} {unit.value} is not a whole number of ticks",
                span=window.span,
                hint=f"a tick of this catalog lasts {calendar.describe(1)}; use multiples of it",
            )
        return ticks

    def source(self, source: Source) -> _Item:
        """An extent or a subquery; StreamAcquire for sensed, StreamReceive for pushed extents (S25)."""
        self.count_source(source.span)
        if not isinstance(source.input, str):
            return self.subquery(source, source.input)
        extent = self.extent(source.input, source.input_span)
        name = source.alias or extent.name
        schema = extent.schema.qualified(name)
        input = self.opened(extent, schema)
        return _Item(source, input, Visible(name, schema, tagged=extent.kind is not Kind.STORED))

    def subquery(self, source: Source, query: Query) -> _Item:
        """A subquery must be of type stream (Sec. 4, S32)."""
        plan = self.query(query)
        if not is_stream(plan):
            raise LanguageRule(
                "a window query as a source",
                span=source.input_span,
                hint="make it a stream with RSTREAM, ISTREAM or DSTREAM",
            )
        stream: Stream = plan  # type: ignore[assignment]
        if source.alias is not None:
            stream = StreamProject(stream, renamed(stream.schema, source.alias, source.span))
        return _Item(source, stream, Visible(source.alias, stream.schema, tagged=True))


def _window(past: int, until: int, slide: int, unit: Unit) -> str:
    ends = [f"NOW-{offset}" if offset else "NOW" for offset in (past, until)]
    return f"[FROM {ends[0]} TO {ends[1]} SLIDE {slide} {unit.value}]"
