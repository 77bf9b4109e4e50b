"""Subscribe to MQTT 3.1.1 and 5 in a persistent session; messages are acknowledged once they are in the log.

A redelivered message is recognised by three things: the broker marks it as a duplicate, its packet id is the original
one, and packet id, topic and payload match a log entry. A broker reuses a packet id only after an acknowledgement. So a
new message is mistaken for an old one only if it equals the last one with the same packet id, and the connection broke
before it reached the log.
"""

from __future__ import annotations

import hashlib
import sys
from typing import Any
from urllib.parse import urlsplit

from transom.catalog.extras import require_library
from transom.catalog.reading.references import resolve_references
from transom.catalog.servers import Mqtt
from transom.catalog.tls import client_context, error_text
from transom.collector.feed import Feed
from transom.connectors.payloads import MAX_MESSAGE_BYTES, RejectError
from transom.errors import UsageError
from transom.model.reject_reason import RejectReason

PACKET_IDS = 65_536
"""Maximum number of unacknowledged messages."""
LARGEST_PACKET = 2 * MAX_MESSAGE_BYTES
"""Bytes of a packet that are kept; messages above MAX_MESSAGE_BYTES are rejected, MQTT allows 256 MB."""
_READ_SIZE = 1 << 18


def message_token(packet_id: int, topic: str, payload: bytes) -> str:
    """Return the text by which a redelivered message is recognised: packet id, and hash of topic and payload."""
    digest = hashlib.blake2b(topic.encode() + b"\0" + payload, digest_size=12).hexdigest()
    return f"{packet_id}:{digest}"


def _bounded_client(mqtt: Any) -> Any:
    """Return a subclass of the MQTT library's client that truncates packets above `LARGEST_PACKET` bytes.

    Their messages are then rejected as too large. Closing the connection would not help, as the broker would redeliver
    the message. Announcing the limit to an MQTT 5 broker would silently lose the message.
    """

    class Limited(mqtt.Client):  # type: ignore[misc]
        """Reads packets in chunks, and keeps only their beginning."""

        def _sock_recv(self, bufsize: int) -> bytes:
            """Receive up to `bufsize` bytes of a packet; keep only the start of a too large packet."""
            del self._in_packet["packet"][LARGEST_PACKET:]
            return bytes(super()._sock_recv(min(bufsize, _READ_SIZE)))

    return Limited


class MqttSubscriber:
    """Subscribes to the topic of one source, and passes its messages to a feed."""

    def __init__(self, source: Mqtt, feed: Feed) -> None:
        """Create a source's subscriber; it restores message tokens from the log to recognise redeliveries.

        With them, a redelivered message is recognised.
        """
        self.source = source
        self.feed = feed
        self.problem: str | None = None
        self._token_by_packet = {
            outcome.token.partition(":")[0]: outcome.token for outcome in feed.log.recent_outcomes(PACKET_IDS)
        }
        mqtt = require_library("paho.mqtt.client", "mqtt")
        session_options = {"clean_session": False} if source.version == 4 else {}
        self._client = _bounded_client(mqtt)(
            mqtt.CallbackAPIVersion.VERSION2,
            client_id=source.client,
            protocol=mqtt.MQTTv5 if source.version == 5 else mqtt.MQTTv311,
            manual_ack=True,
            **session_options,
        )
        self._mqtt = mqtt

    def start(self) -> None:
        """Connect to the broker in the background, and reconnect whenever the connection breaks."""
        url = urlsplit(resolve_references(self.source.broker))
        secure = url.scheme == "mqtts"
        client = self._client
        if self.source.user is not None:
            client.username_pw_set(
                resolve_references(self.source.user), resolve_references(self.source.password or "") or None
            )
        if secure:
            client.tls_set_context(client_context(self.source.tls))
        client.on_connect = self._connected
        client.on_connect_fail = self._connect_failed
        client.on_disconnect = self._disconnected
        client.on_message = self._receive
        client.reconnect_delay_set(1, 30)
        options: dict[str, Any] = {}
        if self.source.version == 5:
            properties = require_library("paho.mqtt.properties", "mqtt").Properties
            kinds = require_library("paho.mqtt.packettypes", "mqtt").PacketTypes
            options["properties"] = properties(kinds.CONNECT)
            options["properties"].SessionExpiryInterval = 0xFFFFFFFF
            options["clean_start"] = False
        if url.hostname is None:
            raise UsageError(f"the broker of {self.feed.extent.name} has no host", hint="write mqtt://HOST:PORT")
        client.connect_async(url.hostname, url.port or (8883 if secure else 1883), keepalive=30, **options)
        client.loop_start()

    def _connected(self, client: Any, data: Any, flags: Any, code: Any, properties: Any) -> None:
        """Subscribe to the topic when the broker has accepted the connection, or note why it refuses."""
        self.problem = f"the broker refuses: {code}" if code.is_failure else None
        if not code.is_failure:
            client.subscribe(self.source.filter, qos=1)

    def _connect_failed(self, client: Any, data: Any) -> None:
        """Store the reason why the broker cannot be reached, for the collector's health report."""
        error = sys.exc_info()[1]  # the library calls this from its exception handler
        self.problem = f"no connection to the broker: {'' if error is None else error_text(error)}"

    def _disconnected(self, client: Any, data: Any, flags: Any, code: Any, properties: Any) -> None:
        """Note why the connection to the broker broke, unless it was closed on purpose."""
        if code.is_failure and self.problem is None:
            self.problem = f"the connection broke: {code}"

    def _receive(self, client: Any, data: Any, message: Any) -> None:
        """Queue a received message for the log; an error is kept in `problem`, a text for the operator."""
        try:
            self._feed_message(client, message)
        except Exception as error:  # it would silently end the library's thread, and with it the extent
            self.problem = f"a message failed: {type(error).__name__}: {error}"

    def _feed_message(self, client: Any, message: Any) -> None:
        """Queue a new message for the log; a redelivered one is only acknowledged."""
        packet_id, qos = message.mid, message.qos
        if qos == 0:
            self.feed.enqueue(message.payload, self._topic_attributes(message.topic), message.topic, None)
            return
        token = message_token(packet_id, message.topic, message.payload)

        def acknowledge() -> None:
            """Acknowledge the outer message to the broker; called once the message is in the log."""
            client.ack(packet_id, qos)

        if message.dup and self._token_by_packet.get(str(packet_id)) == token:
            self.feed.acknowledge_duplicate(acknowledge)
            return
        self._token_by_packet[str(packet_id)] = token
        self.feed.enqueue(message.payload, self._topic_attributes(message.topic), message.topic, token, acknowledge)

    def _topic_attributes(self, topic: str) -> dict[str, object] | RejectError:
        """Return the attributes in the levels of a topic, or a RejectError if it has too few levels."""
        parts = topic.split("/")
        levels = self.source.levels
        if levels and levels[-1][0] >= len(parts):
            return RejectError(RejectReason.TOPIC, f"{topic} has {len(parts)} levels")
        return {name: parts[index] for index, name in levels}

    def stop(self) -> None:
        """Disconnect from the broker, which keeps messages for the session until the next start."""
        self._client.disconnect()
        self._client.loop_stop()
