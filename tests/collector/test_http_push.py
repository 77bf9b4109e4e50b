"""The HTTP receiver over a socket, with a feed that takes or rejects: status codes, duplicates, open connections."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from transom.catalog import Catalog
from transom.catalog.servers import HttpPush
from transom.collector.http_push import Door
from transom.connectors.payloads import LARGEST, Dead
from transom.model.reasons import Reason

CATALOG = """
extents:
  car:
    declare: pushed (plate:string, speed:integer)
    source:
      http: {listen: '127.0.0.1:9', path: /cars, token: '${HTTP_PUSH_TOKEN}'}
"""
TOKEN = "Authorization: Bearer let-me-in"


class FeedStub:
    """Writes at once, and rejects what is empty."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.log = self

    def tokens(self, count: int) -> list[str]:
        """Keys that a log held when the collector started."""
        return ["before"]

    def take(self, body: bytes, envelope: dict[str, Any], kind: str, key: str | None, done: Callable[[], None]) -> Any:
        self.bodies.append(body)
        done()
        return None if body else Dead(Reason.MISSING, "no plate")

    def again(self, done: Callable[[], None]) -> None:
        done()


def post(body: str = "{}", *headers: str, path: str = "/cars", method: str = "POST") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", TOKEN, f"Content-Length: {len(body)}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


@pytest.fixture
def feed() -> FeedStub:
    return FeedStub()


@pytest.fixture
def answers(feed: FeedStub, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[int, dict[str, str], Any]]]:
    """Sends requests over one connection; the answers until the receiver closes it or falls silent."""
    monkeypatch.setenv("HTTP_PUSH_TOKEN", "let-me-in")
    source = Catalog.read(CATALOG).extent("car").source
    assert isinstance(source, HttpPush)

    async def exchange(requests: tuple[bytes, ...]) -> list[tuple[int, dict[str, str], Any]]:
        door = Door(source, feed)  # type: ignore[arg-type]
        server = await asyncio.start_server(door._serve, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        found = []
        try:
            for request in requests:
                writer.write(request)
                head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)).decode().split("\r\n")
                headers = {
                    name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)
                }
                body = await reader.readexactly(int(headers["content-length"]))
                found.append((int(head[0].split()[1]), headers, json.loads(body)))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # closed by the receiver
        finally:
            writer.close()
            server.close()
        return found

    return lambda *requests: asyncio.run(exchange(requests))


def test_taken_messages_keep_the_connection_open(feed: FeedStub, answers: Any) -> None:
    first, second = answers(post('{"plate": "a"}'), post('{"plate": "b"}'))
    assert (first[0], first[2]) == (second[0], second[2]) == (200, {"taken": True})
    assert "connection" not in first[1]
    assert feed.bodies == [b'{"plate": "a"}', b'{"plate": "b"}']


def test_connection_closes_when_the_sender_asks(feed: FeedStub, answers: Any) -> None:
    assert len(answers(post("{}", "Connection: close"), post("{}"))) == 1
    assert len(feed.bodies) == 1


def test_idempotency_key_is_taken_once(feed: FeedStub, answers: Any) -> None:
    requests = [post("1", f"Idempotency-Key: {key}") for key in ("a", "a", "before", "b")]
    assert [body["taken"] for _, _, body in answers(*requests)] == [True, False, False, True]
    assert len(feed.bodies) == 2


def test_rejected_message_names_the_reason(answers: Any) -> None:
    [(status, _, body)] = answers(post(""))
    assert (status, body) == (422, {"reason": Reason.MISSING.value, "words": "no plate"})


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (post(path="/else"), 404),
        (post(method="GET"), 405),
        (post().replace(b"let-me-in", b"let-me-on"), 401),
        (post().replace(TOKEN.encode(), b"Accept: */*"), 401),
        (post().replace(b"Content-Length: 2", b"Content-Length: -2"), 411),
        (post().replace(b"Content-Length: 2", f"Content-Length: {4 * LARGEST + 1}".encode()), 413),
    ],
)
def test_refused_request_closes_the_connection(feed: FeedStub, answers: Any, request_bytes: bytes, status: int) -> None:
    [(found, headers, body)] = answers(request_bytes, post())
    assert found == status
    assert headers["connection"] == "close"
    assert set(body) == {"error"}
    assert feed.bodies == []


def test_query_part_of_the_address_is_ignored(answers: Any) -> None:
    assert answers(post(path="/cars?from=a"))[0][0] == 200
