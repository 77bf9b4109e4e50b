"""Messages to brokers that do not speak version 5 of MQTT, or that answer in a way that MQTT does not have."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("paho.mqtt.client")

from transom.errors import UsageError
from transom.runtime.sinks import mqtt
from transom.runtime.sinks.mqtt import Broker, Outbox


class FakeBroker:
    """A broker with one client at a time; subclasses say how it answers."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self.address = f"mqtt://127.0.0.1:{listening.getsockname()[1]}/alarms"
        self.versions: list[int] = []
        self.heard: list[dict[str, object]] = []

    def serve(self) -> None:
        while True:
            try:
                one, _ = self._listening.accept()
            except OSError:
                return
            with one, one.makefile("rb") as stream:
                self._talk(one, stream)

    def _talk(self, one, stream):
        while header := stream.read(1):
            length, shift = 0, 0
            while True:
                (byte,) = stream.read(1)
                length, shift = length | (byte & 127) << shift, shift + 7
                if byte < 128:
                    break
            rest = stream.read(length)
            answer, goes_on = b"", True
            if header[0] >> 4 == 1:  # CONNECT
                self.versions.append(rest[6])
                answer, goes_on = self.connect(rest[6])
            elif header[0] >> 4 == 3:  # PUBLISH
                after = 2 + int.from_bytes(rest[:2], "big")
                answer, goes_on = self.publish(rest[after : after + 2], rest[after + 2 :])
            one.sendall(answer)
            if not goes_on:
                return


class OlderBroker(FakeBroker):
    """Speaks version 3.1.1; it refuses version 5 in words, or hangs up."""

    words = True

    def connect(self, version):
        if version == 5:
            return b"\x20\x02\x00\x01" if self.words else b"", False
        return b"\x20\x02\x00\x00", True

    def publish(self, number, payload):
        self.heard.append(json.loads(payload))
        return b"\x40\x02" + number, True


class SilentOlderBroker(OlderBroker):
    words = False


class LimitedBroker(FakeBroker):
    """Speaks version 5 and does as Mosquitto does with a payload beyond its limit: "Packet too large", and hang up."""

    def connect(self, version):
        return b"\x20\x03\x00\x00\x00", True

    def publish(self, number, payload):
        if len(payload) > 100:
            return b"\x40\x03" + number + b"\x95", False
        self.heard.append(json.loads(payload[1:]))
        return b"\x40\x03" + number + b"\x00", True


class LosingBroker(LimitedBroker):
    """The client never reads the answers on the first connection, as when TCP resets it."""

    def publish(self, number, payload):
        answer, goes_on = super().publish(number, payload)
        return answer if len(self.versions) > 1 else b"", goes_on


@contextmanager
def serving(kind: type[FakeBroker]) -> Iterator[FakeBroker]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        broker = kind(listening)
        thread = threading.Thread(target=broker.serve, daemon=True)
        thread.start()
        yield broker
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(5)


@pytest.mark.parametrize(("kind", "versions"), [(OlderBroker, [5, 4, 4]), (SilentOlderBroker, [5, 4, 5, 4])])
def test_broker_that_does_not_know_version_5(kind, versions, monkeypatch):
    monkeypatch.setattr(mqtt, "MAX_REMAINING_LENGTH", 1000)
    with serving(kind) as old:
        broker = Broker(old.address)
        for number in range(2):
            outbox = Outbox([("a", json.dumps({"n": number})), ("b", json.dumps({"text": "x" * 1000}))])
            outbox.send(broker)
            assert [(one.row["_id"], one.reason) for one in outbox.refused] == [
                ("b", "the packet has 1,032 bytes after its header, and MQTT allows 1,000")
            ]
        assert old.heard == [{"_id": "a", "n": 0}, {"_id": "a", "n": 1}]
        assert old.versions == versions


@pytest.mark.parametrize("kind", [LimitedBroker, LosingBroker])
def test_broker_that_refuses_a_message_as_too_large(kind):
    """MQTT does not have this answer to a message, so paho alone takes it for a malformed packet."""
    large = [("b", json.dumps({"text": "x" * 200})), ("d", json.dumps({"text": "y" * 200}))]
    rows = [("a", '{"n": 0}'), large[0], ("c", '{"n": 1}'), large[1], ("e", '{"n": 2}')]
    with serving(kind) as limited:
        outbox = Outbox(rows)
        outbox.send(Broker(limited.address))
        assert [(one.row["_id"], one.reason) for one in outbox.refused] == [
            (name, "the broker says: Packet too large") for name in "bd"
        ]
        assert list(dict.fromkeys(one["_id"] for one in limited.heard)) == ["a", "c", "e"], "QoS 1 may repeat a row"


def test_topic_with_wildcard():
    with serving(OlderBroker) as old, pytest.raises(UsageError, match="MQTT cannot publish to the topic alarms/"):
        Outbox([("a", "{}")]).send(Broker(f"{old.address}/+"))
