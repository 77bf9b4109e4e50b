"""Spark, bare or with Transom, as a peer: `python -m benchmarks.peers.on_spark bare|transom FOLDER ROWS`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.measure import session, stream
from benchmarks.peers.events import KEYS, WIDTH
from benchmarks.peers.speak import serve
from benchmarks.windows import Input, by_hand, ours


class Events(Input):
    """The events as text."""

    def stream(self, spark: SparkSession) -> DataFrame:
        """A part per micro-batch."""
        reader = spark.readStream.schema("ts bigint, k bigint, v bigint").option("maxFilesPerTrigger", 1)
        lines = reader.csv(str(self.folder / "parts"))
        return lines.select(F.timestamp_millis("ts").alias("ts"), "k", "v")


def main(kind: str, folder: str, rows: str) -> None:
    """Serve."""
    spark = session()
    source = Events(Path(folder), int(rows), KEYS)
    plan = partial(ours, spark, source, WIDTH, "on") if kind == "transom" else partial(by_hand, spark, source, WIDTH)

    def answer(place: str) -> None:
        frame = plan().select(F.unix_millis("tick").alias("tick"), "k", "total", "n", "mean", "top")
        stream(frame, place)

    def run() -> None:
        stream(plan())

    def read() -> None:
        stream(source.stream(spark))

    serve(f"Spark {spark.version}", answer, run, read)


if __name__ == "__main__":
    main(*sys.argv[1:])
