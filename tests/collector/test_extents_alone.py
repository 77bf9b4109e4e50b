"""What happens to one extent does not end the others: a full disk, idle connections, devices that answer too much."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pyarrow.parquet as pq
import pytest

from transom.catalog import Catalog
from transom.catalog.servers import HttpPoll
from transom.collector import run
from transom.collector.sources import http_poll, http_push
from transom.connectors import open_stream
from transom.connectors.log.segments import segments
from transom.connectors.payloads import MAX_MESSAGE_BYTES, RejectError
from transom.model.reject_reason import RejectReason

PUSHED = """
extents:
  full:
    declare: pushed (plate:string)
    source: {{http: {{listen: '127.0.0.1:{first}', path: /}}}}
  fine:
    declare: pushed (plate:string)
    source: {{http: {{listen: '127.0.0.1:{second}', path: /}}}}
"""


def free_ports(count):
    with contextlib.ExitStack() as held:
        found = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in found]


def test_full_disk_stops_one_extent_until_there_is_room(tmp_path, monkeypatch):
    first, second = free_ports(2)
    catalog = Catalog.read(PUSHED.format(first=first, second=second), folder=tmp_path)
    is_full = threading.Event()
    flush = os.fsync

    def fsync(handle):
        if is_full.is_set() and "/log/full" in os.readlink(f"/proc/self/fd/{handle}"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(run, "RETRY", 0.2, raising=False)
    told = []

    async def scenario():
        collecting = asyncio.create_task(run._collect(catalog, run.select_extents(catalog, []), 0.1, 60.0, told.append))
        async with httpx.AsyncClient(timeout=10) as client:

            async def send(port, plate):
                try:
                    answer = await client.post(f"http://127.0.0.1:{port}/", json={"plate": plate})
                except httpx.HTTPError as error:
                    return type(error).__name__
                return answer.status_code

            while not any("fine: listening" in line for line in told):
                await asyncio.sleep(0.05)
            found = [await send(first, "a"), await send(second, "a")]
            is_full.set()
            monkeypatch.setattr(http_push, "_WRITTEN", 1.0, raising=False)
            found += [await send(first, "b"), await send(first, "c"), await send(second, "b")]
            is_full.clear()
            monkeypatch.setattr(http_push, "_WRITTEN", 30.0, raising=False)
            while (status := await send(first, "d")) == 503:  # refused, and not taken
                await asyncio.sleep(0.1)
            found += [status, await send(second, "c")]
        os.kill(os.getpid(), signal.SIGTERM)
        return found, await collecting

    found, result = asyncio.run(scenario())
    assert found == [200, 200, 503, 503, 200, 200, 200]
    assert result.failed == []
    plates = [element.row[0] for element in open_stream(catalog.extents["full"], catalog.calendar, tmp_path)]
    assert plates in (["a", "b", "d"], ["a", "d"])  # "b" waited, unless a beat had failed just before
    assert result.counts == {"full": {"rows": len(plates)}, "fine": {"rows": 3}}
    words = [line for line in told if "listening" not in line]
    assert len(words) == 2
    assert words[0].startswith("full: cannot write the log ")
    assert words[0].endswith("/log/full (No space left on device); look whether the disk is full")
    assert "\n" not in words[0]
    assert words[1] == "full: goes on"


def test_log_that_cannot_be_opened_is_tried_again(tmp_path, monkeypatch):
    ports = free_ports(2)
    catalog = Catalog.read(PUSHED.format(first=ports[0], second=ports[1]), folder=tmp_path)
    monkeypatch.setattr(run, "RETRY", 0.2, raising=False)
    (tmp_path / "log").mkdir()
    (tmp_path / "log/full").write_text("in the way")
    told = []

    async def scenario():
        collecting = asyncio.create_task(run._collect(catalog, run.select_extents(catalog, []), 0.1, 60.0, told.append))
        while not any("fine: listening" in line for line in told):
            await asyncio.sleep(0.05)
            if collecting.done():
                return await collecting
        (tmp_path / "log/full").unlink()
        while "full: goes on" not in told:
            await asyncio.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)
        return await collecting

    result = asyncio.run(scenario())
    assert (result.failed, list(result.counts)) == ([], ["full", "fine"])
    assert [line.partition("(")[2] for line in told if "cannot write" in line] == ["File exists)"]
    assert f"full: listening on 127.0.0.1:{ports[0]}/" in told


def test_log_that_cannot_be_written_at_the_end_is_an_error(tmp_path, monkeypatch):
    ports = free_ports(2)
    catalog = tmp_path / "catalog.yaml"
    catalog.write_text(PUSHED.format(first=ports[0], second=ports[1]))
    command = [sys.executable, "-m", "transom", "collect", "--catalog", str(catalog), "--for", "4 s"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as collector:
        wait_until_it_listens(ports[1])
        shutil.rmtree(tmp_path / "log/full")
        assert httpx.post(f"http://127.0.0.1:{ports[1]}/", json={"plate": "a"}, timeout=10).status_code == 200
        _, said = collector.communicate(timeout=60)
    assert "Traceback" not in said
    assert said.count("full: cannot write the log") == 1
    assert said.splitlines()[-1] == "error: nothing more could be written to the log of full"
    assert collector.returncode == 1


def wait_until_it_listens(port):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise AssertionError(f"nobody listens on {port}")


def test_idle_connections_do_not_end_the_collector(tmp_path):
    """300 connections against 256 files: both extents go on taking messages."""
    ports = free_ports(2)
    catalog = tmp_path / "catalog.yaml"
    catalog.write_text(PUSHED.format(first=ports[0], second=ports[1]))
    shell = f"ulimit -n 256; exec {sys.executable} -m transom collect --catalog {catalog} --for 60s"
    collector = subprocess.Popen(["bash", "-c", shell], stderr=subprocess.PIPE, text=True)
    idle = []
    try:
        wait_until_it_listens(ports[1])
        for _ in range(300):
            with contextlib.suppress(OSError):
                idle.append(socket.create_connection(("127.0.0.1", ports[0]), 0.2))
        time.sleep(1.5)
        found = [httpx.post(f"http://127.0.0.1:{port}/", json={"plate": "a"}, timeout=10) for port in ports]
        assert [answer.status_code for answer in found] == [200, 200]
        assert collector.poll() is None
    finally:
        for one in idle:
            one.close()
        collector.terminate()
        _, said = collector.communicate(timeout=30)
    assert said.splitlines()[-2:] == ["full: 1 rows", "fine: 1 rows"]


class Device(BaseHTTPRequestHandler):
    """Answers with JSON of as many bytes as the path says."""

    def do_GET(self):
        size = int(self.path.strip("/"))
        start, end = b'{"temp": 1.5, "more": "', b'"}'
        self.send_response(200)
        self.end_headers()
        left = size - len(start) - len(end)
        with contextlib.suppress(OSError):
            self.wfile.write(start)
            while left > 0:
                self.wfile.write(b"a" * min(left, 1 << 20))
                left -= 1 << 20
            self.wfile.write(end)

    def log_message(self, *words):
        pass


@pytest.fixture
def device():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Device)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def answer_of(port, size):
    text = f"""
