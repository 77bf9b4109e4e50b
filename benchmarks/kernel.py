"""The kernel against Spark's `window()` for the same answer, and against our plans without the kernel.

    python -m benchmarks.kernel [--rows 2000000] [--times 3] [--skip-native]
                                [--settings 1,10,60,120,1f,10f,60f,120f,offset,rows]

1,000 keys, rows 1 ms apart, slide 1 s; SUM, COUNT, AVG and MAX of 64-bit integers. The number of a setting is its
range/slide; with an `f` the values are floats with two decimals, summed exactly on all sides. `offset` is FROM NOW-120
TO NOW-60 against the same width ending now. `rows` is row windows, against the machine in Python. One line of JSON per
setting.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.measure import Plan, agreed, compare, figures, options, ratio, say, session, streamed
from benchmarks.windows import COLUMNS, ROW_COLUMNS, Input, by_hand, by_rows, ours

KEYS = 1000
LEAST = {1: 1.5, 10: 3.0, 60: 7.0, 120: 12.0}
SETTINGS = [*map(str, LEAST), *(f"{width}f" for width in LEAST), "offset", "rows"]


def sliding(spark: SparkSession, source: Input, width: int, times: int, native: bool) -> dict[str, Any]:
    """Compare the kernel with Spark by hand, and with the native panes if `native`."""
    plans: dict[str, Plan] = {
        "kernel": partial(ours, spark, source, width, "on"),
        **({"native": partial(ours, spark, source, width, "off")} if native else {}),
        "by hand": partial(by_hand, spark, source, width),
    }
    answers, _ = agreed(spark, plans, COLUMNS)
    results = compare({name: streamed(plan) for name, plan in plans.items()}, times)
    return {
        "bench": "kernel, floats" if source.floats else "kernel",
        "range/slide": width,
        "keys": source.keys,
        **figures(results, source.rows),
        "ratio": ratio(results, "kernel", "by hand", source.rows),
        **({} if source.floats else {"wanted": LEAST[width]}),
        **({"to native": ratio(results, "kernel", "native", source.rows)} if native else {}),
        "rows": source.rows,
        "answers": answers,
    }


def offset(spark: SparkSession, source: Input, times: int) -> dict[str, Any]:
    """Compare a window that ends a minute ago with one that ends now; both answers are checked against Spark."""
    plans: dict[str, Plan] = {}
    for name, shift in (("offset", 60), ("ending now", 0)):
        plans[name] = partial(ours, spark, source, 61, "on", offset=shift)
        hand: Plan = partial(by_hand, spark, source, 61, offset=shift)
        answers, _ = agreed(spark, {name: plans[name], "by hand": hand}, COLUMNS)
    results = compare({name: streamed(plan) for name, plan in plans.items()}, times)
    return {
        "bench": "kernel, offset",
        "range/slide": 61,
        "keys": source.keys,
        **figures(results, source.rows),
        "ratio": ratio(results, "offset", "ending now", source.rows),
        "wanted": 0.8,
        "rows": source.rows,
        "answers": answers,
    }


def row_windows(spark: SparkSession, source: Input, times: int) -> dict[str, Any]:
    """Compare the row window machine in Java with the one in Python."""
    plans: dict[str, Plan] = {
        "kernel": partial(by_rows, spark, source, 100, "on"),
        "python": partial(by_rows, spark, source, 100, "off"),
    }
    answers, _ = agreed(spark, plans, ROW_COLUMNS)
    if answers != source.rows // 100:
        raise SystemExit(f"{answers} row windows, and there are {source.rows // 100}")
    results = compare({name: streamed(plan) for name, plan in plans.items()}, times)
    return {
        "bench": "kernel, row windows",
        "rows of a window": 100,
        **figures(results, source.rows),
        "ratio": ratio(results, "kernel", "python", source.rows),
        "wanted": 4.0,
        "rows": source.rows,
        "answers": answers,
    }


def main() -> None:
    """Measure and print."""
    parser = options(__doc__, 2_000_000)
    parser.add_argument("--settings", default=",".join(SETTINGS))
    parser.add_argument("--skip-native", action="store_true", help="leave out our plans without the kernel")
    given = parser.parse_args()
    chosen = given.settings.split(",")
    spark = session()
    with tempfile.TemporaryDirectory() as place:
        whole = Input(Path(place) / "whole", given.rows, KEYS).write()
        if any(name.endswith("f") for name in chosen):
            floats = Input(Path(place) / "floats", given.rows, KEYS, floats=True).write()
        for name in chosen:
            if name == "offset":
                entry = offset(spark, whole, given.times)
            elif name == "rows":
                entry = row_windows(spark, whole, given.times)
            else:
                source = floats if name.endswith("f") else whole
                entry = sliding(spark, source, int(name.removesuffix("f")), given.times, not given.skip_native)
            say(entry, given.results)


if __name__ == "__main__":
    main()
