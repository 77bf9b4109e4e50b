"""Cells of the matrix whose faults need a server: a broker of Kafka, or PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.matrix.bench import Bench
from tests.matrix.faults import FAULTS, Kind
from tests.matrix.servers import database, topic_faults
from tests.matrix.servers.topics import Broker
from tests.spark.memory import scratch

pytestmark = [pytest.mark.spark, pytest.mark.nightly]

ON_TOPICS = [
    ("slide", "broker"),
    ("distance", "retention"),
    ("rdf_join", "topic_remade"),
    ("slide", "partitions"),
    ("rdf_join", "aborted"),
    ("distance", "drift"),
]


@pytest.fixture(scope="module")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker that the cells may kill."""
    with topic_faults.running_broker(tmp_path_factory.mktemp("matrix")) as broker:
        yield broker


@pytest.mark.parametrize(("plan", "fault"), ON_TOPICS)
def test_cell_on_topics(spark: Any, own_broker: Broker, tmp_path: Path, plan: str, fault: str) -> None:
    record = topic_faults.run_cell(spark, own_broker, tmp_path, plan, fault)
    assert record.good, record
    assert record.rows > 5


def test_cell_in_a_table(spark: Any, tmp_path: Path) -> None:
    with scratch() as folder, database.running_database(tmp_path / "cluster") as cluster:
        record = database.run_cell(Bench(spark, folder), cluster, "slide", "commit_unanswered")
    assert record.good, record
    assert record.rows > 5


def test_every_fault_with_a_server_is_tried() -> None:
    tried = {fault for _, fault in ON_TOPICS} | {"commit_unanswered"}
    assert tried == {fault.name for fault in FAULTS.values() if fault.kind in (Kind.TOPIC, Kind.DATABASE)}
