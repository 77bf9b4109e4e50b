"""Verify a query: compare the reference engine with a replay and with streams in several splits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import SparkSession

from transom.catalog.extent import ExtentKind
from transom.catalog.sources import Files
from transom.connectors.files.read import read_late_rows
from transom.errors import Unsupported
from transom.physical.nodes.windows import KernelMode
from transom.runtime.dataframe import dataframe
from transom.runtime.job import Job, Plannable
from transom.runtime.options import RunOptions
from transom.runtime.verify.harness import stream_answer
from transom.runtime.verify.micro_batches import Split, batch_rows
from transom.spark.input.rejected import RejectedRows

DEFAULT_SPLITS = ("1", "7", "all")
MAX_BATCHES = 20
"""The most micro-batches of a split by rows; beyond that, larger pieces are used."""


@dataclass(frozen=True)
class CheckResult:
    """One run of a query compared with the reference engine: its number of answer parts, and the first difference."""

    run: str
    count: int
    difference: str | None

    @property
    def agrees(self) -> bool:
        """Whether Spark's answer equals that of the reference engine, which runs in plain Python."""
        return self.difference is None


@dataclass(frozen=True)
class LateRows:
    """Rows of an extent that a live run could drop as late (E12): their number, and where the first one is.

    `lateness` is that of the extent, in ticks.
    """

    extent: str
    count: int
    first: str
    lateness: int


def find_late_rows(query: Plannable, until: int | None = None) -> list[LateRows]:
    """List the sources whose files have rows, up to tick `until`, that come later than `lateness` allows."""
    late: list[LateRows] = []
    for extent in query.sources:
        if not isinstance(extent.source, Files) or extent.kind is ExtentKind.STORED or extent.holds_statements:
            continue  # files of statements are ordered by message, not by tick
        rows = list(read_late_rows(extent, extent.source, query.catalog.calendar, query.catalog.folder, until))
        if rows:
            first = f"{rows[0].origin.unit} {rows[0].origin.number} of {rows[0].origin.source}"
            late.append(LateRows(extent.name, len(rows), first, extent.lateness))
    return late


def verify(
    query: Plannable,
    spark: SparkSession,
    *,
    splits: Sequence[str] = DEFAULT_SPLITS,
    start: int = 0,
    until: int | None = None,
    on_step: Callable[[str], None] | None = None,
    kernel: KernelMode = "auto",
    rejected: RejectedRows | None = None,
) -> Iterator[CheckResult]:
    """Compare answers on Spark, as a batch and as one stream for each of `splits`, with the reference engine's.

    There is a stream for each of `splits`. `on_step` gets the names of the steps. Where Spark keeps the order, the
    replay is compared with its index, so the order of its tuples counts. It must reject the same messages. The streams
    run as `run` runs them, up to the tick `Results.last_verified_tick`.
    """
    report_step, rejected = on_step or (lambda _: None), rejected or RejectedRows()
    parsed_splits = [Split.read(text) for text in splits]
    report_step("reading, and evaluating in the reference engine")
    inputs = query.inputs(None, until, start=start, watch=on_step)
    answer = query.evaluate(inputs)
    job = _check_indexed_replay(query, spark, RunOptions(start, until, index=True, kernel=kernel))
    results: Any = job.results
    last = results.last_verified_tick(inputs, answer, until)
    job = replace(job, options=replace(job.options, until=last))
    expected = answer.clipped(start, until)
    yield CheckResult("reference", len(expected), None)
    report_step("replaying as a batch")
    actual = results.collect_replay(dataframe(job, spark, live=False, rejected=rejected), start, until)
    differs = results.difference(expected, actual, index=job.options.index)
    yield CheckResult("replay", len(actual), differs or _compare_rejected(results.rejected(inputs), rejected))
    rejected.release()
    expected = answer.clipped(start, until, last)
    total = len(batch_rows(query.sources, inputs, last))
    for split in distinct_splits(parsed_splits, total) if any(source.runs_live for source in query.sources) else ():
        report_step(f"streaming, {split}")
        actual = stream_answer(query, spark, inputs, split, last, kernel).clipped(start, until)
        yield CheckResult(f"stream, {split}", len(actual), results.difference(expected, actual))


def _check_indexed_replay(query: Plannable, spark: SparkSession, options: RunOptions) -> Job:
    """Return a replay job that numbers the answer's tuples or, where Spark cannot, one without numbers."""
    try:
        return query.job(spark, options, live=False)
    except Unsupported:
        return query.job(spark, replace(options, index=False), live=False)


def _compare_rejected(expected: Mapping[str, Mapping[str, int]], rejected: RejectedRows) -> str | None:
    """Describe how Spark's rejected messages differ from `expected` counts by stream and reason; None if equal."""
    actual = {name: messages.counts for name, messages in rejected.messages().items()}
    return None if expected == actual else f"rejected: expected {dict(expected)}, found {actual}"


def distinct_splits(splits: Sequence[Split], rows: int) -> list[Split]:
    """Limit the micro-batches of each split of `rows` rows, so that no two splits are equal; drop what stays equal.

    A split that is enlarged to the size of an earlier one gets 10, 5 or 2 micro-batches instead.
    """
    chosen: list[Split] = []
    for split in splits:
        limited, batches = limit_batches(split, rows), MAX_BATCHES
        while limited in chosen and limited != split and batches > 3:
            batches //= 2
            limited = Split(-(-rows // batches))
        if limited not in chosen:
            chosen.append(limited)
    return chosen


def limit_batches(split: Split, rows: int) -> Split:
    """Enlarge the micro-batches of a split if it would otherwise make more than MAX_BATCHES from `rows` rows."""
    if split.rows is not None and rows / split.rows > MAX_BATCHES:
        return Split(-(-rows // MAX_BATCHES))
    return split
