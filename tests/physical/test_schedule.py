"""When windows come: schedules against counting tick by tick."""

from __future__ import annotations

import random
from itertools import pairwise

from transom.physical.schedule import Schedule

HORIZON = 400


def ticks(schedule: Schedule, until: int = HORIZON) -> list[int]:
    """The ticks of a schedule, by looking at every one."""
    if not schedule.periods:
        return [schedule.first] if schedule.first <= until else []
    return [t for t in range(schedule.first, until + 1) if any(t % p == 0 for p in schedule.periods)]


def random_schedule(rng: random.Random) -> Schedule:
    made = Schedule.every(rng.randint(1, 20), rng.choice([0, 0, rng.randint(0, 60)]))
    while rng.random() < 0.4:
        made = made.merge(Schedule.every(rng.randint(1, 20), rng.choice([0, rng.randint(0, 60)])))
    return made


def test_every() -> None:
    for period in range(1, 13):
        for start in range(30):
            wanted = [t for t in range(start, HORIZON + 1) if t % period == 0]
            assert ticks(Schedule.every(period, start)) == wanted


def test_both() -> None:
    """The ticks of a product are those of both sides, from when both have had one."""
    rng = random.Random(1)
    for _ in range(500):
        one, other = random_schedule(rng), random_schedule(rng)
        begun = max(one.first, other.first)
        wanted = sorted({t for t in [*ticks(one), *ticks(other)] if t >= begun})
        assert ticks(one.merge(other)) == wanted


def test_both_with_one_that_comes_once() -> None:
    once = Schedule((), 7)
    assert once.merge(once) == once
    assert ticks(once.merge(Schedule.every(5, 7)), 30) == [10, 15, 20, 25, 30]


def test_no_period_divides_another() -> None:
    rng = random.Random(2)
    for _ in range(300):
        periods = random_schedule(rng).periods
        assert not any(p != q and p % q == 0 for p in periods for q in periods)


def test_after() -> None:
    rng = random.Random(3)
    for _ in range(300):
        schedule = random_schedule(rng)
        every = ticks(schedule)
        for tick, following in pairwise(every):
            assert schedule.next_after(tick) == following
    assert Schedule((), 3).next_after(3) is None


def test_within_is_a_bound_and_is_reached() -> None:
    """No span holds more ticks than said; for a single period, some span holds as many."""
    rng = random.Random(4)
    for _ in range(200):
        schedule, span = random_schedule(rng), rng.randint(1, 50)
        inside = set(ticks(schedule))
        begins = range(schedule.first, HORIZON - span + 1)
        most = max(sum(t in inside for t in range(begin, begin + span)) for begin in begins)
        assert most <= schedule.max_ticks_in(span)
        if len(schedule.periods) == 1:
            assert most == schedule.max_ticks_in(span)
    assert Schedule((), 3).max_ticks_in(50) == 1


def test_text() -> None:
    assert str(Schedule((), 3)) == "once at 3"
    assert str(Schedule((2, 5), 10)) == "every 2 and 5 from 10"
