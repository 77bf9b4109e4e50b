"""The answer to a question, computed by DuckDB.

A stream is a table (pos, tick, idx, c1..cn): pos counts its rows from 1, idx is the index they carry.
A window stream is two tables: events (wid, tick), with wid counting the windows from 1 in their order,
and members (wid, ord, tick, c1..cn), where ord is the place in the window's list and tick the tuple's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import duckdb

from .question import (
    Aggregate,
    Converter,
    Extent,
    Item,
    Output,
    Question,
    Scan,
    StreamQuery,
    Window,
    WindowQuery,
    column_name,
    parts,
    visible_name,
)
from .sqltext import Scope, expr_sql, literal_sql

SQL_TYPES = {"integer": "BIGINT", "float": "DOUBLE", "string": "VARCHAR"}


@dataclass(frozen=True)
class Stream:
    """A stream in a table: its columns' names in the answer, and for an enclosing query."""

    table: str
    columns: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Windows:
    """A window stream in two tables."""

    events: str
    members: str
    columns: tuple[str, ...]
    names: tuple[str, ...]


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    """One database for all questions of this process."""
    connection = duckdb.connect(":memory:")
    connection.execute("SET threads = 1")
    connection.execute("PRAGMA disable_optimizer")  # small inputs; the plain plan is faster and safer
    return connection


def answer(question: Question) -> dict[str, Any]:
    """The answer in the form of golden/cases.yaml."""
    return _Evaluation(question, _connection()).answer()


def _cells(count: int, before: str = "") -> list[str]:
    """The names of the value columns c1..cn, with a table name before them if asked."""
    return [f"{before}c{number}" for number in range(1, count + 1)]


def _listed(columns: Sequence[str]) -> str:
    return "".join(f", {column}" for column in columns)


