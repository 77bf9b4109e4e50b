"""A session of Spark for the hold-out judges."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two cores, few partitions, state in RocksDB."""
    from pyspark.sql import SparkSession

    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    opened = (
        SparkSession.builder.master("local[2]")
        .appName("transom holdout")
        .config("spark.local.dir", str(tmp_path_factory.mktemp("spark")))
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.streaming.stateStore.providerClass", provider)
        .getOrCreate()
    )
    opened.sparkContext.setLogLevel("ERROR")
    yield opened
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # py4j closes its sockets late
        opened.stop()
