"""Publish rows as MQTT messages with QoS 1; those that the broker refuses become dead letters.

The client uses MQTT 5, in which a broker announces its largest packet and acknowledges every message with a reason
code. It falls back to 3.1.1 for brokers without MQTT 5.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from queue import Empty, Queue
from typing import Any

from transom.catalog.addresses import broker_tls, read_address
from transom.catalog.extras import require_library
from transom.catalog.reading.references import resolve_references
from transom.catalog.tls import client_context, error_text
from transom.errors import UsageError
from transom.runtime.sinks.dead_letters import RefusedRow

ID_FIELD = "_id"
MAX_IN_FLIGHT = 100
"""The most unacknowledged messages."""
ANSWER_TIMEOUT = 10.0
"""Seconds to wait for a response of the broker."""
MAX_REMAINING_LENGTH = 268_435_455
"""The largest Remaining Length of a packet: the number of bytes after the fixed header."""
_UNSUPPORTED_VERSION = "Unsupported protocol version"
_NOT_AUTHORIZED = ("Not authorized", "Bad user name or password", "Bad authentication method")
"""Reason codes for failed authentication or missing permission."""
_TOO_LARGE = "Packet too large"
_BAD_ROW = "Payload format invalid"
"""Reason code for a message that the broker would refuse again after a retry."""


class Broker:
    """An MQTT broker and the protocol version to try first."""

    def __init__(self, address: str) -> None:
        """Parse a broker's address, mqtt://HOST:PORT/TOPIC, without connecting to it."""
        self._mqtt = require_library("paho.mqtt.client", "mqtt")
        from transom.runtime.sinks.mqtt_client import PublishingClient  # it needs paho

        self._client = PublishingClient
        self._parts = read_address(address, "mqtt://HOST:PORT/TOPIC")
        self._tls = broker_tls(self._parts)
        self._version = self._mqtt.MQTTv5

    @property
    def host(self) -> str:
        """The broker's host name, with references to secrets resolved."""
        return resolve_references(self._parts.host)

    @contextmanager
    def connect(self) -> Iterator[BrokerConnection]:
        """Connect with MQTT 5, or 3.1.1 if the broker does not support it; raise UsageError if it rejects the login."""
        with self._open(self._version) as connection:
            connack = connection.connack()
            if not connection.lacks_mqtt5(connack):
                connection.check(connack)
                yield connection
                return
        if connack is not None:
            self._version = self._mqtt.MQTTv311
        with self._open(self._mqtt.MQTTv311) as connection:
            connection.check(connection.connack())
            yield connection

    @contextmanager
    def _open(self, version: int) -> Iterator[BrokerConnection]:
        """Connect with one version of MQTT and run the client's network loop; disconnect at the end of the context."""
        mqtt5 = version == self._mqtt.MQTTv5
        kind = self._mqtt.CallbackAPIVersion.VERSION2
        client = self._client(kind, protocol=version, reconnect_on_failure=not mqtt5)
        user, password = self._parts.login()
        if user is not None:
            client.username_pw_set(user, password)
        if self._tls is not None:
            client.tls_set_context(client_context(self._tls))
        connection = BrokerConnection(client, self.host, resolve_references(self._parts.name), mqtt5)
        try:
            client.connect(self.host, self._parts.port or (1883 if self._tls is None else 8883))
        except ssl.SSLCertVerificationError as error:
            raise UsageError(f"no connection to the broker {self.host}", detail=error_text(error)) from None
        client.loop_start()
        try:
            yield connection
        finally:
            client.disconnect()
            client.loop_stop()


