"""Lengths, classes, times and axis steps as people write them."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice

import pytest

from transom.model.time import Calendar
from transom.picture.quantities import (
    Clock,
    LengthUnit,
    axis_steps,
    class_width,
    format_length,
    round_numbers,
    round_step,
)

SIX = datetime(2026, 3, 2, 6, tzinfo=UTC)


def test_lengths_in_the_unit_in_which_they_are_whole() -> None:
    km = 10**9
    texts = [format_length(n) for n in (50 * km, 185_200_000_000, 500_000_000, 1_609_344_000, 5_000, 7)]
    assert texts == ["50 km", "100 nmi", "500 m", "1 mi", "5 mm", "7 um"]


@pytest.mark.parametrize(
    ("span", "unit", "name", "size"),
    [
        (40_000, 10**6, "km", 1000),
        (900, 10**6, "m", 1),
        (30, 10**9, "km", 1),
        (0.5, 10**9, "m", 0.001),
        (9, 304_800, "ft", 1),
    ],
)
def test_axes_have_a_unit_that_fits(span: float, unit: int, name: str, size: float) -> None:
    assert LengthUnit.for_span(span, unit) == LengthUnit(name, size)


def test_round_numbers() -> None:
    assert [round_step(x) for x in (0.7, 1, 1.1, 30, 60)] == [1, 1, 2, 50, 100]
    assert [class_width(x) for x in (27, 24, 1, 0.9, 9.9)] == [25, 20, 1, 0.5, 5]
    assert list(round_numbers(-25, 25)) == [-20, -10, 0, 10, 20]


def test_axis_steps_follow_the_clock() -> None:
    assert list(islice(axis_steps(Calendar()), 20)) == [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000,
    ]  # fmt: skip
    assert list(islice(axis_steps(Calendar(length=60_000_000)), 4)) == [1, 2, 5, 10]
    assert list(islice(axis_steps(Calendar(length=7_000_000)), 4)) == [1, 2, 5, 10]


def test_round_ticks_are_round_on_the_clock() -> None:
    late = Calendar(epoch=SIX.replace(minute=7, second=30))
    ticks = Clock(late, 0, 3600).round_ticks(0, 3600, 6)
    assert [f"{late.instant_of(tick):%H:%M}" for tick in ticks] == [
        "06:10", "06:20", "06:30", "06:40", "06:50", "07:00",
    ]  # fmt: skip
    assert Clock(Calendar(), 0, 60).round_ticks(3, 60, 6) == [10, 20, 30, 40, 50, 60]


@pytest.mark.parametrize(("tick", "text"), [(0, "06:00"), (74 * 60, "07:14"), (30, "06:00:30"), (86_400, "06:00")])
def test_times_of_a_day(tick: int, text: str) -> None:
    calendar = Calendar(epoch=SIX)
    assert Clock(calendar, 0, 3600).text(tick) == text
    assert Clock(calendar, 0, 100_000).text(tick) == f"{2 + tick // 86_400} Mar {text}"


def test_times_with_fractions_and_without_an_epoch() -> None:
    assert Clock(Calendar(length=1000, epoch=SIX), 0, 9).text(1500) == "06:00:01.500"
    assert Clock(Calendar(length=1, epoch=SIX), 0, 9).text(7) == "06:00:00.000007"
    assert Clock(Calendar(), 0, 9).text(4440) == "1 h 14 min"
    assert Clock(Calendar(), 0, 9).full(90) == "tick 90 (1 min 30 s)"
    assert Clock(Calendar(epoch=SIX), 0, 9).full(90) == "06:01:30 UTC on 2 March 2026 (tick 90)"
