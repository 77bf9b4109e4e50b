"""The Spark session of the command line: the active one, or a new one with the settings that queries need."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from transom.runtime.checkpoint.settings import STATE_FORMAT
from transom.spark.session import SETTINGS

OWN_SETTINGS = {STATE_FORMAT: "2"}
"""Settings of the sessions that the command line starts, which new checkpoints record."""


def get_session(
    master: str | None = None, shuffle_partitions: int | None = None, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Return the active Spark session, else start one at `master` (None: that of spark-submit, or a local one).

    Without `master`, it is that of spark-submit, or a local one with these `shuffle_partitions`. `master` or
    spark-submit change where a new session runs. TRANSOM_SPARK_LOG sets Spark's log level; the default is OFF. Under
    spark-submit the level is left alone. `settings` are further settings of a new session.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("transom")
    submitted = "SPARK_ENV_LOADED" in os.environ or "PYSPARK_GATEWAY_PORT" in os.environ
    if master is not None:
        builder = builder.master(master)
    elif not submitted:
        builder = builder.master("local[*]").config("spark.driver.bindAddress", "127.0.0.1")
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.shuffle.partitions", str(shuffle_partitions or os.cpu_count() or 2))
        builder = builder.config("spark.ui.showConsoleProgress", "false")
    for name, value in (SETTINGS | OWN_SETTINGS | dict(settings or {})).items():
        builder = builder.config(name, value)
    level = os.environ.get("TRANSOM_SPARK_LOG", "OFF")
    if level == "OFF":
        silence_py4j()
    spark = builder.getOrCreate()
    if not submitted:
        spark.sparkContext.setLogLevel(level)
        ignore_termination(spark)
    return spark


def ignore_termination(spark: SparkSession) -> None:
    """Make the JVM of a local session ignore SIGTERM, as PySpark makes it ignore SIGINT.

    A signal to the whole process group then stops only Python, which ends the query between two micro-batches. The JVM
    ends when the pipe to its standard input closes, also after `kill -9` of Python.
    """
    signals = spark._jvm.sun.misc
    signals.Signal.handle(signals.Signal("TERM"), signals.SignalHandler.SIG_IGN)


def silence_py4j() -> None:
    """Suppress the stack traces that py4j logs when a signal or the end of the JVM interrupts a call."""
    logging.getLogger().addFilter(_not_from_py4j)
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)


def _not_from_py4j(record: logging.LogRecord) -> bool:
    """Filter log records: return False for those of py4j, which are dropped."""
    return "py4j" not in Path(record.pathname).parts
