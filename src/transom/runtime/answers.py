"""Answers of Spark in the form of the reference engine, for comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from pyspark.sql import DataFrame

from transom.model.answer import Answer, AnswerKind
from transom.model.bag import Bag, Element, Row, row_identity, row_key
from transom.model.schema import Schema
from transom.model.types import Line, Point, Type
from transom.runtime.results import Results
from transom.spark.marks import EPOCH
from transom.spark.printable import printable
from transom.spark.result import result


class RowResults(Results[Answer]):
    """The results of one planned query over rows."""

    def result(self, frame: DataFrame) -> DataFrame:
        """The frame of a plan's top as a user sees it."""
        return result(self.plan, frame)

    def replayed(self, frame: DataFrame, start: int, until: int | None) -> DataFrame:
        """The batch result in the order of its ticks."""
        return frame.orderBy(*(name for name in ("tick", "seq", "index") if name in frame.columns))

    def show(self, frame: DataFrame, most: int, table: Callable[[Answer], None]) -> bool:
        """Print the first rows of a replay, as Spark does; whether it is known that there are more."""
        printable(frame).show(most, truncate=False)
        return False

    def of_replay(self, frame: DataFrame, start: int, until: int | None) -> Answer:
        """The answer of a replay."""
        return self.answer(self.plain(frame).collect())

    def answer(self, rows: Sequence[Any]) -> Answer:
        """The rows of a plain result as an answer."""
        return answer(rows, self.plan.schema, self.columns, self.kind)

    def difference(self, expected: Answer, found: Answer, *, index: bool = False) -> str | None:
        """The first difference between two answers in words, or None."""
        return difference(expected, found, index=index)


def answer(rows: Sequence[Any], schema: Schema, columns: tuple[str, ...], kind: AnswerKind) -> Answer:
    """The rows of a plain result as an answer; without an index, tagged tuples in the order of their values."""
    if kind == "windows":
        windows: dict[tuple[int, int], list[Row]] = {}
        for row in rows:
            held = windows.setdefault((row["t"], row["seq"]), [])
            if not row["empty"]:
                held.append(_cells(row, schema))
        bags = (Bag(tick, tuple(sorted(held, key=row_key))) for (tick, _), held in sorted(windows.items()))
        return Answer(columns, kind, windows=tuple(bags))
    numbered = bool(rows) and "index" in rows[0]
    elements = [Element(row["t"], row["index"] if numbered else 0, _cells(row, schema)) for row in rows]
    elements.sort(key=lambda e: (e.tick, e.index, row_key(e.row)))
    return Answer(columns, kind, elements=tuple(elements))


def _cells(row: Any, schema: Schema) -> Row:
    cells = []
    for place, attribute in enumerate(schema):
        value = row[f"c{place}"]
        if value is not None and attribute.type is Type.TIMESTAMP:
            value = EPOCH + timedelta(microseconds=value)
        elif value is not None and attribute.type in (Type.POINT, Type.LINE):
            places = _places(value)
            value = places[0] if attribute.type is Type.POINT else Line(places)
        cells.append(value)
    return tuple(cells)


def _places(text: str) -> list[Point]:
    """The places that a well-known text names."""
    pairs = text[text.index("(") + 1 : -1].split(", ")
    return [Point(float(x), float(y)) for x, y in (pair.split(" ") for pair in pairs)]


def difference(expected: Answer, found: Answer, *, index: bool) -> str | None:
    """The first difference between two answers in words, or None; windows are bags, tagged tuples without index too."""
    if expected.kind == "windows":
        one = [(w.tick, sorted(map(_same, w.rows))) for w in expected.windows]
        other = [(w.tick, sorted(map(_same, w.rows))) for w in found.windows]
        return _first(one, other, "window")
    if index:
        in_order = [[(e.tick, e.index, _same(e.row)) for e in a.elements] for a in (expected, found)]
        return _first(in_order[0], in_order[1], "tuple")
    bags = [sorted((e.tick, _same(e.row)) for e in a.elements) for a in (expected, found)]
    return _first(bags[0], bags[1], "tuple")


def _same(row: Row) -> str:
    return repr(row_identity(row))


def _first(expected: list[Any], found: list[Any], word: str) -> str | None:
    for place, (one, other) in enumerate(zip(expected, found)):
        if one != other:
            return f"{word} {place + 1}: expected {one}, found {other}"
    if len(expected) != len(found):
        longer, whose = (expected, "missing") if len(expected) > len(found) else (found, "not expected")
        return (
            f"{len(expected)} {word}s expected, {len(found)} found; {whose}: {longer[min(len(expected), len(found))]}"
        )
    return None
