"""What a setting that is fixed in a checkpoint costs: state format 2 against state format 1, for the same query.

    python -m benchmarks.settings [--rows N] [--times 3] [--results lines.jsonl]

The query is the sliding sum of `benchmarks.sliding` over 120 s with 1,000 keys, in the kernel. The line of JSON has
rows per second and per CPU second, and the median milliseconds of a micro-batch.
"""

from __future__ import annotations

import statistics
import tempfile
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks import sliding
from benchmarks.measure import Contestant, Plan, Spent, agreed, compare, figures, options, ratio, say, session, stream
from benchmarks.measure import settings as applied
from transom.runtime.checkpoint.settings import STATE_FORMAT

ROWS, WINDOWS, KEYS = 2_000_000, 120, 1000


def with_format(spark: SparkSession, plan: Plan, number: str) -> Contestant:
    """A contestant that starts a plan with a checkpoint of one state format."""

    def run() -> Spent:
        with applied(spark, {STATE_FORMAT: number}):
            return stream(plan())

    return run


def main() -> None:
    """Measure and print."""
    given = options(__doc__, ROWS).parse_args()
    spark = session()
    until = given.rows // 1000 + 130
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sliding.write(folder, given.rows, KEYS)
        plan = partial(sliding.ours, spark, folder, WINDOWS, KEYS, until)
        contestants = {f"format {number}": with_format(spark, plan, number) for number in "12"}
        answers, _ = agreed(spark, {"format 1": lambda: plan().where("n > 0")}, ["tick", "k", "total", "n"])
        results = compare(contestants, given.times)
    entry = {
        "bench": "settings",
        "setting": "state format",
        **figures(results, given.rows),
        "ms per micro-batch": {
            name: statistics.median(ms for run in result.runs if run.report for ms in run.report.batches)
            for name, result in results.items()
        },
        "ratio": ratio(results, "format 2", "format 1", given.rows),
        "rows": given.rows,
        "answers": answers,
    }
    say(entry, given.results)


if __name__ == "__main__":
    main()
