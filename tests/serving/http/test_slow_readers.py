"""300 readers of server-sent events that read nothing for a while: limits hold, and others are answered."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("uvicorn")

import httpx

from tests.serving.recorded import Served, write_answers, write_project
from transom.serving.events import Events
from transom.serving.http import server as servers
from transom.serving.http.app import ProjectServer
from transom.serving.http.server import Listening

READERS = 300
WATCHED = 10
"""Readers that read everything in the end; the others are closed."""
LIMITS = f"readers = {READERS + 2}\nrequests_per_second = 100000\nanswer_rows = 100"
ANSWERS = "/queries/road/answers?format=events"
MEGABYTE = 1_000_000
PATHS = ("/queries", "/queries/road", "/queries/road/answers?limit=5", "/healthz", "/metrics")


@contextmanager
def readers(server: ProjectServer, path: str, count: int) -> Iterator[list[socket.socket]]:
    """Open streams with a small buffer, and read only the first bytes of the head."""
    port = int(server.address.rpartition(":")[2])
    opened: list[socket.socket] = []
    try:
        for _ in range(count):
            reader = socket.socket()
            opened.append(reader)
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.settimeout(20)
            reader.connect(("127.0.0.1", port))
            reader.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        for reader in opened:
            assert reader.recv(12) == b"HTTP/1.1 200"
        yield opened
    finally:
        for reader in opened:
            reader.close()


def flood(server: ProjectServer, add: Callable[[int], object], count: int) -> None:
    """Add something again and again, and meanwhile ask for other things; both the answers and the memory are in limits.

    Up to one in twenty answers may be slower, because the computer may have other things to do.
    """
    seconds = []
    before = memory()
    with httpx.Client(base_url=server.address, trust_env=False, timeout=20) as client:
        for number in range(count):
            add(number)
            begin = time.monotonic()
            assert client.get(PATHS[number % len(PATHS)]).status_code == 200
            seconds.append(time.monotonic() - begin)
            time.sleep(0.02)
    assert sorted(seconds)[int(0.95 * len(seconds))] < 1
    assert memory() - before < 200 * MEGABYTE


def memory() -> int:
    """The bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def read_until(reader: socket.socket, end: bytes) -> bytes:
    """Read a stream until some bytes occur."""
    read = bytearray()
    while end not in read[-100_000:]:
        part = reader.recv(1 << 16)
        assert part, "the stream has ended"
        read += part
    return bytes(read)


def read_all(opened: list[socket.socket], end: bytes) -> list[bytes]:
    """Read streams at the same time, each until some bytes occur."""
    with ThreadPoolExecutor(len(opened)) as threads:
        return list(threads.map(lambda reader: read_until(reader, end), opened))


def missed(read: bytes) -> int:
    return sum(map(int, re.findall(rb'event: missed\ndata: {"\w+":(\d+)}', read)))


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Served:
    monkeypatch.setattr(servers, "STALL_SECONDS", 300.0)
    served = Served(write_project(tmp_path, {"road": "RSTREAM(SELECT site FROM road [NOW])"}, LIMITS))
    served.steps()
    write_answers(tmp_path / "answers/road", 0, [(0, "old")])
    return served


@pytest.mark.nightly
def test_slow_readers_of_events(served: Served) -> None:
    events, burst, bursts = served.supervisor.events, 40, 60
    with ProjectServer(served.supervisor, Listening()) as server, readers(server, "/events", READERS) as opened:
        time.sleep(0.5)
        flood(server, lambda number: [add(events, burst * number + n) for n in range(burst)], bursts)
        for reader in opened[WATCHED:]:
            reader.close()
        events.add("end", None)
        counts = []
        for read in read_all(opened[:WATCHED], b"event: end\n"):
            numbers = [int(number) for number in re.findall(rb'"batch":(\d+)', read)]
            assert numbers == sorted(set(numbers))
            counts.append((len(numbers) + missed(read), missed(read) > 0))
    assert counts == [(burst * bursts, True)] * WATCHED


def add(events: Events, number: int) -> None:
    events.add("batch", "road", batch=number, text="x" * 3000)


@pytest.mark.nightly
def test_slow_readers_of_answers(served: Served) -> None:
    """A reader gets at most answer_rows rows at once, so one that is slower than that misses some."""
    folder, rows, batches = served.folder / "answers/road", 60, 60

    def write(number: int) -> None:
        write_answers(folder, number + 1, [(number, f"new{'x' * 500}")] * rows)

    with ProjectServer(served.supervisor, Listening()) as server, readers(server, ANSWERS, READERS) as opened:
        time.sleep(0.5)
        flood(server, write, batches)
        for reader in opened[WATCHED:]:
            reader.close()
        write_answers(folder, batches + 1, [(batches, "end")])
        counts = []
        for read in read_all(opened[:WATCHED], b'"x":"end"'):
            counts.append((read.count(b'"x":"newx') + missed(read), missed(read) > 0))
    assert counts == [(rows * batches, True)] * WATCHED


@pytest.mark.parametrize("path", ["/events", ANSWERS])
def test_readers_beyond_the_limit_are_refused_until_others_leave(served: Served, path: str) -> None:
    with ProjectServer(served.supervisor, Listening()) as server:
        with readers(server, path, READERS + 2):
            refused = httpx.get(f"{server.address}/queries", trust_env=False)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
            assert httpx.get(f"{server.address}/healthz", trust_env=False).status_code == 200
        end = time.monotonic() + 20
        status = 429
        while status == 429 and time.monotonic() < end:
            time.sleep(0.1)
            with suppress(httpx.HTTPError):
                status = httpx.get(f"{server.address}/queries", trust_env=False).status_code
        assert status == 200
