"""Commands whose Spark does not start because a package cannot be downloaded, or lacks the connector for Kafka."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark import __version__
from pyspark.sql import SparkSession

from tests.cli.test_app import ROOT
from transom.connectors.kafka.spark import load_kafka
from transom.errors import UsageError

NO_REPOSITORY = """
<ivysettings>
  <settings defaultResolver="nowhere"/>
  <resolvers><filesystem name="nowhere"><artifact pattern="{folder}/[artifact].[ext]"/></filesystem></resolvers>
</ivysettings>
"""


def test_a_package_that_cannot_be_downloaded_is_named_as_the_cause(tmp_path: Path) -> None:
    (tmp_path / "ivy.xml").write_text(NO_REPOSITORY.format(folder=tmp_path), "utf-8")
    settings = {
        "spark.jars.packages": "no.such:package:1",
        "spark.jars.ivySettings": tmp_path / "ivy.xml",
        "spark.jars.ivy": tmp_path / "ivy",
    }
    lines = "".join(f"{name} {value}\n" for name, value in settings.items())
    (tmp_path / "spark-defaults.conf").write_text(lines, "utf-8")
    query = ROOT / "examples" / "windows" / "sliding.sneeql"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK"))}
    done = subprocess.run(
        [sys.executable, "-m", "transom", "replay", query],
        env={**inherited, "SPARK_CONF_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    before, _, said = done.stderr.rpartition("error: ")
    assert "unresolved dependency: no.such#package;1" in before
    assert said.startswith("the JVM of Spark ended while it started")
    assert "Spark could not download the packages in spark.jars.packages" in said
    assert done.returncode == 70


def test_a_missing_connector_names_a_setting_that_the_command_reads(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match="Spark has no connector for Kafka") as refused:
        load_kafka(spark.read.format("kafka").option("subscribe", "t"))
    jar = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{__version__}"
    hint = refused.value.hint or ""
    assert f"write `spark.jars.packages {jar}` in a file spark-defaults.conf, and set SPARK_CONF_DIR" in hint
    assert f"spark-submit --packages {jar}" in hint
