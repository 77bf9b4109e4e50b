"""The reference engine against brute force: windows of eight zones around their changes of clocks."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.calendar_windows.brute import windows
from tests.calendar_windows.cases import CalendarCase, compiled, generated, rows_of, seen_changes

CASES, FEW, SEED = 520, 130, 20261119


def differs(case: CalendarCase) -> str | None:
    """How the answer differs from brute force; None if it does not."""
    answer = compiled(case).simulate({"s": rows_of(case)}, start=case.tick(case.start), until=case.tick(case.end))
    found = [(window.tick, sorted(row[1] for row in window.rows)) for window in answer.windows]
    walked = windows(case.zone, case.form, list(case.rows), case.start, case.end)
    expected = [(case.tick(instant), members) for instant, members in walked]
    return None if found == expected else f"{case}\n{found}\n{expected}"


@pytest.mark.parametrize("count", [FEW, pytest.param(CASES, marks=pytest.mark.nightly)])
def test_no_case_differs_from_brute_force(count: int) -> None:
    cases = list(generated(count, SEED))
    assert [text for case in cases if (text := differs(case))] == []
    assert seen_changes(cases) >= count * 10 // 13


def test_a_window_that_begins_an_hour_later_is_noticed() -> None:
    case = next(generated(1, SEED))
    later = [row + timedelta(hours=1) for row in case.rows]
    walked = windows(case.zone, case.form, later, case.start, case.end)
    expected = windows(case.zone, case.form, list(case.rows), case.start, case.end)
    assert walked != expected
