"""Kafka's clients for Python: made with the settings of a place, and asked why a connection fails.

librdkafka tries again for ever, and gives the reason to a callback only: a wrong certificate or password would look
like brokers that are away.
"""

from __future__ import annotations

import re
import socket
import time
from typing import Any
from uuid import uuid4

from transom.catalog.extras import needed
from transom.catalog.tls import Tls, client_context, refused_certificate, told
from transom.connectors.kafka.settings import Brokers, is_secured, python_settings
from transom.errors import DataError, UsageError

_ROUND = 1.0
"""Seconds after which a client is asked whether it was refused."""
_CHECK = 5.0
"""Seconds for which brokers are asked before Spark is."""


class Client:
    """One client and the last reason why it has no connection."""

    def __init__(self, place: Brokers, name: str, make: Any, more: dict[str, Any]) -> None:
        self.name = name
        self.kafka = needed("confluent_kafka", "kafka", "kafka")
        self._problem: Any = None
        self._settings = python_settings(place)
        try:
            self.own = make({**self._settings, **more, "error_cb": self._failed}, logger=Silent())
        except (self.kafka.KafkaException, ValueError, TypeError) as error:
            hint = "options are those of librdkafka: security.protocol, sasl.username, ssl.ca.location, ..."
            raise UsageError(f"the options of {name} do not fit", detail=said(error), hint=hint) from None

    def _failed(self, error: Any) -> None:
        down = error.code() == self.kafka.KafkaError._ALL_BROKERS_DOWN
        if self._problem is None or not (down or self.is_refused):
            self._problem = error

    @property
    def is_refused(self) -> bool:
        """Whether a broker was reached and the connection refused, by either side."""
        codes = self.kafka.KafkaError
        refusals = (codes._SSL, codes._AUTHENTICATION, codes.SASL_AUTHENTICATION_FAILED)
        return self._problem is not None and self._problem.code() in refusals

    def topic(self, topic: str, patience: float) -> Any:
        """What the brokers say of a topic; DataError with the reason if there is no connection."""
        end = time.monotonic() + patience
        while True:
            try:
                left = end - time.monotonic()
                return self.own.list_topics(topic, timeout=max(0.01, min(_ROUND, left))).topics[topic]
            except self.kafka.KafkaException as error:
                self.own.poll(0)
                if self.is_refused or time.monotonic() > end:
                    raise self.error(error) from None

    def error(self, error: BaseException) -> DataError:
        """An error of the client in words."""
        codes = self.kafka.KafkaError
        detail, hint = said(error), "look whether the broker runs"
        if self._problem is not None and (self.is_refused or self._problem.code() != codes._ALL_BROKERS_DOWN):
            detail = reason(self._problem.str())
        if self.is_refused:
            tls = self._problem.code() == codes._SSL
            detail = (_refused(self._settings) if tls else None) or detail
            hint = "look at tls: ca and the host name" if tls else "look at user, password and sasl.mechanism"
        return DataError(f"cannot read {self.name}", detail=detail, hint=hint)


def check_access(place: Brokers, name: str, topic: str) -> None:
    """DataError in words if brokers refuse us; Spark would say it after minutes, in a trace.

    What else may be wrong is left to Spark, and so is everything where there is no client for Python.
    """
    if not is_secured(place):
        return
    try:
        consumer = needed("confluent_kafka", "kafka", "kafka").Consumer  # it makes no topics
        client = Client(place, name, consumer, {"group.id": f"transom-{uuid4().hex}"})
    except UsageError:
        return
    try:
        client.topic(topic, _CHECK)
    except DataError:
        if client.is_refused:
            raise
    finally:
        client.own.close()


def _refused(settings: dict[str, Any]) -> str | None:
    """Why the certificate of a broker is refused, which librdkafka does not say; None if it is not."""
    context = client_context(Tls(settings.get("ssl.ca.location")))
    for server in settings["bootstrap.servers"].split(","):
        host, _, port = server.strip().rpartition(":")
        host = host.strip("[]")
        try:
            with socket.create_connection((host, int(port)), _ROUND) as plain:
                context.wrap_socket(plain, server_hostname=host).close()
        except (OSError, ValueError) as error:
            if refused_certificate(error) is not None:
                return told(error)
    return None


def reason(text: str) -> str:
    """What librdkafka says of a connection, without what is of use to nobody."""
    text = re.sub(r"error:[0-9A-F]+:[^:]*:[^:]*:", "", text)
    text = re.sub(r"\s*\((?:after \d+ms in state [^)]*|brew install openssl)\)", "", text)
    return re.sub(r"\s+", " ", text).strip()


def said(error: BaseException) -> str:
    """What the client says, without its settings."""
    return str(error.args[0].str()) if error.args and hasattr(error.args[0], "str") else str(error)


class Silent:
    """Takes the words that the library would print."""

    def log(self, *words: object) -> None:
        """Nothing: what goes wrong is told by the error."""
