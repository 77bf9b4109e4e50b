"""An MQTT 5 client that accepts the reason code "Packet too large" in a PUBACK."""

from __future__ import annotations

from typing import Any

from paho.mqtt.client import Client
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

PACKET_TOO_LARGE = 149
"""The reason code "Packet too large", which MQTT 5 defines for CONNACK and DISCONNECT only."""
_REFUSED_CODE = ReasonCode(PacketTypes.PUBACK, "Implementation specific error")
_REASON_OFFSET = 2
"""The offset of the reason code in a PUBACK, after the packet identifier."""


class PublishingClient(Client):
    """paho's client, extended to read a PUBACK with "Packet too large".

    Mosquitto sends one for a message beyond its `message_size_limit`. MQTT does not define this reason code for a
    PUBACK, so paho treats the packet as malformed: version 2.2 closes the connection, and in 2.1 its thread ends.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Create a paho client, with paho's arguments, that notes which messages a broker refuses as too large."""
        super().__init__(*arguments, **options)
        self.too_large: set[int] = set()
        """The packet identifiers of messages that the broker refused as too large."""

    def _handle_pubackcomp(self, cmd: Any) -> Any:
        """Note a message refused with the code "Packet too large", which paho cannot read, and replace the code."""
        packet = self._in_packet["packet"]
        if cmd == "PUBACK" and len(packet) > _REASON_OFFSET and packet[_REASON_OFFSET] == PACKET_TOO_LARGE:
            self.too_large.add(int.from_bytes(packet[:_REASON_OFFSET], "big"))
            packet[_REASON_OFFSET] = _REFUSED_CODE.value
        return super()._handle_pubackcomp(cmd)
