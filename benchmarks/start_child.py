"""Child process of `benchmarks.start`: runs queries over RDF streams with the Transom that is on its PYTHONPATH.

It uses nothing else of this checkout, so that it can measure another one. Each input line is a query as JSON; it is run
if `run` is true, otherwise only planned. Each output line is `child:` followed by JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import transom
from transom.spark.session import SETTINGS

try:
    from transom.physical.nodes.walk import walk
except ModuleNotFoundError:  # checkouts before version 0.3.0
    from transom.physical.walk import walk

END = 3_600_000
"""An hour in ticks: the time of the row that closes all windows."""
PARTS = ("queryPlanning", "addBatch", "walCommit", "commitOffsets", "latestOffset")
"""Parts of a micro-batch whose duration Spark reports."""


def session() -> SparkSession:
    """A Spark session with the settings of the other benchmarks."""
    builder = SparkSession.builder.master("local[2]").appName("start")
    own = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    for name, value in {**SETTINGS, **own}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def compiled(question: dict[str, Any]) -> Any:
    """Compile a query from its JSON, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transom.compile(question["text"], transom.Catalog.from_dict(question["catalog"]), language="sparql")


def planned(question: dict[str, Any]) -> dict[str, Any]:
    """The size of the plan: its number of nodes that are not native, and its number of nodes."""
    executors = [executor(node) for node in walk(compiled(question).physical(kernel=True))]
    return {"size": [len(executors) - executors.count("NATIVE"), len(executors)]}


def executor(node: Any) -> str:
    """The name of the executor of a node, in any checkout."""
    return str(node.decision.executor.name if hasattr(node, "decision") else node.choice.path.name)


def table(rows: list[list[Any]], ticks: bool) -> pa.Table:
    """Statements as an Arrow table with columns s, p and o, and tick if `ticks`."""
    terms = {name: pa.array([row[at + ticks] for row in rows], pa.string()) for at, name in enumerate("spo")}
    return pa.table({**({"tick": pa.array([row[0] for row in rows], pa.int64())} if ticks else {}), **terms})


def sources(spark: SparkSession, question: dict[str, Any], place: Path) -> dict[str, DataFrame]:
    """Streams as folders with one file of rows and one file with a row an hour later; graphs as DataFrames."""
    found: dict[str, DataFrame] = {}
    end = [[END, *["<http://example.org/end>"] * 3]]
    for name, rows in question["streams"].items():
        (place / name).mkdir(parents=True)
        for number, part in enumerate((rows, end)):
            pq.write_table(table(part, True), place / name / f"{number}.parquet")
            os.utime(place / name / f"{number}.parquet", (number + 1, number + 1))
        reader = spark.readStream.schema("tick bigint, s string, p string, o string")
        found[name] = reader.option("maxFilesPerTrigger", 1).parquet(str(place / name))
    for name, rows in question["graphs"].items():
        found[name] = spark.createDataFrame(table(rows, False))
    return found


def run(spark: SparkSession, question: dict[str, Any]) -> dict[str, Any]:
    """Run a query; the time from `start` to the last answer, its parts, and a digest of the answer."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        query, given = compiled(question), sources(spark, question, place / "in")
        began = time.perf_counter()
        running = query.start(
            spark, f"parquet:{place / 'out'}", place / "checkpoint", sources=given, once=True, allow_unbounded=True
        )
        stream = next(iter(spark.streams.active), None)
        started = time.perf_counter()
        running.wait()
        ended = time.perf_counter()
        reports = list(stream.recentProgress) if stream is not None else []
        plan = stream._jsq.explainInternal(False) if stream is not None else ""
        rows = pq.read_table(place / "out").to_pylist() if any((place / "out").glob("**/*.parquet")) else []
        lines = sorted(json.dumps(row, default=str, sort_keys=True) for row in rows if "_:" not in str(row))
        return {
            "seconds": ended - began,
            "until started": started - began,
            "micro-batches": len(reports),
            "spent": {part: sum(one["durationMs"].get(part, 0) for one in reports) / 1000 for part in PARTS},
            "stateful operators": len(reports[-1]["stateOperators"]) if reports else None,
            "shuffles": plan.count("- Exchange "),
            "rows": len(rows),
            "answer": hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12],
        }


def main() -> None:
    """Reply to queries until the input ends."""
    spark = None
    for line in sys.stdin:
        question = json.loads(line)
        try:
            if question["run"]:
                spark = spark or session()
                found = run(spark, question)
            else:
                found = planned(question)
        except Exception as error:
            found = {"problem": f"{type(error).__name__}: {error}".splitlines()[0]}
        print("child:", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
