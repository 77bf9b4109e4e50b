"""Ways of putting inputs through a query on Spark, at little cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import transom
from transom.model.answer import Answer
from transom.physical.nodes.windows import KernelMode
from transom.reference.sources import Inputs
from transom.runtime.verify.harness import replay_answer, stream_answer
from transom.runtime.verify.micro_batches import Split

T = TypeVar("T")
SLOW_START = "Python worker failed to connect back"
ONE_ROW, UNEVEN, OTHERWISE_UNEVEN, AT_ONCE = Split(1), Split(seed=3), Split(seed=8), Split()
SPLITS = {"one-row": ONE_ROW, "uneven-3": UNEVEN, "uneven-8": OTHERWISE_UNEVEN, "all-at-once": AT_ONCE}


@cache
def plain(spark: SparkSession) -> SparkSession:
    """A session whose operators and expressions run as they are: writing code for them pays only with many rows.

    It takes the streams that are cut small; what comes at once goes through the settings of the session itself.
    """
    session = spark.newSession()
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    return session


def side_by_side(jobs: Sequence[Callable[[], T]]) -> list[T]:
    """What some jobs give, three at a time: a micro-batch mostly waits, for files and for Python to start."""
    with ThreadPoolExecutor(3) as pool:
        return [done.result() for done in [pool.submit(job) for job in jobs]]


def interpreted(spark: SparkSession, split: Split) -> SparkSession:
    """The session for a split: micro-batches of few rows run without generated code."""
    return spark if split == AT_ONCE else plain(spark)


def stream(
    query: transom.Query,
    spark: SparkSession,
    inputs: Inputs,
    split: Split,
    *,
    index: bool = False,
    kernel: KernelMode = "auto",
) -> Answer:
    """The answer as a stream."""
    session = interpreted(spark, split)
    return patiently(lambda: stream_answer(query, session, inputs, split, index=index, kernel=kernel))


def replay(
    query: transom.Query,
    spark: SparkSession,
    inputs: Inputs,
    *,
    index: bool = False,
    kernel: KernelMode = "auto",
) -> Answer:
    """The answer as a batch."""
    return patiently(lambda: replay_answer(query, spark, inputs, index=index, kernel=kernel))


def patiently(job: Callable[[], T]) -> T:
    """A job again, if all that was wrong is that Python took longer to start than the ten seconds that Spark waits."""
    for _ in range(3):
        try:
            return job()
        except PySparkException as error:
            if SLOW_START not in str(error):
                raise
    return job()
