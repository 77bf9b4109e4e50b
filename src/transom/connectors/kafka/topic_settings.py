"""The settings of a topic, as its brokers resolve them: those of the topic itself, else the brokers' defaults."""

from __future__ import annotations

from dataclasses import replace

from transom.catalog.extras import needed
from transom.catalog.kafka_options import SECURITY
from transom.catalog.references import resolved
from transom.catalog.servers import Topic
from transom.connectors.kafka.client import Client, said
from transom.errors import Unavailable, UsageError

_PATIENCE = 10.0


def topic_settings(place: Topic) -> dict[str, str]:
    """The settings of a topic by name; Unavailable if no broker answers.

    They are empty if we may not see them, if the topic does not exist, and without Kafka's client for Python.
    """
    connection = tuple(option for option in place.options if option[0] in SECURITY)  # others are those of a producer
    try:
        kafka, admin = needed("confluent_kafka", "kafka", "kafka"), needed("confluent_kafka.admin", "kafka", "kafka")
        client = Client(replace(place, options=connection), str(place), admin.AdminClient, {})
    except UsageError:
        return {}
    kinds = admin.ConfigResource
    resource = kinds(kinds.Type.TOPIC, resolved(place.topic))
    try:
        found = client.own.describe_configs([resource], request_timeout=_PATIENCE)[resource].result(2 * _PATIENCE)
    except kafka.KafkaException as error:
        codes = kafka.KafkaError
        away = (codes._TIMED_OUT, codes._TRANSPORT, codes._ALL_BROKERS_DOWN, codes._RESOLVE)
        if error.args[0].retriable() or error.args[0].code() in away:
            raise Unavailable(f"{place} does not answer", detail=said(error)) from None
        return {}
    return {name: entry.value for name, entry in found.items() if entry.value is not None}
