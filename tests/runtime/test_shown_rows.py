"""What a replay shows on the console: the table of `simulate`. No Spark is started."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")

from transom.model.answer import Answer
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Type
from transom.runtime.results.rows import RowResults
from transom.spark.columns import TICK_NUMBER

PLAN: Any = SimpleNamespace(schema=Schema((Attribute("x", Type.INTEGER, "s"),)))


class Frame:
    """A frame of collected rows."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def limit(self, count: int) -> Frame:
        return Frame(self.rows[:count])

    def collect(self) -> list[dict[str, Any]]:
        return self.rows


def shown(kind: str, rows: list[dict[str, Any]], most: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Answer, bool]:
    """The answer that `show` prints of at most so many rows, and whether there are more."""
    monkeypatch.setattr(RowResults, "plain", lambda results, frame: frame)
    frame: Any = Frame(rows)
    printed: list[Answer] = []
    more = RowResults(PLAN, ("s.x",), kind, Calendar()).show(frame, most, printed.append)
    [answer] = printed
    return answer, more


def test_windows_are_shown_as_simulate_shows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {TICK_NUMBER: 3, "seq": 1, "empty": True, "c0": None},
        {TICK_NUMBER: 3, "seq": 2, "empty": False, "c0": 7},
        {TICK_NUMBER: 4, "seq": 1, "empty": False, "c0": 8},
    ]
    answer, more = shown("windows", rows, 2, monkeypatch)
    assert more
    assert list(answer.table()) == [("tick", "seq", "s.x"), ("3", "1", "(empty)"), ("3", "2", "7")]
    assert shown("windows", rows, 3, monkeypatch)[1] is False


def test_tuples_have_an_index_only_if_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, _ = shown("tagged-tuples", [{TICK_NUMBER: 3, "c0": 7}], 9, monkeypatch)
    assert list(plain.table()) == [("tick", "s.x"), ("3", "7")]
    numbered, _ = shown("tagged-tuples", [{TICK_NUMBER: 3, "index": 5, "c0": 7}], 9, monkeypatch)
    assert list(numbered.table()) == [("tick", "index", "s.x"), ("3", "5", "7")]
    assert list(shown("tagged-tuples", [], 9, monkeypatch)[0].table()) == [("tick", "s.x")]
