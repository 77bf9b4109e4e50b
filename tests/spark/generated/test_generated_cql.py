"""Generated questions of CQL on Spark against the reference engine: each on a long stream, and on tiny ones."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache, partial
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.covering import Kind, greedy, kinds_by_case
from tests.covering import kinds as plan_kinds
from tests.gate.thin import thinned
from tests.oracle_cql.build import given
from tests.oracle_cql.question import KINDS, TOGETHER, Question, question
from tests.spark.generated.drawn_cql import Drawn, draw, kinds
from tests.spark.together import Relational, differences, found_answers
from tests.spark.trying import side_by_side
from transom.physical.nodes.windows import KernelMode
from transom.runtime.results.rows import row_difference
from transom.runtime.verify.micro_batches import Split

QUESTIONS, STREAMS, TOGETHER_IN_CI = 22, 8, 11
FEW_ROWS = 20
SOAK_QUESTIONS, SOAK_STREAMS, SOAK_TOGETHER = 256, 16, 16
SOAK_PARTS = 8
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


def failures(spark: Any, drawn: Drawn, kernel: KernelMode) -> list[str]:
    """Every difference of a run, each with all that is needed to see it again; every fifth is a replay as well."""
    found: list[str] = []
    ways = ["stream", "replay"] if drawn.seed % 5 == 0 else ["stream"]
    for way in ways:
        cases = [asked(drawn, one, str(number)) for number, one in enumerate(drawn.long)]
        try:
            answers = found_answers(spark, cases, drawn.split if way == "stream" else None, kernel)
        except Exception as error:
            answers = {case.name: f"{type(error).__name__}: {str(error)[:2000]}" for case in cases}
        for case, one in zip(cases, drawn.long, strict=True):
            if what := differs(drawn, one, answers[case.name]):
                found.append(f"seed {drawn.seed}, {way}, {drawn.split}, kernel {kernel}: {one}\n{what}")
    return found


def asked(drawn: Drawn, one: Question, name: str) -> Relational:
    return Relational(name, drawn.query, given(one))


def differs(drawn: Drawn, one: Question, found: Any) -> str | None:
    return found if isinstance(found, str) else row_difference(drawn.expected(one), found, index=False)


@pytest.mark.parametrize("part", thinned(range(QUESTIONS // TOGETHER_IN_CI), 2))
def test_equal(spark: Any, part: int) -> None:
    chosen = ours()[part * TOGETHER_IN_CI : (part + 1) * TOGETHER_IN_CI]
    jobs = [partial(failures, spark, drawn, drawn.kernel) for drawn in chosen]
    assert not (found := [text for texts in side_by_side(jobs) for text in texts]), "\n\n".join(found)


@cache
def beyond_golden() -> list[Drawn]:
    """A few questions with nodes, and ways to put relations together, that no golden case has, on few rows."""
    golden = set().union(*kinds_by_case("cql", kernel=True).values())
    shown: dict[str, set[Kind]] = {}
    for drawn in (draw(seed, 1) for seed in range(200)):
        rows = sum(map(len, given(drawn.question).streams.values()))
        if rows <= FEW_ROWS and 2 < len(drawn.expected(drawn.question)) < 500:
            more = plan_kinds(drawn.query.physical(kernel=True)) - golden
            shown[str(drawn.seed)] = {kind for kind in more if kind[2] == "" or kind[2].startswith("how=")}
    return [draw(int(seed), 1) for seed in greedy(shown)]


@pytest.mark.nightly
@pytest.mark.parametrize("kernel", ["on", "off"])
def test_row_by_row(spark: Any, kernel: KernelMode) -> None:
    some = {f"seed {drawn.seed}": drawn for drawn in beyond_golden()}
    assert len(some) >= 3
    cases = [asked(drawn, drawn.question, name) for name, drawn in some.items()]
    found = differences(spark, cases, Split(1), kernel, lambda name, got: differs(some[name], some[name].question, got))
    assert found == {}


@pytest.mark.nightly
@pytest.mark.parametrize("kernel", ["on", "off"])
def test_tiny_streams(spark: Any, kernel: KernelMode) -> None:
    """Streams without rows and with one row: as replays of all questions that take this path, as streams of some."""
    tiny = {
        f"seed {drawn.seed}, {count} rows": (drawn, one)
        for drawn in ours()
        for count, one in enumerate(drawn.tiny)
        if drawn.kernel == kernel
    }
    assert len(tiny) >= 16
    cases = [asked(drawn, one, name) for name, (drawn, one) in tiny.items()]
    for some, split in ((cases, None), (cases[::3], Split())):
        assert differences(spark, some, split, kernel, lambda name, got: differs(*tiny[name], got)) == {}


def test_the_choice_shows_everything() -> None:
    assert sum(len(rows) for drawn in ours() for one in drawn.long for rows in given(one).streams.values()) >= 5_000
    seen = sum((kinds(drawn) for drawn in ours()), Counter[str]())
    assert all(seen[kind] >= 2 for kind in KINDS), seen
    assert sum(seen[how] for how in TOGETHER) >= 10, seen
    assert all(seen[how] for how in TOGETHER), seen
    assert {drawn.split.rows is None for drawn in ours()} == {True, False}
    answers = [sum(len(drawn.expected(one)) for one in drawn.long) for drawn in ours()]
    assert sum(count >= 10 for count in answers) > len(answers) // 2


@pytest.mark.soak
@pytest.mark.parametrize("part", range(SOAK_PARTS))
def test_soak(spark: Any, capfd: Any, part: int) -> None:
    """Hundreds of thousands of rows, on both paths."""
    found: list[str] = []
    first, count = SOAK_SEED + part * SOAK_QUESTIONS // SOAK_PARTS, SOAK_QUESTIONS // SOAK_PARTS
    for seed in range(first, first + count, SOAK_TOGETHER):
        chosen = [draw(other, SOAK_STREAMS) for other in range(seed, seed + SOAK_TOGETHER)]
        ways: tuple[KernelMode, ...] = ("on", "off")
        jobs = [partial(failures, spark, drawn, kernel) for drawn in chosen for kernel in ways]
        found += [text for texts in side_by_side(jobs) for text in texts]
        with capfd.disabled():
            done = seed + SOAK_TOGETHER - first
            print(f"\r{done} questions on both paths, {len(found)} differences", end="", flush=True)
    assert not found, "\n\n".join(found)
