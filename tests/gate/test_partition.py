"""Shards and slices: every nightly test is in exactly one part, and no part is longer than allowed."""

from __future__ import annotations

import random
from datetime import date, timedelta

from tests.gate import partition

RNG = random.Random(19)
TESTS = [f"tests/test_{n % 17}.py::test_{n}" for n in range(400)]
SECONDS = {test: RNG.choice([0.2, 3.0, 11.0, 40.0, 200.0]) for test in TESTS[:380]}


def load(tests: list[str] | tuple[str, ...]) -> float:
    return sum(partition.seconds_of(test, SECONDS) for test in tests)


def test_shards_hold_every_test_once() -> None:
    parts = partition.shards(TESTS, SECONDS, 7)
    assert len(parts) == 7
    assert sorted(test for part in parts for test in part) == sorted(TESTS)


def test_no_shard_exceeds_the_limit() -> None:
    count = partition.shard_count(TESTS, SECONDS)
    assert count > 1
    assert max(load(part) for part in partition.shards(TESTS, SECONDS, count)) <= partition.SHARD_SECONDS
    assert partition.shard_count([], SECONDS) == 1


def test_a_test_longer_than_a_shard_gets_one_of_its_own() -> None:
    seconds = {"long": 4000.0, "a": 10.0, "b": 10.0}
    count = partition.shard_count(list(seconds), seconds, limit=60)
    assert ["long"] in partition.shards(list(seconds), seconds, count)


def test_slices_cover_every_test_that_fits() -> None:
    seconds = SECONDS | {"tests/test_long.py::test_soak": 900.0}
    tests = list(seconds) + TESTS[380:]
    seen: set[str] = set()
    numbers: set[int] = set()
    for n in range(1000):
        piece = partition.slice_for(f"commit {n}", tests, seconds)
        assert sum(partition.seconds_of(test, seconds) for test in piece.tests) <= partition.SLICE_SECONDS
        assert piece.too_long == ("tests/test_long.py::test_soak",)
        numbers.add(piece.number)
        seen |= set(piece.tests)
    assert numbers == set(range(piece.count))
    assert seen == set(tests) - {"tests/test_long.py::test_soak"}


def test_a_slice_depends_on_the_commit_alone() -> None:
    pieces = {partition.slice_for(f"{n:040x}", TESTS, SECONDS).number for n in range(20)}
    assert len(pieces) > 5
    assert partition.slice_for("abc", TESTS, SECONDS) == partition.slice_for("abc", TESTS[::-1], SECONDS)


def test_long_commands_without_a_duration_are_in_no_slice() -> None:
    command = "tests/nightly/test_commands.py::test_fuzzing_finds_no_crash[fuzz-0]"
    assert partition.slice_for("abc", [command], {}).too_long == (command,)
    assert partition.slice_for("abc", [command], {command: 30.0}).tests == (command,)


def test_landings_are_more_than_slices() -> None:
    piece = partition.slice_for("abc", TESTS, SECONDS)
    assert piece.landings > piece.count
    assert partition.Slice(0, 2, (), ()).landings == 3
    assert partition.slice_for("abc", [], SECONDS).tests == ()


def test_every_shard_has_its_turn() -> None:
    days = [date(2026, 12, 28) + timedelta(days=number) for number in range(9)]
    assert {partition.shard_of(day, 9) for day in days} == {f"{number}/9" for number in range(1, 10)}
    assert partition.shard_of(days[0], 1) == "1/1"
