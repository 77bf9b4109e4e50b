"""Many cases on Spark: streams side by side, replays united in one job.

Streams are not united: measured over 8 golden cases cut into single rows, groups of four in one streaming query took
46 s of CPU, and each case for itself 22 s. In a united query every operator of every case works in every micro-batch,
and that costs more than the micro-batches that are saved. Replays have one job per group, which saves a fifth.
"""

from __future__ import annotations

import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import transom
from tests.spark.trying import interpreted, patiently, side_by_side
from transom.model.answer import Answer
from transom.model.rdf.answer import RdfAnswer
from transom.physical.nodes.windows import KernelMode
from transom.query import Query
from transom.reference.sources import Inputs
from transom.runtime.results import rdf, results
from transom.runtime.results import rows as answers
from transom.runtime.verify import harness, micro_batches
from transom.runtime.verify.micro_batches import Split

T = TypeVar("T")
Found = Answer | RdfAnswer | str
"""An answer, or why there is none."""
TOGETHER = 4
"""Replays in one job."""


@dataclass(frozen=True)
class Asked(ABC):
    """A query on its inputs; the name is for reports."""

    name: str

    @abstractmethod
    def stream(self, spark: SparkSession, split: Split, kernel: KernelMode) -> Answer | RdfAnswer:
        """The answer as a stream."""

    @abstractmethod
    def replay(self, spark: SparkSession, folder: Path, kernel: KernelMode) -> DataFrame:
        """The plain result as a batch, over files that are written into a folder."""

    @abstractmethod
    def answer(self, rows: Sequence[Any]) -> Answer | RdfAnswer:
        """The rows of a plain result as an answer."""


@dataclass(frozen=True)
class Relational(Asked):
    """A query of SNEEql or CQL."""

    query: transom.Query
    inputs: Inputs
    index: bool = False

    def stream(self, spark: SparkSession, split: Split, kernel: KernelMode) -> Answer:
        return harness.stream_answer(self.query, spark, self.inputs, split, index=self.index, kernel=kernel)

    def replay(self, spark: SparkSession, folder: Path, kernel: KernelMode) -> DataFrame:
        paths = micro_batches.write_streams(folder, self.query.sources, self.inputs, Split())
        until, index = self.inputs.until, self.index
        _, made = harness.job_and_frame(
            self.query, spark, self.inputs, paths, until, index=index, live=False, kernel=kernel
        )
        return results.plain_frame(made, self.query.optimized.schema, self.query.catalog.calendar)

    def answer(self, rows: Sequence[Any]) -> Answer:
        return answers.answer_from_rows(rows, self.query.optimized.schema, self.query.columns, self.query.result_kind)


@dataclass(frozen=True)
class OverRdf(Asked):
    """A query of Streaming SPARQL; a stream tells the changes up to a tick."""

    query: Query
    inputs: Inputs
    until: int

    def stream(self, spark: SparkSession, split: Split, kernel: KernelMode) -> RdfAnswer:
        return harness.stream_answer(self.query, spark, self.inputs, split, self.until, kernel)

    def replay(self, spark: SparkSession, folder: Path, kernel: KernelMode) -> DataFrame:
        paths = micro_batches.write_streams(folder, self.query.sources, self.inputs, Split())
        job, made = harness.job_and_frame(self.query, spark, self.inputs, paths, None, live=False, kernel=kernel)
        return job.results.plain(made)

    def answer(self, rows: Sequence[Any]) -> RdfAnswer:
        return rdf.rdf_answer_from_rows(rows, self.query.physical(), self.query.result_kind, self.query.columns)


def differences(
    spark: SparkSession,
    cases: Sequence[Asked],
    split: Split | None,
    kernel: KernelMode,
    differs: Callable[[str, Any], str | None],
    together: int = TOGETHER,
) -> dict[str, str]:
    """What is wrong with the answers of cases, by name: `differs` compares the answer of a name."""
    found = found_answers(spark, cases, split, kernel, together)
    seen = {name: answer if isinstance(answer, str) else differs(name, answer) for name, answer in found.items()}
    return {name: what for name, what in seen.items() if what is not None}


def found_answers(
    spark: SparkSession, cases: Sequence[Asked], split: Split | None, kernel: KernelMode, together: int = TOGETHER
) -> Mapping[str, Found]:
    """The answer of every case by its name, as a stream, or without a split as a replay; or why there is none.

    So many replays go together in one job.
    """
    jobs: list[Callable[[], dict[str, Found]]]
    if split is None:
        jobs = [partial(_replays, spark, group, kernel) for group in groups(cases, together)]
    else:
        jobs = [partial(_streamed, spark, case, split, kernel) for case in cases]
    found = {name: answer for some in side_by_side(jobs) for name, answer in some.items()}
    assert len(found) == len(cases), "two cases have one name"
    return found


def _streamed(spark: SparkSession, case: Asked, split: Split, kernel: KernelMode) -> dict[str, Found]:
    session = interpreted(spark, split)
    try:
        return {case.name: patiently(lambda: case.stream(session, split, kernel))}
    except PySparkException as error:
        return {case.name: _words(error)}


def _replays(spark: SparkSession, cases: Sequence[Asked], kernel: KernelMode) -> dict[str, Found]:
    """The answers of cases in one job; if it fails, every case has a job, so that the report names the failing one."""
    try:
        return patiently(lambda: _united(spark, cases, kernel))
    except PySparkException as error:
        if len(cases) == 1:
            return {cases[0].name: _words(error)}
        return {name: answer for case in cases for name, answer in _replays(spark, [case], kernel).items()}


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:2000]}"


def _united(spark: SparkSession, cases: Sequence[Asked], kernel: KernelMode) -> dict[str, Found]:
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    try:
        frames = [case.replay(spark, folder / str(number), kernel) for number, case in enumerate(cases)]
        rows = united(frames).collect()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    own: dict[int, list[Any]] = {number: [] for number in range(len(cases))}
    for row in rows:
        (number,) = (number for number, cell in enumerate(row) if cell is not None)
        own[number].append(row[number])
    return {case.name: case.answer(own[number]) for number, case in enumerate(cases)}


def united(frames: Sequence[DataFrame]) -> DataFrame:
    """One DataFrame with a struct column per frame, of which one is not NULL in each row."""
    types = [frame.schema for frame in frames]
    wide = [
        frame.select(
            *(
                (F.struct("*") if other == number else F.lit(None).cast(kind)).alias(f"case_{other}")
                for other, kind in enumerate(types)
            )
        )
        for number, frame in enumerate(frames)
    ]
    return reduce(DataFrame.union, wide)


def groups(cases: Sequence[T], size: int = TOGETHER) -> list[Sequence[T]]:
    """Cases in groups of almost equal size, at most as large as given."""
    count = -(-len(cases) // size)
    bounds = [len(cases) * number // count for number in range(count + 1)] if count else []
    return [cases[first:last] for first, last in pairwise(bounds)]
