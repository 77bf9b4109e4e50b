"""Kafka clients for Python, which report why a connection fails.

librdkafka retries forever, and passes the reason to a callback only: a wrong certificate or password would look like
brokers that are down.
"""

from __future__ import annotations

import re
import socket
import time
from typing import Any
from uuid import uuid4

from transom.catalog.extras import require_library
from transom.catalog.tls import Tls, client_context, error_text, refused_certificate
from transom.connectors.kafka.settings import BrokerSettings, is_secured, python_settings
from transom.errors import DataError, UsageError

_ROUND = 1.0
"""Seconds between checks whether the connection was refused."""
_CHECK = 5.0
"""Seconds to check access to brokers before Spark connects."""


class KafkaClient:
    """A Kafka client of the library as `handle`, and the last reason why it has no connection."""

    def __init__(
        self, broker: BrokerSettings, display_name: str, client_class: Any, extra_settings: dict[str, Any]
    ) -> None:
        """Create a `client_class` (such as Consumer) with `extra_settings`; errors call its topic `display_name`.

        Messages to the user call it `display_name`. UsageError if its options are invalid.
        """
        self.name = display_name
        self.kafka = require_library("confluent_kafka", "kafka", "kafka")
        self._problem: Any = None
        self._settings = python_settings(broker)
        try:
            self.handle = client_class(
                {**self._settings, **extra_settings, "error_cb": self._record_problem}, logger=SilentLogger()
            )
        except (self.kafka.KafkaException, ValueError, TypeError) as error:
            hint = "options are those of librdkafka: security.protocol, sasl.username, ssl.ca.location, ..."
            raise UsageError(
                f"the options of {display_name} do not fit", detail=client_error_text(error), hint=hint
            ) from None

    def _record_problem(self, error: Any) -> None:
        """Remember a connection error for messages, unless a more specific one is remembered already.

        A refusal is more specific than brokers that are down.
        """
        down = error.code() == self.kafka.KafkaError._ALL_BROKERS_DOWN
        if self._problem is None or not (down or self.is_refused):
            self._problem = error

    @property
    def is_refused(self) -> bool:
        """Whether a broker was reached, but refused the login or the TLS connection."""
        codes = self.kafka.KafkaError
        refusals = (codes._SSL, codes._AUTHENTICATION, codes.SASL_AUTHENTICATION_FAILED)
        return self._problem is not None and self._problem.code() in refusals

    def topic(self, topic: str, patience: float) -> Any:
        """Ask the broker for the metadata of a topic; raise DataError if no answer comes in `patience` seconds."""
        end = time.monotonic() + patience
        while True:
            try:
                left = end - time.monotonic()
                return self.handle.list_topics(topic, timeout=max(0.01, min(_ROUND, left))).topics[topic]
            except self.kafka.KafkaException as error:
                self.handle.poll(0)
                if self.is_refused or time.monotonic() > end:
                    raise self.error(error) from None

    def error(self, error: BaseException) -> DataError:
        """Translate an error of the Kafka library to a DataError with the reason, and a hint for the user."""
        codes = self.kafka.KafkaError
        detail, hint = client_error_text(error), "look whether the broker runs"
        if self._problem is not None and (self.is_refused or self._problem.code() != codes._ALL_BROKERS_DOWN):
            detail = connection_error_text(self._problem.str())
        if self.is_refused:
            tls = self._problem.code() == codes._SSL
            detail = (_refused_certificate_text(self._settings) if tls else None) or detail
            hint = "look at tls: ca and the host name" if tls else "look at user, password and sasl.mechanism"
        return DataError(f"cannot read {self.name}", detail=detail, hint=hint)


def check_access(broker: BrokerSettings, display_name: str, topic: str) -> None:
    """Raise DataError, which calls the topic `display_name`, if the brokers refuse our login or TLS.

    Messages call the topic `display_name`. Spark reports all other problems. Without TLS or a login, or without the
    Python client, nothing is checked.
    """
    if not is_secured(broker):
        return
    try:
        consumer = require_library("confluent_kafka", "kafka", "kafka").Consumer  # a consumer creates no topics
        client = KafkaClient(broker, display_name, consumer, {"group.id": f"transom-{uuid4().hex}"})
    except UsageError:
        return
    try:
        client.topic(topic, _CHECK)
    except DataError:
        if client.is_refused:
            raise
    finally:
        client.handle.close()


def _refused_certificate_text(settings: dict[str, Any]) -> str | None:
    """Return why a broker's TLS certificate is refused, as text; None if no broker's is refused.

    librdkafka does not report it.
    """
    context = client_context(Tls(settings.get("ssl.ca.location")))
    for server in settings["bootstrap.servers"].split(","):
        host, _, port = server.strip().rpartition(":")
        host = host.strip("[]")
        try:
            with socket.create_connection((host, int(port)), _ROUND) as plain:
                context.wrap_socket(plain, server_hostname=host).close()
        except (OSError, ValueError) as error:
            if refused_certificate(error) is not None:
                return error_text(error)
    return None


def connection_error_text(text: str) -> str:
    """Shorten a connection error of librdkafka to one line without internal details."""
    text = re.sub(r"error:[0-9A-F]+:[^:]*:[^:]*:", "", text)
    text = re.sub(r"\s*\((?:after \d+ms in state [^)]*|brew install openssl)\)", "", text)
    return re.sub(r"\s+", " ", text).strip()


def client_error_text(error: BaseException) -> str:
    """Return the message of an error of the Kafka library without the client's settings, which may hold secrets."""
    return str(error.args[0].str()) if error.args and hasattr(error.args[0], "str") else str(error)


class SilentLogger:
    """A logger that discards the library's messages."""

    def log(self, *message: object) -> None:
        """Discard a log message of the Kafka library, since errors are raised as exceptions anyway."""
