"""`transom state`: what it decodes is what the definitions say must be remembered, and it is below the bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.spark.history.changes import Story, finished
from tests.spark.state.stories import QUERIES, half_story, partitions
from transom.cli.state.show import state_lines
from transom.errors import CheckpointError
from transom.machines.entries import StateEntry
from transom.model.bag import Row
from transom.physical.nodes.windows import KernelMode
from transom.runtime.checkpoint.settings import STATE_FORMAT
from transom.runtime.start import Running
from transom.runtime.state.operators import OPERATORS_FILE
from transom.runtime.state.reading import CheckpointState, read_state
from transom.spark.event_time import TickTime

COLUMNS = ("id", "site", "weight")
"""The columns of the stream `traffic`."""


@contextmanager
def state_format(spark: SparkSession, version: int) -> Iterator[None]:
    """New checkpoints have this format of state."""
    before = spark.conf.get(STATE_FORMAT, "1")
    spark.conf.set(STATE_FORMAT, str(version))
    try:
        yield
    finally:
        spark.conf.set(STATE_FORMAT, str(before))


def read_checked(spark: SparkSession, folder: Path, key: str | None = None) -> CheckpointState:
    """What is remembered: every operator is decoded, and no node has more rows than its bound."""
    state = read_state(spark, folder, key)
    text = "\n".join(state_lines(state, key))
    assert state.nodes, text
    for node in state.nodes:
        assert not any(stored.not_decoded for stored in node.operators), text
        assert node.used is not None, text
        assert node.limit is None or node.used <= node.limit, text
    return state


def contents(folder: Path) -> dict[Path, bytes]:
    """All files of a folder."""
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def start(spark: SparkSession, folder: Path, name: str, kernel: KernelMode, pieces: int = 12) -> tuple[Story, Running]:
    """A query that has read most of its files and still runs."""
    story = half_story(folder, name, pieces=pieces, visible=0.7)
    running = story.start(spark, story.change.old, "out", "checkpoint", kernel=kernel)
    running.stream.processAllAvailable()
    return story, running


def rows_read(story: Story, state: CheckpointState) -> tuple[list[tuple[int, Row]], list[tuple[int, Row]]]:
    """The rows of `traffic` that a query has read: those of closed ticks in order, and the others, each with its tick.

    A row has the columns that the plan keeps.
    """
    columns = [COLUMNS.index(name) for name in state.nodes[0].columns]
    rows = []
    for file in sorted((story.folder / "in" / "traffic").glob("[0-9]*.parquet")):
        for entries in pq.read_table(file).to_pylist():
            tick, position, *values = entries.values()
            rows.append((tick, position, values))
    kept = [(tick, tuple(row[column] for column in columns)) for tick, _, row in sorted(rows)]
    closed = TickTime(story.change.query(story.change.old).catalog.calendar).last_closed_tick(state.watermark)
    return [row for row in kept if row[0] <= closed], [row for row in kept if row[0] > closed]


def entries(state: CheckpointState, part: str) -> list[StateEntry]:
    """The entries of a part that are remembered of the chosen key."""
    kept = [stored.kept for node in state.nodes for stored in node.operators if stored.kept is not None]
    return [entry for one in kept for entry in one.entries if entry.part == part]


def with_ticks(found: list[StateEntry], state: CheckpointState) -> Counter[tuple[int | None, Row]]:
    """The rows of some entries with their ticks, without what the plan adds to a row."""
    width = len(state.nodes[0].columns)
    return Counter((entry.tick, (entry.values or ())[:width]) for entry in found)


def check_keyed(spark: SparkSession, folder: Path, kernel: KernelMode) -> None:
    """A later window of three rows can hold the last two rows of a key, and the rows whose tick is not closed."""
    story, running = start(spark, folder, "keyed", kernel)
    running.stop()
    before = contents(folder / "checkpoint")
    state = read_checked(spark, folder / "checkpoint", "0")
    assert contents(folder / "checkpoint") == before
    closed, later = rows_read(story, state)
    of_key = [row for _, row in closed if row[0] == 0]
    assert len(of_key) > 2
    assert Counter(entry.values for entry in entries(state, "row")) == Counter(of_key[-2:])
    assert [entry.copies for entry in entries(state, "count")] == [len(of_key)]
    assert with_ticks(entries(state, "waiting"), state) == Counter(row for row in later if row[1][0] == 0)
    kept = state.nodes[0].operators[0].kept
    assert kept is not None
    assert kept.keys == len({row[0] for _, row in closed + later})
    assert state.nodes[0].used == kept.parts["row"] + len(later)


def check_rows(spark: SparkSession, folder: Path, kernel: KernelMode) -> None:
    """Every third row ends a window of four rows; the next window can hold the rows from three before its end on."""
    story, running = start(spark, folder, "rows", kernel)
    running.stop()
    state = read_checked(spark, folder / "checkpoint", "")
    closed, later = rows_read(story, state)
    end = len(closed) // 3 * 3 + 3
    assert with_ticks(entries(state, "row"), state) == Counter(closed[end - 4 :])
    assert with_ticks(entries(state, "waiting"), state) == Counter(later)


def check_native(spark: SparkSession, folder: Path, name: str, kernel: KernelMode) -> None:
    """Spark's own operators have as many rows as Spark reports; the query runs meanwhile."""
    _, running = start(spark, folder, name, kernel)
    state = read_checked(spark, folder / "checkpoint")
    reported = running.stream.lastProgress["stateOperators"]
    running.stop()
    kept = {stored.operator: stored.kept for node in state.nodes for stored in node.operators}
    assert sorted(kept) == list(range(len(reported)))
    for number, report in enumerate(reported):
        operator = kept[number]
        assert operator is not None
        if "transformWithState" not in report["operatorName"]:
            assert operator.rows == report["numRowsTotal"]


