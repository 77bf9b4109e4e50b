"""The proof in the user's hands: the reference engine, a replay, and streams cut in several ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import SparkSession

from transom.catalog.extents import Kind
from transom.catalog.sources import Files
from transom.connectors.files.read import read_late
from transom.errors import Unsupported
from transom.physical.plan import Kernel
from transom.runtime.dataframe import dataframe
from transom.runtime.harness import stream_answer
from transom.runtime.job import Job, Plannable
from transom.runtime.micro_batches import Split, arrivals
from transom.runtime.options import RunOptions
from transom.spark.rejected import Rejected

SPLITS = ("1", "7", "all")
MOST_BATCHES = 20
"""Micro-batches that a split by single rows may make before larger pieces are taken."""


@dataclass(frozen=True)
class Check:
    """One way of running the query: what it was, how many tuples or windows it gave, the first difference if any."""

    way: str
    count: int
    difference: str | None

    @property
    def agrees(self) -> bool:
        """Whether it gave what the reference gives."""
        return self.difference is None


@dataclass(frozen=True)
class Late:
    """Rows of an extent that a live run could have dropped (E12): how many, and where the first one stands."""

    extent: str
    count: int
    first: str
    behind: int


def late(query: Plannable, until: int | None = None) -> list[Late]:
    """The rows of the catalog's files that came later than their extent's lateness allows."""
    found: list[Late] = []
    for extent in query.reads:
        if not isinstance(extent.source, Files) or extent.kind is Kind.STORED or extent.holds_statements:
            continue  # a file of statements is in the order of its messages, not of its ticks
        rows = list(read_late(extent, extent.source, query.catalog.calendar, query.catalog.folder, until))
        if rows:
            place = f"{rows[0].origin.unit} {rows[0].origin.number} of {rows[0].origin.source}"
            found.append(Late(extent.name, len(rows), place, extent.lateness))
    return found


def verify(
    query: Plannable,
    spark: SparkSession,
    *,
    splits: Sequence[str] = SPLITS,
    start: int = 0,
    until: int | None = None,
    watch: Callable[[str], None] | None = None,
    kernel: Kernel = "auto",
    rejected: Rejected | None = None,
) -> Iterator[Check]:
    """Run the query in every way, one after the other; the first check is the reference with itself.

    The replay is compared with its index, so the order of its tuples counts, and must reject the same messages. The
    streams run as `run` runs them, up to the last tick that says anything.
    """
    tell, rejected = watch or (lambda _: None), rejected or Rejected()
    cuts = [Split.read(text) for text in splits]
    tell("reading, and evaluating in the reference engine")
    inputs = query.inputs(None, until, start=start)
    whole = query.evaluate(inputs)
    job = _with_index(query, spark, RunOptions(start, until, index=True, kernel=kernel))
    results: Any = job.results
    last = results.last_of(inputs, whole, until)
    job = replace(job, options=replace(job.options, until=last))
    expected = whole.known(start, until)
    yield Check("reference", len(expected), None)
    tell("replaying as a batch")
    found = results.of_replay(dataframe(job, spark, live=False, rejected=rejected), start, until)
    differs = results.difference(expected, found, index=job.options.index)
    yield Check("replay", len(found), differs or _rejected_alike(results.rejected(inputs), rejected))
    rejected.forget()
    expected = whole.known(start, until, last)
    total = len(arrivals(query.reads, inputs, last))
    for cut in cuts if any(source.runs_live for source in query.reads) else ():
        pieces = fair(cut, total)
        tell(f"streaming, {pieces}")
        found = stream_answer(query, spark, inputs, pieces, last, kernel).known(start, until)
        yield Check(f"stream, {pieces}", len(found), results.difference(expected, found))


def _with_index(query: Plannable, spark: SparkSession, options: RunOptions) -> Job:
    """A replay with the running index of its tuples, where Spark keeps their order."""
    try:
        return query.job(spark, options, live=False)
    except Unsupported:
        return query.job(spark, replace(options, index=False), live=False)


def _rejected_alike(expected: Mapping[str, Mapping[str, int]], rejected: Rejected) -> str | None:
    found = {name: messages.counts for name, messages in rejected.messages().items()}
    return None if expected == found else f"rejected: expected {dict(expected)}, found {found}"


def fair(cut: Split, rows: int) -> Split:
    """The split itself, or larger pieces where it would make too many micro-batches to wait for."""
    if cut.rows is not None and rows / cut.rows > MOST_BATCHES:
        return Split(-(-rows // MOST_BATCHES))
    return cut
