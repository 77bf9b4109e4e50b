"""Questions in SNEEql and streams for them, drawn from a seed; one family of questions per number."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from tests.holdout.expressions import Columns, Expressions
from tests.holdout.sneeql_meaning import Evaluation, Extent, Item, Rows, Scan, Select, Source, Time

FAMILIES = (
    "stream",
    "stream over subquery",
    "time window",
    "window before now",
    "row window",
    "aggregate",
    "groups",
    "having",
    "table",
    "one-off",
    "join of times",
    "join of time and rows",
    "join of rows",
    "join with table",
    "self join",
    "join of three",
    "converter",
    "converter of aggregate",
    "converter of join",
    "window over converter",
    "stream over converter",
    "rows over filter",
    "late start",
)

CLOCKS = (
    ("1 s", 1000, "SEC", 1, 24),
    ("1 s", 1000, "SEC", 1, 40),
    ("500 ms", 500, "SEC", 2, 40),
    ("10 s", 10_000, "MIN", 6, 60),
    ("10 min", 600_000, "HOUR", 6, 60),
    ("1 s", 1000, "MIN", 60, 500),
)
"""Length of a tick in words and in ms, a unit of windows, its ticks, and the last tick."""


@dataclass(frozen=True)
class Question:
    """One pair of a question and a stream."""

    number: int
    family: str
    catalog: dict[str, Any]
    inputs: dict[str, Any]
    query: Select
    evaluation: Evaluation
    text: str


def question(number: int) -> Question:
    """The question of a number."""
    return _Draw(number).question()


def _written(query: Select) -> str:
    items = ", ".join(item.text if item.text == item.name else f"{item.text} AS {item.name}" for item in query.items)
    text = f"SELECT {items} FROM {', '.join(_source(one) for one in query.sources)}"
    for word, part in (("WHERE", query.where), ("GROUP BY", ", ".join(query.group)), ("HAVING", query.having)):
        text += f" {word} {part}" if part else ""
    return f"{query.converter}({text})" if query.converter else text


def _source(source: Source) -> str:
    text = source.reads if isinstance(source.reads, str) else f"({_written(source.reads)})"
    match source.window:
        case Time(low, high, slide, unit):
            text += f" [FROM {_now(low)} TO {_now(high)} SLIDE {slide} {unit}]"
        case Rows(low, high, slide):
            text += f" [FROM {_now(low)} TO {_now(high)} SLIDE {slide} ROWS]"
        case Scan(every, unit):
            text += f" [SCAN {every} {unit}]"
        case _:
            pass
    if source.alias or not isinstance(source.reads, str):
        text += f" AS {source.name}"
    return text


def _now(offset: int) -> str:
    return f"NOW-{offset}" if offset else "NOW"


class _Draw:
    def __init__(self, number: int) -> None:
        self.number = number
        self.family = FAMILIES[number % len(FAMILIES)]
        self.random = random.Random(f"sneeql {number}")
        self.draw = Expressions(self.random)
        self.tick, self.milliseconds, self.unit, self.length, self.last = self.random.choice(CLOCKS)

    def question(self) -> Question:
        self.extents, self.catalog, self.inputs = {}, {"tick": self.tick, "extents": {}}, {}
        self._road()
        self._traffic()
        self._classes()
        start = self.random.randrange(1, self.last // 2) if self.family == "late start" else 0
        until = self.random.randrange(self.last * 3 // 4, self.last + self.length)
        evaluation = Evaluation(self.extents, start, until)
        self.evaluation = evaluation
        query = self._query()
        return Question(self.number, self.family, self.catalog, self.inputs, query, evaluation, _written(query))

    # extents

    def _road(self) -> None:
        """A sensed extent: readings in the order of the sites, some of them missing."""
        sites = self.random.sample([1, 2, 3, 4], self.random.choice([1, 2, 3]))
        every = self.random.choice([1, 2, 3]) * max(1, self.length // 3)
        columns: Columns = [("site", "integer"), ("temp", "integer"), ("vib", "float")]
        rows = [
            (tick, (site, self.draw.value("integer"), self.draw.value("float")))
            for tick in range(0, self.last + 1, every)
            for site in sites
            if self.random.random() < 0.8
        ]
        self._add(
            "road",
            {
                "declare": "sensed (site:integer, temp:integer, vib:float)",
                "every": f"{every * self.milliseconds} ms",
                "sites": sites,
            },
            Extent(columns, rows),
        )
        self.inputs["road"] = self.random.sample([(t, *row) for t, row in rows], len(rows))

    def _traffic(self) -> None:
        """A pushed extent: any number of rows at a tick, given out of order between ticks."""
        columns: Columns = [
            ("site", "integer"),
            ("weight", "float"),
            ("plate", "string"),
            ("axles", "integer"),
            ("wet", "boolean"),
        ]
        ticks = sorted(self.random.randrange(0, self.last + 1) for _ in range(self.random.randrange(6, 26)))
        ticks = sorted(self.random.choice(ticks[: place + 1][-2:]) for place in range(len(ticks)))
        rows = [
            (t, (self.random.choice([1, 2, 3]), *(self.draw.value(kind) for _, kind in columns[1:]))) for t in ticks
        ]
        declaration: dict[str, Any] = {"declare": f"pushed ({', '.join(f'{name}:{kind}' for name, kind in columns)})"}
        given = [(t, *row) for t, row in rows]
        if self.random.random() < 0.3:
            declaration["order"] = ["axles"]
            keys = self.random.sample(range(-20, 20), len(rows))
            rows = sorted(
                ((t, (*row[:3], key, row[4])) for (t, row), key in zip(rows, keys)), key=lambda r: (r[0], r[1][3])
            )
            given = self.random.sample([(t, *row) for t, row in rows], len(rows))
        elif self.random.random() < 0.5:
            pieces = [[one for one in given if one[0] == tick] for tick in sorted({one[0] for one in given})]
            self.random.shuffle(pieces)
            given = [one for piece in pieces for one in piece]
        self._add("traffic", declaration, Extent(columns, rows))
        self.inputs["traffic"] = given

    def _classes(self) -> None:
        """A stored extent whose content changes."""
        columns: Columns = [("temp", "integer"), ("grade", "string")]
        ticks = sorted(self.random.sample(range(1, self.last), self.random.randrange(0, 3)))
        if self.random.random() < 0.85:
            ticks.insert(0, 0)
        versions = {
            tick: [
                (self.draw.value("integer", 0.05), self.draw.value("string"))
                for _ in range(self.random.randrange(0, 7))
            ]
            for tick in ticks
        }
        self._add("class", {"declare": "stored (temp:integer, grade:string)"}, Extent(columns, versions=versions))
        self.inputs["class"] = versions

    def _add(self, name: str, declaration: dict[str, Any], extent: Extent) -> None:
        self.catalog["extents"][name] = declaration
        self.extents[name] = extent

    # windows

    def _time(self, before: bool = False) -> Time:
        draw = self.random
        most = 10 if self.length == 1 else 4
        high = draw.randrange(1, most) if before else draw.choice([0, 0, 0, 1])
        low = high + draw.randrange(0, most)
        if draw.random() < 0.04:
            low, high = high, low + 1
        slide = draw.randrange(1, 7 if self.length == 1 else 4)
        return Time(low, high, slide, self.unit, self.length)

    def _rows(self) -> Rows:
        high = self.random.choice([0, 0, 0, 1, 2])
        return Rows(high + self.random.randrange(0, 6), high, self.random.randrange(1, 5))

    def _scan(self) -> Scan:
        return Scan(self.random.randrange(1, 5), self.unit, self.length)

    # queries

    def _columns(self, sources: list[Source]) -> Columns:
        """The columns that expressions may use; the index in a subquery is left out, since windows renumber it."""
        found = []
        for source in sources:
            for name, kind in self.evaluation.columns(source):
                if name == "index" and not isinstance(source.reads, str):
                    continue
                if name in ("tick", "index") and self.random.random() < 0.6:
                    continue
                if len(sources) > 1 or self.random.random() < 0.3:
                    found.append((f"{source.name}.{name}", kind))
                else:
                    found.append((name, kind))
        return found

    def _query(self) -> Select:
        draw = self.random
        match self.family:
            case "stream":
                return self._plain([Source(draw.choice(["road", "traffic"]))])
            case "stream over subquery":
                inner = self._plain([Source(draw.choice(["road", "traffic"]))])
                return self._plain([Source(inner)])
            case "time window":
                return self._plain([self._timed()])
            case "window before now":
                return draw.choice([self._plain, self._grouped, self._total])([self._timed(before=True)])
            case "row window":
                return draw.choice([self._plain, self._total])([self._rowed()])
            case "aggregate":
                return self._total([draw.choice([self._timed, self._rowed, self._scanned])()])
            case "groups":
                return self._grouped([draw.choice([self._timed, self._rowed, self._scanned])()])
            case "having":
                return draw.choice([self._grouped, self._total])(
                    [draw.choice([self._timed, self._rowed])()], having=True
                )
            case "table":
                return draw.choice([self._plain, self._plain, self._converted])([self._scanned()])
            case "one-off":
                return draw.choice([self._plain, self._total, self._grouped])([Source("class")])
            case "converter":
                return self._converted([draw.choice([self._timed, self._rowed, self._scanned])()])
            case "converter of aggregate":
                chosen = draw.choice([self._total, self._grouped])
                query = chosen([draw.choice([self._timed, self._rowed, self._scanned])()])
                return replace(query, converter=self._converter())
            case "window over converter" | "stream over converter":
                return self._nested()
            case "rows over filter":
                inner = self._plain([Source(draw.choice(["road", "traffic"]))])
                return draw.choice([self._plain, self._total])([Source(inner, self._rows())])
            case "late start":
                sources = draw.choice([[self._timed()], [self._rowed()], [self._timed(), self._table()]])
                if len(sources) == 1 and draw.random() < 0.3:
                    return self._plain([Source(draw.choice(["road", "traffic"]))])
                return draw.choice([self._plain, self._converted, self._total])(sources)
            case _:
                return self._joined()

    def _timed(self, before: bool = False, extent: str | None = None) -> Source:
        return Source(extent or self.random.choice(["road", "traffic"]), self._time(before))

    def _rowed(self, extent: str | None = None) -> Source:
        return Source(extent or self.random.choice(["road", "traffic"]), self._rows())

    def _scanned(self) -> Source:
        return Source("class", self._scan())

    def _table(self) -> Source:
        return self._scanned() if self.random.random() < 0.7 else Source("class")

    def _joined(self) -> Select:
        draw = self.random
        either = draw.choice([self._timed, self._rowed])
        match self.family:
            case "join of times":
                sources = [self._timed(extent="road"), self._timed(extent="traffic")]
            case "join of time and rows":
                sources = [self._timed(extent="road"), self._rowed("traffic")]
            case "join of rows":
                sources = [self._rowed("road"), self._rowed("traffic")]
            case "join with table":
                sources = [either(extent="road"), self._table()]
            case "self join":
                extent = draw.choice(["road", "traffic"])
                sources = [replace(either(extent=extent), alias="a"), replace(self._timed(extent=extent), alias="b")]
            case "join of three":
                sources = [self._timed(extent="road"), either(extent="traffic"), self._table()]
            case _:
                sources = draw.choice(
                    [
                        [self._timed(extent="road"), self._timed(extent="traffic")],
                        [self._rowed("traffic"), self._timed(extent="road")],
                        [either(extent="road"), self._table()],
                    ]
                )
        draw.shuffle(sources)
        keys = {"road": "site", "traffic": "site", "class": "temp"}
        first, *others = sources
        match = []
        for other in others:
            pair = "temp" if "class" in (first.reads, other.reads) else "site"
            left = f"{first.name}.{keys[str(first.reads)] if pair == 'site' else _temp(first)}"
            right = f"{other.name}.{keys[str(other.reads)] if pair == 'site' else _temp(other)}"
            match.append(f"{left} {draw.choice(['=', '=', '=', '<', '>='])} {right}")
        build = draw.choice([self._plain, self._plain, self._total, self._grouped])
        query = build(sources, match=match)
        return replace(query, converter=self._converter()) if self.family == "converter of join" else query

    def _nested(self) -> Select:
        draw = self.random
        source = draw.choice([self._timed, self._rowed, self._scanned])()
        inner = draw.choice([self._plain, self._grouped, self._total])([source])
        stream = Source(replace(inner, converter=self._converter("RSTREAM")))
        if self.family == "stream over converter":
            return self._plain([stream])
        outer = replace(stream, window=draw.choice([self._time, self._rows])())
        query = draw.choice([self._plain, self._total, self._grouped])([outer])
        return replace(query, converter=self._converter()) if draw.random() < 0.4 else query

    def _converter(self, usual: str = "ISTREAM") -> str:
        return self.random.choice(["RSTREAM", "ISTREAM", "DSTREAM", usual])

    def _converted(self, sources: list[Source]) -> Select:
        return replace(self._plain(sources), converter=self._converter())

    def _where(self, columns: Columns, match: list[str], chance: float = 0.6) -> str | None:
        more = [self.draw.condition(columns)] if self.random.random() < (chance / 2 if match else chance) else []
        return " AND ".join(match + more) or None

    def _plain(self, sources: list[Source], match: list[str] | None = None) -> Select:
        columns = self._columns(sources)
        items = []
        for place in range(self.random.randrange(1, 4)):
            text, kind = self.draw.any(columns)
            items.append(Item(text, f"c{place}", kind))
        return Select(items, sources, self._where(columns, match or []))

    def _aggregates(self, columns: Columns) -> list[Item]:
        items = []
        for place in range(self.random.randrange(1, 4)):
            number, kind = self.draw.number(columns)
            name = self.random.choice(["COUNT", "SUM", "AVG", "MIN", "MAX", "*"])
            if name in ("MIN", "MAX", "COUNT"):
                number, kind = self.draw.any(columns)
            if name == "*":
                items.append(Item("COUNT(*)", f"n{place}", "integer"))
            else:
                result = {"COUNT": "integer", "AVG": "float"}.get(name, kind)
                items.append(Item(f"{name}({number})", f"n{place}", result))
        return items

    def _total(self, sources: list[Source], having: bool = False, match: list[str] | None = None) -> Select:
        columns = self._columns(sources)
        items = self._aggregates(columns)
        condition = self._having(columns) if having else None
        where = self._where(columns, match or [], 0.4)
        return Select(items, sources, where, having=condition, aggregates=True)

    def _grouped(self, sources: list[Source], having: bool = False, match: list[str] | None = None) -> Select:
        columns = self._columns(sources)
        text, kind = self.draw.any(columns)
        keys = [Item(text, "k0", kind)]
        if self.random.random() < 0.3:
            name, kind = self.random.choice(columns)
            if name != text:
                keys.append(Item(name, "k1", kind))
        condition = self._having(columns) if having or self.random.random() < 0.2 else None
        items = keys + self._aggregates(columns)
        where = self._where(columns, match or [], 0.4)
        return Select(items, sources, where, [one.text for one in keys], condition, aggregates=True)

    def _having(self, columns: Columns) -> str:
        number, _ = self.draw.number(columns)
        return self.random.choice(
            [
                f"COUNT(*) > {self.random.randrange(0, 3)}",
                f"MAX({number}) > {self.random.randrange(-1, 4)}",
                f"SUM({number}) >= 0 OR COUNT({number}) = 0",
                f"AVG({number}) < {self.random.randrange(0, 5)} AND COUNT(*) < 6",
            ]
        )


def _temp(source: Source) -> str:
    return "axles" if source.reads == "traffic" else "temp"