extents:
  oven:
    declare: sensed (temp:float) RATE 20 S
    source: {{http: {{server: 'http://127.0.0.1:{port}/{size}', deadline: 20 s}}}}
"""
    source = Catalog.read(text).extents["oven"].source
    assert isinstance(source, HttpPoll)
    [station] = http_poll.http_connections(source)

    async def read():
        found = {}
        try:
            await station.read(found)
        finally:
            await station.close()
        return found[station.devices[0]]

    return asyncio.run(read())


def test_answer_of_a_device_has_a_limit(device):
    assert answer_of(device, 200) == {"temp": 1.5}
    assert answer_of(device, 3 * MAX_MESSAGE_BYTES) == {"temp": 1.5}
    tracemalloc.start()
    try:
        with pytest.raises(RejectError) as caught:
            answer_of(device, 100_000_000)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert caught.value.reason is RejectReason.SIZE
    assert caught.value.detail == f"the answer has more than {4 * MAX_MESSAGE_BYTES} bytes"
    assert most < 40_000_000


def test_large_messages_are_not_parsed_in_the_event_loop(device, monkeypatch):
    where = []
    parse = http_poll.HttpConnection._fields

    def fields(self, raw):
        where.append(threading.current_thread() is threading.main_thread())
        return parse(self, raw)

    monkeypatch.setattr(http_poll.HttpConnection, "_fields", fields)
    answer_of(device, 200)
    answer_of(device, 100_000)
    assert where == [True, False]


def received(connection, size):
    """So many bytes of a client."""
    found = b""
    while len(found) < size:
        found += connection.recv(size - len(found))
    return found


def packet_of(connection):
    """The first byte of the next packet of a client, and its content."""
    kind, length, shift = received(connection, 1)[0], 0, 0
    while True:
        [byte] = received(connection, 1)
        length |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return kind, received(connection, length)


def length_of(size):
    """A length as MQTT writes it."""
    found = []
    while True:
        size, rest = divmod(size, 128)
        found.append(rest | (128 if size else 0))
        if not size:
            return bytes(found)


def broker(server, size, acknowledged):
    """Sends one message of `size` bytes with quality 1, and waits until it is acknowledged."""
    connection, _ = server.accept()
    with connection:
        packet_of(connection)
        connection.sendall(b"\x20\x02\x00\x00")
        _, content = packet_of(connection)
        connection.sendall(b"\x90\x03" + content[:2] + b"\x01")
        head = b"\x00\x04cars\x00\x07"
        connection.sendall(b"\x32" + length_of(len(head) + size) + head)
        piece = b"a" * 1_000_000
        for _ in range(size // len(piece)):
            connection.sendall(piece)
        while packet_of(connection) != (0x40, b"\x00\x07"):
            pass
        acknowledged.set()


def test_mqtt_message_has_a_limit(tmp_path):
    """It is a dead letter with its beginning, and acknowledged; it is never in memory as a whole."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = f"{{mqtt: {{broker: 'mqtt://127.0.0.1:{server.getsockname()[1]}', topic: cars}}}}"
        text = f"extents: {{car: {{declare: 'pushed (plate:string)', source: {source}}}}}"
        catalog = Catalog.read(text, folder=tmp_path)
        acknowledged = threading.Event()
        threading.Thread(target=broker, args=(server, 40_000_000, acknowledged), daemon=True).start()

        async def collect():
            collecting = asyncio.create_task(run._collect(catalog, run.select_extents(catalog, []), 0.1, 120.0, print))
            while not acknowledged.is_set() and not collecting.done():
                await asyncio.sleep(0.05)
            os.kill(os.getpid(), signal.SIGTERM)
            return await collecting

        tracemalloc.start()
        try:
            result = asyncio.run(collect())
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert acknowledged.is_set()
    assert most < 40_000_000
    [letter] = [e for p in segments(tmp_path / "log/car") for e in pq.read_table(p).to_pylist() if e["_kind"] == "dead"]
    assert (letter["_reason"], letter["_origin"], len(letter["_raw"])) == ("too large", "cars", MAX_MESSAGE_BYTES)
    assert result.counts["car"] == {"too large": 1}
