"""Late rows of a topic: used and put aside are all, each exactly once, in big micro-batches and small, with kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from random import Random

import pytest

import transom
from tests.servers.kafka.late_rows import QUERY, check, put_aside, send, send_apart, write_catalog
from tests.servers.start import jars as fetched
from tests.servers.start import make_topic

pytestmark = pytest.mark.spark
ROW_BY_ROW = int(os.environ.get("TRANSOM_LATE_ROWS", "100"))


@pytest.mark.parametrize(
    ("count", "most", "partitions"),
    [
        pytest.param(100_000, 20_000, 2, id="big"),
        pytest.param(100_000, 1_000_000, 1, id="one", marks=pytest.mark.nightly),
        pytest.param(ROW_BY_ROW, 1, 1, id="rows", marks=pytest.mark.nightly),
    ],
)
def test_used_and_dead_are_all(kafka, spark, tmp_path, count, most, partitions):
    place, topic = f"127.0.0.1:{kafka}", f"late-{count}-{most}"
    sent = send(place, topic, count, partitions)
    assert len(sent.late) == count // 20
    catalog = transom.Catalog.read(write_catalog(tmp_path, place, topic, most), folder=tmp_path)
    running = transom.compile(QUERY, catalog).start(
        spark, f"parquet:{tmp_path / 'out'}", tmp_path / "checkpoint", once=True
    )
    running.wait()
    check(spark, tmp_path, sent, topic)
    done = running.progress()
    assert (done.rows_in, done.rows_out, done.late_rows) == (count + 1, len(sent.used), len(sent.late))
    assert (done.sources["power"].rejected, done.sources["power"].missing) == ({}, 0)


def test_partitions_that_are_far_apart(kafka, spark, tmp_path):
    """Which rows of the slow one are late depends on what was read before; each is used or put aside all the same."""
    place, topic = f"127.0.0.1:{kafka}", "late-apart"
    rows = send_apart(place, topic, 2000)
    catalog = transom.Catalog.read(write_catalog(tmp_path, place, topic, 200), folder=tmp_path)
    running = transom.compile(QUERY, catalog).start(
        spark, f"parquet:{tmp_path / 'out'}", tmp_path / "checkpoint", once=True
    )
    running.wait()
    dead = put_aside(spark, tmp_path, topic)
    used = Counter(row["number"] for row in spark.read.parquet(str(tmp_path / "out")).collect())
    assert used == Counter(rows.keys() - dead.keys())
    assert all(rows[number] == value for number, value in dead.items())
    assert 100 < len(dead) < 1000
    assert running.progress().late_rows == len(dead)


def test_answers_that_go_to_a_server(kafka, spark, tmp_path):
    """Spark calls back for every micro-batch, and tasks are told for which one they work all the same."""
    place = f"127.0.0.1:{kafka}"
    sent = send(place, "late-there", 2000, 1)
    make_topic(place, "answers-of-late")
    catalog = transom.Catalog.read(write_catalog(tmp_path, place, "late-there", 500), folder=tmp_path)
    sink = f"kafka://{place}/answers-of-late"
    transom.compile(QUERY, catalog).start(spark, sink, tmp_path / "checkpoint", once=True).wait()
    options = {"kafka.bootstrap.servers": place, "subscribe": "answers-of-late"}
    answers = spark.read.format("kafka").options(**options).load().collect()
    assert Counter(json.loads(bytes(row["value"]))["number"] for row in answers) == sent.used
    assert put_aside(spark, tmp_path, "late-there") == sent.late


@pytest.mark.nightly
def test_killed_again_and_again(kafka, spark, jars, tmp_path):
    place = f"127.0.0.1:{kafka}"
    sent = send(place, "late-killed", 20_000, 2)
    write_catalog(tmp_path, place, "late-killed", 400)
    command = [sys.executable, "-m", "tests.servers.kafka.late_child", str(tmp_path), str(fetched("connector", jars))]
    rng, kills = Random(1), 0
    for target in (2, 5, 9, 14, None):
        with open(tmp_path / "child.log", "ab") as log:
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True)
        try:
            done = follow(child, target)
            if target is not None:
                time.sleep(rng.random() / 2)
                kills += done != "done"
        finally:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
    assert done == "done"
    assert kills == 4
    check(spark, tmp_path, sent, "late-killed")


def follow(child, target):
    """Wait for a micro-batch, or to the end; the last word."""
    word = ""
    for line in child.stdout:
        word = line.strip()
        if word == "done" or (target is not None and int(word) >= target):
            return word
    return word
