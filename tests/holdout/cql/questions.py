"""Questions in CQL, drawn from a seed; one family of questions per number."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from tests.holdout.cql.meaning import Ask, Meaning, Stored, Stream, Windowed
from tests.holdout.cql.relations import Relations
from tests.holdout.cql.streams import SPATIAL, Streams
from tests.holdout.cql.tracks import Aggregates, register
from tests.holdout.cql.windows import Spec, Undecided

FAMILIES = (
    "time",
    "each",
    "now",
    "rows",
    "rows slide",
    "unbounded",
    "region",
    "region time",
    "region space",
    "region range",
    "space space",
    "space time",
    "time space",
    "keys",
    "keys in space",
    "groups",
    "speed",
    "speed of keys",
    "speed of groups",
    "stamps",
    "join",
    "left join",
    "join of three",
    "table",
    "sets",
    "semijoin",
    "distinct",
    "nearest",
    "nearest of each",
    "places",
    "crossing",
    "stream in a window",
    "relation in a query",
    "antimeridian",
    "poles",
    "two keys",
    "forgetting",
    "limit of speed",
    "late start",
)
PLAIN_KINDS = ("time", "each", "now", "rows", "rows slide", "unbounded")


@dataclass(frozen=True)
class Question:
    """One pair of a question and a stream."""

    number: int
    family: str
    catalog: dict[str, Any]
    inputs: dict[str, Any]
    extents: dict[str, Stored]
    until: int
    start: int
    text: str
    expected: Stream
    instants: list[int] | None
    """The instants of the windows of a relation, which no converter makes a stream."""


def question(number: int) -> Question:
    """The question of a number; one whose answer hangs on the last digits of a distance is drawn again."""
    register()
    for attempt in range(100):
        drawn = _Draw(number, attempt)
        ask = drawn.ask()
        meaning = Meaning(drawn.streams.extents, drawn.until, drawn.start)
        try:
            evaluated = meaning.relations(ask)
        except Undecided:
            continue
        if ask.converter is None:
            expected = [(tick, row) for tick, rows, _ in evaluated[0] for row in rows]
        else:
            expected = meaning.converted(ask, evaluated)
        instants = [tick for tick, _, _ in evaluated[0]] if ask.converter is None else None
        streams = drawn.streams
        drawn_from = (streams.catalog, streams.inputs, streams.extents, meaning.until, meaning.start)
        return Question(number, drawn.family, *drawn_from, ask.text(), expected, instants)
    raise AssertionError(number)


class _Draw(Relations):
    def __init__(self, number: int, attempt: int) -> None:
        self.family = FAMILIES[number % len(FAMILIES)]
        self.random = random.Random(f"cql {number} {attempt}")
        where = {"antimeridian": "antimeridian", "poles": self.random.choice(["pole", "south"])}.get(self.family)
        self.streams = Streams(self.random, where)
        self.draw = self.streams.draw
        self.until = self.streams.last + self.random.randrange(-2, 5)
        self.start = self.random.randrange(1, self.streams.last // 2) if self.family == "late start" else 0

    def ask(self) -> Ask:
        draw = self.random
        match self.family:
            case "keys":
                return self._plain(self.moving(draw.choice(PLAIN_KINDS), "cars", by_key=True))
            case "keys in space":
                return self._plain(self.moving(draw.choice(SPATIAL), draw.choice(["cars", "ships"]), by_key=True))
            case "groups":
                return self._grouped()
            case "speed" | "speed of keys" | "speed of groups":
                return self._speed(self.family == "speed of keys")
            case "stamps":
                return self._stamps()
            case "join" | "left join" | "join of three" | "table":
                return self.join()
            case "sets":
                return self.sets()
            case "semijoin":
                return self.semijoin()
            case "distinct":
                return self.distinct()
            case "nearest" | "nearest of each":
                return self._nearest()
            case "places" | "crossing":
                return self._places()
            case "stream in a window" | "relation in a query":
                return self.nested()
            case "antimeridian" | "poles":
                build = draw.choice([self._plain, self._plain, self._measured])
                if draw.random() < 0.3:
                    return self._places(earth=True)
                by_key = draw.random() < 0.5
                return build(self.moving(draw.choice(SPATIAL), "ships" if by_key else "ship", by_key))
            case "two keys" | "forgetting" | "limit of speed":
                return self._keyed()
            case "late start":
                build = draw.choice([self._plain, self._total, self._measured])
                kind = draw.choice(["time", "each", "rows", "rows slide", *SPATIAL])
                return self.join() if draw.random() < 0.2 else build(self.moving(kind, draw.choice(["car", "ship"])))
            case kind if kind in PLAIN_KINDS:
                extent = draw.choice(["car", "cars", "alarms"])
                return draw.choice([self._plain, self._total])(self.moving(kind, extent))
            case kind:
                extent = draw.choice(["car", "train", "ship"])
                return draw.choice([self._plain, self._total])(self.moving(kind, extent))

    def _keyed(self) -> Ask:
        """Windows by two keys, of keys that are forgotten, and of objects that cannot go faster than a limit."""
        streams, draw = self.streams, self.random
        kinds = ["time", "each", "rows", "rows slide", *SPATIAL]
        extent = streams.extents["cars"]
        whole = [(t, row) for t, row in extent.rows if None not in row[1:3]]
        seconds = streams.seconds
        match self.family:
            case "two keys":
                streams.two_keys = True
                kinds = ["time", "each", "rows", "rows slide", "region", "region time"]
            case "forgetting":
                extent = replace(extent, forget=draw.randrange(1, 6))
                streams.catalog["extents"]["cars"]["forget_after"] = f"{(extent.forget or 0) * seconds} s"
            case _:
                speed = draw.choice([500, 1000, 2100, 4000])
                extent = replace(extent, rows=whole, limit=float(speed * seconds))
                streams.catalog["extents"]["cars"]["max_speed"] = f"{speed} m/s"
        streams.extents["cars"] = extent
        streams.inputs["cars"] = [(t, *row) for t, row in extent.rows]
        source = self.moving(draw.choice(kinds), "cars", by_key=True)
        assert source.window is not None
        if self.family == "two keys":
            source = replace(source, window=replace(source.window, keys=(0, 3)))
        return draw.choice([self._plain, self._plain, self._measured])(source)

    # one window

    def _plain(self, source: Windowed) -> Ask:
        window = source.window
        assert window is not None
        columns = self.columns(source, "c")
        texts, known = self.items(columns)
        if window.by_key:
            texts, known = ["c.id AS k", *texts], [("k", "string"), *known]
        converter: str | None = self.converter()
        where = self.where(columns, 0.5 if window.kind != "region range" or converter != "RStream" else 0)
        body = f"SELECT {{open}}{', '.join(texts)}{{close}} FROM "
        added = f"SELECT 1 FROM {{0}} AS c{where}" if window.grows else None
        if not window.by_key and self.random.random() < 0.15:
            converter, added = None, None
        texts = [f"{body}c={{0}}{where}", f"{body}{{0}} AS c{where}"]
        return Ask(*texts, [source], known, converter, window.by_key, added)

    def _total(self, source: Windowed) -> Ask:
        window = source.window
        assert window is not None
        columns = self.columns(source, "c")
        texts, known = self.aggregates(columns)
        where = self.where(columns, 0.4 if window.kind != "region range" else 0)
        body = f"SELECT {{open}}{', '.join(texts)}{{close}} FROM "
        added = f"SELECT 1 FROM {{0}} AS c{where}" if window.grows else None
        texts = [f"{body}c={{0}}{where}", f"{body}{{0}} AS c{where}"]
        return Ask(*texts, [source], known, self.converter(), False, added)

    def _grouped(self) -> Ask:
        """Groups by other expressions than the key look at the windows of all keys together."""
        by_key = self.random.random() < 0.4
        kind = self.random.choice(SPATIAL if by_key and self.random.random() < 0.5 else ("time", "each", "rows"))
        source = self.moving(kind, "cars" if by_key else self.random.choice(["car", "cars", "alarms"]), by_key)
        columns = [one for one in self.columns(source, "c") if not (by_key and one[0] == "c.id")]
        key, kind_of_key = self.draw.number(columns)
        texts, known = self.aggregates(columns)
        having = self.random.choice(["", "", f" HAVING COUNT(*) > {self.random.randrange(0, 3)}"])
        tail = f"{self.where(columns, 0.3)} GROUP BY {key}{having}"
        body = f"SELECT {{open}}{key} AS k, {', '.join(texts)}{{close}} FROM "
        converter = "IStream" if kind.startswith("region") else self.converter()
        texts = [f"{body}c={{0}}{tail}", f"{body}{{0}} AS c{tail}"]
        return Ask(*texts, [source], [("k", kind_of_key), *known], converter)

    # ways

    def _speed(self, by_key: bool) -> Ask:
        extent = self.random.choice(["cars", "ships"]) if by_key else self.random.choice(["car", "train", "ship"])
        kind = self.random.choice(["time", "each", "rows", *SPATIAL])
        return self._measured(self.moving(kind, extent, by_key))

    def _measured(self, source: Windowed) -> Ask:
        """Aggregates of the way; rows without a place are left out of the stream."""
        window, name = source.window, str(source.reads)
        assert window is not None
        extent = self.streams.extents[name]
        rows = [(t, row) for t, row in extent.rows if None not in row[1 : 3 if name != "train" else 2]]
        self.streams.extents[name] = replace(extent, rows=rows)
        self.streams.inputs[name] = [(t, *row) for t, row in rows]
        kinds = ["AvgSpd(c)", "PATHLENGTH(c)"] if name == "train" else ["AvgSpd(c)", "PATHLENGTH(c)", "PLACE(c)"]
        names = [*self.random.sample(kinds, self.random.choice([1, 2])), "COUNT(*)"]
        grouped = self.family == "speed of groups"
        if grouped:
            names.insert(0, "c.load")
        if window.by_key:
            names.insert(0, "c.id")
        least = self.random.choice([None, None, self.random.randrange(-3, 3)])
        if window.kind == "region range":
            least = None
        where = "" if least is None else f" WHERE c.load > {least}"
        tail = f"{where} GROUP BY c.load" if grouped else where
        load = len(extent.columns) - 1
        aggregate = Aggregates(names, window, extent.earth, self.streams.seconds, least, load, grouped)
        added = f"SELECT 1 FROM {{0}} AS c{where}" if window.grows else None
        text = f"SELECT {{open}}{', '.join(names)}{{close}} FROM c={{0}}{tail}"
        return Ask(text, "", [source], [], "RStream", window.by_key, added, measure=aggregate)

    def _stamps(self) -> Ask:
        kind = self.random.choice(["time", "rows", *SPATIAL])
        extent = self.random.choice(["car", "train"])
        source = self.moving(kind, extent)
        assert source.window is not None
        where = f" WHERE c.load {self.random.choice(['>', '<'])} 2" if self.random.random() < 0.5 else ""
        converter = self.converter()
        if kind == "region range" and converter == "RStream":
            where = ""
        added = f"SELECT 1 FROM {{0}} AS c{where}" if source.window.grows else None
        place = "c.x" if extent == "train" else "CASE WHEN c.x IS NOT NULL AND c.y IS NOT NULL THEN [c.x, c.y] END"
        texts = [
            f"SELECT {{open}}Stamps({self.random.choice(['*', 'c'])}){{close}} FROM c={{0}}{where}",
            f"SELECT {place}, c.t FROM {{0}} AS c{where}",
        ]
        return Ask(*texts, [source], [], converter, added=added)

    def _places(self, earth: bool = False) -> Ask:
        """Functions on places: of one row and a point, of pairs of rows, and who enters and leaves a region."""
        extent = "ships" if earth or self.random.random() < 0.4 else "cars"
        on = "earth" if extent == "ships" else "plane"
        region = self.streams.region(extent)
        last = Windowed(extent, self.streams.window("rows", extent, by_key=True))
        last = replace(last, window=Spec("rows", "[PARTITION BY id ROWS 1]", 1, by_key=True))
        if self.family == "crossing" or self.random.random() < 0.3:
            word = self.random.choice(["inside(c.g, {})", "NOT inside(c.g, {})"]).format(region.name)
            sql = word.replace(f"(c.g, {region.name})", f"_{region.name}(c.x, c.y)")
            body = f"SELECT {{open}}{self.random.choice(['c.id', 'c.id', 'c.id, c.t'])}{{close}} FROM "
            converter = self.converter("DStream")
            return Ask(
                f"{body}c={{0}} WHERE {word}", f"{body}{{0}} AS c WHERE {sql}", [last], [], converter, per_key=True
            )
        if self.random.random() < 0.4:
            x, y = (179.75, 89.5) if earth else (3.5, 4.0)
            source = self.moving(self.random.choice(["now", "rows", "time"]), extent)
            return Ask(
                f"SELECT {{open}}c.id, X(c.g) AS p, DISTANCE(c.g, POINT({x}, {y})) AS d, "
                f"INSIDE(c.g, {region.name}) AS i{{close}} FROM c={{0}}",
                f"SELECT c.id, CASE WHEN c.y IS NOT NULL THEN c.x END, distance_{on}(c.x, c.y, {x}, {y}), "
                f"inside_{region.name}(c.x, c.y) FROM {{0}} AS c",
                [source],
                [],
                "RStream",
            )
        other = self.moving(self.random.choice(["now", "time", "each"]), extent)
        far = self.random.randrange(1, 12) * (20 if extent == "ships" else 1)
        pair = "a.x, a.y, b.x, b.y"
        return Ask(
            "SELECT {open}a.id, b.id, DISTANCE(a.g, b.g) AS d, "
            "CASE WHEN HEADING(a.g, b.g) < 359999e-3 THEN HEADING(a.g, b.g) ELSE 0e0 END AS h, "
            "SPEED(a.g, a.t, b.g, b.t) AS s{close} FROM a={0}, b={1} "
            f"WHERE a.id < b.id AND WITHIN(a.g, b.g, '{far} km') AND DISTANCE(a.g, b.g) > 1",
            f"SELECT a.id, b.id, distance_{on}({pair}), "
            f"CASE WHEN heading_{on}({pair}) < 359999e-3 THEN heading_{on}({pair}) ELSE 0e0 END, "
            f"CASE WHEN a.t <> b.t THEN distance_{on}({pair}) / abs(b.t - a.t) / {self.streams.seconds} * 36e-1 END "
            f"FROM {{0}} AS a, {{1}} AS b WHERE a.id < b.id AND distance_{on}({pair}) <= {far} * 1000 "
            f"AND distance_{on}({pair}) > 1",
            [last, other],
            [],
            "RStream",
        )

    def _nearest(self) -> Ask:
        extent = self.random.choice(["cars", "ships"])
        on = "earth" if extent == "ships" else "plane"
        last = Windowed(extent, Spec("rows", "[PARTITION BY id ROWS 1]", 1, by_key=True))
        count = self.random.choice([1, 1, 2])
        if self.family == "nearest":
            x, y = (121.0, 26.5) if extent == "ships" else (5.0, 5.25)
            source = self.random.choice([last, self.moving("time", extent), self.moving("each", extent)])
            return Ask(
                f"SELECT {{open}}c.id, c.load{{close}} FROM c={{0}} FIRST {count} BY DISTANCE(c.g, POINT({x}, {y}))",
                f"SELECT distance_{on}(c.x, c.y, {x}, {y}), 0, c.id, c.load FROM {{0}} AS c",
                [source],
                [],
                self.converter("IStream"),
                first=count,
            )
        other = self.random.choice([last, self.moving("each", extent)])
        return Ask(
            "SELECT {open}a.id, b.id AS near{close} FROM a={0}, b={1} WHERE a.id <> b.id "
            f"FIRST {count} PER a.id BY DISTANCE(a.g, b.g)",
            f"SELECT distance_{on}(a.x, a.y, b.x, b.y), a.id, a.id, b.id FROM {{0}} AS a, {{1}} AS b "
            "WHERE a.id <> b.id",
            [last, other],
            [],
            self.converter("IStream"),
            first=count,
        )
