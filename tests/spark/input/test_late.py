"""Rows that come too late: with the kernel and without it, the same ones, and the answer is that of all others.

Also how soon rows come out: joined ones when their tick is closed, not a window later.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("pyspark")

from benchmarks.joins import latency
from pyspark.sql import SparkSession

import transom
from tests.gate.thin import thinned
from tests.spark.running.test_running import (
    BY_ROW,
    COUNTS,
    GROUPS,
    Rows,
    catalog,
    expected,
    finished,
    read,
    source,
    write,
)
from transom.model.balance import Balance
from transom.physical.nodes.windows import KernelMode

LATENESS = 3
TICKS, EACH, PER_TICK = 100, 5, 8
"""So many ticks, so many of them in a micro-batch, so many rows in a tick."""

PAIRS = (
    "RSTREAM(SELECT a.weight, b.site FROM traffic [FROM NOW-2 TO NOW SLIDE 1 SEC] AS a, "
    "traffic [FROM NOW-3 TO NOW SLIDE 1 SEC] AS b WHERE a.weight = b.weight)"
)
TEXTS = {"windows": COUNTS, "groups": GROUPS, "row windows": BY_ROW, "pairs": PAIRS}


@cache
def delayed() -> list[list[tuple[int, int, int]]]:
    """Micro-batches in which every sixth row comes later than the others of its tick: by one or more."""
    rng = Random(5)
    batches: list[list[tuple[int, int, int]]] = [[] for _ in range(TICKS // EACH)]
    for tick in range(TICKS):
        for number in range(PER_TICK):
            wait = rng.choice((1, 1, 3, 4, 6)) if rng.random() < 1 / 6 else 0
            place = min(tick // EACH + wait, len(batches) - 1)
            batches[place].append((tick, rng.randrange(3), PER_TICK * tick + number))
    return batches


def in_time() -> list[tuple[int, int, int]]:
    """The rows that count, whatever the query: those at most the lateness behind all micro-batches before theirs."""
    kept = []
    for number, batch in enumerate(delayed()):
        before = [tick for rows in delayed()[:number] for tick, *_ in rows]
        kept += [row for row in batch if row[0] >= max(before, default=0) - LATENESS]
    return sorted(kept, key=lambda row: row[0])


def test_one_row_in_twenty_is_late() -> None:
    rows = sum(map(len, delayed()))
    assert rows == TICKS * PER_TICK
    assert 0.05 <= (rows - len(in_time())) / rows <= 0.2
    waiting = sum(tick // EACH < number for number, batch in enumerate(delayed()) for tick, *_ in batch)
    assert waiting > rows - len(in_time())  # some come later than others, and in time


@pytest.mark.parametrize("kernel", ["on", pytest.param("off", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", thinned(TEXTS, 3, 2))
def test_the_same_rows_are_late_on_both_paths(
    spark: SparkSession, tmp_path: Path, name: str, kernel: KernelMode
) -> None:
    query = transom.compile(TEXTS[name], catalog(lateness=f"{LATENESS} s"))
    kept = in_time()
    end: Rows = [(TICKS + 60, 0, 0)]
    folder = write(tmp_path / "in", [*delayed(), end])
    right = expected(query, kept, TICKS)
    assert sum(right.values()) > TICKS // 2
    sink, checkpoint = f"parquet:{tmp_path / 'out'}", tmp_path / "checkpoint"
    sources = {"traffic": source(spark, folder)}
    running = finished(query.start(spark, sink, checkpoint, sources=sources, until=TICKS, kernel=kernel))
    assert read(spark, query, tmp_path / "out") == right
    late = TICKS * PER_TICK - len(kept)
    assert running.progress().sources == {"traffic": Balance(TICKS * PER_TICK + 1, len(kept), late, {}, 1)}


def test_joined_rows_come_when_their_tick_is_closed(spark: SparkSession, tmp_path: Path) -> None:
    """Windows of a minute, micro-batches of a second: no row waits for a minute."""
    found = latency(spark, tmp_path / "in", "on", batches=12)
    assert found["batches too late, at most"] == 0
    assert found["ticks"] == 12
