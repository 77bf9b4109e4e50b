"""What a session must be set to, checked and named when it is not."""

from __future__ import annotations

from pyspark.sql import SparkSession

from transom.errors import UsageError
from transom.model.time import Calendar
from transom.physical.node import Physical
from transom.physical.plan import Path
from transom.physical.walk import walk
from transom.spark.marks import EPOCH

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SETTINGS = {
    PROVIDER: ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
"""What `transom run` sets, and what a session of one's own is advised to set."""

PASSES = "spark.sql.analyzer.maxIterations"
ENOUGH = 1000
"""Calls in calls over terms of RDF are values named in values; each level takes Spark's analyzer many passes, and the
100 that it has are used up by three levels."""


def allow_depth(spark: SparkSession) -> None:
    """Let Spark take as many passes over deep expressions as they need; a bound that is higher stays."""
    if int(spark.conf.get(PASSES, "100") or 100) < ENOUGH:
        spark.conf.set(PASSES, str(ENOUGH))


def has_rocksdb(spark: SparkSession) -> bool:
    """Whether a session keeps state where machines can be kept."""
    return str(spark.conf.get(PROVIDER, "")).endswith("RocksDBStateStoreProvider")


def check_session(spark: SparkSession, plan: Physical, calendar: Calendar, live: bool) -> None:
    """Refuse a session in which answers would be lost, or machines could not run."""
    if not live:
        return
    if calendar.epoch < EPOCH:
        raise UsageError(
            "the epoch lies before 1970, where the watermark of Spark begins",
            hint="set a later `epoch` in the catalog; a replay takes any",
        )
    missing: list[str] = []
    has_machines = any(node.choice.path is not Path.NATIVE and node.choice.rule != "clock" for node in walk(plan))
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