class _Evaluation:
    """One question on its way through the database."""

    def __init__(self, question: Question, connection: duckdb.DuckDBPyConnection) -> None:
        self.question = question
        self.until = question.until
        self.connection = connection
        self.tables = 0

    def answer(self) -> dict[str, Any]:
        """Run the query and fetch its result."""
        self.connection.execute("BEGIN")
        try:
            spec = self.question.spec
            if isinstance(spec, WindowQuery):
                return self._fetch_windows(self._window_query(spec))
            return self._fetch_stream(self._stream(spec))
        finally:
            self.connection.execute("ROLLBACK")  # the tables of this question go with it

    def _make(self, sql: str) -> str:
        """Keep the result of a SELECT in a new table."""
        self.tables += 1
        table = f"t{self.tables}"
        self.connection.execute(f"CREATE TEMP TABLE {table} AS {sql}")
        return table

    def _fetch_stream(self, stream: Stream) -> dict[str, Any]:
        cells = _listed(_cells(len(stream.columns)))
        rows = self.connection.execute(f"SELECT tick, idx{cells} FROM {stream.table} ORDER BY pos").fetchall()
        return {
            "kind": "tagged-tuples",
            "columns": list(stream.columns),
            "rows": [list(row) for row in rows],
        }

    def _fetch_windows(self, windows: Windows) -> dict[str, Any]:
        cells = _listed(_cells(len(windows.columns), "m."))
        rows = self.connection.execute(
            f"SELECT e.wid, e.tick, m.ord{cells} FROM {windows.events} e "
            f"LEFT JOIN {windows.members} m ON m.wid = e.wid ORDER BY e.wid, m.ord"
        ).fetchall()
        listed: dict[int, list[Any]] = {}
        for wid, tick, place, *values in rows:
            window = listed.setdefault(wid, [tick, []])
            if place is not None:
                window[1].append(values)
        return {"kind": "windows", "columns": list(windows.columns), "rows": list(listed.values())}

    # --- inputs ------------------------------------------------------------------------------------

    def _attributes(self, extent: str) -> tuple[list[str], list[str]]:
        """Names and SQL types of an extent's attributes."""
        pairs = [attribute.split(":") for attribute in self.question.schema[extent]["attrs"]]
        return [name for name, _ in pairs], [SQL_TYPES[kind] for _, kind in pairs]

    def _load(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
        """Put literal rows into a new table with declared columns."""
        self.tables += 1
        table = f"t{self.tables}"
        self.connection.execute(f"CREATE TEMP TABLE {table} ({', '.join(columns)})")
        if rows:
            text = ", ".join(f"({', '.join(literal_sql(value) for value in row)})" for row in rows)
            self.connection.execute(f"INSERT INTO {table} VALUES {text}")
        return table

    def _extent(self, name: str) -> Stream:
        """The elements of a sensed or pushed extent, up to the last tick of the question."""
        names, types = self._attributes(name)
        cells = [f"{cell} {kind}" for cell, kind in zip(_cells(len(names)), types, strict=True)]
        loaded = self._load(["tick BIGINT", "idx BIGINT", *cells], self.question.inputs.get(name, []))
        table = self._make(f"SELECT idx AS pos, * FROM {loaded} WHERE tick <= {self.until}")
        return Stream(table, tuple(names), tuple(names))

    def _stored(self, name: str, window: Scan | None) -> Windows:
        """The windows of a stored extent: one per scan, or a single one at tick 0."""
        names, types = self._attributes(name)
        versions = self.question.inputs.get(name, [])
        since = self._load(["since BIGINT"], [[version[0]] for version in versions])
        rows = [[version[0], place, *row] for version in versions for place, row in enumerate(version[1], 1)]
        cells = [f"{cell} {kind}" for cell, kind in zip(_cells(len(names)), types, strict=True)]
        content = self._load(["since BIGINT", "ord BIGINT", *cells], rows)
        if window is None:
            events = self._make("SELECT CAST(1 AS BIGINT) AS wid, CAST(0 AS BIGINT) AS tick")
        else:
            events = self._ticks(window.ticks)
        members = self._make(
            f"SELECT e.wid, r.ord, CAST(NULL AS BIGINT) AS tick{_listed(_cells(len(names), 'r.'))} "
            f"FROM {events} e JOIN {content} r "
            f"ON r.since = (SELECT max(v.since) FROM {since} v WHERE v.since <= e.tick)"
        )
        return Windows(events, members, tuple(names), tuple(names))

    # --- windows -----------------------------------------------------------------------------------

    def _ticks(self, step: int) -> str:
        """Events at 0, step, 2 step, ... up to the last tick."""
        ticks = f"range(0, {self.until + 1}, {step}) r(n)"
        return self._make(f"SELECT n // {step} + 1 AS wid, n AS tick FROM {ticks}")

    def _windows_of(self, item: Item) -> Windows:
        """The windows of one from-item."""
        if isinstance(item.source, Extent) and self.question.schema[item.source.name]["kind"] == "stored":
            assert not isinstance(item.window, Window)
            return self._stored(item.source.name, item.window)
        assert isinstance(item.window, Window)
        window, stream = item.window, self._stream(item.source)
        slide = window.slide * window.scale
        low, high = window.since * window.scale, window.upto * window.scale
        if window.rows:
            counted = self._make(
                f"SELECT pos // {slide} AS wid, tick, pos AS base FROM {stream.table} WHERE pos % {slide} = 0"
            )
            coordinate, base = "pos", "base"
        else:
            counted = self._ticks(slide)
            coordinate, base = "tick", "tick"
        members = self._make(
            f"SELECT e.wid, s.pos AS ord, s.tick{_listed(_cells(len(stream.names), 's.'))} "
            f"FROM {counted} e JOIN {stream.table} s "
            f"ON s.{coordinate} >= e.{base} - {low} AND s.{coordinate} <= e.{base} - {high}"
        )
        return Windows(counted, members, stream.columns, stream.names)

    def _product(self, sides: Sequence[Windows]) -> tuple[str, str]:
        """Events and members of the cross product; member columns are called m<side>_<column>."""
        numbers = range(1, len(sides) + 1)
        union = " UNION ALL ".join(f"SELECT tick FROM {side.events}" for side in sides)
        last = _listed(
            [
                f"(SELECT max(e.tick) FROM {side.events} e WHERE e.tick <= u.tick) AS last{number}"
                for number, side in zip(numbers, sides, strict=True)
            ]
        )
        current = " ".join(
            f"JOIN {side.events} e{number} ON e{number}.tick = n.last{number}"
            for number, side in zip(numbers, sides, strict=True)
        )
        order = _listed([f"e{number}.wid" for number in numbers])
        picked = _listed([f"e{number}.wid AS w{number}" for number in numbers])
        events = self._make(
            f"WITH now AS (SELECT u.tick{last} FROM (SELECT DISTINCT tick FROM ({union})) u) "
            f"SELECT row_number() OVER (ORDER BY n.tick{order}) AS wid, n.tick{picked} FROM now n {current}"
        )
        joins = " ".join(
            f"JOIN {side.members} m{number} ON m{number}.wid = e.w{number}"
            for number, side in zip(numbers, sides, strict=True)
        )
        cells = _listed(
            [
                f"m{number}.{cell} AS m{number}_{cell}"
                for number, side in zip(numbers, sides, strict=True)
                for cell in ["tick", *_cells(len(side.names))]
            ]
        )
        places = ", ".join(f"m{number}.ord" for number in numbers)
        members = self._make(
            f"SELECT e.wid, row_number() OVER (PARTITION BY e.wid ORDER BY {places}) AS ord{cells} "
            f"FROM {events} e {joins}"
        )
        return events, members

    def _window_query(self, query: WindowQuery) -> Windows:
        """Product, selection, then projection or aggregation."""
        sides = [self._windows_of(item) for item in query.items]
        events, members = self._product(sides)
        scope = Scope()
        for number, (item, side) in enumerate(zip(query.items, sides, strict=True), 1):
            scope.add(item.qualifier, side.names, _cells(len(side.names), f"f.m{number}_"))
        for number, item in enumerate(query.items, 1):
            if item.qualifier is not None and isinstance(item.window, Window):
                scope.add_implicit(item.qualifier, "tick", f"f.m{number}_tick")
        where = "" if query.where is None else f" WHERE {expr_sql(query.where, scope)}"
        chosen = f"(SELECT f.* FROM {members} f{where})"
        if query.outputs is None:
            names = sides[0].names
            copied = _listed([f"f.m1_{cell} AS {cell}" for cell in _cells(len(names))])
            return Windows(events, self._make(f"SELECT f.wid, f.ord{copied} FROM {chosen} f"), names, names)
        return self._project(query, query.outputs, scope, events, chosen)

    def _project(
        self, query: WindowQuery, outputs: Sequence[Output], scope: Scope, events: str, chosen: str
    ) -> Windows:
        values = _output_cells(outputs, scope)
        aggregated = any(isinstance(part, Aggregate) for output in outputs for part in parts(output.expr))
        if query.group_by:
            keys = [expr_sql(key, scope) for key in query.group_by]
            order = ", ".join(f"{key} ASC NULLS FIRST" for key in keys)
            having = "" if query.having is None else f" HAVING {expr_sql(query.having, scope)}"
            sql = (
                f"SELECT f.wid, row_number() OVER (PARTITION BY f.wid ORDER BY {order}) AS ord{values} "
                f"FROM {chosen} f GROUP BY f.wid{_listed(keys)}{having}"
            )
        elif aggregated:
            sql = (
                f"SELECT e.wid, CAST(1 AS BIGINT) AS ord{values} "
                f"FROM {events} e LEFT JOIN {chosen} f ON f.wid = e.wid GROUP BY e.wid"
            )
        else:
            sql = f"SELECT f.wid, f.ord{values} FROM {chosen} f"
        return Windows(events, self._make(sql), *_output_names(outputs))

    # --- streams -----------------------------------------------------------------------------------

    def _stream(self, source: Extent | StreamQuery | Converter) -> Stream:
        match source:
            case Extent(name):
                return self._extent(name)
            case StreamQuery():
                return self._stream_query(source)
            case Converter():
                return self._convert(source)

    def _stream_query(self, query: StreamQuery) -> Stream:
        """Selection and projection; tick and idx are kept, pos counts the rows that are left."""
        stream = self._stream(query.item.source)
        scope = Scope()
        scope.add(query.item.qualifier, stream.names, _cells(len(stream.names), "s."))
        for qualifier in {None, query.item.qualifier}:
            scope.add_implicit(qualifier, "tick", "s.tick")
            scope.add_implicit(qualifier, "index", "s.idx")
        where = "" if query.where is None else f" WHERE {expr_sql(query.where, scope)}"
        columns = names = stream.names
        values = _listed(_cells(len(names), "s."))
        if query.outputs is not None:
            values = _output_cells(query.outputs, scope)
            columns, names = _output_names(query.outputs)
        kept = f"s.tick, s.idx{values} FROM {stream.table} s{where}"
        table = self._make(f"SELECT row_number() OVER (ORDER BY s.pos) AS pos, {kept}")
        return Stream(table, columns, names)

    def _convert(self, converter: Converter) -> Stream:
        """RSTREAM, ISTREAM or DSTREAM: the tuples that stay, numbered anew."""
        windows = self._window_query(converter.query)
        cells = _cells(len(windows.names))
        if converter.kind == "RSTREAM":
            kept = f"SELECT wid, ord, wid AS stamp{_listed(cells)} FROM {windows.members}"
        else:
            stamp, other = {"ISTREAM": (0, -1), "DSTREAM": (1, 1)}[converter.kind]
            alike = " AND ".join(f"n.{cell} IS NOT DISTINCT FROM o.{cell}" for cell in cells)
            kept = (
                f"SELECT o.wid, o.ord, o.wid + {stamp} AS stamp{_listed(_cells(len(cells), 'o.'))} FROM ("
                f"SELECT *, row_number() OVER (PARTITION BY wid{_listed(cells)} ORDER BY ord) AS occurrence "
                f"FROM {windows.members}) o LEFT JOIN ("
                f"SELECT wid{_listed(cells)}, count(*) AS times FROM {windows.members} "
                f"GROUP BY wid{_listed(cells)}) n ON n.wid = o.wid + {other} AND {alike} "
                f"WHERE o.occurrence > coalesce(n.times, 0)"
            )
        table = self._make(
            f"SELECT row_number() OVER (ORDER BY k.wid, k.ord) AS pos, e.tick, "
            f"row_number() OVER (ORDER BY k.wid, k.ord) AS idx{_listed(_cells(len(cells), 'k.'))} "
            f"FROM ({kept}) k JOIN {windows.events} e ON e.wid = k.stamp"
        )
        return Stream(table, windows.columns, windows.names)


def _output_cells(outputs: Sequence[Output], scope: Scope) -> str:
    """The outputs as SQL, named c1..cn."""
    return _listed([f"{expr_sql(output.expr, scope)} AS c{n}" for n, output in enumerate(outputs, 1)])


def _output_names(outputs: Sequence[Output]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the outputs in the answer, and for an enclosing query."""
    return tuple(column_name(o) for o in outputs), tuple(visible_name(o) for o in outputs)
