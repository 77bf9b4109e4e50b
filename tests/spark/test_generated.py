"""Generated queries on Spark against the reference engine: (query, stream, split) by (query, stream, split)."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.spark.drawn import ALL_NODES, WANTED, Drawn, chosen, draw, is_short, marks, rounds
from tests.spark.trying import replay, side_by_side, stream
from transom.physical.plan import Kernel
from transom.runtime.answers import difference
from transom.runtime.recut import Split

QUERIES, STREAMS = 56, 16
TOGETHER = 8
LEAST = 600

SOAK_QUERIES, SOAK_STREAMS = 256, 24
SOAK_TOGETHER, SOAK_AHEAD = 4, 40
SOAK_LEAST, SOAK_DISTINCT = 6000, 250
BOTH: tuple[Kernel, ...] = ("off", "on")
SOAK_SEED = int(os.environ.get("TRANSOM_SOAK_SEED", "10000"))


@cache
def ours() -> list[tuple[Drawn, Split, int]]:
    return list(rounds(chosen(QUERIES, STREAMS)))


def failures(spark: Any, drawn: Drawn, split: Split | None, lanes: int, kernel: Kernel | None = None) -> list[str]:
    """Every difference of a run, each with all that is needed to see it again; without a split it is a replay."""
    given = {lane: drawn.given(lane) for lane in range(lanes)}
    kernel = kernel or drawn.kernel
    try:
        if split is None:
            found = replay(drawn.query, spark, given, index=drawn.index, kernel=kernel)
        else:
            found = stream(drawn.query, spark, given, split, index=drawn.index, kernel=kernel)
        seen = {lane: difference(drawn.expected(lane), found[lane], index=drawn.index) for lane in given}
    except Exception as error:  # a query that falls over is a difference as well, and the others go on
        seen = {0: f"{type(error).__name__}: {str(error)[:2000]}"}
    return [describe(drawn, split, lanes, lane, what, kernel) for lane, what in seen.items() if what is not None]


def describe(drawn: Drawn, split: Split | None, lanes: int, lane: int, what: str, kernel: Kernel) -> str:
    way = f"{split or 'replay'}, kernel {kernel}, index {drawn.index}"
    return (
        f"seed {drawn.seed}, stream {lane} of {lanes}, {way}, start {drawn.start}, until {drawn.lanes.until}\n"
        f"{drawn.query.text}\n{drawn.query.explain('plan', kernel=kernel)}\n"
        f"inputs: {drawn.lanes.inputs[lane]}\n{what}\n"
    )


@pytest.mark.parametrize("part", range(QUERIES // TOGETHER))
def test_equal(spark: Any, part: int) -> None:
    jobs = [partial(failures, spark, *one) for one in ours()[part * TOGETHER : (part + 1) * TOGETHER]]
    assert len(jobs) == TOGETHER
    assert not (found := [text for texts in side_by_side(jobs) for text in texts]), "\n\n".join(found)


def test_the_choice_shows_everything() -> None:
    """Enough triples, every node of the planner several times, every kind of split, with the index and without."""
    assert sum(lanes for _, _, lanes in ours()) >= LEAST
    seen = Counter(mark for drawn, _, _ in ours() for mark in marks(drawn.plan()))
    assert {mark: count for mark, count in seen.items() if count < WANTED and mark in ALL_NODES} == {}
    assert set(seen) >= ALL_NODES
    for mark in (
        "Group panes whole",
        "Group panes groups",
        "Group ticks whole",
        "Group ticks groups",
        "Group windows whole",
        "Group windows groups",
        "Meet stays stays",
        "Meet stays table",
        "Meet table table",
        "Meet by pairs",
        "Meet by ranges",
        "Meet by spans",
        "Product equal stays",
        "Product all windows",
        "Compare ordered came",
        "Compare ordered went",
        "Compare free came",
        "three sources",
        "Clock in the kernel",
        "Compare in the kernel",
        "Cut in the kernel",
        "Number in the kernel",
        "Product in the kernel",
    ):
        assert seen[mark] >= WANTED, mark
    tagged = Counter(drawn.index for drawn, _, _ in ours() if drawn.query.gives == "tagged-tuples")
    assert min(tagged[True], tagged[False]) >= 10
    kinds = Counter((split.rows, split.seed is None) for _, split, _ in ours())
    assert len(kinds) == 3
    assert min(kinds.values()) >= 5


def test_a_difference_is_told_in_full(spark: Any) -> None:
    """A report names the seed, the split, the query, the plan and the difference; an empty answer would be noticed."""
    drawn = next(d for d, _, _ in ours() if len(d.expected(0)) and d.query.gives == "tagged-tuples")
    text = describe(drawn, Split(1), 1, 0, "tuple 1: expected this, found that", "off")
    for part in (f"seed {drawn.seed},", "1 row per micro-batch", drawn.query.text, "path", "tuple 1: expected this"):
        assert part in text
    right = drawn.expected(0)
    wrong = type(right)(right.columns, right.kind, elements=right.elements[1:])
    assert difference(right, wrong, index=drawn.index) is not None


def soaking() -> Iterator[tuple[Drawn, Split | None]]:
    """Other queries than those above, cut in four ways by turns; every fourth is replayed, every third starts later."""
    found, seed = 0, SOAK_SEED
    while found < SOAK_QUERIES:
        drawn = draw(seed, streams=SOAK_STREAMS, index=seed % 2 == 0, started=seed % 3 == 0)
        if drawn is not None and is_short(drawn):
            found += 1
            rows = sum(len(rows) for lane in range(SOAK_STREAMS) for rows in drawn.given(lane).streams.values())
            uneven = [Split(seed=seed + parts, times=max(1, rows // parts)) for parts in (14, 24)]
            ways = [Split(max(1, rows // 5)), uneven[0], Split(), uneven[1]]
            yield drawn, ways[found % 4]
            if found % 4 == 0:
                yield drawn, None
        seed += 1


@pytest.mark.soak
def test_soak(spark: Any, capfd: Any) -> None:
    """Thousands of triples, each on both paths; says how far it is, and goes on after a difference."""
    found: list[str] = []
    texts: set[str] = set()
    triples = 0
    waiting: deque[tuple[Drawn, Split | None, Kernel, Future[list[str]]]] = deque()

    def settle() -> None:
        nonlocal triples
        drawn, split, kernel, job = waiting.popleft()
        found.extend(job.result())
        texts.add(drawn.query.text)
        triples += SOAK_STREAMS * (split is not None and kernel == "on")
        with capfd.disabled():
            print(f"\rseed {drawn.seed}: {triples} triples, {len(found)} differences", end="", flush=True)

    with ThreadPoolExecutor(SOAK_TOGETHER) as pool:
        for drawn, split in soaking():
            for kernel in BOTH:
                job = pool.submit(failures, spark, drawn, split, SOAK_STREAMS, kernel)
                waiting.append((drawn, split, kernel, job))
            while len(waiting) > SOAK_AHEAD or (waiting and waiting[0][-1].done()):
                settle()
        while waiting:
            settle()
    assert not found, "\n\n".join(found)
    assert triples >= SOAK_LEAST
    assert len(texts) >= SOAK_DISTINCT
