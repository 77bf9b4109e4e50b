"""The meaning of SNEEql queries, after Figs. 1 to 8 of the document: lists of tagged tuples and lists of windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.holdout.sql import Row, relation, rows_of, without

Columns = list[tuple[str, str]]
TAGS: Columns = [("tick", "integer"), ("index", "integer")]


@dataclass(frozen=True)
class Item:
    """One column of a select list; its text means the same in SNEEql and in SQL."""

    text: str
    name: str
    type: str


@dataclass(frozen=True)
class Time:
    """`[FROM NOW-low TO NOW-high SLIDE slide unit]`, of `length` ticks per unit."""

    low: int
    high: int
    slide: int
    unit: str
    length: int


@dataclass(frozen=True)
class Rows:
    """`[FROM NOW-low TO NOW-high SLIDE slide ROWS]`."""

    low: int
    high: int
    slide: int


@dataclass(frozen=True)
class Scan:
    """`[SCAN every unit]`."""

    every: int
    unit: str
    length: int


@dataclass(frozen=True)
class Source:
    """An extent or a subquery, perhaps with a window and a name."""

    reads: str | Select
    window: Time | Rows | Scan | None = None
    alias: str | None = None

    @property
    def name(self) -> str:
        """What attributes of this source are qualified with."""
        return self.alias or (self.reads if isinstance(self.reads, str) else "sub")


@dataclass(frozen=True)
class Select:
    """One query; `converter` makes windows a stream."""

    items: list[Item]
    sources: list[Source]
    where: str | None = None
    group: list[str] = field(default_factory=list)
    having: str | None = None
    aggregates: bool = False
    converter: str | None = None


@dataclass(frozen=True)
class Extent:
    """Rows of an extent: a stream's with its ticks in order, or a table's by version."""

    columns: Columns
    rows: list[tuple[int, Row]] = field(default_factory=list)
    versions: Mapping[int, list[Row]] | None = None

    @property
    def stored(self) -> bool:
        """Whether it is a table."""
        return self.versions is not None


@dataclass(frozen=True)
class Tagged:
    """A tagged tuple."""

    tick: int
    index: int
    row: Row


@dataclass(frozen=True)
class Window:
    """A tick and a bag, kept as a list."""

    tick: int
    rows: list[Row]


@dataclass(frozen=True)
class Evaluation:
    """What a query is evaluated over."""

    extents: Mapping[str, Extent]
    start: int
    until: int

    def is_stream(self, query: Select) -> bool:
        """Whether a query gives tagged tuples: a converter, or one stream without a window."""
        first = query.sources[0]
        bare = len(query.sources) == 1 and first.window is None
        stored = isinstance(first.reads, str) and self.extents[first.reads].stored
        return query.converter is not None or (bare and not stored)

    def stream(self, query: Select) -> list[Tagged]:
        """evaluateStream: Figs. 1, 3 and 8."""
        if query.converter is None:
            return self._filtered(query)
        return _converted(query.converter, self.windows(query))

    def _received(self, source: Source) -> list[Tagged]:
        """The tuples of a stream: of an extent numbered from 1 (Fig. 2, receive), of a subquery as it gives them."""
        if isinstance(source.reads, str):
            rows = [(t, row) for t, row in self.extents[source.reads].rows if self.start <= t <= self.until]
            return [Tagged(t, place, row) for place, (t, row) in enumerate(rows, 1)]
        return self.stream(source.reads)

    def columns(self, source: Source) -> Columns:
        """The attributes of a source, tags included where there are tags."""
        if isinstance(source.reads, str):
            extent = self.extents[source.reads]
            return extent.columns if extent.stored else extent.columns + TAGS
        return [(item.name, item.type) for item in source.reads.items] + TAGS

    def _filtered(self, query: Select) -> list[Tagged]:
        """StreamSelect and StreamProject: a filter and a map, both keep tick and index."""
        (source,) = query.sources
        tuples = self._received(source)
        table = relation(self.columns(source), [(*one.row, one.tick, one.index) for one in tuples])
        items = ", ".join(item.text for item in query.items)
        where = f" WHERE {query.where}" if query.where else ""
        name = source.name
        found = rows_of(f"SELECT {name}.ord, {items} FROM {table} AS {name}{where} ORDER BY 1")
        return [Tagged(tuples[row[0]].tick, tuples[row[0]].index, row[1:]) for row in found]

    def windows(self, query: Select) -> list[Window]:
        """evaluateWindow: the product of the windows, each then queried as a relation (Figs. 4 and 7)."""
        product = [(one.tick, [one.rows]) for one in self._windows_of(query.sources[0])]
        for source in query.sources[1:]:
            product = _product(product, [(one.tick, [one.rows]) for one in self._windows_of(source)])
        return [Window(tick, self._related(query, parts)) for tick, parts in product]

    def _related(self, query: Select, parts: list[list[Row]]) -> list[Row]:
        tables = ", ".join(
            f"{relation(self.columns(source), rows)} AS {source.name}" for source, rows in zip(query.sources, parts)
        )
        items = ", ".join(item.text for item in query.items)
        text = f"SELECT {items} FROM {tables}"
        if query.where:
            text += f" WHERE {query.where}"
        if query.group:
            text += f" GROUP BY {', '.join(query.group)}"
        if query.having:
            text += f" HAVING {query.having}"
        if query.group:
            text += " ORDER BY " + ", ".join(f"{one} NULLS FIRST" for one in query.group)
        elif not query.aggregates:
            text += " ORDER BY " + ", ".join(f"{source.name}.ord" for source in query.sources)
        return rows_of(text)

    def _windows_of(self, source: Source) -> list[Window]:
        match source.window:
            case Time(low, high, slide, _, length):
                tuples = self._received(source)
                return [
                    Window(now, [_flat(one) for one in tuples if now - low * length <= one.tick <= now - high * length])
                    for now in self._slides(slide * length)
                ]
            case Rows(low, high, slide):
                tuples = [Tagged(one.tick, place, one.row) for place, one in enumerate(self._received(source), 1)]
                return [
                    Window(
                        tuples[now - 1].tick,
                        [_flat(one) for one in tuples if now - low <= one.index <= now - high],
                    )
                    for now in range(slide, len(tuples) + 1, slide)
                ]
            case Scan(every, _, length):
                return [Window(now, self._table(source, now)) for now in self._slides(every * length)]
            case _:
                return [Window(self.start, self._table(source, self.start))]

    def _slides(self, step: int) -> list[int]:
        return [tick for tick in range(0, self.until + 1, step) if tick >= self.start]

    def _table(self, source: Source, now: int) -> list[Row]:
        versions = self.extents[str(source.reads)].versions or {}
        known = [tick for tick in versions if tick <= now]
        return list(versions[max(known)]) if known else []


def _flat(one: Tagged) -> Row:
    return (*one.row, one.tick, one.index)


Parts = list[tuple[int, list[list[Row]]]]


def _product(left: Parts, right: Parts) -> Parts:
    """crossProduct (Fig. 7): at each tick of either side, all pairs of the most recent windows of both sides."""
    found: Parts = []
    for tick in sorted({tick for tick, _ in left} | {tick for tick, _ in right}):
        current = []
        for side in (left, right):
            last = max((t for t, _ in side if t <= tick), default=None)
            current.append([parts for t, parts in side if t == last])
        found += [(tick, a + b) for a in current[0] for b in current[1]]
    return found


def _converted(converter: str, windows: list[Window]) -> list[Tagged]:
    """rStream, iStream and dStream (Fig. 8): a running index, and differences with the previous window."""
    found: list[Tagged] = []
    before: list[Row] = []
    for window in windows:
        rows = {
            "RSTREAM": window.rows,
            "ISTREAM": without(window.rows, before),
            "DSTREAM": without(before, window.rows),
        }[converter]
        found += [Tagged(window.tick, place, row) for place, row in enumerate(rows, len(found) + 1)]
        before = window.rows
    return found
