"""Questions of CQL about relations: joins, tables, sets, subqueries; their text means the same in SQL."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.holdout.cql.meaning import Ask, Meaning, Windowed
from tests.holdout.cql.streams import Streams
from tests.holdout.expressions import Columns, Expressions

MOMENTS = ("time", "each", "now", "rows", "rows slide")


class Relations:
    """Draws questions about relations."""

    family: str
    random: random.Random
    streams: Streams
    draw: Expressions
    until: int

    def moving(self, kind: str, extent: str, by_key: bool = False) -> Windowed:
        """A window of a kind over an extent."""
        return Windowed(extent, self.streams.window(kind, extent, by_key))

    def columns(self, source: Windowed, name: str) -> Columns:
        """The columns of a source that expressions may use."""
        known = Meaning(self.streams.extents, self.until).columns(source)
        return [(f"{name}.{column}", kind) for column, kind in known if column not in ("x", "y")]

    def converter(self, usual: str = "RStream") -> str:
        """One of the three."""
        return self.random.choice(["RStream", "IStream", "DStream", usual])

    def items(self, columns: Columns, most: int = 3) -> tuple[list[str], Columns]:
        """A select list, and the columns that it gives."""
        texts, known = [], []
        for place in range(self.random.randrange(1, most + 1)):
            text, kind = self.draw.any(columns)
            texts.append(f"{text} AS c{place}")
            known.append((f"c{place}", kind))
        return texts, known

    def where(self, columns: Columns, chance: float) -> str:
        """Perhaps a condition."""
        return f" WHERE {self.draw.condition(columns)}" if self.random.random() < chance else ""

    def aggregates(self, columns: Columns) -> tuple[list[str], Columns]:
        """A select list of aggregates, and the columns that it gives."""
        texts, known = ["COUNT(*) AS n"], [("n", "integer")]
        for place in range(self.random.randrange(0, 3)):
            number, kind = self.draw.number(columns)
            name = self.random.choice(["COUNT", "SUM", "AVG", "MIN", "MAX"])
            texts.append(f"{name}({number}) AS a{place}")
            known.append((f"a{place}", {"COUNT": "integer", "AVG": "float"}.get(name, kind)))
        return texts, known

    def _any(self) -> Windowed:
        """A relation: by time, by rows, by keys, by region or by distance."""
        kind = self.random.choice([*MOMENTS, *MOMENTS, "region", "unbounded", "space space", "space time"])
        extent = "car" if kind.startswith("space") else self.random.choice(["car", "cars", "alarms"])
        if kind == "region":
            extent = "cars"
        return self.moving(kind, extent, by_key=extent == "cars" and self.random.random() < 0.4)

    def join(self) -> Ask:
        """Joins and left joins, also with a table, of two or three sources."""
        draw = self.random
        first = self._any()
        if self.family == "table":
            second = Windowed("owners")
        else:
            second = draw.choice([self.moving(draw.choice(MOMENTS), "alarms"), self._any()])
        names, sources = ["p", "q"], [first, second]
        if self.family == "join of three":
            names.append("r")
            sources.append(draw.choice([Windowed("owners"), self.moving(draw.choice(MOMENTS), "alarms")]))
        columns = [one for name, source in zip(names, sources) for one in self.columns(source, name)]
        texts, known = draw.choice([self.items, self.items, self.aggregates])(columns)
        outer = self.family == "left join" or draw.random() < 0.2
        word = "LEFT JOIN" if outer else "JOIN"
        match = ["p.id = q.id", "q.id = r.id"]
        if outer or draw.random() < 0.4:
            parts = ["{0}"] + [f" {word} {{{place}}} ON {match[place - 1]}" for place in range(1, len(names))]
            where = self.where(columns, 0.2)
        else:
            parts = ["{0}"] + [f", {{{place}}}" for place in range(1, len(names))]
            where = " WHERE " + " AND ".join(match[: len(names) - 1])
            if draw.random() < 0.3:
                where += f" AND {self.draw.condition(columns)}"
        table = "".join(parts)
        cql, sql = table, table
        for place, name in enumerate(names):
            cql = cql.replace(f"{{{place}}}", f"{name}={{{place}}}")
            sql = sql.replace(f"{{{place}}}", f"{{{place}}} AS {name}")
        body = f"SELECT {{open}}{', '.join(texts)}{{close}} FROM "
        converter = self.converter("IStream") if draw.random() < 0.9 else None
        return Ask(f"{body}{cql}{where}", f"{body}{sql}{where}", sources, known, converter)

    def sets(self) -> Ask:
        """UNION, EXCEPT and INTERSECT, with ALL and without."""
        draw = self.random
        sources = [self._any(), self._any()]
        if draw.random() < 0.3:
            sources.append(self._any())
        words = draw.choices(["UNION", "UNION ALL", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL"], k=2)
        column = draw.choice(["id", "load"])
        cql, sql = "", ""
        for place, source in enumerate(sources):
            name = {"load": "level"}.get(column, "id") if source.reads == "alarms" else column
            where = self.where(self.columns(source, "c"), 0.3)
            word = f" {words[place - 1]} " if place else ""
            cql += f"{word}SELECT c.{name} AS v FROM c={{{place}}}{where}"
            sql += f"{word}SELECT c.{name} AS v FROM {{{place}}} AS c{where}"
        return Ask(cql, sql, sources, [("v", "string" if column == "id" else "integer")], self.converter("IStream"))

    def semijoin(self) -> Ask:
        """IN, NOT IN, EXISTS and NOT EXISTS, over a window or a table."""
        draw = self.random
        first = self._any()
        second = draw.choice([self.moving(draw.choice(MOMENTS), "alarms"), Windowed("owners"), self._any()])
        texts, known = self.items(self.columns(first, "p"), 2)
        number = {"alarms": "level", "owners": "rank"}.get(str(second.reads), "load")
        mine = "level" if first.reads == "alarms" else "load"
        condition = draw.choice(
            [
                "p.id IN (SELECT q.id FROM {1})",
                "p.id NOT IN (SELECT q.id FROM {1} WHERE q.id <> 'a')",
                f"p.{mine} IN (SELECT q.{number} FROM {{1}})",
                f"p.{mine} NOT IN (SELECT q.{number} FROM {{1}} WHERE q.id = p.id)",
                "EXISTS (SELECT * FROM {1} WHERE q.id = p.id)",
                f"NOT EXISTS (SELECT * FROM {{1}} WHERE q.id = p.id AND q.{number} > 1)",
                f"EXISTS (SELECT * FROM {{1}} WHERE q.id = p.id AND q.{number} < p.{mine})",
            ]
        )
        if draw.random() < 0.3:
            condition += f" AND {self.draw.condition(self.columns(first, 'p'))}"
        body = f"SELECT {{open}}{', '.join(texts)}{{close}} FROM "
        return Ask(
            f"{body}p={{0}} WHERE {condition.replace('{1}', 'q={1}')}",
            f"{body}{{0}} AS p WHERE {condition.replace('{1}', '{1} AS q')}",
            [first, second],
            known,
            self.converter("IStream"),
        )

    def distinct(self) -> Ask:
        """DISTINCT over one window or a join."""
        source = self._any()
        texts, known = self.items(self.columns(source, "c"), 2)
        where = self.where(self.columns(source, "c"), 0.4)
        added = f"SELECT 1 FROM {{0}} AS c{where}" if source.window and source.window.grows else None
        converter = self.converter()
        if added and converter == "RStream":
            converter, added = "IStream", None
        body = f"SELECT DISTINCT {{open}}{', '.join(texts)}{{close}} FROM "
        return Ask(f"{body}c={{0}}{where}", f"{body}{{0}} AS c{where}", [source], known, converter, added=added)

    def nested(self) -> Ask:
        """A stream query under a window, or a relation query as a source."""
        draw = self.random
        inner = self.moving(draw.choice(["time", "each", "now", "rows"]), draw.choice(["cars", "alarms", "car"]))
        columns = self.columns(inner, "c")
        texts, known = draw.choice([self.items, self.aggregates])(columns)
        if self.family == "stream in a window" and draw.random() < 0.7:
            texts, known = self.items(columns)
        where = self.where(columns, 0.4)
        body = f"SELECT {{open}}{', '.join(texts)}{{close}} FROM "
        asked = Ask(f"{body}c={{0}}{where}", f"{body}{{0}} AS c{where}", [inner], known)
        if self.family == "relation in a query":
            source = Windowed(asked)
        else:
            asked = replace(asked, converter=self.converter())
            source = Windowed(asked, self.streams.window(draw.choice(["time", "each"]), "alarms"))
        outer = [one for one in self.columns(source, "s") if one[0] != "s.t"]
        texts, known = draw.choice([self.items, self.aggregates])(outer)
        where = self.where(outer, 0.3)
        body = f"SELECT {{open}}{', '.join(texts)}{{close}} FROM {{0}} AS s{where}"
        return Ask(body, body, [source], known, self.converter("IStream"))
