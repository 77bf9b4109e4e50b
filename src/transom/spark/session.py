"""Spark session settings: those that queries need, and checks for them."""

from __future__ import annotations

from pyspark.sql import SparkSession

from transom.errors import UsageError
from transom.model.time import Calendar
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import Executor
from transom.spark.event_time import EPOCH

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SETTINGS = {
    PROVIDER: ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.codegen.cache.maxEntries": "2000",
}
"""Settings that `transom run` applies, and that are recommended for other sessions."""

MAX_ITERATIONS = "spark.sql.analyzer.maxIterations"
ENOUGH_ITERATIONS = 1000
"""Nested calls over RDF terms become nested lambdas. Each level takes Spark's analyzer many passes, and three levels
exhaust its default limit of 100."""


def allow_deep_expressions(spark: SparkSession) -> None:
    """Raise the iteration limit of Spark's analyzer to 1000, for nested expressions; keep a higher limit."""
    if int(spark.conf.get(MAX_ITERATIONS, "100") or 100) < ENOUGH_ITERATIONS:
        spark.conf.set(MAX_ITERATIONS, str(ENOUGH_ITERATIONS))


def start_state_coordinator(spark: SparkSession) -> None:
    """Start the coordinator of state stores on Spark's driver, without which stateful machines fail in a batch.

    The state stores of Spark 4.2 report to the coordinator even in a batch, but Spark starts it only for streams.
    Asking for the running streams starts it, once for each SparkContext.
    """
    _ = spark.streams.active


def has_rocksdb(spark: SparkSession) -> bool:
    """Whether a session keeps its state in RocksDB, which stateful machines need."""
    return str(spark.conf.get(PROVIDER, "")).endswith("RocksDBStateStoreProvider")


def check_session(spark: SparkSession, plan: PhysicalNode, calendar: Calendar, live: bool) -> None:
    """Raise UsageError if a live query would lose results in this session, or could not run its stateful machines."""
    if not live:
        return
    if calendar.epoch < EPOCH:
        raise UsageError(
            "the epoch lies before 1970, where the watermark of Spark begins",
            hint="set a later `epoch` in the catalog; a replay takes any",
        )
    missing: list[str] = []
    has_machines = any(
        node.decision.executor is not Executor.NATIVE and node.decision.rule != "clock" for node in walk(plan)
    )
    if has_machines and not has_rocksdb(spark):
        missing.append(f"{PROVIDER}={ROCKSDB}")
    if str(spark.conf.get("spark.sql.streaming.multipleWatermarkPolicy", "min")) != "min":
        missing.append("spark.sql.streaming.multipleWatermarkPolicy=min")
    if str(spark.conf.get("spark.sql.streaming.statefulOperator.allowMultiple", "true")) != "true":
        missing.append("spark.sql.streaming.statefulOperator.allowMultiple=true")
    if missing:
        raise UsageError(
            "the Spark session lacks settings that this query needs",
            detail="; ".join(missing),
            hint="set them when the session is built, or with spark.conf.set before the query starts",
        )
