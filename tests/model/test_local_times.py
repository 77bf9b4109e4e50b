"""Local times of a time zone against the rules of zoneinfo."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from transom.model.local_times import BEGIN, END, LocalTimes

ORIGIN = datetime(1970, 1, 1)
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Monrovia", "UTC"]


@pytest.mark.parametrize("name", ZONES)
def test_local_times_follow_the_rules_of_the_zone(name: str) -> None:
    times, zone, chance = LocalTimes(name), ZoneInfo(name), random.Random(name)
    steps = [timedelta(microseconds=micros) for micros in (-1, 0, 1)]
    moments = [ORIGIN + timedelta(microseconds=span.start) + step for span in times.spans for step in steps]
    moments += [ORIGIN + timedelta(microseconds=chance.randrange(BEGIN, END)) for _ in range(500)]
    for moment in moments:
        if not ORIGIN <= moment < datetime(2100, 1, 1):
            continue
        first, second = (moment.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
        assert first is not None
        assert second is not None
        if first == second:
            assert times.instant_of(moment) == (moment - first).replace(tzinfo=UTC)
            continue
        with pytest.raises(ValueError, match="is skipped in" if second > first else "occurs twice in"):
            times.instant_of(moment)


@pytest.mark.parametrize("moment", [datetime(1969, 12, 31, 23, 59, 59), datetime(2100, 1, 1), datetime(1, 1, 1)])
def test_years_without_rules(moment: datetime) -> None:
    with pytest.raises(ValueError, match="is outside of the years 1970 to 2099, for which the rules of UTC are known"):
        LocalTimes("UTC").instant_of(moment)
