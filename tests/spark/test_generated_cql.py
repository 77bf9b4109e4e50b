"""Generated questions of CQL on Spark against the reference engine: (question, stream, split) by the dozen."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache, partial
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.oracle_cql.question import KINDS, TOGETHER, question
from tests.spark.drawn_cql import Drawn, draw, kinds
from tests.spark.trying import replay, side_by_side, stream
from transom.physical.plan import Kernel
from transom.runtime.answers import difference

QUESTIONS, STREAMS, TOGETHER_IN_CI = 22, 16, 11
SOAK_QUESTIONS, SOAK_STREAMS, SOAK_TOGETHER = 256, 16, 16
SOAK_SEED = int(os.environ.get("TRANSOM_SOAK_SEED", "10000"))


@cache
def ours() -> list[Drawn]:
    """A question of every kind of window, and for every kind one that puts two relations together, in many ways."""
    half = QUESTIONS // 2
    chosen, ways = [draw(seed, STREAMS) for seed in range(half)], list(TOGETHER)
    for kind in range(half):
        seeds = (seed for seed in range(half + kind, 5000, half) if question(seed).together in ways)
        chosen.append(draw(next(seeds), STREAMS))
        ways.remove(chosen[-1].question.together)
        ways = ways or list(TOGETHER)
    return chosen


def failures(spark: Any, drawn: Drawn, kernel: Kernel) -> list[str]:
    """Every difference of a run, each with all that is needed to see it again; every fifth is a replay as well."""
    found: list[str] = []
    ways = ["stream", "replay"] if drawn.seed % 5 == 0 else ["stream"]
    for way in ways:
        try:
            if way == "stream":
                answers = stream(drawn.query, spark, drawn.lanes, drawn.split, kernel=kernel)
            else:
                answers = replay(drawn.query, spark, drawn.lanes, kernel=kernel)
            seen = {lane: difference(drawn.expected(lane), answers[lane], index=False) for lane in drawn.lanes}
        except Exception as error:
            seen = {0: f"{type(error).__name__}: {str(error)[:2000]}"}
        found += [
            f"seed {drawn.seed}, {way}, {drawn.split}, kernel {kernel}, lane {lane}: {drawn.on(lane)}\n{what}"
            for lane, what in seen.items()
            if what is not None
        ]
    return found


@pytest.mark.parametrize("part", range(QUESTIONS // TOGETHER_IN_CI))
def test_equal(spark: Any, part: int) -> None:
    chosen = ours()[part * TOGETHER_IN_CI : (part + 1) * TOGETHER_IN_CI]
    jobs = [partial(failures, spark, drawn, drawn.kernel) for drawn in chosen]
    assert not (found := [text for texts in side_by_side(jobs) for text in texts]), "\n\n".join(found)


def test_the_choice_shows_everything() -> None:
    assert sum(len(drawn.lanes) for drawn in ours()) >= 300
    seen = sum((kinds(drawn) for drawn in ours()), Counter[str]())
    assert all(seen[kind] >= 2 for kind in KINDS), seen
    assert sum(seen[how] for how in TOGETHER) >= 10, seen
    assert all(seen[how] for how in TOGETHER), seen
    assert {drawn.split.rows is None for drawn in ours()} == {True, False}
    answers = [len(drawn.expected(lane)) for drawn in ours() for lane in drawn.lanes]
    assert sum(map(bool, answers)) > len(answers) // 2


@pytest.mark.soak
def test_soak(spark: Any, capfd: Any) -> None:
    """Thousands of triples, each on both paths."""
    found: list[str] = []
    for seed in range(SOAK_SEED, SOAK_SEED + SOAK_QUESTIONS, SOAK_TOGETHER):
        chosen = [draw(other, SOAK_STREAMS) for other in range(seed, seed + SOAK_TOGETHER)]
        ways: tuple[Kernel, ...] = ("on", "off")
        jobs = [partial(failures, spark, drawn, kernel) for drawn in chosen for kernel in ways]
        found += [text for texts in side_by_side(jobs) for text in texts]
        with capfd.disabled():
            done = (seed + SOAK_TOGETHER - SOAK_SEED) * SOAK_STREAMS
            print(f"\r{done} triples on both paths, {len(found)} differences", end="", flush=True)
    assert not found, "\n\n".join(found)
    assert SOAK_QUESTIONS * SOAK_STREAMS >= 4000
