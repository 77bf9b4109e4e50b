"""Queries in a process to be killed: `python -m tests.spark.kills.chaos_child SHAPES KERNEL SEED TICKS FOLDER`.

SHAPES are names with commas between them. Each reads FOLDER/SHAPE/in, writes FOLDER/SHAPE/out and goes on from
FOLDER/SHAPE/checkpoint; the process says on its output what has been done.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from tests.spark.classes import options
from tests.spark.conftest import SETTINGS
from tests.spark.kills.shapes_composed import KILLABLE
from tests.spark.kills.shapes_rdf import Linked
from transom.physical.nodes.windows import KernelMode
from transom.runtime.start import Running
from transom.runtime.verify.micro_batches import read_streams, table_frames


def session(more: str = "", jars: str = "", settings: Mapping[str, str] | None = None) -> SparkSession:
    """A session as a query that is killed has it; `more` is said to its JVM, `jars` are loaded into it.

    `settings` replace those of the session.
    """
    builder = SparkSession.builder.master("local[2]").appName("transom chaos")
    own = {
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "768m",
        "spark.driver.extraJavaOptions": options(more),
        "spark.log.level": "OFF",
    }
    if jars:
        own["spark.jars"] = jars
    for name, value in (SETTINGS | own | dict(settings or {})).items():
        if "checkpointFileManager" not in name:  # what is killed writes its files as a user's query does
            builder = builder.config(name, value)
    return builder.getOrCreate()


def begin(
    spark: SparkSession, shape: str, kernel: KernelMode, seed: int, ticks: int, folder: Path, sink: str = ""
) -> Running:
    """The query, started or gone on with; without another `sink`, it writes to FOLDER/out."""
    asked = KILLABLE[shape]
    sink, checkpoint = sink or f"parquet:{folder / 'out'}", folder / "checkpoint"
    if isinstance(asked, Linked):
        statements = asked.sources(spark, folder / "in")
        until = asked.until(ticks)
        return asked.query().start(spark, sink, checkpoint, sources=statements, until=until, once=True, kernel=kernel)
    query, inputs = asked.query(), asked.inputs(seed, ticks)
    given = query.inputs(inputs, ticks - 1)
    paths = {name: folder / "in" / name for name in asked.streams}
    sources = read_streams(spark, query.sources, paths, live=True)
    sources |= table_frames(spark, query.sources, given)
    return query.start(
        spark, sink, checkpoint, sources=sources, until=ticks - 1, once=True, kernel=kernel, allow_unbounded=True
    )


def report(shape: str, running: Running) -> None:
    """A line for every micro-batch."""
    seen = -1
    while running.is_active:
        last = running.stream.lastProgress
        if last and last["batchId"] > seen:
            seen = last["batchId"]
            print(f"batch {shape} {seen}", flush=True)
        time.sleep(0.02)


def end_with(parent: int) -> None:
    """Whoever kills the parent leaves no query behind."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def main() -> None:
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    shapes, seed, ticks, folder = sys.argv[1].split(","), int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5])
    kernel: KernelMode = "on" if sys.argv[2] == "on" else "off"
    spark = session()
    all_running = {shape: begin(spark, shape, kernel, seed, ticks, folder / shape) for shape in shapes}
    print("started", flush=True)
    for shape, running in all_running.items():
        threading.Thread(target=report, args=(shape, running), daemon=True).start()
    for running in all_running.values():
        running.wait()
    print("done", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
