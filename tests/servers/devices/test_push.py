"""Messages by POST: answered when the log has them, once each though they come again."""

from __future__ import annotations

import httpx
import pytest

from tests.servers.start import free_port, listens, wait_for

CATALOG = """
epoch: 2024-06-01T00:00:00Z
extents:
  car:
    declare: pushed (plate:string, speed:integer)
    lateness: 10 s
    source:
      http: {{listen: '127.0.0.1:{port}', path: /cars, time: at, token: '${{DOOR}}'}}
"""


@pytest.fixture
def door(collector):
    port = free_port()
    collector.catalog(CATALOG.format(port=port))

    def again():
        collector.kill()
        collector.start("--segment", "100 ms", DOOR="0pen")
        wait_for(lambda: listens(port), 20, "the collector")

    again()
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": "Bearer 0pen"}) as client:
        client.again = again
        yield client


@pytest.mark.covers("source:http push")
def test_push(collector, door):
    def send(key, **content):
        return door.post("/cars", json=content, headers={"Idempotency-Key": key})

    assert send("1", at=7, plate="a", speed=50).json() == {"taken": True}
    assert send("1", at=7, plate="a", speed=50).json() == {"taken": False}
    door.again()
    assert send("1", at=7, plate="a", speed=50).json() == {"taken": False}
    assert send("2", at=100, plate="b", speed=60).status_code == 200
    late = send("3", at=89, plate="c", speed=60)
    assert (late.status_code, late.json()["reason"]) == (422, "late")
    ahead = send("6", at="2099-01-01T00:00:00Z", plate="e", speed=60)
    assert (ahead.status_code, ahead.json()["reason"]) == (422, "ahead")
    broken = send("4", at=101, plate="c")
    assert (broken.status_code, broken.json()["reason"]) == (422, "missing field")
    door.again()
    repeated = send("4", at=101, plate="c")
    assert (repeated.status_code, repeated.json()) == (422, broken.json())
    assert send("5", at=90, plate="d", speed=1).status_code == 200
    assert door.get("/cars").status_code == 405
    assert door.post("/else", json={}).status_code == 404
    assert httpx.post(f"{door.base_url}/cars", json={}, headers={"Authorization": "Bearer no"}).status_code == 401
    said = collector.stop()
    found = collector.entries("car", "_kind", "_tick", "plate", "_reason")
    assert found == [
        ("row", 7, "a", None),
        ("row", 100, "b", None),
        ("dead", 89, None, "late"),
        ("dead", 2353708800, None, "ahead"),
        ("dead", None, None, "missing field"),
        ("row", 90, "d", None),
    ]
    assert "0pen" not in said
