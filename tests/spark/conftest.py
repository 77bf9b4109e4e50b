"""One Spark session for all tests in this directory."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

from tests.spark.classes import options
from tests.spark.memory import scratch
from tests.spark.quick import use_quick_python

use_quick_python()

SETTINGS = {
    # Hundreds of small queries: compiling them well costs more than running them badly, twice as much in all. The quick
    # compiler alone would get a small cache, and spend its time on emptying it.
    "spark.driver.extraJavaOptions": options("-XX:ReservedCodeCacheSize=256m"),
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "Asia/Kolkata",  # nothing may depend on it
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.codegen.cache.maxEntries": "2000",
    # The manager that Spark picks for local files starts a process for every file that it renames.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    from pyspark.sql import SparkSession

    tmp_path_factory.getbasetemp()  # before the temporary folder is another: `tmp_path` stays on disk
    with scratch() as folder:
        builder = (
            SparkSession.builder.master("local[2]").appName("transom tests").config("spark.local.dir", str(folder))
        )
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # py4j closes its sockets late
            session.stop()
