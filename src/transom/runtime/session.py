"""A session for the command line: the one that is there, or a local one with the settings that queries need."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from transom.spark.session import SETTINGS


def session(master: str | None = None, partitions: int | None = None) -> SparkSession:
    """The active session, or a new one; quiet, without a web page, on this machine unless told otherwise."""
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
        builder = builder.config("spark.sql.shuffle.partitions", str(partitions or os.cpu_count() or 2))
        builder = builder.config("spark.ui.showConsoleProgress", "false")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    level = os.environ.get("TRANSOM_SPARK_LOG", "OFF")
    if level == "OFF":
        silence_py4j()
    spark = builder.getOrCreate()
    if not submitted:
        spark.sparkContext.setLogLevel(level)
    return spark


def silence_py4j() -> None:
    """Drop the traces that py4j logs when a signal comes, or the JVM goes away, while it waits for an answer."""
    logging.getLogger().addFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts
