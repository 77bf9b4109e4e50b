"""Unusable messages of a topic with dead letters, in what `replay` and `verify` say: as on the reference engine."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import transom
from tests.cli.test_app import transom as command
from tests.connectors.test_rejected_messages import AT, BAD, CATALOG, GOOD, LINES, QUERY, row, topic, write_query
from transom.connectors.kafka import read
from transom.connectors.kafka import spark as on_spark
from transom.spark.input.rejected import RejectedRows

pytestmark = pytest.mark.spark

SHAPE = (
    "partition int, offset long, timestamp timestamp, key binary, value binary, "
    "headers array<struct<key: string, value: binary>>"
)


def publish(values: list[bytes], spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give both engines the messages of the topic, without a broker."""

    def frame(*given: object, **more: object) -> Any:
        rows = [(0, offset, datetime.fromtimestamp(AT, UTC), None, value, []) for offset, value in enumerate(values)]
        return spark.createDataFrame(rows, SHAPE)

    monkeypatch.setattr(read, "messages", lambda source: topic(values))
    monkeypatch.setattr(on_spark, "_messages", frame)


def warnings_of(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if line.startswith(("warning", "error"))]


@pytest.mark.parametrize("arguments", [("replay",), ("verify", "--splits", "all")], ids=lambda given: given[0])
def test_commands_say_which_messages_are_rejected(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    publish([*GOOD, *BAD], spark, monkeypatch)
    name, *more = arguments
    done = command(name, write_query(tmp_path), *more, "--strict")
    assert warnings_of(done.stderr) == [f"warning: {LINES[0]}", "error: warnings fail with --strict"]
    assert done.returncode == 1
    if name == "verify":
        assert "all agree" in done.stdout


def test_a_replay_in_python_counts_rejected_messages(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """With attributes from headers, which the plain reader needs for its detail."""
    publish([*GOOD, row("x"), row(AT * 1000)], spark, monkeypatch)
    text = CATALOG.replace("time: at", "time: at, envelope: {line: header.line}")
    query = transom.compile(f"RSTREAM({QUERY})", transom.Catalog.read(text))
    rejected = RejectedRows()
    assert query.replay(spark, rejected=rejected).count() > 3
    messages = rejected.messages()["power"]
    rejected.release()
    assert (messages.counts, messages.unit) == ({"ahead": 1, "no time": 1}, "messages")
    assert set(messages.first) == {"ahead", "no time"}
    assert next(iter(messages.first.values())).startswith("p-0@30: ")
    assert "'x'" in messages.first["no time"]


def test_a_replay_has_the_hint_of_the_reference_engine(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows after --until are not used, so that most of the others are rejected."""
    publish([*GOOD[:6], *GOOD[20:], *(row((AT + second) * 1000) for second in range(11))], spark, monkeypatch)
    query = write_query(tmp_path)
    said = [warnings_of(command(name, query, "--until", "10 s").stderr) for name in ("simulate", "replay")]
    (simulated,), (replayed,) = [[re.sub(r"now is \d+", "now is N", line) for line in lines] for lines in said]
    assert simulated == replayed
    assert "11 ahead" in simulated
    assert "; most messages are rejected: are the values milliseconds since 1970?" in simulated
