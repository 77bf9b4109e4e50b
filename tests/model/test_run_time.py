"""Times of a run: what Python and the command line accept, and the messages about the rest."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import numpy
import pandas
import pytest

from transom.errors import UsageError
from transom.model.run_time import TimeLike, parse_time
from transom.model.time import Calendar

CALENDAR = Calendar(epoch=datetime(2024, 5, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("time", "tick"),
    [
        (0, 0),
        (600, 600),
        (numpy.int64(600), 600),
        ("600", 600),
        (" 10 min ", 600),
        ("1 hour", 3600),
        (timedelta(minutes=10), 600),
        (pandas.Timedelta(600, "s"), 600),
        ("2024-05-01T00:10:00Z", 600),
        ("2024-05-01T02:10:00+02:00", 600),
        ("2024-05-01T00:10", 600),
        ("2024-05-02", 86400),
        (datetime(2024, 5, 1, 0, 10), 600),
        (datetime(2024, 5, 1, 2, 10, tzinfo=timezone(timedelta(hours=2))), 600),
        (datetime(2024, 5, 1, 0, 0, 0, 999_999, UTC), 0),
        (pandas.Timestamp("2024-05-01T00:10:00Z"), 600),
        (date(2024, 5, 2), 86400),
    ],
)
def test_ticks_durations_and_instants_are_times(time: TimeLike, tick: int) -> None:
    assert parse_time(time, "until", CALENDAR) == tick


def test_now_is_the_tick_of_the_clock() -> None:
    before = CALENDAR.tick_of(datetime.now(UTC))
    assert before <= parse_time("now", "start", CALENDAR) <= CALENDAR.tick_of(datetime.now(UTC))


@pytest.mark.parametrize("time", ["", "yesterday", "10 fortnights", "2024-13-01", True, 6.0, None, [1], b"600"])
def test_anything_else_is_refused_by_name(time: object) -> None:
    with pytest.raises(UsageError) as caught:
        parse_time(time, "--until", CALENDAR)  # type: ignore[arg-type]
    assert caught.value.message == f"--until: {time!r} is not a time"
    assert "a tick lasts 1 s" in str(caught.value.hint)


@pytest.mark.parametrize("time", ["1500 ms", timedelta(seconds=1.5), timedelta(microseconds=1)])
def test_part_of_a_tick_is_refused(time: TimeLike) -> None:
    with pytest.raises(UsageError, match="is not a whole number of ticks") as caught:
        parse_time(time, "until", CALENDAR)
    assert caught.value.hint == "a tick lasts 1 s"


@pytest.mark.parametrize("time", [-1, "-1", timedelta(seconds=-1), "2024-04-30T23:59:59Z", date(1999, 1, 1)])
def test_nothing_is_before_tick_0(time: TimeLike) -> None:
    with pytest.raises(UsageError, match="lies before tick 0") as caught:
        parse_time(time, "start", CALENDAR)
    assert caught.value.hint == "tick 0 begins at 2024-05-01T00:00:00+00:00"


def test_a_tick_has_at_most_64_bits() -> None:
    assert parse_time(2**63 - 1, "until", CALENDAR) == 2**63 - 1
    with pytest.raises(UsageError, match="is larger than any tick"):
        parse_time(2**63, "until", CALENDAR)
