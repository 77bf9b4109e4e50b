"""A query on a topic in a process of its own, to be killed: `python -m tests.servers.kafka.late_child FOLDER JARS`.

It reads FOLDER/catalog.yaml, and says on its output which micro-batches are done.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

import transom
from tests.servers.kafka.late_rows import QUERY
from tests.spark.conftest import SETTINGS


def main(folder: Path, jars: Path) -> None:
    builder = SparkSession.builder.master("local[2]").appName("transom late")
    own = {"spark.driver.memory": "768m", "spark.jars": ",".join(map(str, sorted(jars.glob("*.jar"))))}
    for name, value in (SETTINGS | own).items():
        if "checkpointFileManager" not in name:  # what is killed writes its files as a user's query does
            builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    query = transom.compile(QUERY, transom.Catalog.load(folder / "catalog.yaml"))
    running = query.start(spark, f"parquet:{folder / 'out'}", folder / "checkpoint", once=True)
    seen = -1
    while running.is_active:
        if running.progress().batch != seen:
            seen = running.progress().batch
            print(seen, flush=True)
        time.sleep(0.1)
    running.wait()
    print("done", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
