"""How the nightly tests are cut into shards and slices: pure functions over test ids and recorded durations.

A shard is a part that one nightly job runs. A slice is the part that one CI run adds to the chosen set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from math import ceil

SHARD_SECONDS = 25 * 60
SLICE_SECONDS = 4 * 60
UNKNOWN_SECONDS = 20.0
"""Assumed for a test that no recorded run has timed yet."""

UNKNOWN_LONG = {
    "tests/nightly/": 900.0,
    "::test_soak": 600.0,
    "::test_many_generated[": 600.0,
    "::test_many_generated_aggregates[": 600.0,
    "::test_generated_aggregates": 400.0,
    "test_chaos": 200.0,
    "is_fenced[50]": 1500.0,
    "in_the_log_once[50]": 300.0,
    "answer_once[50]": 1500.0,
    "once_by_key[50]": 1500.0,
    "::test_compositions_that_are_killed": 900.0,
    "::test_every_composition": 120.0,
    "test_sparql_cases": 150.0,
    "test_drawn_texts": 150.0,
    "::test_many_texts": 600.0,
    "::test_soaked_texts": 150.0,
    "::test_the_texts_meet_everything": 120.0,
    "test_joined_aggregates": 80.0,
}
"""Assumed for tests whose ids contain these texts: they are longer than a slice, or nearly."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of the nightly tests that one commit runs."""

    number: int
    count: int
    tests: tuple[str, ...]
    too_long: tuple[str, ...]
    """Tests that take longer than a whole slice; only the nightly shards run them."""

    @property
    def landings(self) -> int:
        """How many landings cover all slices on average. The hash draws them, so some repeat before all are seen."""
        return ceil(self.count * sum(1 / k for k in range(1, self.count + 1))) if self.count else 0


def seconds_of(test: str, durations: Mapping[str, float]) -> float:
    """The recorded duration of a test, or an assumed one."""
    assumed = max((seconds for text, seconds in UNKNOWN_LONG.items() if text in test), default=UNKNOWN_SECONDS)
    return durations.get(test, assumed)


def shard_of(day: date, count: int) -> str:
    """The shard whose turn it is on a day, written `I/N`: successive days have successive shards."""
    return f"{day.toordinal() % count + 1}/{count}"


def shuffled(tests: Iterable[str]) -> list[str]:
    """Tests in an order that is fixed and mixes all files."""
    return sorted(set(tests), key=lambda test: sha256(test.encode()).digest())


def shard_count(tests: Sequence[str], durations: Mapping[str, float], limit: float = SHARD_SECONDS) -> int:
    """The smallest number of shards such that none exceeds the limit, unless a single test does."""
    count = max(1, ceil(sum(seconds_of(test, durations) for test in tests) / limit))
    longest = max((seconds_of(test, durations) for test in tests), default=0.0)
    while max(_loads(shards(tests, durations, count), durations), default=0.0) > max(limit, longest):
        count += 1
    return count


def shards(tests: Sequence[str], durations: Mapping[str, float], count: int) -> list[list[str]]:
    """All tests in so many parts of about equal duration: the longest test first, each to the emptiest part."""
    parts: list[list[str]] = [[] for _ in range(count)]
    loads = [0.0] * count
    for test in sorted(shuffled(tests), key=lambda test: -seconds_of(test, durations)):
        emptiest = loads.index(min(loads))
        parts[emptiest].append(test)
        loads[emptiest] += seconds_of(test, durations)
    return parts


def slice_for(commit: str, tests: Sequence[str], durations: Mapping[str, float], limit: float = SLICE_SECONDS) -> Slice:
    """The slice that a commit runs: the nightly tests in slices within the limit, one of them picked by the hash."""
    too_long = tuple(test for test in shuffled(tests) if seconds_of(test, durations) > limit)
    parts: list[list[str]] = []
    load = limit
    for test in shuffled(tests):
        cost = seconds_of(test, durations)
        if cost > limit:
            continue
        if load + cost > limit:
            parts.append([])
            load = 0.0
        parts[-1].append(test)
        load += cost
    if not parts:
        return Slice(0, 0, (), too_long)
    number = int(sha256(commit.encode()).hexdigest(), 16) % len(parts)
    return Slice(number, len(parts), tuple(parts[number]), too_long)


def _loads(parts: Iterable[Sequence[str]], durations: Mapping[str, float]) -> list[float]:
    return [sum(seconds_of(test, durations) for test in part) for part in parts]
