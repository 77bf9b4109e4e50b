"""The effective settings of a topic: its own, else the brokers' defaults."""

from __future__ import annotations

from dataclasses import replace

from transom.catalog.extras import require_library
from transom.catalog.kafka_options import SECURITY
from transom.catalog.reading.references import resolve_references
from transom.catalog.servers import KafkaTopic
from transom.connectors.kafka.client import KafkaClient, client_error_text
from transom.errors import Unavailable, UsageError

_PATIENCE = 10.0


def topic_settings(topic: KafkaTopic) -> dict[str, str]:
    """Ask the brokers for all settings of a topic, defaults included; raise Unavailable if none answers.

    Empty if access is denied, if the topic does not exist, or without the Kafka client for Python.
    """
    connection = tuple(option for option in topic.options if option[0] in SECURITY)  # the others configure a producer
    try:
        kafka, admin = (
            require_library("confluent_kafka", "kafka", "kafka"),
            require_library("confluent_kafka.admin", "kafka", "kafka"),
        )
        client = KafkaClient(replace(topic, options=connection), str(topic), admin.AdminClient, {})
    except UsageError:
        return {}
    resource_class = admin.ConfigResource
    config_resource = resource_class(resource_class.Type.TOPIC, resolve_references(topic.topic))
    try:
        entries = client.handle.describe_configs([config_resource], request_timeout=_PATIENCE)[config_resource].result(
            2 * _PATIENCE
        )
    except kafka.KafkaException as error:
        codes = kafka.KafkaError
        unreachable = (codes._TIMED_OUT, codes._TRANSPORT, codes._ALL_BROKERS_DOWN, codes._RESOLVE)
        if error.args[0].retriable() or error.args[0].code() in unreachable:
            raise Unavailable(f"{topic} does not answer", detail=client_error_text(error)) from None
        return {}
    return {name: entry.value for name, entry in entries.items() if entry.value is not None}
