"""Cost of a ChangeJoin per tick when the windows hold ten times the rows, with the same arrivals and changes.

    python -m benchmarks.change_join [--held 2000] [--times 10] [--ticks 20] [--arrivals 50] [--kernel on]

Two relations, each with the newest row of every key, are joined by key. All keys get a row at tick 0; after that, rows
come only for the same few keys. Prints one line of JSON for each number of rows held, then the ratio of the times.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
from pathlib import Path
from typing import Any

import transom
from benchmarks.measure import session

TEXT = (
    "SELECT IStream(A.id, A.v, B.v AS other) FROM A=one [PARTITION BY id ROWS 1], B=two [PARTITION BY id ROWS 1] "
    "WHERE A.id = B.id"
)
ATTRIBUTES = ["id:integer", "v:integer"]
CATALOG = transom.Catalog.from_dict(
    {"extents": {name: {"kind": "pushed", "attributes": ATTRIBUTES, "keys": 1_000_000} for name in ("one", "two")}}
)


def write(folder: Path, held: int, files: int, ticks: int, arrivals: int) -> None:
    """Write for each relation one file that fills the windows, and `files` files of `ticks` ticks each."""
    rng = random.Random(1)  # noqa: S311 - a stream that is the same in every run
    for name in ("one", "two"):
        (folder / name).mkdir(parents=True)
    for number in range(files + 1):
        for name in ("one", "two"):
            if number == 0:
                rows = [(0, key, 0) for key in range(held)]
            else:
                first = 1 + (number - 1) * ticks
                hot = range(2 * arrivals)
                rows = [(t, key, t) for t in range(first, first + ticks) for key in rng.sample(hot, arrivals)]
            file = folder / name / f"{number:04}.json"
            file.write_text("".join(json.dumps({"tick": t, "id": key, "v": v}) + "\n" for t, key, v in rows))
            os.utime(file, (number, number))


def per_tick(spark: Any, held: int, given: argparse.Namespace) -> tuple[float, int]:
    """The median seconds per tick, and the number of answer rows."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder / "in", held, given.times, given.ticks, given.arrivals)
        query = transom.compile(TEXT, CATALOG, language="cql")
        read = spark.readStream.option("maxFilesPerTrigger", 1).schema("tick bigint, id bigint, v bigint")
        streams = {name: read.json(str(folder / "in" / name)) for name in ("one", "two")}
        frame = query.to_df(spark, streams, kernel=given.kernel)
        writer = frame.writeStream.format("parquet").option("path", str(folder / "out"))
        running = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
        running.processAllAvailable()
        reports = [report for report in running.recentProgress if report.numInputRows > 0]
        running.stop()
        seconds = [report.durationMs["triggerExecution"] / 1000 / given.ticks for report in reports[2:]]
        return statistics.median(seconds), spark.read.parquet(str(folder / "out")).count()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("held", 2000), ("times", 10), ("ticks", 20), ("arrivals", 50)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--kernel", default="on")
    given = parser.parse_args()
    spark = session()
    per_tick(spark, 100, given)  # warm-up: Spark generates and compiles its code
    found: dict[int, float] = {}
    for held in (given.held, 10 * given.held):
        found[held], answers = per_tick(spark, held, given)
        entry = {"bench": "change_join", "held": 2 * held, "milliseconds per tick": round(1000 * found[held], 1)}
        print(json.dumps(entry | {"answers": answers}), flush=True)
    print(f"ten times the rows held: {found[10 * given.held] / found[given.held]:.2f} times the time of a tick")


if __name__ == "__main__":
    main()
