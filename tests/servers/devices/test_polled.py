"""Sensors that are asked: Modbus TCP, OPC UA and HTTP servers, with devices that hang and devices that refuse."""

from __future__ import annotations

import asyncio
import http.server
import json
import threading
import time
from collections import Counter
from itertools import pairwise

import pytest
from asyncua import Server, ua
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from tests.servers.start import free_port, wait_for
from transom.catalog import Catalog
from transom.connectors import open_stream

CATALOG = """
extents:
  oven:
    declare: sensed (site:integer, temp:float, on:boolean) RATE 1 S SITES (1, 2, 3, 4)
    source:
      modbus:
        devices: {{1: '127.0.0.1:{modbus}', 2: '127.0.0.1:{modbus}', 3: '127.0.0.1:{hang}', 4: '127.0.0.1:{refuse}'}}
        registers: {{temp: {{address: 0, scale: 0.5}}, on: {{address: 1, number: bit}}}}
        deadline: 200 ms
  tank:
    declare: sensed (site:string, level:float, name:string) RATE 1 S SITES ('a', 'b', 'c')
    source:
      opcua:
        server: opc.tcp://127.0.0.1:{opcua}/
        nodes: {{level: 'ns=2;s={{site}}.level', name: 'ns=2;s={{site}}.name'}}
        deadline: 300 ms
  room:
    declare: sensed (site:integer, temp:integer) RATE 1 S SITES (1, 2, 3)
    source:
      http:
        server: http://127.0.0.1:{http}/{{site}}
        fields: {{temp: body.temp}}
        headers: {{X-Key: '${{ROOM_KEY}}'}}
        deadline: 300 ms
"""


class Rooms(http.server.BaseHTTPRequestHandler):
    """Rooms 1 and 2 answer; the third one breaks."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        room = int(self.path[1:])
        right = self.headers["X-Key"] == "k3y"
        body = json.dumps({"body": {"temp": 20 + room}}).encode() if room < 3 else b"<html>"
        self.send_response(200 if right else 403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def plant():
    """All servers, in a thread of their own; their ports."""
    ports = {name: free_port() for name in ("modbus", "hang", "refuse", "opcua")}
    rooms = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Rooms)
    threading.Thread(target=rooms.serve_forever, daemon=True).start()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    stop = asyncio.run_coroutine_threadsafe(serve(ports), loop).result(20)
    yield {**ports, "http": rooms.server_address[1]}
    asyncio.run_coroutine_threadsafe(stop(), loop).result(20)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
    rooms.shutdown()
    rooms.server_close()


async def serve(ports):
    data = SimData(address=0, values=[41, 1, 0, 0], datatype=DataType.REGISTERS)
    oven = ModbusTcpServer(SimDevice(id=1, simdata=[data]), address=("127.0.0.1", ports["modbus"]))
    await oven.serve_forever(background=True)

    async def hang(reader, writer):
        await reader.read()
        writer.close()

    hanging = await asyncio.start_server(hang, "127.0.0.1", ports["hang"])
    tanks = Server()
    await tanks.init()
    tanks.set_endpoint(f"opc.tcp://127.0.0.1:{ports['opcua']}/")
    tanks.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    await tanks.register_namespace("urn:tanks")
    for place, name in enumerate("ab"):
        at = tanks.nodes.objects
        await at.add_variable(ua.NodeId(f"{name}.level", 2), f"{name}.level", place + 0.25)
        await at.add_variable(ua.NodeId(f"{name}.name", 2), f"{name}.name", f"tank {name}")
    await tanks.start()

    async def stop():
        await oven.shutdown()
        hanging.close()
        await tanks.stop()

    return stop


@pytest.mark.covers("source:modbus", "source:opcua", "source:http")
def test_every_tick_is_complete_whoever_hangs(collector, plant):
    collector.catalog(CATALOG.format(**plant))
    collector.start("--for", "9 s", ROOM_KEY="k3y")
    _, said = collector.process.communicate(timeout=30)
    collector.process = None
    catalog = Catalog.load(collector.folder / "catalog.yaml")
    expected = {
        "oven": [(1, 20.5, True), (2, 20.5, True)],
        "tank": [("a", 0.25, "tank a"), ("b", 1.25, "tank b")],
        "room": [(1, 21), (2, 22)],
    }
    for name, rows in expected.items():
        extent = catalog.extents[name]
        found = open_stream(extent, catalog.calendar, collector.folder)
        ticks = [tick for tick, kind in collector.entries(name, "_tick", "_kind") if kind == "beat"]
        assert len(ticks) >= 6, said
        assert ticks == list(range(ticks[0], ticks[-1] + 1)), said
        assert [(e.tick, e.row) for e in found] == [(tick, row) for tick in ticks for row in rows]
        slow = [
            (at.timestamp() - tick)
            for tick, at, kind in collector.entries(name, "_tick", "_at", "_kind")
            if kind == "beat"
        ]
        assert max(slow) < 0.8, slow
    reasons = Counter(reason for (reason,) in collector.entries("oven", "_reason"))
    assert reasons["no answer in time"] >= 1
    assert reasons["no connection"] >= 1
    assert Counter(reason for (reason,) in collector.entries("room", "_reason"))["not JSON"] >= 1
    assert Counter(reason for (reason,) in collector.entries("tank", "_reason"))["error of the device"] >= 1
    assert "k3y" not in said


def test_ticks_while_it_was_down_are_missed_and_not_made_up(collector, plant):
    collector.catalog(CATALOG.format(**plant))
    collector.start("room", ROOM_KEY="k3y")
    wait_for(lambda: (collector.folder / "log/room").is_dir() and collector.kinds("room")["beat"] > 1, 20, "collector")
    collector.kill()
    time.sleep(2.2)
    collector.start("room", ROOM_KEY="k3y")
    before = collector.kinds("room")["beat"]
    wait_for(lambda: collector.kinds("room")["beat"] > before + 1, 20, "collector")
    said = collector.stop()
    assert "the collector was down" in said
    entries = collector.entries("room", "_kind", "_tick", "site")
    rows = [(tick, site) for kind, tick, site in entries if kind == "row"]
    assert len(rows) == len(set(rows))
    beats = [tick for kind, tick, _ in entries if kind == "beat"]
    missed = sum(1 for one, other in pairwise(beats) if other - one > 1)
    assert missed == 1
    assert {tick for tick, _ in rows} == set(beats)
