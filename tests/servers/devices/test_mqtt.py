"""MQTT through Mosquitto: nothing lost and nothing twice, whoever is killed; what is broken is dead once."""

from __future__ import annotations

import json
import time

import paho.mqtt.client as mqtt
import pytest

from tests.servers.start import wait_for

CATALOG = """
extents:
  meter:
    declare: pushed (line:string, number:integer, value:float)
    source:
      mqtt:
        broker: mqtt://127.0.0.1:{port}
        topic: plant/{{line}}/power
        user: eng
        password: ${{PLANT_PASSWORD}}
        version: '{version}'
        client: {client}
"""
SECRET = {"PLANT_PASSWORD": "s3cret"}
WRONG = {"PLANT_PASSWORD": "no"}
POISON = [b"\xff", b"{", b"[]", b'{"number": 1}', b'{"number": "x", "value": 1}', b'{"number": 1, "value": [1]}']


def publisher(port):
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=f"tester-{time.monotonic_ns()}")
    client.username_pw_set("eng", "s3cret")
    client.max_inflight_messages_set(100)
    client.connect("127.0.0.1", port)
    client.loop_start()
    return client


def subscribed(collector, port, client_id, version):
    """Start the collector once, so that the broker knows its session."""
    collector.catalog(CATALOG.format(port=port, version=version, client=client_id))
    collector.start("--segment", "100 ms", **SECRET)
    wait_for(
        lambda: (collector.folder / "log/meter").is_dir() and collector.kinds("meter")["beat"] > 0, 20, "collector"
    )
    time.sleep(0.5)


@pytest.mark.parametrize("version", ["3.1.1", "5"])
@pytest.mark.covers("source:mqtt", "kill:collector")
def test_killed_again_and_again(collector, broker, version):
    subscribed(collector, broker, f"kills-{version}", version)
    client = publisher(broker)
    count = 1500
    for number in range(count):
        payload = POISON[number // 100 % len(POISON)] if number % 100 == 0 else None
        body = payload or json.dumps({"number": number, "value": number / 2}).encode()
        sent = client.publish(f"plant/{number % 3}/power", body, qos=1)
        if number % 250 == 249:
            time.sleep(0.15)
            collector.kill()
            collector.start("--segment", "100 ms", **SECRET)
        time.sleep(0.001)
    sent.wait_for_publish(20)
    dead = count // 100
    try:
        wait_for(lambda: collector.kinds("meter")["row"] + collector.kinds("meter")["dead"] >= count, 20, "the log")
        time.sleep(0.5)
        said = collector.stop()
    finally:
        client.disconnect()
        client.loop_stop()
    rows = [entry for entry in collector.entries("meter", "number", "line", "value", "_kind") if entry[3] == "row"]
    expected = [(n, str(n % 3), n / 2, "row") for n in range(count) if n % 100]
    assert sorted(rows) == expected
    assert collector.kinds("meter")["dead"] == dead
    numbers = [number for (number,) in collector.entries("meter", "_seq")]
    assert numbers == list(range(len(numbers)))
    assert "meter:" in said
    assert "s3cret" not in said
    for reason, kind, raw in collector.entries("meter", "_reason", "_kind", "_raw"):
        assert kind != "dead" or (
            reason in ("not UTF-8", "not JSON", "no object", "missing field", "wrong type") and raw
        )


def test_a_wrong_password_is_told(collector, broker):
    collector.catalog(CATALOG.format(port=broker, version="3.1.1", client="wrong"))
    collector.start("--for", "2 s", **WRONG)
    _, said = collector.process.communicate(timeout=20)
    collector.process = None
    assert "the broker refuses" in said
    assert "meter: 0 rows" in said
