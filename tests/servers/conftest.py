"""Servers that the tests of this directory share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import start


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with start.mosquitto(tmp_path_factory.mktemp("mqtt") / "broker", "eng", "s3cret") as port:
        yield port


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with start.postgresql(tmp_path_factory.mktemp("pg") / "cluster") as port:
        yield port


@pytest.fixture(scope="session")
def jars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp() / "jars"


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory, jars: Path) -> Iterator[int]:
    lib = start.jars("broker", jars)
    with start.kafka(tmp_path_factory.mktemp("kafka") / "node", lib) as port:
        yield port


@pytest.fixture(scope="session")
def spark(jars: Path) -> Iterator[object]:
    """A session with Spark's connector for Kafka."""
    from pyspark.sql import SparkSession

    from tests.spark.conftest import SETTINGS

    builder = SparkSession.builder.master("local[2]").appName("transom servers")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    connector = ",".join(map(str, sorted(start.jars("connector", jars).glob("*.jar"))))
    session = builder.config("spark.jars", connector).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        session.stop()


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[object]:
    from tests.servers.collecting import Collector

    one = Collector(tmp_path)
    yield one
    one.kill()
