"""A few golden cases in another place: `python -m tests.spark.elsewhere --where cluster|connect|local`.

A program of its own, as a process has one session: two workers in processes of their own, Spark Connect, or a local
session. The local session is of the PySpark that is installed: an environment made by `.ci/pyspark` has an earlier one.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import product

import pyspark
from pyspark.sql import SparkSession

import transom
from tests.cases import Case, catalog_of, golden_cases, inputs_of
from transom.errors import UsageError
from transom.physical.nodes.windows import KernelMode
from transom.runtime.kernel import choose_kernel
from transom.runtime.results.rows import row_difference
from transom.runtime.verify.harness import replay_answer, stream_answer
from transom.runtime.verify.micro_batches import Split
from transom.spark.session import SETTINGS

CASES = {
    "s14": "a product of row windows and a table in a machine, and the clock",
    "s07": "row windows in a machine",
    "s11": "aggregates of empty windows, by the clock",
    "s13": "a native join of different slides",
    "s17": "what comes, natively, with duplicates",
    "s22": "groups by panes",
    "s24": "a table that changes",
}
PORTABLE = ("s07", "s11", "s13", "s14")
"""Those that are tried without the kernel too, and over Spark Connect: machines, the clock, a native join."""
REPLAYED = ("s11", "s14")
"""Those that are also tried as a replay, before the session runs its first stream."""

QUIET = {
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def session(where: str) -> SparkSession:
    """The session of a place."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.appName(f"transom on {where}")
    if where == "connect":
        builder = builder.remote("local[2]")
    else:
        builder = builder.master("local-cluster[2,1,1024]" if where == "cluster" else "local[2]")
    for name, value in (QUIET | SETTINGS).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def place_of(spark: SparkSession) -> str:
    """Where a session really runs: in words that a wrong place could not say."""
    if "connect" in type(spark).__module__:
        return f"connect, PySpark {pyspark.__version__}"
    return f"{spark.sparkContext.master}, PySpark {pyspark.__version__}"


def ways(spark: SparkSession, where: str) -> tuple[KernelMode, ...]:
    """With the kernel and without; Spark Connect takes no jar, says so, and is left to itself."""
    if where != "connect":
        return ("on", "off")
    try:
        choose_kernel(spark, "on")
    except UsageError as refusal:
        if "has no JVM of its own" in (refusal.detail or ""):
            return ("auto",)
    raise SystemExit("Spark Connect should refuse the kernel")


def trials(kernels: Sequence[KernelMode]) -> Iterator[tuple[Case, Split | None, KernelMode]]:
    """The cases that are tried, with a split, or with None for a replay; all replays come before the first stream.

    A stream starts parts of Spark that a batch may need too, such as the coordinator of state stores.
    """
    cases = [case for case in golden_cases() if case.name[:3] in CASES]
    for split, kernel, case in product((None, Split(4)), kernels, cases):
        name = case.name[:3]
        if (kernel == "on" or name in PORTABLE) and (split is not None or name in REPLAYED):
            yield case, split, kernel


def try_case(spark: SparkSession, case: Case, split: Split | None, kernel: KernelMode) -> str | None:
    """The first difference from the golden answer by the reference, or None; without a split as a replay."""
    query = transom.compile(case.text, catalog_of(case.schema))
    inputs = inputs_of(case.schema, case.inputs)
    expected = query.simulate(inputs, until=case.until)
    given = query.inputs(inputs, case.until)
    index = query.result_kind == "tagged-tuples"
    if split is None:
        found = replay_answer(query, spark, given, index=index, kernel=kernel)
    else:
        found = stream_answer(query, spark, given, split, index=index, kernel=kernel)
    return row_difference(expected, found, index=index)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--where", choices=("cluster", "connect", "local"), required=True)
    where = parser.parse_args().where
    spark = session(where)
    print(place_of(spark), flush=True)
    wrong = 0
    for case, split, kernel in trials(ways(spark, where)):
        began = time.monotonic()
        unlike = try_case(spark, case, split, kernel)
        wrong += unlike is not None
        said = unlike or "right"
        taken = f"{time.monotonic() - began:.1f} s"
        print(f"{case.name} {split or 'replay'}, kernel {kernel}: {said} ({taken})", flush=True)
    spark.stop()
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