class BrokerConnection:
    """A connection to a broker: publishes messages within its limits and evaluates its responses."""

    def __init__(self, client: Any, host: str, topic: str, mqtt5: bool) -> None:
        """Register for a broker's responses to a paho client that publishes to `topic`, by MQTT 5 if `mqtt5`.

        `mqtt5` says whether it uses MQTT 5.
        """
        self._client, self._host, self._topic, self._mqtt5 = client, host, topic, mqtt5
        self._answers: Queue[tuple[Any, Any] | None] = Queue()
        self._codes: dict[int, Any] = {}
        self._largest: int | None = None
        self._lost = False
        self.max_in_flight = MAX_IN_FLIGHT
        client.on_connect = lambda _, __, ___, code, more: self._answers.put((code, more))
        client.on_disconnect = self._disconnected
        client.on_publish = lambda _, __, number, code, ___: self._codes.update({number: code})

    def _disconnected(self, *_: object) -> None:
        """Record that the broker closed the connection; wakes `connack`, which waits for the CONNACK."""
        self._lost = True
        self._answers.put(None)

    def connack(self) -> tuple[Any, Any] | None:
        """Wait for the broker's CONNACK; return its reason code and properties, or None if the broker hangs up."""
        try:
            return self._answers.get(timeout=ANSWER_TIMEOUT)
        except Empty:
            raise TimeoutError("the broker does not answer") from None

    def lacks_mqtt5(self, connack: tuple[Any, Any] | None) -> bool:
        """Whether the broker refuses MQTT 5: its CONNACK has such a reason code, or is None because it hung up."""
        return self._mqtt5 and (connack is None or str(connack[0]) == _UNSUPPORTED_VERSION)

    def check(self, connack: tuple[Any, Any] | None) -> None:
        """Check the broker's CONNACK and store its limits; raise UsageError if it rejects the login."""
        if connack is None:
            raise ConnectionResetError("the broker hangs up")
        code, properties = connack
        if str(code) in _NOT_AUTHORIZED:
            hint = f"look at user and password: mqtt://USER:${{NAME}}@{self._host}"
            raise UsageError(f"the broker {self._host} refuses", detail=str(code), hint=hint)
        if code.is_failure:
            raise ConnectionRefusedError(str(code))
        self._lost = False
        self._largest = getattr(properties, "MaximumPacketSize", None)
        self.max_in_flight = min(MAX_IN_FLIGHT, getattr(properties, "ReceiveMaximum", MAX_IN_FLIGHT))

    def publish(self, payload: bytes) -> Any:
        """Publish a message; return paho's MQTTMessageInfo or, if the message is too large, the reason as text."""
        problem = self._size_problem(payload)
        if problem is not None:
            return problem
        try:
            return self._client.publish(self._topic, payload, qos=1)
        except ValueError as error:
            raise UsageError(f"MQTT cannot publish to the topic {self._topic}", detail=str(error)) from None

    def _size_problem(self, payload: bytes) -> str | None:
        """Return why the packet of a message is larger than the broker or MQTT allows; None if it is not."""
        properties = 1 if self._mqtt5 else 0
        remaining = 2 + len(self._topic.encode()) + 2 + properties + len(payload)
        if remaining > MAX_REMAINING_LENGTH:
            return f"the packet has {remaining:,} bytes after its header, and MQTT allows {MAX_REMAINING_LENGTH:,}"
        packet = 1 + max(1, -(-remaining.bit_length() // 7)) + remaining
        if self._largest is not None and packet > self._largest:
            return f"the packet has {packet:,} bytes, and the broker takes {self._largest:,}"
        return None

    def outcome(self, sent: Any) -> str | None:
        """Wait for the broker's PUBACK of `sent`, a result of `publish`; return None if accepted, else the reason.

        Raises OSError where a retry may help, and UsageError if the user may not publish to the topic.
        """
        if isinstance(sent, str):
            return sent
        end = time.monotonic() + ANSWER_TIMEOUT
        while True:
            lost = self._lost  # read first: a PUBACK that arrived before the connection closed counts
            if sent.is_published():
                break
            if lost:
                raise ConnectionResetError("the broker hangs up")
            if time.monotonic() > end:
                raise TimeoutError("the broker does not acknowledge")
            sent.wait_for_publish(0.1)
        code = self._codes.pop(sent.mid, None)
        if code is None or not code.is_failure:
            return None
        if sent.mid in self._client.too_large:
            self._client.too_large.discard(sent.mid)
            return f"the broker says: {_TOO_LARGE}"
        if str(code) == _BAD_ROW:
            return f"the broker says: {code}"
        if str(code) in _NOT_AUTHORIZED:
            hint = f"allow the user to publish to {self._topic}"
            raise UsageError(f"the broker {self._host} refuses a message", detail=str(code), hint=hint)
        raise OSError(str(code))


class Outbox:
    """The rows of a micro-batch, as (id, JSON), that the broker has not accepted or refused yet."""

    def __init__(self, rows: Sequence[tuple[str, str]]) -> None:
        """Create an outbox with the rows of a micro-batch that are to be published, as (id, JSON)."""
        self._pending = dict(enumerate(rows))
        self._refused: dict[int, RefusedRow] = {}
        self._single_rows = 0
        """How many of the next rows are sent one at a time, so that a broken connection concerns a single row.

        A broker that closes the connection after a row it refuses loses the rows sent after it. Rows before it can be
        lost, too: when a host closes a connection with unread packets, TCP discards the responses that the other host
        has not read yet.
        """

    @property
    def refused(self) -> list[RefusedRow]:
        """The rows that the broker refused, in the order of the micro-batch."""
        return [self._refused[number] for number in sorted(self._refused)]

    def send(self, broker: Broker) -> None:
        """Send all rows, and reconnect if needed; raise an error if a row sent alone gets no response."""
        while self._pending:
            before, was_single = len(self._pending), self._single_rows > 0
            try:
                with broker.connect() as connection:
                    self._send_over(connection)
            except (OSError, RuntimeError):
                self._single_rows = MAX_IN_FLIGHT
                if was_single and len(self._pending) == before:
                    raise

    def _send_over(self, connection: BrokerConnection) -> None:
        """Send the remaining rows over a connection; a row is done when the broker has accepted or refused it."""
        while self._pending:
            rows = dict(islice(self._pending.items(), 1 if self._single_rows else connection.max_in_flight))
            sent = {number: connection.publish(_with_id(*row).encode()) for number, row in rows.items()}
            for number, row in rows.items():
                reason = connection.outcome(sent[number])
                if reason is not None:
                    self._refused[number] = RefusedRow(json.loads(_with_id(*row)), reason)
                del self._pending[number]
                self._single_rows = max(0, self._single_rows - 1)


def _with_id(message_id: str, row_json: str) -> str:
    """Insert the message id into the JSON object of a row, as the first field `_id`."""
    return f'{{"{ID_FIELD}":"{message_id}",{row_json[1:]}'
