"""The devices of a plant that are asked: ovens over Modbus TCP, tanks over OPC UA, rooms over HTTP.

`python -m examples.plant.devices FOLDER` serves until it is stopped. Every answer has a serial number of its device,
and is written down in FOLDER/record: one line of JSON with the instant, the site, the value and the serial.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import struct
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from examples.plant.layout import TANKS, UNITS, ZONE, Layout


class Device:
    """One device: a new reading whenever its value is asked for, written down when its serial is."""

    def __init__(self, kind: str, site: int, record: Any) -> None:
        self.kind = kind
        self.site = site
        self.serial = 0
        self.value = 0.0
        self._record = record

    def read(self) -> float:
        """The next value, in quarters, which every number of a protocol holds exactly."""
        self.serial += 1
        wave = math.sin(self.serial / 20 + (self.site - 1) // ZONE)
        drift = 12 * math.sin(self.serial / 10) if self.site % 10 == 3 else 0.0
        self.value = round(4 * (200 + 10 * wave + drift)) / 4
        return self.value

    def told(self) -> int:
        """The serial of the last value; the reading is now with whoever asked."""
        self._record.write(json.dumps([time.time(), self.site, self.value, self.serial]) + "\n")
        return self.serial


class Devices:
    """All devices of a layout, by kind and site, each kind with a record of its own."""

    def __init__(self, layout: Layout, record: Path) -> None:
        record.mkdir(parents=True, exist_ok=True)
        self.layout = layout
        self.by_kind: dict[str, dict[int, Device]] = {}
        for kind, count in (("oven", layout.ovens), ("tank", layout.tanks), ("room", layout.rooms)):
            lines = open(record / f"{kind}.jsonl", "a", buffering=1, encoding="utf-8")  # noqa: SIM115 - as long as we run
            self.by_kind[kind] = {site: Device(kind, site, lines) for site in range(1, count + 1)}

    async def serve(self) -> list[Any]:
        """Open all ports; what must be kept so that they stay open."""
        logging.disable(logging.CRITICAL)
        kept: list[Any] = [await self._gateway(n) for n in range(-(-self.layout.ovens // UNITS))]
        kept += [await self._tanks(n) for n in range(-(-self.layout.tanks // TANKS))]
        rooms = Rooms(("127.0.0.1", self.layout.port("rooms")), room_of(self.by_kind["room"]))
        threading.Thread(target=rooms.serve_forever, daemon=True).start()
        if self.layout.broken:
            kept.append(await asyncio.start_server(_silent, "127.0.0.1", self.layout.port("hanging")))
        return [*kept, rooms]

    async def _gateway(self, number: int) -> Any:
        from pymodbus.server import ModbusTcpServer
        from pymodbus.simulator import DataType, SimData, SimDevice

        units = []
        for unit in range(1, UNITS + 1):
            oven = self.by_kind["oven"].get(number * UNITS + unit)
            if oven is not None:
                data = SimData(address=0, count=5, values=0, datatype=DataType.REGISTERS)
                units.append(SimDevice(id=unit, simdata=[data], action=registers_of(oven)))
        server = ModbusTcpServer(units, address=("127.0.0.1", self.layout.port(f"gateway-{number}")))
        await server.serve_forever(background=True)
        return server

    async def _tanks(self, number: int) -> Any:
        from asyncua import Server, ua

        server = Server()
        await server.init()
        server.set_endpoint(f"opc.tcp://127.0.0.1:{self.layout.port(f'tanks-{number}')}/")
        server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
        await server.register_namespace("urn:tanks")
        for site in range(number * TANKS + 1, min((number + 1) * TANKS, self.layout.tanks) + 1):
            tank = self.by_kind["tank"][site]
            for name, value, kind in (
                ("level", tank.read, ua.VariantType.Double),
                ("serial", tank.told, ua.VariantType.Int64),
            ):
                node = await server.nodes.objects.add_variable(
                    ua.NodeId(f"{site}.{name}", 2), f"{site}.{name}", 0, kind
                )
                server.set_attribute_value_callback(node.nodeid, _answer(ua, value, kind))
        await server.start()
        return server


def _answer(ua: Any, value: Callable[[], float], kind: Any) -> Callable[[Any, Any], Any]:
    return lambda node, attribute: ua.DataValue(ua.Variant(value(), kind))


def registers_of(oven: Device) -> Callable[..., Awaitable[None]]:
    """What a read does to the registers of an oven: 0 and 1 the temperature, 2 and 3 the serial, 4 the zone."""

    async def action(code: int, start: int, address: int, count: int, registers: list[int], given: object) -> None:
        if address == 0:
            registers[0:2] = struct.unpack(">2H", struct.pack(">f", oven.read()))
        elif address == 2:
            registers[2:4] = struct.unpack(">2H", struct.pack(">I", oven.told()))
        elif address == 4:
            registers[4] = (oven.site - 1) // ZONE + 1

    return action


class Rooms(ThreadingHTTPServer):
    """A server that does not wait for who is slow."""

    daemon_threads = True
    request_queue_size = 200

    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever asked has given up."""


def room_of(rooms: dict[int, Device]) -> type[BaseHTTPRequestHandler]:
    """Answers for some rooms."""

    class Room(BaseHTTPRequestHandler):
        """One request."""

        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """The temperature of a room."""
            room = rooms[int(self.path.strip("/"))]
            body = json.dumps({"body": {"temp": room.read()}, "serial": room.told()}).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            self.wfile.write(head.encode() + body)

        def log_message(self, *words: object) -> None:
            """Nobody wants to read it."""

    return Room


async def _silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take all that is sent, and say nothing."""
    while await reader.read(1024):
        pass
    writer.close()


async def main(folder: Path) -> None:
    """Serve until stopped."""
    kept = await Devices(Layout.read(folder), folder / "record").serve()
    print(f"{len(kept)} servers", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
