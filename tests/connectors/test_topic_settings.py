"""What is known of a topic whose brokers are away, or do not tell us its settings."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

pytest.importorskip("confluent_kafka")

import confluent_kafka
import confluent_kafka.admin

from examples.plant.servers import free_port
from transom.catalog.servers import KafkaTopic
from transom.connectors.kafka import topic_settings as asked
from transom.connectors.kafka.topic_settings import topic_settings
from transom.errors import Unavailable


def test_broker_is_away(monkeypatch):
    monkeypatch.setattr(asked, "_PATIENCE", 0.2)
    place = KafkaTopic(f"127.0.0.1:{free_port()}", "answers", (("max.request.size", "5000000"),))
    with pytest.raises(Unavailable, match=r"kafka://127\.0\.0\.1:\d+/answers does not answer"):
        topic_settings(place)


@pytest.mark.parametrize("code", ["TOPIC_AUTHORIZATION_FAILED", "UNKNOWN_TOPIC_OR_PART", "UNSUPPORTED_VERSION"])
def test_broker_does_not_tell(code, monkeypatch):
    class Admin:
        def __init__(self, *_, **__):
            pass

        def describe_configs(self, resources, **_):
            answer = Future()
            answer.set_exception(
                confluent_kafka.KafkaException(confluent_kafka.KafkaError(getattr(confluent_kafka.KafkaError, code)))
            )
            return dict.fromkeys(resources, answer)

    monkeypatch.setattr(confluent_kafka.admin, "AdminClient", Admin)
    assert topic_settings(KafkaTopic("127.0.0.1:1", "answers")) == {}
