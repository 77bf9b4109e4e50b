"""Publish dead letters to their original topics at an MQTT broker, with QoS 1."""

from __future__ import annotations

from collections.abc import Sequence
from queue import Empty, Queue
from typing import Any
from urllib.parse import urlsplit

from transom.catalog.extras import require_library
from transom.catalog.reading.references import resolve_references
from transom.catalog.servers import Mqtt
from transom.catalog.tls import client_context, error_text
from transom.connectors.dead_letters.letters import DeadLetter
from transom.connectors.dead_letters.resend import Receipt
from transom.errors import DataError, Unavailable

_SECONDS = 10.0
"""Seconds to wait for each response of the broker."""


class BrokerSender:
    """A connection to the broker of an extent; `close` it at the end."""

    portion = 20

    def __init__(self, source: Mqtt, target: str) -> None:
        """Connect to the broker of a source, called `target`, with its TLS and login; raise DataError if it refuses."""
        mqtt = require_library("paho.mqtt.client", "mqtt")
        url = urlsplit(resolve_references(source.broker))
        self.target = target
        protocol = mqtt.MQTTv5 if source.version == 5 else mqtt.MQTTv311
        kind = mqtt.CallbackAPIVersion.VERSION2
        self._client = mqtt.Client(kind, protocol=protocol, reconnect_on_failure=False)
        self._codes: dict[int, Any] = {}
        connected: Queue[Any] = Queue()
        self._client.on_connect = lambda _, __, ___, code, ____: connected.put(code)
        self._client.on_publish = lambda _, __, number, code, ___: self._codes.update({number: code})
        if source.user is not None:
            self._client.username_pw_set(
                resolve_references(source.user), resolve_references(source.password or "") or None
            )
        secure = url.scheme == "mqtts"
        if secure:
            self._client.tls_set_context(client_context(source.tls))
        try:
            self._client.connect(url.hostname or "", url.port or (8883 if secure else 1883))
            self._client.loop_start()
            code = connected.get(timeout=_SECONDS)
        except (OSError, Empty) as error:
            detail = error_text(error) if isinstance(error, OSError) else None
            raise Unavailable(f"no connection to the broker {self.target}", detail=detail) from None
        if code.is_failure:
            self.close()
            raise DataError(f"the broker {self.target} refuses", detail=str(code), hint="look at user and password")

    def send(self, letters: Sequence[DeadLetter]) -> Receipt:
        """Publish dead letters in their order, and wait until the broker has acknowledged each one."""
        sent = {letter.id: self._client.publish(letter.origin, letter.value, qos=1) for letter in letters}
        accepted: list[str] = []
        refused: dict[str, str] = {}
        for letter_id, message in sent.items():
            try:
                message.wait_for_publish(_SECONDS)
                is_published = message.is_published()
            except (RuntimeError, ValueError):  # the connection broke, or the queue of the client is full
                is_published = False
            if not is_published:
                error = Unavailable(f"the broker {self.target} does not acknowledge", hint="look whether it runs")
                return Receipt(accepted, refused, error=error)
            code = self._codes.pop(message.mid, None)
            if code is not None and code.is_failure:
                refused[letter_id] = str(code)
            else:
                accepted.append(letter_id)
        return Receipt(accepted, refused)

    def close(self) -> None:
        """Disconnect from the broker."""
        self._client.disconnect()
        self._client.loop_stop()
