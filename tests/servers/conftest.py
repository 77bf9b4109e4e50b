"""Servers that the tests of this directory share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import start
from tests.servers.tls import secure


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
def kafka(tmp_path_factory: pytest.TempPathFactory, jars: Path, secure_listeners: secure.Listeners) -> Iterator[int]:
    lib = start.jars("broker", jars)
    with start.kafka(tmp_path_factory.mktemp("kafka") / "node", lib, secure_listeners.settings) as port:
        yield port


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> secure.Certificates:
    return secure.certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def secure_listeners(certificates: secure.Certificates) -> secure.Listeners:
    """The listeners with TLS that the broker of this session has beside its plain one."""
    return secure.Listeners(certificates)


@pytest.fixture(scope="session")
def secure_kafka(kafka: int, secure_listeners: secure.Listeners) -> dict[str, int]:
    """The ports of these listeners, by name; the user `eng` is known to all but `mutual`, which wants a certificate."""
    secure.add_user(kafka)
    return secure_listeners.ports


@pytest.fixture(scope="session")
def secure_broker(
    tmp_path_factory: pytest.TempPathFactory, certificates: secure.Certificates
) -> Iterator[dict[str, int]]:
    """The ports of an MQTT broker with TLS, by the certificate that it shows there."""
    with secure.mosquitto(tmp_path_factory.mktemp("mqtts") / "broker", certificates) as ports:
        yield ports


@pytest.fixture(scope="session")
def secure_database(database: int, certificates: secure.Certificates) -> Iterator[secure.Database]:
    """The cluster of this session, with TLS and a user that needs a password."""
    one = secure.Database(database, certificates)
    yield one
    one.close()


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
    from tests.servers.devices.collecting import Collector

    one = Collector(tmp_path)
    yield one
    one.kill()
