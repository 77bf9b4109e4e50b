"""Average speed of many objects over their last 50 km, every 10 km: the kernel against PySpark by hand.

    python -m benchmarks.objects [--rows 5000000] [--objects 100000] [--times 3] [--buckets 16] [--without-kernel]

The peer is in `benchmarks/tracks_by_hand.py`. Before anything is timed, all its answers are compared with ours, and
those of 200 random objects with the reference engine. The state size is printed beside the bound from the hints of the
catalog, at 32 bytes (object, tick, x and y) per row. One line of JSON.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.measure import WEIGHING, Plan, Report, compare, figures, options, ratio, say, session, settings, stream
from benchmarks.measure import streamed as timed
from benchmarks.tracks import COLUMNS, SECONDS, Tracks, ours
from benchmarks.tracks_by_hand import by_hand

ROW_BYTES = 32
SAMPLE = 200
WANTED = 4.0
TOGETHER = {"spark.sql.execution.arrow.maxRecordsPerBatch": "100000"}
"""Larger Arrow batches than Spark's default, in favour of the peer."""


def checked(spark: SparkSession, tracks: Tracks, plans: dict[str, Plan], folder: Path) -> tuple[int, dict[str, Report]]:
    """The number of answers, and the report of each plan; SystemExit if an answer is wrong."""
    reports, digests = {}, {}
    expected = sample(tracks)
    for name, plan in plans.items():
        place = str(folder / name.replace(" ", "-"))
        with settings(spark, WEIGHING):
            report = stream(plan(), place).report
        assert report is not None
        reports[name] = report
        out = spark.read.schema("tick timestamp, car bigint, speed double").parquet(place)
        found = out.agg(F.count("*"), F.sum(F.xxhash64(*COLUMNS).cast("decimal(38,0)"))).first()
        digests[name] = tuple(found or ())
        sampled(out, expected, name)
    if len(set(digests.values())) > 1:
        raise SystemExit(f"the answers differ: {digests}")
    return int(next(iter(digests.values()))[0]), reports


def sample(tracks: Tracks) -> dict[int, list[tuple[Any, ...]]]:
    """The reference engine's answers for SAMPLE random objects, evaluated one object at a time."""
    drawn = np.random.default_rng(5).choice(tracks.objects, min(SAMPLE, tracks.objects), replace=False)
    rows = tracks.sample([int(car) for car in drawn])
    found, query = {}, tracks.query
    for car in map(int, drawn):
        answer = query.simulate({"cars": [row for row in rows if row[1] == car]}, tracks.until)
        found[car] = sorted((element.tick, *element.row) for element in answer.elements)
    return found


def sampled(out: DataFrame, expected: dict[int, list[tuple[Any, ...]]], name: str) -> None:
    """Compare the answers for some objects with the reference engine's; SystemExit if they differ."""
    of = out.where(F.col("car").isin(list(expected)))
    rows = of.select(F.unix_seconds("tick") - F.lit(SECONDS + 1), "car", "speed").collect()
    wanted = sorted(row for rows in expected.values() for row in rows)
    if sorted(map(tuple, rows)) != wanted or not wanted:
        raise SystemExit(f"{name} does not answer as the reference engine does")


def main() -> None:
    """Measure and print."""
    parser = options(__doc__, 5_000_000)
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--buckets", type=int, default=16, help="into how many buckets the peer puts the objects")
    parser.add_argument("--without-kernel", action="store_true", help="our plan without the kernel, too")
    given = parser.parse_args()
    spark = session()
    with tempfile.TemporaryDirectory() as place, settings(spark, TOGETHER):
        tracks = Tracks(Path(place) / "in", given.rows, given.objects).write()
        plans: dict[str, Plan] = {
            "kernel": partial(ours, spark, tracks, "on"),
            **({"python": partial(ours, spark, tracks, "off")} if given.without_kernel else {}),
            "by hand": partial(by_hand, spark, tracks, given.buckets),
        }
        answers, reports = checked(spark, tracks, plans, Path(place))
        results = compare({name: timed(plan) for name, plan in plans.items()}, given.times)
        entry = {
            "bench": "objects",
            "objects": given.objects,
            **figures(results, given.rows),
            "ratio": ratio(results, "kernel", "by hand", given.rows),
            "wanted": WANTED,
            "state bytes": {name: report.state_bytes for name, report in reports.items()},
            "bound rows": tracks.bound,
            "bound bytes": tracks.bound and tracks.bound * ROW_BYTES,
            "rows": given.rows,
            "answers": answers,
            "sampled": min(SAMPLE, given.objects),
        }
        say(entry, given.results)


if __name__ == "__main__":
    main()
