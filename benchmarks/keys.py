"""Many keys, and small micro-batches: the kernel against Spark by hand.

    python -m benchmarks.keys [--rows 5000000] [--times 3] [--keys 1000,10000,100000,1000000] [--limit 900]

Keys: windows of 60 s that slide by 1 s. Figures are rows/s in and out, the time of a batch, and the largest state in
bytes, beside the bytes of the rows in a window (key, tick and value: 24 bytes). A run that exceeds the limit is
stopped, and its rate is that of the batches it had finished. Answers and state are compared on a tenth of the rows; at
full size only the number of output rows is compared.

Small batches: 41 of 500 rows each; the figure is the median time of a batch.
"""

from __future__ import annotations

import statistics
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.measure import Plan, Result, agreed, compare, figures, options, ratio, say, session, streamed
from benchmarks.windows import COLUMNS, Input, by_hand, ours

WIDTH = 60
ROW_BYTES = 24


def plans_of(spark: SparkSession, source: Input) -> dict[str, Plan]:
    """The plans to compare."""
    return {"kernel": partial(ours, spark, source, WIDTH, "on"), "by hand": partial(by_hand, spark, source, WIDTH)}


def batch_ms(result: Result) -> int | None:
    """The median time of a batch with data over all runs, the first batch of each excluded."""
    found = [ms for run in result.runs if run.report for ms in run.report.batches[1:]]
    return round(statistics.median(found)) if found else None


def many_keys(spark: SparkSession, folder: Path, rows: int, keys: int, times: int, limit: float) -> dict[str, Any]:
    """Compare rates, batch times and state for one number of keys."""
    least = Input(folder / "least", max(rows // 10, 1), keys).write()
    _, weighed = agreed(spark, plans_of(spark, least), COLUMNS, weigh=True)
    source = Input(folder / "all", rows, keys).write()
    contestants = {name: streamed(plan, limit) for name, plan in plans_of(spark, source).items()}
    results = compare(contestants, times)
    out = {name: result.report.rows_out for name, result in results.items()}
    if all(result.finished for result in results.values()) and len(set(out.values())) > 1:
        raise SystemExit(f"the answers differ: {out}")
    return {
        "bench": "keys",
        "range/slide": WIDTH,
        "keys": keys,
        **figures(results, rows),
        "rows out/s": {name: round(out[name] / result.seconds) for name, result in results.items()},
        "batch ms": {name: batch_ms(result) for name, result in results.items()},
        "state bytes": {name: report.state_bytes for name, report in weighed.items()},
        "state rows": {name: report.state_rows for name, report in weighed.items()},
        "window bytes": min(WIDTH * 1000, least.rows) * ROW_BYTES,
        "ratio": ratio(results, "kernel", "by hand", rows),
        "wanted": 1.0,
        "limit s": limit,
        "rows": rows,
        "checked rows": least.rows,
        "answers": out["kernel"],
    }


def small_batches(spark: SparkSession, folder: Path, times: int, batches: int = 41, each: int = 500) -> dict[str, Any]:
    """Compare the median time of small batches; the ratio is time by hand to time of the kernel."""
    source = Input(folder, batches * each, 1000, files=batches).write()
    plans = plans_of(spark, source)
    answers, _ = agreed(spark, plans, COLUMNS)
    results = compare({name: streamed(plan) for name, plan in plans.items()}, times)
    taken = {name: batch_ms(result) for name, result in results.items()}
    mine, theirs = taken["kernel"], taken["by hand"]
    return {
        "bench": "small batches",
        "range/slide": WIDTH,
        "keys": 1000,
        **figures(results, source.rows),
        "batch ms": taken,
        "ratio": round(theirs / mine, 2) if mine and theirs else None,
        "wanted": 1.0,
        "batches": batches,
        "rows of a batch": each,
        "answers": answers,
    }


def main() -> None:
    """Measure and print."""
    parser = options(__doc__, 5_000_000)
    parser.add_argument("--keys", default="1000,10000,100000,1000000")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds that one run may take")
    parser.add_argument("--batches", type=int, default=41, help="small batches; 0 leaves them out")
    given = parser.parse_args()
    spark = session()
    if given.batches:
        with tempfile.TemporaryDirectory() as place:
            say(small_batches(spark, Path(place), given.times, given.batches), given.results)
    for keys in map(int, given.keys.split(",") if given.keys else []):
        with tempfile.TemporaryDirectory() as place:
            say(many_keys(spark, Path(place), given.rows, keys, given.times, given.limit), given.results)


if __name__ == "__main__":
    main()
