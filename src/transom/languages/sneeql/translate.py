"""Translates SNEEql to algebra by the rules of Section 5 of the document. Each function names its rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from transom.algebra.expressions.expression import Expression, NamedExpression, identity_items
from transom.algebra.operator import Plan, Stream, Windows
from transom.algebra.relations import WindowAggregation, WindowCrossProduct, WindowProject, WindowSelect
from transom.algebra.sources import StoredTable
from transom.algebra.streams import DStream, IStream, Renumber, RStream, StreamProject, StreamSelect, is_dense
from transom.algebra.tree import is_stream
from transom.algebra.windows import Window, row_window, scan_window, time_window
from transom.catalog.catalog import Catalog
from transom.catalog.extent import ExtentKind
from transom.errors import LanguageRule, Span, UsageError
from transom.languages.sneeql.syntax import (
    CalendarWindow,
    Convert,
    Converter,
    FromToWindow,
    OffsetUnit,
    Query,
    ScanWindow,
    Select,
    Source,
)
from transom.languages.sql.dialects import HalfOpenWindow
from transom.languages.sql.scope import GroupScope, SourceScope, VisibleSource, has_aggregate
from transom.languages.sql.select import (
    Remark,
    SelectTranslator,
    StreamViews,
    Translation,
    alias_names,
    check_source_names,
    rename_columns,
    unsupported_view,
)
from transom.languages.sql.translate import AGGREGATES, condition
from transom.languages.sql.type_messages import gap_warning, overlap_warning, shorten
from transom.model.schema import Attribute
from transom.model.types import Value


def translate(
    query: Query, catalog: Catalog, parameters: Mapping[str, Value] | None = None, views: StreamViews = unsupported_view
) -> Translation:
    """Translate a SNEEql query to a plan; `views` plans sources defined by queries; UsageError for any parameter.

    `views` plans the extents that queries define.
    """
    if parameters:
        raise UsageError("SNEEql has no parameters", hint="write the value into the query")
    translator = _SneeqlTranslator(catalog, views=views)
    plan = translator.query(query)
    return Translation(plan, tuple(translator.warnings))


@dataclass(slots=True)
class _SourceItem:
    """A FROM source during translation: its syntax with the window, its input plan and its visible names."""

    source: Source
    input: Stream | StoredTable
    visible: VisibleSource

    @property
    def is_stream(self) -> bool:
        """Whether the source is a stream without a window."""
        return not isinstance(self.input, StoredTable) and self.source.window is None


class _SneeqlTranslator(SelectTranslator):
    """Translates one query and its subqueries."""

    def query(self, query: Query) -> Plan:
        """Translate a query to a plan: a SELECT over a stream or over windows, or a converter such as RSTREAM."""
        if isinstance(query, Convert):
            return self.convert(query)
        expressions = [*(item.expression for item in query.items), query.where, *query.group_by, query.having]
        self.refuse_window_functions(expressions, _source_name(query.sources[0]))
        items = [self.source(source) for source in query.sources]
        if len(items) == 1 and items[0].is_stream:
            return self.stream_query(query, items[0])
        for item in items:
            if item.is_stream:
                raise LanguageRule(
                    "a stream joined with other sources needs a window",
                    span=item.source.span,
                    hint=f"write for example {_source_name(item.source)} [FROM NOW TO NOW SLIDE 1 SEC]",
                )
        return self.window_query(query, items)

    # Sec. 6.3: RSTREAM(q), ISTREAM(q), DSTREAM(q) => RStream, IStream, DStream of the window query.
    def convert(self, query: Convert) -> Stream:
        """Translate RSTREAM, ISTREAM or DSTREAM around a query; raises LanguageRule if that query is a stream."""
        plan = self.query(query.query)
        if is_stream(plan):
            raise self._needs_windows(query)
        windows: Windows = plan  # type: ignore[assignment]
        match query.converter:
            case Converter.RSTREAM:
                return RStream(windows)
            case Converter.ISTREAM:
                return IStream(windows)
            case Converter.DSTREAM:
                return DStream(windows)

    @staticmethod
    def _needs_windows(query: Convert) -> LanguageRule:
        """Return the LanguageRule for a converter such as RSTREAM around a query that is already a stream."""
        name = query.converter.value
        span = Span(query.span.start, query.span.start + len(name))
        if isinstance(query.query, Convert):
            made = f"{name} needs windows, and {query.query.converter.value} has already made a stream"
            return LanguageRule(made, span=span, hint="keep one of the two converters")
        source = _source_name(query.query.sources[0])
        return LanguageRule(
            f"{name} needs windows, and this query gives a stream",
            span=span,
            hint=f"give {source} a window, or leave {name} out",
        )

    # Sec. 5: SELECT a1..an FROM s WHERE p
    #   => StreamProject [a1..an] (StreamSelect (p) (StreamAcquire (s, s.acquisitionInterval, s.sites)))
    def stream_query(self, query: Select, item: _SourceItem) -> Stream:
        """Translate a SELECT over one stream without a window; raises LanguageRule for GROUP BY or HAVING."""
        scope = SourceScope(self.catalog.calendar, [item.visible], on_stream=True, aliases=alias_names(query.items))
        if query.group_by or query.having is not None:
            clause = query.group_by[0] if query.group_by else query.having
            raise LanguageRule(
                "GROUP BY and HAVING need windows",
                span=clause.span if clause else query.span,
                hint="give the stream a window, for example [FROM NOW-5 TO NOW SLIDE 1 MIN]",
            )
        stream = item.input
        assert not isinstance(stream, StoredTable)  # noqa: S101 - is_stream checked it
        if query.where is not None:
            stream = StreamSelect(stream, self.where(query.where, scope))
        return StreamProject(stream, self.items(query.items, query.star_span, scope))

    # Sec. 5: SELECT a1..an FROM w1..wm WHERE p
    #   => WindowProject [a1..an] (WindowSelect (p) (WindowCrossProduct (w1), .., (wm)))
    # Select lists with aggregates use WindowAggregation, as in Fig. 4 (S26); HAVING is a selection above it (S16).
    def window_query(self, query: Select, items: Sequence[_SourceItem]) -> Windows:
        """Translate a SELECT over sources with windows, including WHERE, GROUP BY, HAVING and aggregates."""
        check_source_names((item.visible, item.source.span) for item in items)
        scope = SourceScope(
            self.catalog.calendar, [item.visible for item in items], on_stream=False, aliases=alias_names(query.items)
        )
        where = None if query.where is None else self.where(query.where, scope)
        grouped = bool(query.group_by) or query.having is not None
        if grouped or any(has_aggregate(item.expression, AGGREGATES) for item in query.items):
            groups = self.groups(query.group_by, scope)
            inner = GroupScope(scope, groups)
            columns = self.items(query.items, query.star_span, inner)
            having = None if query.having is None else condition(query.having, inner, "HAVING")
            if not groups and not inner.aggregates:
                inner.add_count()
            plan = self.product(items, where)
            plan = WindowAggregation(plan, tuple(NamedExpression(*group) for group in groups.items()), inner.aggregates)
            if having is not None:
                plan = WindowSelect(plan, having)
            return plan if columns == identity_items(plan.schema) else WindowProject(plan, columns)
        columns = self.items(query.items, query.star_span, scope)
        return WindowProject(self.product(items, where), columns)

    # Sec. 5: WindowCrossProduct (w1), .., (wm), folded to the left; a single window needs no product (S18).
    def product(self, items: Sequence[_SourceItem], where: Expression | None) -> Windows:
        """Return the plan of FROM and WHERE: the cross product of all windows, filtered by `where` unless None."""
        plan: Windows = self.window(items[0])
        for item in items[1:]:
            plan = WindowCrossProduct(plan, self.window(item))
        return plan if where is None else WindowSelect(plan, where)

    # Sec. 5: s[FROM t1 TO t2 SLIDE int timeUnit] => TimeWindow (TimeScope (t1.offset, t2.offset), slide) (stream)
    # By analogy: ROWS => RowWindow over a stream numbered from 1 (S15), t[SCAN int timeUnit] => Scan (S17 without it).
    def window(self, item: _SourceItem) -> Window:
        """Translate a source's window; raises LanguageRule for FROM .. TO on a table or SCAN on a stream."""
        window, input, tags = item.source.window, item.input, tuple(item.visible.used)
        if isinstance(input, StoredTable):
            if isinstance(window, FromToWindow | CalendarWindow):
                raise LanguageRule(
                    f"{input.extent} is a table, but FROM .. TO windows are for streams",
                    span=window.span,
                    hint="write for example [SCAN 1 MIN], or leave the window out",
                )
            return scan_window(input, None if window is None else self.scan_interval(window))
        if isinstance(window, ScanWindow):
            raise LanguageRule(
                f"SCAN is for tables, and {_source_name(item.source)} is a stream",
                span=window.span,
                hint="write for example [FROM NOW-5 TO NOW SLIDE 1 MIN]",
            )
        assert window is not None  # noqa: S101 - query() refused streams without a window
        if isinstance(window, CalendarWindow):
            return self.period_window(window, input, tags)
        if window.slide == 0:
            raise LanguageRule("a slide cannot be 0", span=window.slide_span, hint="write a slide of at least 1")
        if window.unit is OffsetUnit.ROWS:
            self.warn_about(window, window.past, window.until, window.slide)
            stream = input if is_dense(input) else Renumber(input)
            return row_window(stream, window.past, window.until, window.slide, tags)
        unit = window.unit
        past, until = (
            self.ticks(back, unit, span, f"NOW-{back} is {back} {unit.value} back, which")
            for back, span in ((window.past, window.past_span), (window.until, window.until_span))
        )
        slide = self.ticks(window.slide, unit, window.slide_span, f"SLIDE {window.slide} {unit.value}")
        self.warn_about(window, past, until, slide)
        return time_window(input, past, until, slide, tags)

    # E15: NOW-n is the beginning of the period n periods before the one that begins; its last tick is before TO.
    def period_window(self, window: CalendarWindow, input: Stream, tags: tuple[Attribute, ...]) -> Window:
        """Translate a calendar window with added columns `tags` (tick, index); warn if it is empty or has gaps."""
        from transom.languages.sql.calendar_windows import Amount, leaves_gaps, local_days, range_of, slide_by

        slide = slide_by(
            Amount(window.slide, window.unit, window.slide_span), local_days(self.catalog.calendar, window.zone)
        )
        past, until = (
            Amount(count, window.unit, span)
            for count, span in ((window.past, window.past_span), (window.until, window.until_span))
        )
        period_range = range_of(past, until, slide)
        if past.count < until.count:
            self.warnings.append(Remark("FROM is later than TO, so every window is empty", window.span))  # S19
        elif past.count == until.count:
            self.warnings.append(Remark("FROM and TO are the same instant, so every window is empty", window.span))
        elif leaves_gaps(period_range, slide):
            self.warnings.append(Remark("rows between two windows are in none of them", window.span))
        return Window(input, slide, period_range, tags=tags)

    def warn_about(self, window: FromToWindow, past: int, until: int, slide: int) -> None:
        """Warn if the window NOW-`past` to NOW-`until` (ticks or rows) is empty, has gaps or overlaps by 1 per `slide`.

        The window is NOW-`past` to NOW-`until` at each `slide`, in ticks or rows.
        """
        samples = past == until and window.unit is not OffsetUnit.ROWS
        gap = slide - (past - until + 1)
        if past < until:
            self.warnings.append(Remark("FROM is later than TO, so every window is empty", window.span))  # S19
        elif gap > 0 and not samples:
            is_by_a_tick = window.unit is not OffsetUnit.ROWS and gap < self._ticks_of(window.unit)
            better = self.tumbling_window(window, until + slide - 1, until, slide) if is_by_a_tick else None
            self.warnings.append(Remark(gap_warning(better), window.span))
        elif past - until == slide and (slide > 1 or window.unit is not OffsetUnit.ROWS):
            better = self.tumbling_window(window, past - 1, until, slide)
            self.warnings.append(Remark(overlap_warning(better), window.span))

    def _ticks_of(self, unit: OffsetUnit) -> int:
        """Return how many ticks a unit of time has, rounded up."""
        return -(-unit.seconds * 1_000_000 // self.catalog.calendar.length)

    def tumbling_window(self, window: FromToWindow, past: int, until: int, slide: int) -> str | None:
        """Return the text of a window like `window` from NOW-`past` to NOW-`until` (ticks or rows), at each `slide`.

        It is a window of CQL if no unit of SNEEql is exact, or None if CQL has no such window either.
        """
        from transom.languages.sneeql.window_texts import cql_tumbling_window, exact_window, window_text

        if window.unit is OffsetUnit.ROWS:
            return window_text(past, until, slide, OffsetUnit.ROWS)
        length = self.catalog.calendar.length
        text = exact_window([ticks * length for ticks in (past, until, slide)])
        if text is None and until <= self._ticks_of(window.unit):
            return cql_tumbling_window(slide * length, length)
        return text

    def window_hint(self, source: str, window: HalfOpenWindow | None) -> str:
        """Return a hint: the SNEEql window to write after `source` instead of TUMBLE or the like (None: an example).

        Without `window`, or if ticks do not divide it, the hint has an example.
        """
        from transom.languages.sneeql.window_texts import exact_window

        length = self.catalog.calendar.length
        exact = None
        if window is not None and not (window.width % length or window.slide % length):
            exact = exact_window([window.width, length, window.slide])
        if exact is None:
            text = f"{shorten(source)} [FROM NOW-299 TO NOW SLIDE 300 SEC]"
            return f"write a window of fixed length, for example {text}, which includes both ends"
        return f"write {shorten(source)} {exact} in FROM: it holds the same rows, and its result comes at its end"

    def scan_interval(self, window: ScanWindow) -> int:
        """Return the number of ticks between the windows of `[SCAN n unit]`; raises LanguageRule if 0 or in rows."""
        if window.unit is OffsetUnit.ROWS:
            raise LanguageRule("SCAN counts time, not rows", span=window.span, hint="write SEC, MIN or HOUR")
        if window.every == 0:
            raise LanguageRule("a scan interval cannot be 0", span=window.every_span, hint="write SCAN 1 or more")
        return self.ticks(window.every, window.unit, window.every_span, f"SCAN {window.every} {window.unit.value}")

    def ticks(self, count: int, unit: OffsetUnit, span: Span, label: str) -> int:
        """Convert `count` of a unit to ticks; LanguageRule (`label` is not a whole number) at `span` if not whole (S3).

        `label` says in the error what was counted.
        """
        calendar = self.catalog.calendar
        ticks = calendar.ticks(count * unit.seconds * 1_000_000)
        if ticks is None:
            raise LanguageRule(
                f"{label} is not a whole number of ticks",
                span=span,
                hint=f"a tick of this catalog lasts {calendar.describe(1)}; {self._whole_ticks(unit)}",
            )
        return ticks

    def _whole_ticks(self, unit: OffsetUnit) -> str:
        """Return a hint: which multiples of `unit`, or which larger unit, give a whole number of ticks."""
        length = self.catalog.calendar.length
        size = unit.seconds * 1_000_000
        multiples = f"use multiples of {length // gcd(length, size)} {unit.value}"
        larger = (u for u in (OffsetUnit.MIN, OffsetUnit.HOUR) if u.seconds > unit.seconds)
        exact = next((u for u in larger if u.seconds * 1_000_000 % length == 0), None)
        return multiples if exact is None else f"{multiples}, or count in {exact.value}"

    def source(self, source: Source) -> _SourceItem:
        """Return the plan and name of a FROM source: a subquery, or an extent (stream or table) of the catalog.

        Sensed extents give StreamAcquire, pushed ones StreamReceive (S25).
        """
        self.count_source(source.span)
        if not isinstance(source.input, str):
            return self.subquery(source, source.input)
        extent = self.extent(source.input, source.input_span)
        name = source.alias or extent.name
        schema = extent.schema.qualified(name)
        input = self.open_extent(extent, schema)
        tagged = extent.kind is not ExtentKind.STORED
        visible = VisibleSource(name, schema, tagged, extent=extent.name, time_column=extent.time_column)
        return _SourceItem(source, input, visible)

    def subquery(self, source: Source, query: Query) -> _SourceItem:
        """Translate a subquery in FROM; raises LanguageRule unless it is a stream (Sec. 4, S32)."""
        plan = self.query(query)
        if not is_stream(plan):
            raise LanguageRule(
                f"a subquery in FROM has to give a stream, and this one {_gives(query)}",
                span=source.input_span,
                hint="put RSTREAM, ISTREAM or DSTREAM around it: (RSTREAM(SELECT ..))",
            )
        stream: Stream = plan  # type: ignore[assignment]
        if source.alias is not None:
            stream = StreamProject(stream, rename_columns(stream.schema, source.alias, source.span))
        return _SourceItem(source, stream, VisibleSource(source.alias, stream.schema, tagged=True))


def _source_name(source: Source) -> str:
    """Return the name of a source for messages: its alias, else its declared name."""
    return source.alias or (source.input if isinstance(source.input, str) else "the subquery")


def _gives(query: Query) -> str:
    """Return why a subquery is not a stream, for an error message: `gives windows` or `reads a table`."""
    windows = isinstance(query, Select) and any(source.window is not None for source in query.sources)
    return "gives windows" if windows else "reads a table"
