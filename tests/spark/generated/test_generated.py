"""Generated queries on Spark against the reference engine: each on a long stream, and on tiny ones."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.gate.thin import thinned
from tests.spark.generated.drawn import ALL_NODES, WANTED, Drawn, Given, chosen, draw, is_short, marks, rounds
from tests.spark.together import Relational, differences, found_answers
from tests.spark.trying import side_by_side
from transom.physical.nodes.windows import KernelMode
from transom.runtime.results.rows import row_difference
from transom.runtime.verify.micro_batches import Split

QUERIES, STREAMS = 56, 16
TOGETHER = 8
LEAST_ROWS = 6000

SOAK_QUERIES, SOAK_STREAMS = 256, 24
SOAK_PARTS = 8
SOAK_TOGETHER, SOAK_AHEAD = 4, 40
SOAK_LEAST, SOAK_DISTINCT = 30_000, 250
BOTH: tuple[KernelMode, ...] = ("off", "on")
SOAK_SEED = int(os.environ.get("TRANSOM_SOAK_SEED", "10000"))


@cache
def ours() -> list[tuple[Drawn, Split, list[Given]]]:
    return list(rounds(chosen(QUERIES, STREAMS)))


def failures(
    spark: Any, drawn: Drawn, split: Split | None, given: Sequence[Given], kernel: KernelMode | None = None
) -> list[str]:
    """Every difference of a run, each with all that is needed to repeat it; without a split it is a replay."""
    kernel = kernel or drawn.kernel
    cases = [asked(drawn, one, str(number)) for number, one in enumerate(given)]
    try:
        found = found_answers(spark, cases, split, kernel)
        seen = [differs(drawn, one, found[case.name]) for case, one in zip(cases, given, strict=True)]
    except Exception as error:  # a query that fails is a difference as well, and the others go on
        seen = [f"{type(error).__name__}: {str(error)[:2000]}"] * len(given)
    return [
        describe(drawn, split, one, what, kernel) for one, what in zip(given, seen, strict=True) if what is not None
    ]


def asked(drawn: Drawn, given: Given, name: str) -> Relational:
    return Relational(name, drawn.query, given.inputs, drawn.index)


def differs(drawn: Drawn, given: Given, found: Any) -> str | None:
    return found if isinstance(found, str) else row_difference(given.expected, found, index=drawn.index)


def describe(drawn: Drawn, split: Split | None, given: Given, what: str, kernel: KernelMode) -> str:
    way = f"{split or 'replay'}, kernel {kernel}, index {drawn.index}"
    rows = {name: [(e.tick, *e.row) for e in elements] for name, elements in given.inputs.streams.items()}
    return (
        f"seed {drawn.seed}, {given.rows} rows, {way}, start {drawn.start}, until {given.inputs.until}\n"
        f"{drawn.query.text}\n{drawn.query.explain('plan', kernel=kernel)}\n"
        f"inputs: {rows}, tables {given.inputs.tables}\n{what}\n"
    )


@pytest.mark.parametrize("part", thinned(range(QUERIES // TOGETHER), 8))
def test_equal(spark: Any, part: int) -> None:
    jobs = [partial(failures, spark, *one) for one in ours()[part * TOGETHER : (part + 1) * TOGETHER]]
    assert len(jobs) == TOGETHER
    assert not (found := [text for texts in side_by_side(jobs) for text in texts]), "\n\n".join(found)


@pytest.mark.nightly
@pytest.mark.parametrize("kernel", BOTH)
def test_tiny_streams(spark: Any, kernel: KernelMode) -> None:
    """Streams without rows and with one row: as replays of all queries that take this path, as streams of some."""
    tiny = {
        f"seed {drawn.seed}, {given.rows} rows": (drawn, given)
        for drawn, _, _ in ours()
        for given in drawn.tiny
        if drawn.kernel == kernel
    }
    cases = [asked(drawn, given, name) for name, (drawn, given) in tiny.items()]
    assert len(cases) >= 40
    for some, split in ((cases, None), (cases[::5], Split())):
        assert differences(spark, some, split, kernel, lambda name, got: differs(*tiny[name], got)) == {}


def test_the_choice_shows_everything() -> None:
    """Enough rows, every node of the planner several times, every kind of split, with the index and without."""
    assert sum(one.rows for _, _, given in ours() for one in given) >= LEAST_ROWS
    seen = Counter(mark for drawn, _, _ in ours() for mark in marks(drawn.plan()))
    assert {mark: count for mark, count in seen.items() if count < WANTED and mark in ALL_NODES} == {}
    assert set(seen) >= ALL_NODES
    for mark in (
        "WindowAggregate panes whole",
        "WindowAggregate panes groups",
        "WindowAggregate ticks whole",
        "WindowAggregate ticks groups",
        "WindowAggregate windows whole",
        "WindowAggregate windows groups",
        "IntervalJoin intervals intervals",
        "IntervalJoin intervals table",
        "IntervalJoin table table",
        "IntervalJoin by pairs",
        "IntervalJoin by time ranges",
        "IntervalJoin by time buckets",
        "WindowProduct equal intervals",
        "WindowProduct all windows",
        "WindowDiff ordered inserted",
        "WindowDiff ordered deleted",
        "WindowDiff free inserted",
        "three sources",
        "ReadClock in the kernel",
        "WindowDiff in the kernel",
        "RowWindow in the kernel",
        "RowNumber in the kernel",
        "WindowProduct in the kernel",
    ):
        assert seen[mark] >= WANTED, mark
    tagged = Counter(drawn.index for drawn, _, _ in ours() if drawn.query.result_kind == "tagged-tuples")
    assert min(tagged[True], tagged[False]) >= 10
    kinds = Counter((split.rows, split.seed is None) for _, split, _ in ours())
    assert len(kinds) == 3
    assert min(kinds.values()) >= 5


def test_a_difference_is_told_in_full(spark: Any) -> None:
    """A report names the seed, the split, the query, the plan and the difference; an empty answer would be noticed."""
    drawn = next(d for d, _, _ in ours() if len(d.short[0].expected) and d.query.result_kind == "tagged-tuples")
    text = describe(drawn, Split(1), drawn.short[0], "tuple 1: expected this, found that", "off")
    for part in (
        f"seed {drawn.seed},",
        "1 row per micro-batch",
        drawn.query.text,
        "executor",
        "tuple 1: expected this",
    ):
        assert part in text
    right = drawn.short[0].expected
    wrong = type(right)(right.columns, right.kind, elements=right.elements[1:])
    assert row_difference(right, wrong, index=drawn.index) is not None


def soaking(part: int) -> Iterator[tuple[Drawn, Split | None]]:
    """One part of other queries, cut in four ways by turns; every fourth is replayed, every third starts later."""
    found, seed = 0, SOAK_SEED
    while found < SOAK_QUERIES:
        drawn = draw(seed, streams=SOAK_STREAMS, index=seed % 2 == 0, started=seed % 3 == 0)
        if drawn is not None and is_short(drawn):
            found += 1
            if (found - 1) * SOAK_PARTS // SOAK_QUERIES != part:
                seed += 1
                continue
            rows = max(given.rows for given in drawn.long)
            uneven = [Split(seed=seed + parts, times=max(1, rows // parts)) for parts in (14, 24)]
            ways = [Split(max(1, rows // 5)), uneven[0], Split(), uneven[1]]
            yield drawn, ways[found % 4]
            if found % 4 == 0:
                yield drawn, None
        seed += 1


@pytest.mark.soak
@pytest.mark.parametrize("part", range(SOAK_PARTS))
def test_soak(spark: Any, capfd: Any, part: int) -> None:
    """Tens of thousands of rows, on both paths; says how far it is, and goes on after a difference."""
    found: list[str] = []
    texts: set[str] = set()
    rows = 0
    waiting: deque[tuple[Drawn, Split | None, KernelMode, Future[list[str]]]] = deque()

    def settle() -> None:
        nonlocal rows
        drawn, split, kernel, job = waiting.popleft()
        found.extend(job.result())
        texts.add(drawn.query.text)
        rows += sum(given.rows for given in drawn.long) * (split is not None and kernel == "on")
        with capfd.disabled():
            print(f"\rseed {drawn.seed}: {rows} rows, {len(found)} differences", end="", flush=True)

    with ThreadPoolExecutor(SOAK_TOGETHER) as pool:
        for drawn, split in soaking(part):
            for kernel in BOTH:
                job = pool.submit(failures, spark, drawn, split, drawn.long, kernel)
                waiting.append((drawn, split, kernel, job))
            while len(waiting) > SOAK_AHEAD or (waiting and waiting[0][-1].done()):
                settle()
        while waiting:
            settle()
    assert not found, "\n\n".join(found)
    assert rows >= SOAK_LEAST // SOAK_PARTS // 2  # queries differ in how many rows they read
    assert len(texts) >= SOAK_DISTINCT // SOAK_PARTS - 1
