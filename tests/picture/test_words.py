"""Windows in words."""

from __future__ import annotations

import pytest

from transom.algebra.sources import StoredTable, StreamReceive
from transom.algebra.windows import (
    Bound,
    Coordinate,
    CoordinateRange,
    Every,
    OnArrival,
    OnChange,
    OnRowCount,
    Range,
    RangeIntersection,
    RegionRange,
    Slide,
    UnboundedRange,
    Window,
    row_window,
    scan_window,
    time_window,
)
from transom.model.geometry.shapes import from_wkt
from transom.model.geometry.space import Position
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Type
from transom.picture.quantities import format_ticks
from transom.picture.timeline.window_text import ordinal, window_sentence, window_syntax

SCHEMA = Schema((Attribute("x", Type.INTEGER, "s"),))
STREAM = StreamReceive("s", SCHEMA)
TABLE = StoredTable("t", SCHEMA)


def _index(low: int) -> CoordinateRange:
    """The range of the latest rows, down to `low` before the last."""
    return CoordinateRange(Coordinate.INDEX, Bound(1, low), Bound(1, 0))


@pytest.mark.parametrize(
    ("op", "words", "meaning"),
    [
        (
            time_window(STREAM, 600, 0, 60),
            "FROM NOW-10 TO NOW SLIDE 1 MIN",
            "every minute a window with the tuples of the last 601 seconds (ticks now-600 to now)",
        ),
        (
            time_window(STREAM, 299, 0, 300),
            "FROM NOW-299 TO NOW SLIDE 300 SEC",
            "every 5 minutes a window with the tuples of the last 5 minutes (ticks now-299 to now)",
        ),
        (
            time_window(STREAM, 59, 0, 60),
            "FROM NOW-59 TO NOW SLIDE 60 SEC",
            "every minute a window with the tuples of the last minute (ticks now-59 to now)",
        ),
        (
            time_window(STREAM, 90, 30, 60),
            "FROM NOW-90 TO NOW-30 SLIDE 60 SEC",
            "every minute a window with the tuples that are 30 to 90 seconds old (ticks now-90 to now-30)",
        ),
        (
            time_window(STREAM, 0, 0, 3600),
            "FROM NOW TO NOW SLIDE 1 HOUR",
            "every hour a window with the tuples of that very tick",
        ),
        (
            time_window(STREAM, 2, 2, 1),
            "FROM NOW-2 TO NOW-2 SLIDE 1 SEC",
            "every second a window with the tuples of exactly 2 seconds before",
        ),
        (
            time_window(STREAM, 1, 2, 1),
            "FROM NOW-1 TO NOW-2 SLIDE 1 SEC",
            "FROM is later than TO, so every window is empty",
        ),
        (
            row_window(STREAM, 0, 0, 1),
            "FROM NOW TO NOW SLIDE 1 ROW",
            "at every row a window with that row alone",
        ),
        (
            row_window(STREAM, 1, 0, 3),
            "FROM NOW-1 TO NOW SLIDE 3 ROWS",
            "at every 3rd row a window with that row and the row before it",
        ),
        (
            row_window(STREAM, 3, 1, 2),
            "FROM NOW-3 TO NOW-1 SLIDE 2 ROWS",
            "at every 2nd row a window with the rows from 3 to 1 before it",
        ),
        (
            row_window(STREAM, 2, 2, 1),
            "FROM NOW-2 TO NOW-2 SLIDE 1 ROW",
            "at every row a window with the row 2 before it",
        ),
        (scan_window(TABLE, 600), "SCAN 10 MIN", "the whole table, read every 10 minutes"),
        (scan_window(TABLE, None), "SCAN once", "the whole table, read once at the start"),
    ],
)
def test_windows_of_the_language(op: Window, words: str, meaning: str) -> None:
    assert window_syntax(op, Calendar()) == words
    assert window_sentence(op, Calendar()) == meaning


def test_a_window_of_ticks_shorter_than_a_second_says_its_length() -> None:
    meaning = "every minute a window with the tuples of the last 59001 ms (ticks now-59000 to now)"
    assert window_sentence(time_window(STREAM, 59_000, 0, 60_000), Calendar(1000)) == meaning


KM = 10**9
PARK = from_wkt("Park", "POLYGON ((0 0, 1 0, 1 1, 0 0))")
MOVING = Position("x", None)


@pytest.mark.parametrize(
    ("slide", "extent", "meaning"),
    [
        (OnArrival(), _index(0), "at every arrival a window with the latest row, for each x"),
        (OnRowCount(3), _index(-4), "at every 3rd row a window with the latest 5 rows, for each x"),
        (
            Every(Coordinate.DISTANCE, 5 * KM),
            CoordinateRange(Coordinate.DISTANCE, Bound(5 * KM, -50 * KM), Bound(5 * KM, 0)),
            "every 5 km of path a window with the tuples of the last 50 km of path, for each x",
        ),
        (
            Every(Coordinate.TICK, 600),
            CoordinateRange(Coordinate.DISTANCE, Bound(1, -1_852_000_000), Bound(1, 0)),
            "every 10 minutes a window with the tuples of the last 1 nmi of path, for each x",
        ),
        (
            OnArrival(),
            RegionRange(PARK),
            "at every arrival inside Park a window with all tuples so far from there, for each x",
        ),
        (OnArrival(), UnboundedRange(), "at every arrival a window with all tuples so far, for each x"),
        (
            OnChange(),
            RangeIntersection((RegionRange(PARK), CoordinateRange(Coordinate.TICK, Bound(1, -1200), Bound(1, 0)))),
            "whenever it changes a window with the tuples of the last 1201 seconds (ticks now-1200 to now) "
            "from inside Park, for each x",
        ),
    ],
)  # fmt: skip
def test_windows_of_cql_in_words(slide: Slide, extent: Range, meaning: str) -> None:
    op = Window(STREAM, slide, extent, key=SCHEMA.attributes, position=MOVING)
    assert window_sentence(op, Calendar()) == meaning


def test_other_windows_are_told_by_their_fields() -> None:
    moving = CoordinateRange(Coordinate.TICK, Bound(10, 0), Bound(1, 0))
    for op in (Window(STREAM, Every(Coordinate.TICK, 1), moving), Window(STREAM, OnArrival(), moving)):
        assert window_syntax(op, Calendar()) == f"{op.range}, {op.slide}"
        assert window_sentence(op, Calendar()) == ""


def test_ticks_that_are_no_seconds() -> None:
    assert window_syntax(time_window(STREAM, 5, 0, 5), Calendar(length=1000)) == "FROM NOW-5 TO NOW SLIDE 5 TICKS"
    assert window_syntax(time_window(STREAM, 5000, 0, 1000), Calendar(length=1000)) == "FROM NOW-5 TO NOW SLIDE 1 SEC"
    assert window_syntax(time_window(STREAM, 2, 0, 1), Calendar(length=60_000_000)) == "FROM NOW-2 TO NOW SLIDE 1 MIN"


def test_numbers() -> None:
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 22, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "111th",
    ]  # fmt: skip
    assert [format_ticks(n, Calendar()) for n in (0, 59, 90, 300, 3600, 90_000, -300)] == [
        "0", "59 s", "1 min 30 s", "5 min", "1 h", "1 d 1 h", "-5 min",
    ]  # fmt: skip
    assert format_ticks(1, Calendar(length=250)) == "250 us"
    assert format_ticks(3, Calendar(length=500_000)) == "1 s 500 ms"
