"""Messages that a topic lost before a query had read them: deleted by retention, or with the topic itself."""

from __future__ import annotations

import json

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

import transom
from tests.servers.start import make_topic, wait_for
from transom.errors import CheckpointError, RunWarning, Unavailable

pytestmark = pytest.mark.spark

CATALOG = """
epoch: 2024-06-01T00:00:00Z
extents:
  power:
    declare: pushed (n:integer)
    source: {{kafka: {{servers: '{place}', topic: lost}}}}
"""


def publish(place, numbers):
    sender = Producer({"bootstrap.servers": place})
    for number in numbers:
        sender.produce("lost", json.dumps({"n": number}).encode(), partition=0)
    sender.flush(20)


def test_lost_messages_are_never_passed_over_in_silence(kafka, spark, tmp_path):
    place = f"127.0.0.1:{kafka}"
    make_topic(place, "lost")
    query = transom.compile("SELECT n FROM power", transom.Catalog.read(CATALOG.format(place=place)))

    def run(**more):
        running = query.start(spark, f"jsonl:{tmp_path / 'out'}", tmp_path / "state", once=True, **more)
        running.wait()
        return running.progress()

    def found():
        files = (tmp_path / "out").glob("*.json")
        return sorted(json.loads(line)["n"] for file in files for line in file.read_text().splitlines())

    publish(place, range(10))
    run()
    publish(place, range(10, 30))
    admin = AdminClient({"bootstrap.servers": place})
    for future in admin.delete_records([TopicPartition("lost", 0, 25)]).values():
        future.result()
    with pytest.raises(CheckpointError, match=r"has deleted messages of lost .*: 15 offsets") as caught:
        run()
    assert caught.value.detail == "missing are the offsets 10 to 24 of partition 0"
    assert "--on-data-loss continue" in (caught.value.hint or "")
    with pytest.warns(RunWarning, match="15 offsets of lost are lost.*10 to 24 of partition 0"):
        done = run(on_data_loss="continue")
    assert found() == [*range(10), *range(25, 30)]
    assert done.unread == {"lost": 15}
    run()

    for future in admin.delete_topics(["lost"]).values():
        future.result()
    wait_for(lambda: "lost" not in admin.list_topics(timeout=5).topics, 20, "the topic to go")
    make_topic(place, "lost")
    publish(place, range(100, 140))
    with pytest.raises(CheckpointError, match="the topic lost was deleted and made again") as made:
        run()
    assert "new checkpoint" in (made.value.hint or "")
    assert found() == [*range(10), *range(25, 30)]


def test_a_broker_that_does_not_answer(spark, tmp_path):
    catalog = transom.Catalog.read(CATALOG.format(place="127.0.0.1:9"))
    query = transom.compile("SELECT n FROM power", catalog)
    with pytest.raises(Unavailable, match=r"cannot look at the topic lost at 127\.0\.0\.1:9"):
        query.start(spark, f"jsonl:{tmp_path / 'out'}", tmp_path / "state", once=True)
