"""The tutorial about Kafka, typed command by command in an empty folder, with a broker of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.docs.compare import compare
from tests.docs.pages import TUTORIALS
from tests.docs.run import Session
from tests.servers import start

PAGE = TUTORIALS / "kafka-alerts.md"
SHOWN = "127.0.0.1:9092"


@pytest.mark.spark
@pytest.mark.nightly
def test_the_tutorial_says_what_happens(tmp_path: Path, jars: Path, rewrite: bool) -> None:
    """The broker has a free port, and the connector is that of the other tests: a registry may lack the newest."""
    connector = ",".join(map(str, sorted(start.jars("connector", jars).glob("*.jar"))))
    settings = tmp_path / "settings"
    settings.mkdir()
    (settings / "spark-defaults.conf").write_text(f"spark.jars {connector}\n", "utf-8")
    folder = tmp_path / "page"
    folder.mkdir()
    with start.kafka(tmp_path / "broker", start.jars("broker", jars)) as port:
        session = Session.begin(folder, PAGE)
        session.typed = True
        session.stand_ins = {SHOWN: f"127.0.0.1:{port}"}
        session.environment = {"SPARK_CONF_DIR": str(settings), "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", "")}
        compare(PAGE, session, rewrite, spark=True, servers=True)
