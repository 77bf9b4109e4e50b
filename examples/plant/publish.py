"""The devices of a plant that send: machines by MQTT with quality 1, meters into a topic of Kafka.

`python -m examples.plant.publish FOLDER mqtt` (or `kafka`) sends until it is stopped. Every message has a number that
no other has. FOLDER/record holds, as lines of JSON, what is sent, before it is, and what was acknowledged, after it
was. A sender that is killed does not know whether the messages without an acknowledgement arrived; it does not send
them again.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from examples.plant.layout import PASSWORD, USER, Layout


class Record:
    """Lines that are with the system as soon as they are written, so that a killed process has left them."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        lines = path.read_text("utf-8").splitlines()
        self.next = sum(1 for line in lines if line.startswith('["sent"'))

    def sent(self, *values: object) -> None:
        """A message that is about to be sent, by its number and content."""
        self._write(["sent", *values])
        self.next += 1

    def acknowledged(self, number: int) -> None:
        """The number of a message that the broker has."""
        self._write(["acknowledged", number])

    def _write(self, values: list[object]) -> None:
        os.write(self._file, (json.dumps(values) + "\n").encode())


def _paced(pause: float) -> Iterator[None]:
    """Once per pause, by the clock."""
    due = time.monotonic()
    while True:
        yield
        due = max(due + pause, time.monotonic() - 1.0)
        time.sleep(max(0.0, due - time.monotonic()))


def machines(layout: Layout, record: Record) -> None:
    """One message of each machine per pause."""
    import paho.mqtt.client as mqtt

    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id="plant-machines")
    client.username_pw_set(USER, os.environ[PASSWORD])
    client.max_queued_messages_set(0)
    numbers: dict[int, int] = {}
    client.on_publish = lambda _, __, mid, *more: record.acknowledged(numbers.pop(mid))
    client.connect("127.0.0.1", layout.port("mqtt"))
    while not client.is_connected():
        _go_on(client.loop(0.05))
    for _ in _paced(layout.pause):
        for machine in range(1, layout.machines + 1):
            number = record.next
            mm = round(5 + 4 * math.sin(number / layout.machines / 15 + machine), 2)
            name = f"m{machine}"
            record.sent(number, name, mm)
            sent = client.publish(f"plant/{name}/vibration", json.dumps({"number": number, "mm": mm}), qos=1)
            numbers[sent.mid] = number  # acknowledgements come in `loop`, which is called below
        while numbers:
            _go_on(client.loop(0.05))


def _go_on(code: int) -> None:
    """A connection that breaks ends the process: to send again what has no acknowledgement could double it."""
    if code != 0:
        raise ConnectionError(f"the broker is gone: {code}")


def meters(layout: Layout, record: Record) -> None:
    """One message of each line per second; the library sends again what a broker that is away did not take."""
    from confluent_kafka import Producer

    settings: dict[str, Any] = {"bootstrap.servers": f"127.0.0.1:{layout.port('kafka')}", "enable.idempotence": True}
    sender = Producer({**settings, "linger.ms": 5, "log_level": 0})
    for _ in _paced(1.0):
        for line in range(1, layout.lines + 1):
            number = record.next
            watts = round(1000.0 * line + 400 * math.sin(number / layout.lines / 25 + line), 1)
            at = datetime.now(UTC).isoformat(timespec="milliseconds")
            row = {"at": at, "line": f"l{line}", "number": number, "watts": watts}
            record.sent(number, f"l{line}", watts)
            sender.produce("meters", json.dumps(row).encode(), on_delivery=_delivered(record, number))
        sender.poll(0.5)


def _delivered(record: Record, number: int) -> Any:
    return lambda error, message: None if error else record.acknowledged(number)


def main(folder: Path, how: str) -> None:
    """Send until stopped."""
    layout = Layout.read(folder)
    if how == "mqtt":
        machines(layout, Record(folder / "record" / "vibration.jsonl"))
    else:
        meters(layout, Record(folder / "record" / "meter.jsonl"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
