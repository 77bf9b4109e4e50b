"""MQTT, 3.1.1 and 5: a session that the broker keeps, and every message acknowledged after the log has it.

What comes again after a break is told by three things together: the broker says that it sends it again, under the
number that it had, and number, topic and payload are those of an entry of the log. A broker gives a number to another
message only after an acknowledgement, so a message is taken for an old one by mistake only if it is equal to the last
one of the same number, and was itself cut off before it reached the log.
"""

from __future__ import annotations

import hashlib
import sys
from typing import Any
from urllib.parse import urlsplit

from transom.catalog.extras import needed
from transom.catalog.references import resolved
from transom.catalog.servers import Mqtt
from transom.catalog.tls import client_context, told
from transom.collector.feed import Feed
from transom.connectors.payloads import LARGEST, Dead
from transom.errors import UsageError
from transom.model.reasons import Reason

NUMBERS = 65_536
"""How many messages can wait for an acknowledgement."""
LARGEST_PACKET = 2 * LARGEST
"""Bytes of a packet that are kept; a message of more than LARGEST is dead, and MQTT allows 256 MB."""
_PIECE = 1 << 18


def token_of(number: int, topic: str, payload: bytes) -> str:
    """What tells a message that comes again: its number, topic and content."""
    digest = hashlib.blake2b(topic.encode() + b"\0" + payload, digest_size=12).hexdigest()
    return f"{number}:{digest}"


def _limited(mqtt: Any) -> Any:
    """The client of the library, but of a packet that is too large it keeps the beginning.

    To break the connection would not help: the broker would send the message again. To tell a broker of MQTT 5 the
    limit would lose the message without a word.
    """

    class Limited(mqtt.Client):  # type: ignore[misc]
        """Reads packets in pieces."""

        def _sock_recv(self, bufsize: int) -> bytes:
            del self._in_packet["packet"][LARGEST_PACKET:]
            return bytes(super()._sock_recv(min(bufsize, _PIECE)))

    return Limited


class Listener:
    """The messages of one topic on their way to a feed."""

    def __init__(self, source: Mqtt, feed: Feed) -> None:
        self.source = source
        self.feed = feed
        self.problem: str | None = None
        self._last = {one.token.partition(":")[0]: one.token for one in feed.log.answered(NUMBERS)}
        mqtt = needed("paho.mqtt.client", "mqtt")
        kept = {"clean_session": False} if source.version == 4 else {}
        self._client = _limited(mqtt)(
            mqtt.CallbackAPIVersion.VERSION2,
            client_id=source.client,
            protocol=mqtt.MQTTv5 if source.version == 5 else mqtt.MQTTv311,
            manual_ack=True,
            **kept,
        )
        self._mqtt = mqtt

    def start(self) -> None:
        """Connect, and connect again whenever the connection breaks."""
        place = urlsplit(resolved(self.source.broker))
        secure = place.scheme == "mqtts"
        client = self._client
        if self.source.user is not None:
            client.username_pw_set(resolved(self.source.user), resolved(self.source.password or "") or None)
        if secure:
            client.tls_set_context(client_context(self.source.tls))
        client.on_connect = self._connected
        client.on_connect_fail = self._failed
        client.on_disconnect = self._broken
        client.on_message = self._came
        client.reconnect_delay_set(1, 30)
        more: dict[str, Any] = {}
        if self.source.version == 5:
            properties = needed("paho.mqtt.properties", "mqtt").Properties
            kinds = needed("paho.mqtt.packettypes", "mqtt").PacketTypes
            more["properties"] = properties(kinds.CONNECT)
            more["properties"].SessionExpiryInterval = 0xFFFFFFFF
            more["clean_start"] = False
        if place.hostname is None:
            raise UsageError(f"the broker of {self.feed.extent.name} has no host", hint="write mqtt://HOST:PORT")
        client.connect_async(place.hostname, place.port or (8883 if secure else 1883), keepalive=30, **more)
        client.loop_start()

    def _connected(self, client: Any, data: Any, flags: Any, code: Any, properties: Any) -> None:
        self.problem = f"the broker refuses: {code}" if code.is_failure else None
        if not code.is_failure:
            client.subscribe(self.source.filter, qos=1)

    def _failed(self, client: Any, data: Any) -> None:
        error = sys.exc_info()[1]  # the library calls this while it handles the error
        self.problem = f"no connection to the broker: {'' if error is None else told(error)}"

    def _broken(self, client: Any, data: Any, flags: Any, code: Any, properties: Any) -> None:
        if code.is_failure and self.problem is None:
            self.problem = f"the connection broke: {code}"

    def _came(self, client: Any, data: Any, message: Any) -> None:
        try:
            self._take(client, message)
        except Exception as error:  # it would end the thread of the library, and with it the extent, without a word
            self.problem = f"a message failed: {type(error).__name__}: {error}"

    def _take(self, client: Any, message: Any) -> None:
        number, qos = message.mid, message.qos
        if qos == 0:
            self.feed.take(message.payload, self._known(message.topic), message.topic, None)
            return
        token = token_of(number, message.topic, message.payload)

        def done() -> None:
            client.ack(number, qos)

        if message.dup and self._last.get(str(number)) == token:
            self.feed.acknowledge_duplicate(done)
            return
        self._last[str(number)] = token
        self.feed.take(message.payload, self._known(message.topic), message.topic, token, done)

    def _known(self, topic: str) -> dict[str, object] | Dead:
        parts = topic.split("/")
        levels = self.source.levels
        if levels and levels[-1][0] >= len(parts):
            return Dead(Reason.TOPIC, f"{topic} has {len(parts)} levels")
        return {name: parts[place] for place, name in levels}

    def stop(self) -> None:
        """Hang up; the broker keeps what comes."""
        self._client.disconnect()
        self._client.loop_stop()
