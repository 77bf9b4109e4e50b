"""Results of Spark for queries over rows: the DataFrame for users, and the answer in the reference engine's form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from pyspark.sql import DataFrame

from transom.model.answer import Answer
from transom.model.answer_kind import AnswerKind
from transom.model.bag import Bag, Element, Row, row_identity, row_key
from transom.model.schema import Schema, column_types
from transom.model.types import Line, Point, Type
from transom.runtime.results.results import Results
from transom.spark.columns import TICK_NUMBER
from transom.spark.event_time import EPOCH
from transom.spark.result import result


class RowResults(Results[Answer]):
    """The results of one planned query over rows."""

    def result(self, frame: DataFrame) -> DataFrame:
        """Select the user's columns from the plan's output: `tick`, columns such as `index`, and attributes."""
        return result(self.plan, frame)

    def replay_frame(self, frame: DataFrame, start: int, until: int | None) -> DataFrame:
        """Sort a replay's result, already limited to ticks `start` to `until`, by tick and column `seq` or `index`."""
        return frame.orderBy(*(name for name in ("tick", "seq", "index") if name in frame.columns))

    def show(self, frame: DataFrame, max_rows: int, print_table: Callable[[Answer], None]) -> bool:
        """Print the first `max_rows` rows of a replay with `print_table`; True if the replay has more rows."""
        rows = self.plain(frame.limit(max_rows + 1)).collect()
        print_table(self.shown_answer(rows[:max_rows]))
        return len(rows) > max_rows

    def shown_answer(self, rows: Sequence[Any]) -> Answer:
        """Convert collected rows to the answer that `show` prints; it has an index column only if the rows have one."""
        answer = self.answer(rows)
        if answer.kind == "tagged-tuples" and not (rows and "index" in rows[0]):
            return replace(answer, kind="stream")
        return answer

    def collect_replay(self, frame: DataFrame, start: int, until: int | None) -> Answer:
        """Collect a replay's answer from Spark; `frame` is already limited to the ticks from `start` to `until`."""
        return self.answer(self.plain(frame).collect())

    def answer(self, rows: Sequence[Any]) -> Answer:
        """Convert collected rows, whose values `plain` has made numbers and texts, to an answer."""
        answer = answer_from_rows(rows, self.plan.schema, self.columns, self.kind)
        return replace(answer, types=column_types(self.plan.schema), calendar=self.calendar)

    def difference(self, expected: Answer, actual: Answer, *, index: bool = False) -> str | None:
        """Describe the first difference between two answers; None if equal. With `index`, order of tuples counts."""
        return row_difference(expected, actual, index=index)


def answer_from_rows(rows: Sequence[Any], schema: Schema, columns: tuple[str, ...], kind: AnswerKind) -> Answer:
    """Convert collected rows to an answer with labels `columns`; without column `index`, a tick's rows sort by value.

    `kind` is the kind of answer, and `columns` are its columns.
    """
    if kind == "windows":
        windows: dict[tuple[int, int], list[Row]] = {}
        for row in rows:
            window_rows = windows.setdefault((row[TICK_NUMBER], row["seq"]), [])
            if not row["empty"]:
                window_rows.append(_cells(row, schema))
        bags = (
            Bag(tick, tuple(sorted(window_rows, key=row_key))) for (tick, _), window_rows in sorted(windows.items())
        )
        return Answer(columns, kind, windows=tuple(bags))
    numbered = bool(rows) and "index" in rows[0]
    elements = [Element(row[TICK_NUMBER], row["index"] if numbered else 0, _cells(row, schema)) for row in rows]
    elements.sort(key=lambda element: (element.tick, element.index, row_key(element.row)))
    return Answer(columns, kind, elements=tuple(elements))


def _cells(row: Any, schema: Schema) -> Row:
    """Return the attribute values of a collected row, with instants, points and lines as Python objects."""
    cells = []
    for number, attribute in enumerate(schema):
        value = row[f"c{number}"]
        if value is not None and attribute.type is Type.TIMESTAMP:
            value = EPOCH + timedelta(microseconds=value)
        elif value is not None and attribute.type in (Type.POINT, Type.LINE):
            points = _points_of_text(value)
            value = points[0] if attribute.type is Type.POINT else Line(points)
        cells.append(value)
    return tuple(cells)


def _points_of_text(text: str) -> list[Point]:
    """Return the points in a well-known text, such as `LINESTRING (0 0, 1 2)`."""
    pairs = text[text.index("(") + 1 : -1].split(", ")
    return [Point(float(x), float(y)) for x, y in (pair.split(" ") for pair in pairs)]


def row_difference(expected: Answer, actual: Answer, *, index: bool) -> str | None:
    """Describe the first difference between two answers; None if equal. With `index`, order of tuples counts.

    Windows are compared as bags, and so are the tuples of a tick unless `index` is set.
    """
    if expected.kind == "windows":
        expected_windows = [(window.tick, sorted(map(_comparable_row, window.rows))) for window in expected.windows]
        actual_windows = [(window.tick, sorted(map(_comparable_row, window.rows))) for window in actual.windows]
        return _first_difference(expected_windows, actual_windows, "window")
    if index:
        in_order = [
            [(element.tick, element.index, _comparable_row(element.row)) for element in answer.elements]
            for answer in (expected, actual)
        ]
        return _first_difference(in_order[0], in_order[1], "tuple")
    bags = [
        sorted((element.tick, _comparable_row(element.row)) for element in answer.elements)
        for answer in (expected, actual)
    ]
    return _first_difference(bags[0], bags[1], "tuple")


def _comparable_row(row: Row) -> str:
    """Format a row as text by which answers are compared; equal rows have equal texts."""
    return repr(row_identity(row))


def _first_difference(expected: list[Any], actual: list[Any], part_name: str) -> str | None:
    """Describe the first difference between two lists of windows or tuples, called `part_name`; None if equal.

    `part_name` is the singular noun for their items.
    """
    for number, (expected_part, actual_part) in enumerate(zip(expected, actual)):
        if expected_part != actual_part:
            return f"{part_name} {number + 1}: expected {expected_part}, found {actual_part}"
    if len(expected) != len(actual):
        longer, which = (expected, "missing") if len(expected) > len(actual) else (actual, "not expected")
        first = longer[min(len(expected), len(actual))]
        return f"{len(expected)} {part_name}s expected, {len(actual)} found; {which}: {first}"
    return None
