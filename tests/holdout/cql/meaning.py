"""The meaning of CQL queries: relations are functions of time, joined at the union of their instants (C16)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.holdout.cql.space import MICRO, has_place, step
from tests.holdout.cql.windows import Held, Spec, Tuple, Undecided, lineage
from tests.holdout.expressions import Columns
from tests.holdout.sql import Row, relation, rows_of, without

Stream = list[tuple[int, Row]]


@dataclass(frozen=True)
class Stored:
    """An extent: rows with ticks, or versions of a table; `place` says which columns are coordinates."""

    columns: Columns
    rows: Stream = field(default_factory=list)
    versions: Mapping[int, list[Row]] | None = None
    place: tuple[int, int] | None = None
    earth: bool = False
    forget: int | None = None
    """Ticks of silence after which a key is forgotten."""
    limit: float | None = None
    """Metres per tick that an object can go at most."""


@dataclass(frozen=True)
class Windowed:
    """A source of a query: an extent or a stream query through a window, a table, or a relation query."""

    reads: str | Ask
    window: Spec | None = None

    def written(self) -> str:
        """Its text, without a name."""
        text = self.reads if isinstance(self.reads, str) else f"({self.reads.text()})"
        return f"{text} {self.window.text}" if self.window else text


Measure = Callable[[list[Tuple]], list[Row]]
"""What spatial aggregates give of the tuples of a window."""


@dataclass(frozen=True)
class Ask:
    """A query as two templates: `{0}`, `{1}` are its sources, `{open}` and `{close}` the converter around a list."""

    cql: str
    sql: str
    sources: list[Windowed]
    columns: Columns
    converter: str | None = None
    per_key: bool = False
    added: str | None = None
    """SQL that gives the rows behind WHERE: RStream speaks when there are more than before (C5)."""
    first: int | None = None
    """FIRST k: the template then gives the value, the group of PER, and the row."""
    measure: Measure | None = None

    def text(self) -> str:
        """The question."""
        parts = [one.written() for one in self.sources]
        around = "{open}" not in self.cql
        names = {"open": f"{self.converter}(" if self.converter else "", "close": ")" if self.converter else ""}
        text = self.cql.format(*parts, **names)
        return f"{self.converter}({text})" if self.converter and around else text


Lineages = dict[Any, list[Held]]
Evaluated = list[list[tuple[int, list[Row], bool]]]


@dataclass(frozen=True)
class Meaning:
    """What a query is evaluated over."""

    extents: Mapping[str, Stored]
    until: int
    start: int = 0

    def stream(self, ask: Ask) -> Stream:
        """The stream of a query with a converter."""
        return self.converted(ask, self.relations(ask))

    def converted(self, ask: Ask, relations: Evaluated) -> Stream:
        """RStream, IStream and DStream: the relation of each instant, or its difference with the one before."""
        found: Stream = []
        for line in relations:
            before: list[Row] = []
            for tick, rows, speaks in line:
                match ask.converter:
                    case "RStream":
                        told = rows if speaks else []
                    case "IStream":
                        told = without(rows, before)
                    case _:
                        told = without(before, rows)
                found += [(tick, row) for row in told]
                before = rows
        return found

    def relations(self, ask: Ask) -> Evaluated:
        """The relation at each instant and whether RStream speaks; per key where the windows of a key stand alone."""
        sources = [self._lineages(one) for one in ask.sources]
        if ask.per_key:
            (alone,) = sources
            return [self._evaluated(ask, [{key: held}]) for key, held in alone.items()]
        return [self._evaluated(ask, sources)]

    def _evaluated(self, ask: Ask, sources: list[Lineages]) -> list[tuple[int, list[Row], bool]]:
        instants = sorted({held.tick for source in sources for line in source.values() for held in line})
        found = []
        known = 0
        for tick in instants:
            current = [_current(source, tick) for source in sources]
            if any(held.ends and held.tick == tick for line in sources[0].values() for held in line):
                found.append((tick, [], False))
                known = 0
                continue
            speaks = True
            if ask.added is not None:
                more = len(rows_of(self._filled(ask.added, ask.sources, current)))
                speaks, known = more > known, more
            found.append((tick, self._rows(ask, current), speaks))
        return found

    def _rows(self, ask: Ask, current: list[list[Tuple]]) -> list[Row]:
        if ask.measure is not None:
            return ask.measure(current[0])
        rows = rows_of(self._filled(ask.sql, ask.sources, current))
        return rows if ask.first is None else _first(rows, ask.first)

    def _filled(self, sql: str, sources: Sequence[Windowed], current: list[list[Tuple]]) -> str:
        tables = [
            relation(self.columns(source), [(*one.row, one.tick) if self._stamped(source) else one.row for one in rows])
            for source, rows in zip(sources, current)
        ]
        return sql.format(*tables, open="", close="")

    def _stamped(self, source: Windowed) -> bool:
        return source.window is not None

    def columns(self, source: Windowed) -> Columns:
        """The attributes, and `t` for a stream."""
        known = self.extents[source.reads].columns if isinstance(source.reads, str) else source.reads.columns
        return [*known, ("t", "integer")] if self._stamped(source) else known

    def _lineages(self, source: Windowed) -> Lineages:
        if isinstance(source.reads, str):
            extent = self.extents[source.reads]
            if extent.versions is not None:
                return {(): _versions(extent.versions, self.start, self.until)}
            tuples = [Tuple(t, row, _place(extent, row)) for t, row in extent.rows if t >= self.start]
            tuples = _reachable(extent, tuples)
            earth, forget = extent.earth, extent.forget
        elif source.window is None:
            (line,) = self.relations(source.reads)
            return {(): [Held(tick, [Tuple(tick, row, None) for row in rows]) for tick, rows, _ in line]}
        else:
            tuples = [Tuple(t, row, None) for t, row in sorted(self.stream(source.reads), key=lambda one: one[0])]
            earth, forget = False, None
        assert source.window is not None
        window = source.window
        if not window.by_key:
            return {(): lineage(window, tuples, self.start, self.until, earth, forget)}
        lines: dict[Any, list[Tuple]] = {}
        for one in tuples:
            if one.tick <= self.until:
                lines.setdefault(tuple(one.row[place] for place in window.keys), []).append(one)
        return {key: lineage(window, line, self.start, self.until, earth, forget) for key, line in lines.items()}


def _reachable(extent: Stored, tuples: list[Tuple]) -> list[Tuple]:
    """Without the rows that an object cannot have reached since its last row that counts; a tick takes a tick."""
    if extent.limit is None:
        return tuples
    found: list[Tuple] = []
    last: dict[Any, Tuple] = {}
    for one in tuples:
        before = last.get(one.row[0])
        if before is not None and before.place is not None and one.place is not None:
            way = step(before.place, one.place, extent.earth) / MICRO
            most = extent.limit * max(one.tick - before.tick, 1)
            if way and abs(way - most) < 1:
                raise Undecided
            if way > most:
                continue
        last[one.row[0]] = one
        found.append(one)
    return found


def _place(extent: Stored, row: Row) -> tuple[float, float] | None:
    if extent.place is None:
        return None
    place = (row[extent.place[0]], row[extent.place[1]] if extent.place[1] >= 0 else 0.0)
    return place if has_place(place, extent.earth) else None


def _versions(versions: Mapping[int, list[Row]], start: int, until: int) -> list[Held]:
    """What a table is at the start, and then at every change."""
    before = [tick for tick in versions if tick <= start]
    ticks = {max(before): start} if before else {}
    ticks |= {tick: tick for tick in sorted(versions) if start < tick <= until}
    return [Held(at, [Tuple(at, row, None) for row in versions[tick]]) for tick, at in ticks.items()]


def _current(lineages: Lineages, tick: int) -> list[Tuple]:
    """The relation at an instant: of each key the last window, nothing before the first one."""
    found = []
    for line in lineages.values():
        known = [held for held in line if held.tick <= tick]
        found += known[-1].tuples if known else []
    return found


def _first(rows: list[Row], count: int) -> list[Row]:
    """The k smallest of each group; where a tie decides, the document says nothing."""
    found = []
    for group in {row[1]: None for row in rows}:
        ranked = sorted((row for row in rows if row[1] == group and row[0] is not None), key=lambda row: row[0])
        if len(ranked) > count and ranked[count][0] - ranked[count - 1][0] < 1e-3:
            raise Undecided
        found += [row[2:] for row in ranked[:count]]
    return found
