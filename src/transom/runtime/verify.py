"""The proof in the user's hands: the reference engine, a replay, and streams cut in several ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import SparkSession

from transom.catalog.extents import Extent, Kind
from transom.catalog.sources import Files
from transom.connectors.files.read import read_late
from transom.model.answer import Answer, AnswerKind
from transom.physical.plan import Kernel
from transom.reference.sources import Inputs
from transom.runtime.answers import difference, plain
from transom.runtime.composed_harness import is_mixed, sources_of, stream_rows
from transom.runtime.dataframe import dataframe
from transom.runtime.harness import gathered, stream_answer
from transom.runtime.job import Plannable
from transom.runtime.micro_batches import Split
from transom.runtime.options import RunOptions


class Verifiable(Plannable[Extent], Protocol):
    """A compiled query that the reference engine evaluates and Spark runs."""

    @property
    def gives(self) -> AnswerKind:
        """The kind of its answer."""
        ...

    def inputs(self, inputs: None = None, until: int | None = None, *, start: int = 0) -> Inputs:
        """The rows of the catalog's sources."""
        ...

    def simulate(self, inputs: None = None, until: int | None = None, *, start: int = 0) -> Answer:
        """The answer by the reference engine."""
        ...


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


def late(query: Plannable[Extent], until: int | None = None) -> list[Late]:
    """The rows of the catalog's files that came later than their extent's lateness allows."""
    found: list[Late] = []
    for extent in query.reads:
        if not isinstance(extent.source, Files) or extent.kind is Kind.STORED:
            continue
        rows = list(read_late(extent, extent.source, query.catalog.calendar, query.catalog.folder, until))
        if rows:
            place = f"{rows[0].origin.unit} {rows[0].origin.number} of {rows[0].origin.source}"
            found.append(Late(extent.name, len(rows), place, extent.lateness))
    return found


def verify(
    query: Verifiable,
    spark: SparkSession,
    *,
    splits: Sequence[str] = SPLITS,
    start: int = 0,
    until: int | None = None,
    watch: Callable[[str], None] | None = None,
    kernel: Kernel = "auto",
) -> Iterator[Check]:
    """Run the query in every way, one after the other; the first check is the reference with itself.

    The replay is compared with its index, so the order of its tuples counts; the streams run as `run` runs them.
    """
    tell = watch or (lambda _: None)
    cuts = [Split.read(text) for text in splits]
    tell("reading, and evaluating in the reference engine")
    inputs = query.inputs(None, until, start=start)
    expected = query.simulate(None, inputs.until, start=start)
    mixed = is_mixed(query.job(spark, RunOptions(kernel=kernel), live=False))
    index = query.gives == "tagged-tuples" and not mixed
    yield Check("reference", len(expected), None)
    tell("replaying as a batch")
    job = query.job(spark, RunOptions(start=start, until=inputs.until, index=index, kernel=kernel), live=False)
    frame = dataframe(job, spark, live=False)
    found = gathered(job, plain(frame, job.plan.schema, job.catalog.calendar).collect())
    yield Check("replay", len(found), difference(expected, found, index=index))
    sources = sources_of(job.sources, job.catalog, None, inputs.until, start=start) if mixed else None
    total = sources.total if sources else sum(len(elements) for elements in inputs.streams.values())
    for cut in cuts:
        pieces = fair(cut, total)
        tell(f"streaming, {pieces}")
        if sources is None:
            found = stream_answer(query, spark, inputs, pieces, kernel=kernel)
        else:
            found = gathered(*stream_rows(query, spark, sources, pieces, kernel=kernel))
        yield Check(f"stream, {pieces}", len(found), difference(expected, found, index=False))


def fair(cut: Split, rows: int) -> Split:
    """The split itself, or larger pieces where it would make too many micro-batches to wait for."""
    if cut.rows is not None and rows / cut.rows > MOST_BATCHES:
        return Split(-(-rows // MOST_BATCHES))
    return cut
