"""A client of MQTT 5 that understands a broker that refuses a message with "Packet too large"."""

from __future__ import annotations

from typing import Any

from paho.mqtt.client import Client
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

TOO_LARGE = 149
"""The reason code "Packet too large", which MQTT 5 has for CONNACK and DISCONNECT."""
_REFUSED = ReasonCode(PacketTypes.PUBACK, "Implementation specific error")
_REASON_AT = 2
"""Where the reason code of a PUBACK is, after the identifier of its message."""


class PublishingClient(Client):
    """paho's client, which also reads a PUBACK with "Packet too large".

    Mosquitto sends one for a message beyond its `message_size_limit`. MQTT does not have this reason code for a PUBACK,
    so paho takes the packet for a malformed one: version 2.2 closes the connection, and in 2.1 its thread ends.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.too_large: set[int] = set()
        """The identifiers of the messages that the broker refused as too large."""

    def _handle_pubackcomp(self, cmd: Any) -> Any:
        """Note such a PUBACK, and give paho one that it can read."""
        packet = self._in_packet["packet"]
        if cmd == "PUBACK" and len(packet) > _REASON_AT and packet[_REASON_AT] == TOO_LARGE:
            self.too_large.add(int.from_bytes(packet[:_REASON_AT], "big"))
            packet[_REASON_AT] = _REFUSED.value
        return super()._handle_pubackcomp(cmd)
