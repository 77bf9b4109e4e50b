"""Connections that do nothing, and connections that send a byte now and then: no other extent misses a tick."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time

import httpx
import pytest

from tests.servers.start import free_port, listens, wait_for

CATALOG = """
extents:
  car:
    declare: pushed (plate:string)
    source:
      http: {{listen: '127.0.0.1:{push}', path: /cars}}
  room:
    declare: sensed (site:integer, temp:integer) RATE 1 S SITES (1, 2)
    source:
      http: {{server: 'http://127.0.0.1:{rooms}/{{site}}', deadline: 900 ms}}
"""
CROWD = 300
SECONDS = 10


ROOMS = """
import http.server, sys

class Room(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "12")
        self.end_headers()
        self.wfile.write(b'{"temp": 20}')

    def log_message(self, *words):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Room).serve_forever()
"""


@pytest.fixture
def rooms():
    """Rooms that answer, in a process of their own that the crowd does not slow down."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", ROOMS, str(port)], stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: listens(port), 60, "the rooms")
        yield port
    finally:
        process.kill()
        process.wait()


async def crowd(port: int, seconds: float) -> tuple[list[int], int]:
    """Keep a crowd of connections and send messages; the answers, and how many connections were cut."""
    until = time.monotonic() + seconds
    cut = 0

    async def hold(slow: bool) -> None:
        nonlocal cut
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    if slow:
                        writer.write(b"POST /cars HTTP/1.1\r\nHost: here\r\nX-Slow: ")
                    while time.monotonic() < until and not reader.at_eof() and reader.exception() is None:
                        await asyncio.sleep(0.3)
                        if slow:
                            writer.write(b"a")
                            await writer.drain()
                finally:
                    writer.close()
            cut += 1
            await asyncio.sleep(3)

    async def send() -> list[int]:
        found = []
        async with httpx.AsyncClient() as client:
            while time.monotonic() < until:
                try:
                    answer = await client.post(f"http://127.0.0.1:{port}/cars", json={"plate": "a"}, timeout=5)
                    found.append(answer.status_code)
                except httpx.TransportError:
                    found.append(0)
                await asyncio.sleep(0.2)
        return found

    sending = asyncio.create_task(send())
    await asyncio.gather(*(hold(slow) for slow in [False, True] * CROWD))
    return await sending, cut


def test_idle_and_slow_connections_stop_no_other_extent(collector, rooms):
    port = free_port()
    collector.catalog(CATALOG.format(push=port, rooms=rooms))
    collector.start("--segment", "100 ms", files=256)
    wait_for(lambda: listens(port), 60, "the collector")
    wait_for(lambda: collector.kinds("room")["row"] >= 2, 60, "a reading")
    first = int(time.time()) + 1
    answers, cut = asyncio.run(crowd(port, SECONDS))
    last = int(time.time()) - 1
    collector.stop()
    entries = collector.entries("room", "_kind", "_tick", "site")
    ticks = {tick for kind, tick, site in entries if kind == "row" and site == 1}
    assert last - first >= SECONDS - 2
    assert [tick for tick in range(first, last + 1) if tick not in ticks] == [], "a tick was missed"
    during = {kind for kind, tick, _ in entries if tick is not None and first <= tick <= last}
    assert during <= {"row", "beat"}, "no gap"
    assert cut > 2 * CROWD, "connections make room for others, and come again"
    taken = answers.count(200)
    assert taken == collector.kinds("car")["row"]
    assert taken >= 0.9 * len(answers) > 9, answers
