"""Times of answers as ticks or as instants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from transom.model.answer import Answer
from transom.model.bag import Bag
from transom.model.time import Calendar
from transom.model.view import PrintOptions

EPOCH = datetime(2009, 3, 2, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("length", "cell", "value"),
    [
        (60_000_000, "2009-03-02 06:03:00", "2009-03-02T06:03:00.000Z"),
        (1_000_000, "2009-03-02 06:00:03", "2009-03-02T06:00:03.000Z"),
        (100_000, "2009-03-02 06:00:00.300", "2009-03-02T06:00:00.300Z"),
        (1, "2009-03-02 06:00:00.000003", "2009-03-02T06:00:00.000003Z"),
    ],
)
def test_an_instant_is_as_precise_as_ticks_are(length: int, cell: str, value: str) -> None:
    view = PrintOptions(Calendar(length, EPOCH))
    assert (view.cell(3), view.value(3)) == (cell, value)


def test_an_epoch_between_two_seconds() -> None:
    assert PrintOptions(Calendar(1_000_000, EPOCH + timedelta(milliseconds=5))).cell(1) == "2009-03-02 06:00:01.005"


def test_a_tick_beyond_all_calendars_stays_a_tick() -> None:
    view = PrintOptions(Calendar(60_000_000, EPOCH))
    assert (view.cell(10**17), view.value(10**17)) == (f"tick {10**17}", f"tick {10**17}")


def test_the_first_tick_from_an_instant_on() -> None:
    calendar = Calendar(1_000_000, EPOCH)
    for tick in (0, 1, 60):
        begin = calendar.instant_of(tick)
        assert calendar.first_tick_from(begin) == tick
        assert calendar.first_tick_from(begin + timedelta(microseconds=1)) == tick + 1
        assert calendar.first_tick_from(begin.replace(tzinfo=None)) == tick


def test_windows_keep_their_numbers_in_a_view() -> None:
    answer = Answer(("x",), "windows", windows=(Bag(1, ((1,),)), Bag(2, ()), Bag(2, ((2,),)), Bag(3, ())))
    shown = list(answer.numbered_windows(PrintOptions(first=2, empty=False)))
    assert shown == [(2, Bag(2, ((2,),)))]
    assert list(answer.records(PrintOptions(first=2))) == [(2, 1, True, None), (2, 2, False, 2), (3, 1, True, None)]
