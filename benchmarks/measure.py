"""Timing streaming queries against each other in one session, interleaved."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.spark.session import SETTINGS

Plan = Callable[[], DataFrame]


def session() -> SparkSession:
    """A session as a careful user would set it, the same for both sides."""
    builder = SparkSession.builder.master("local[2]").appName("benchmarks")
    settings = {
        **SETTINGS,
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "6g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def seconds(frame: DataFrame) -> float:
    """How long a streaming query takes for all that its sources hold, from start to the last micro-batch."""
    folder = Path(tempfile.mkdtemp())
    began = time.perf_counter()
    running = frame.writeStream.format("noop").option("checkpointLocation", str(folder)).start()
    try:
        running.processAllAvailable()
        return time.perf_counter() - began
    finally:
        running.stop()
        shutil.rmtree(folder, ignore_errors=True)


def answer(spark: SparkSession, frame: DataFrame, columns: list[str]) -> tuple[int, int]:
    """How many rows a streaming query gives, and a number that depends on all of them but not on their order."""
    folder = Path(tempfile.mkdtemp())
    rows = frame.select(F.xxhash64(*columns).alias("h"))
    running = rows.writeStream.format("parquet").option("checkpointLocation", str(folder / "c"))
    running = running.start(str(folder / "out"))
    try:
        running.processAllAvailable()
    finally:
        running.stop()
    out = spark.read.parquet(str(folder / "out")).agg(F.count("h"), F.sum(F.col("h").cast("decimal(38,0)"))).first()
    shutil.rmtree(folder, ignore_errors=True)
    return int(out[0]), int(out[1] or 0)


def compare(plans: Mapping[str, Plan], rows: int, times: int) -> dict[str, float]:
    """Rows per second of each plan: interleaved, the median; the first round warms up and does not count."""
    taken: dict[str, list[float]] = {name: [] for name in plans}
    for number in range(times + 1):
        for name, plan in plans.items():
            spent = seconds(plan())
            if number:
                taken[name].append(spent)
    return {name: rows / statistics.median(spent) for name, spent in taken.items()}


def say(entry: Mapping[str, Any]) -> None:
    """One line of JSON."""
    print(json.dumps(entry), flush=True)
