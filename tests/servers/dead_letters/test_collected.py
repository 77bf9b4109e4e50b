"""Dead letters of the collector return to its HTTP receiver, or to their topic at the MQTT broker."""

from __future__ import annotations

import httpx
import pytest

from tests.cli.test_app import transom as command
from tests.servers.devices.test_mqtt import CATALOG as METER
from tests.servers.devices.test_mqtt import SECRET, publisher
from tests.servers.devices.test_push import CATALOG as CAR
from tests.servers.start import free_port, listens, wait_for
from transom.connectors.dead_letters.record import RECORD


@pytest.fixture
def token(monkeypatch):
    monkeypatch.setenv("DOOR", "0pen")


def restart(collector, port, catalog):
    collector.kill()
    collector.catalog(catalog)
    collector.start("--segment", "100 ms", DOOR="0pen")
    wait_for(lambda: listens(port), 20, "the collector")


def test_to_the_receiver(collector, tmp_path, token):
    """After the catalog is corrected, the row is in the log once, however often it is sent."""
    port = free_port()
    wrong = CAR.format(port=port).replace("time: at", "time: at, fields: {speed: velocity}")
    restart(collector, port, wrong)
    body = {"at": 7, "plate": "a", "speed": 50}
    login = {"Authorization": "Bearer 0pen"}
    assert httpx.post(f"http://127.0.0.1:{port}/cars", json=body, headers=login).status_code == 422
    collector.kill()
    down = command("resend", "car", cwd=tmp_path)
    assert (down.returncode, "start the collector" in down.stderr) == (75, True)

    restart(collector, port, CAR.format(port=port))
    sent = command("resend", "car", cwd=tmp_path)
    target = f"http://127.0.0.1:{port}/cars"
    assert (sent.returncode, sent.stdout) == (0, f"car: 1 sent to {target} (1 missing field)\n")
    assert command("resend", "car", cwd=tmp_path).stdout == f"car: 0 sent to {target}; 1 were sent before\n"
    (tmp_path / "log" / "car" / RECORD).unlink()  # as if the command had been killed before it wrote
    assert command("resend", "car", cwd=tmp_path).stdout == sent.stdout
    collector.stop()
    assert collector.entries("car", "_kind", "plate", "speed") == [("dead", None, None), ("row", "a", 50)]


def test_what_is_still_wrong_is_said(collector, tmp_path, token):
    port = free_port()
    restart(collector, port, CAR.format(port=port))
    login = {"Authorization": "Bearer 0pen"}
    httpx.post(f"http://127.0.0.1:{port}/cars", content=b"{", headers=login)
    sent = command("resend", "car", cwd=tmp_path)
    assert sent.returncode == 0
    assert sent.stderr == "warning: the collector rejected some of them again: 1 not JSON\n"
    assert command("resend", "car", "--dry-run", cwd=tmp_path).stdout.startswith("car: 1 would be sent to")
    collector.stop()
    assert collector.entries("car", "_kind", "_reason", "_raw") == [("dead", "not JSON", b"{")] * 2


def test_a_wrong_token_stops(collector, tmp_path, monkeypatch):
    port = free_port()
    restart(collector, port, CAR.format(port=port))
    httpx.post(f"http://127.0.0.1:{port}/cars", content=b"{", headers={"Authorization": "Bearer 0pen"})
    monkeypatch.setenv("DOOR", "another")
    result = command("resend", "car", cwd=tmp_path)
    assert result.returncode == 1
    assert "detail: status 401" in result.stderr
    assert not (tmp_path / "log" / "car" / RECORD).read_bytes()


@pytest.mark.parametrize("version", ["3.1.1", "5"])
def test_to_the_broker(collector, broker, tmp_path, monkeypatch, version):
    monkeypatch.setenv("PLANT_PASSWORD", "s3cret")
    client_id = f"resend-{version}"
    right = METER.format(port=broker, version=version, client=client_id).replace("plant/", f"{client_id}/")
    collector.catalog(right.replace("topic: ", "fields: {value: v}\n        topic: "))
    collector.start("--segment", "100 ms", **SECRET)
    log = tmp_path / "log" / "meter"
    wait_for(lambda: log.is_dir() and collector.kinds("meter")["beat"] > 0, 20, "the collector")
    sender = publisher(broker)
    try:
        body = b'{"number": 1, "value": 2.5}'
        wait_for(lambda: _dead(sender, collector, f"{client_id}/a/power", body), 20, "the dead letter")
    finally:
        sender.loop_stop()
    collector.stop()
    collector.catalog(right)
    collector.start("--segment", "100 ms", **SECRET)
    count = collector.kinds("meter")["dead"]
    sent = command("resend", "meter", cwd=tmp_path)
    assert sent.stdout == f"meter: {count} sent to mqtt://127.0.0.1:{broker} ({count} missing field)\n", sent.stderr
    wait_for(lambda: collector.kinds("meter")["row"] == count, 20, "the rows")
    assert command("resend", "meter", cwd=tmp_path).stdout.endswith(f"; {count} were sent before\n")
    collector.stop()
    rows = [row for row in collector.entries("meter", "_kind", "line", "number", "value") if row[0] == "row"]
    assert rows == [("row", "a", 1, 2.5)] * count
    monkeypatch.setenv("PLANT_PASSWORD", "no")
    refused = command("resend", "meter", "--again", cwd=tmp_path)
    assert (refused.returncode, "look at user and password" in refused.stderr) == (1, True)


def _dead(sender, collector, topic, body):
    """Publish a message, and say whether a dead letter is in the log; the subscription may come later."""
    sender.publish(topic, body, qos=1).wait_for_publish(5)
    return collector.kinds("meter")["dead"] > 0
