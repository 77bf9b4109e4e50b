"""Rows as messages of MQTT: those that the broker does not take are found and left out, all others are sent.

The client speaks version 5, in which a broker says how large a packet may be and answers every message with a reason
code. It speaks version 3.1.1 only to a broker that does not know version 5.
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
from transom.catalog.extras import needed
from transom.catalog.references import resolved
from transom.catalog.tls import client_context, told
from transom.errors import UsageError
from transom.runtime.sink_dead_letters import Refused

ID = "_id"
AT_ONCE = 100
"""The most messages that are sent before the first of them is acknowledged."""
PATIENCE = 10.0
"""Seconds to wait for an answer of the broker."""
LARGEST_REMAINING = 268_435_455
"""The largest length that the header of a packet can express: that of all bytes after the header."""
_OLDER = "Unsupported protocol version"
_UNKNOWN = ("Not authorized", "Bad user name or password", "Bad authentication method")
"""What a broker says to a client that it does not know, or that may not publish."""
_TOO_LARGE = "Packet too large"
_BAD_ROW = "Payload format invalid"
"""What a broker says of a message that it would not take if it came again."""


class Broker:
    """An MQTT broker, and the version of the protocol that it speaks as far as we know."""

    def __init__(self, address: str) -> None:
        self._mqtt = needed("paho.mqtt.client", "mqtt")
        from transom.runtime.mqtt_client import PublishingClient  # it needs paho

        self._client = PublishingClient
        self._parts = read_address(address, "mqtt://HOST:PORT/TOPIC")
        self._tls = broker_tls(self._parts)
        self._version = self._mqtt.MQTTv5

    @property
    def host(self) -> str:
        """Its host."""
        return resolved(self._parts.host)

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """A connection on which messages can be published."""
        with self._opened(self._version) as connection:
            answer = connection.answer()
            if not connection.is_older(answer):
                connection.check(answer)
                yield connection
                return
        if answer is not None:
            self._version = self._mqtt.MQTTv311
        with self._opened(self._mqtt.MQTTv311) as connection:
            connection.check(connection.answer())
            yield connection

    @contextmanager
    def _opened(self, version: int) -> Iterator[Connection]:
        newer = version == self._mqtt.MQTTv5
        kind = self._mqtt.CallbackAPIVersion.VERSION2
        client = self._client(kind, protocol=version, reconnect_on_failure=not newer)
        user, password = self._parts.login()
        if user is not None:
            client.username_pw_set(user, password)
        if self._tls is not None:
            client.tls_set_context(client_context(self._tls))
        connection = Connection(client, self.host, resolved(self._parts.name), newer)
        try:
            client.connect(self.host, self._parts.port or (1883 if self._tls is None else 8883))
        except ssl.SSLCertVerificationError as error:
            raise UsageError(f"no connection to the broker {self.host}", detail=told(error)) from None
        client.loop_start()
        try:
            yield connection
        finally:
            client.disconnect()
            client.loop_stop()


class Connection:
    """A connection to a broker: what it may send, and what the broker answers."""

    def __init__(self, client: Any, host: str, topic: str, newer: bool) -> None:
        self._client, self._host, self._topic, self._newer = client, host, topic, newer
        self._answers: Queue[tuple[Any, Any] | None] = Queue()
        self._codes: dict[int, Any] = {}
        self._largest: int | None = None
        self._lost = False
        self.at_once = AT_ONCE
        client.on_connect = lambda _, __, ___, code, more: self._answers.put((code, more))
        client.on_disconnect = self._disconnected
        client.on_publish = lambda _, __, number, code, ___: self._codes.update({number: code})

    def _disconnected(self, *_: object) -> None:
        self._lost = True
        self._answers.put(None)

    def answer(self) -> tuple[Any, Any] | None:
        """The reason code and the properties with which the broker lets us in or not; None if it hangs up."""
        try:
            return self._answers.get(timeout=PATIENCE)
        except Empty:
            raise TimeoutError("the broker does not answer") from None

    def is_older(self, answer: tuple[Any, Any] | None) -> bool:
        """Whether that is how a broker answers that does not know version 5: some hang up without a word."""
        return self._newer and (answer is None or str(answer[0]) == _OLDER)

    def check(self, answer: tuple[Any, Any] | None) -> None:
        """Note the limits of a broker that lets us in; UsageError if it does not know us."""
        if answer is None:
            raise ConnectionResetError("the broker hangs up")
        code, properties = answer
        if str(code) in _UNKNOWN:
            hint = f"look at user and password: mqtt://USER:${{NAME}}@{self._host}"
            raise UsageError(f"the broker {self._host} refuses", detail=str(code), hint=hint)
        if code.is_failure:
            raise ConnectionRefusedError(str(code))
        self._lost = False
        self._largest = getattr(properties, "MaximumPacketSize", None)
        self.at_once = min(AT_ONCE, getattr(properties, "ReceiveMaximum", AT_ONCE))

    def publish(self, payload: bytes) -> Any:
        """Send a message; what `outcome` wants."""
        problem = self._too_large(payload)
        if problem is not None:
            return problem
        try:
            return self._client.publish(self._topic, payload, qos=1)
        except ValueError as error:
            raise UsageError(f"MQTT cannot publish to the topic {self._topic}", detail=str(error)) from None

    def _too_large(self, payload: bytes) -> str | None:
        """Why a message cannot be sent, if its packet is larger than the broker or the protocol allows."""
        properties = 1 if self._newer else 0
        remaining = 2 + len(self._topic.encode()) + 2 + properties + len(payload)
        if remaining > LARGEST_REMAINING:
            return f"the packet has {remaining:,} bytes after its header, and MQTT allows {LARGEST_REMAINING:,}"
        packet = 1 + max(1, -(-remaining.bit_length() // 7)) + remaining
        if self._largest is not None and packet > self._largest:
            return f"the packet has {packet:,} bytes, and the broker takes {self._largest:,}"
        return None

    def outcome(self, sent: Any) -> str | None:
        """Why the broker refuses a message; None if it has taken it."""
        if isinstance(sent, str):
            return sent
        end = time.monotonic() + PATIENCE
        while True:
            lost = self._lost  # read first: an answer that comes before the end of the connection counts
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
        if str(code) in _UNKNOWN:
            hint = f"allow the user to publish to {self._topic}"
            raise UsageError(f"the broker {self._host} refuses a message", detail=str(code), hint=hint)
        raise OSError(str(code))


class Outbox:
    """The rows of a micro-batch, each with its id, until the broker has taken or refused them."""

    def __init__(self, rows: Sequence[tuple[str, str]]) -> None:
        self._rest = dict(enumerate(rows))
        self._refused: dict[int, Refused] = {}
        self._alone = 0
        """How many rows are sent one by one: a broker that hangs up after a row it refuses loses the rows behind it.

        Rows in front of it can be lost, too: when a host closes a connection with unread packets, TCP discards the
        answers that the other host has not read yet.
        """

    @property
    def refused(self) -> list[Refused]:
        """What the broker does not take."""
        return [self._refused[place] for place in sorted(self._refused)]

    def send(self, broker: Broker) -> None:
        """One attempt: it fails if the broker neither takes nor refuses a row that is sent alone."""
        while self._rest:
            before, was_alone = len(self._rest), self._alone > 0
            try:
                with broker.connected() as connection:
                    self._send_over(connection)
            except (OSError, RuntimeError):
                self._alone = AT_ONCE
                if was_alone and len(self._rest) == before:
                    raise

    def _send_over(self, connection: Connection) -> None:
        """Send what is left; rows leave as soon as the broker has taken or refused them."""
        while self._rest:
            some = dict(islice(self._rest.items(), 1 if self._alone else connection.at_once))
            sent = {place: connection.publish(_with_id(*row).encode()) for place, row in some.items()}
            for place, row in some.items():
                reason = connection.outcome(sent[place])
                if reason is not None:
                    self._refused[place] = Refused(json.loads(_with_id(*row)), reason)
                del self._rest[place]
                self._alone = max(0, self._alone - 1)


def _with_id(name: str, value: str) -> str:
    """The JSON object of a row with its id in front."""
    return f'{{"{ID}":"{name}",{value[1:]}'