def test_state_is_what_must_be_remembered(spark: SparkSession, tmp_path: Path) -> None:
    """A keyed window in the kernel, row windows in Python, and a join and an aggregate of Spark."""
    with partitions(spark, 2), state_format(spark, 2):
        check_keyed(spark, tmp_path / "keyed", "on")
        check_rows(spark, tmp_path / "rows", "off")
        check_native(spark, tmp_path / "join", "join", "off")


@pytest.mark.nightly
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("kernel", ["on", "off"])
@pytest.mark.parametrize("name", list(QUERIES))
def test_every_operator_is_decoded(
    spark: SparkSession, tmp_path: Path, name: str, kernel: KernelMode, version: int
) -> None:
    with partitions(spark, 2), state_format(spark, version):
        check_native(spark, tmp_path, name, kernel)


@pytest.mark.nightly
@pytest.mark.parametrize("kernel", ["on", "off"])
def test_windows_in_both_engines(spark: SparkSession, tmp_path: Path, kernel: KernelMode) -> None:
    with partitions(spark, 2):
        check_keyed(spark, tmp_path / "keyed", kernel)
        check_rows(spark, tmp_path / "rows", kernel)


@pytest.mark.nightly
def test_what_cannot_be_read(spark: SparkSession, tmp_path: Path) -> None:
    """Without a record the operators are counted; damaged state and logs are refused with their file."""
    with partitions(spark, 2):
        story = half_story(tmp_path, "keyed", pieces=16)
        finished(story.start(spark, story.change.old, "out", "checkpoint", kernel="on"))
    checkpoint = tmp_path / "checkpoint"
    record = (checkpoint / OPERATORS_FILE).read_bytes()
    (checkpoint / OPERATORS_FILE).unlink()
    stored = read_state(spark, checkpoint).nodes[0].operators[0]
    assert stored.not_decoded is not None
    assert "does not record" in stored.not_decoded
    assert stored.kept is not None
    assert stored.kept.parts["state"] > 0
    (checkpoint / OPERATORS_FILE).write_bytes(record)
    newest = max(file.name for file in (checkpoint / "spark" / "state" / "0" / "0").glob("*.changelog"))
    changelog = checkpoint / "spark" / "state" / "0" / "0" / newest
    changelog.write_bytes(changelog.read_bytes()[:-9])
    with pytest.raises(CheckpointError, match=r"changelog cannot be read"):
        read_state(spark, checkpoint)
    (checkpoint / "spark" / "commits" / "0").write_text("v1\n{}")
    with pytest.raises(CheckpointError, match=r"commits/0"):
        read_state(spark, checkpoint)
