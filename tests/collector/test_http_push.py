"""The HTTP receiver over a socket, with a feed that takes or rejects: status codes, duplicates, open connections."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from transom.catalog import Catalog
from transom.catalog.servers import HttpPush
from transom.collector.sources import http_server
from transom.collector.sources.http_push import HttpReceiver
from transom.connectors.log.columns import MessageOutcome
from transom.connectors.payloads import MAX_MESSAGE_BYTES, RejectError
from transom.errors import Unavailable, UsageError
from transom.model.reject_reason import RejectReason

CATALOG = """
extents:
  car:
    declare: pushed (plate:string, speed:integer)
    source:
      http: {listen: '127.0.0.1:9', path: /cars, token: '${HTTP_PUSH_TOKEN}'}
"""
TOKEN = "Authorization: Bearer let-me-in"
Found = list[tuple[int, dict[str, str], Any]]


class FeedStub:
    """Writes at once, and rejects what is empty."""

    writable = True

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.log = self
        self.extent = Catalog.read(CATALOG).extent("car")

    def recent_outcomes(self, count: int) -> Iterator[MessageOutcome]:
        """What a log held when the collector started."""
        yield MessageOutcome("before", None, None)
        yield MessageOutcome("dead before", RejectReason.LATE.value, "too late")

    def enqueue(
        self, body: bytes, envelope: dict[str, Any], kind: str, key: str | None, done: Callable[[], None]
    ) -> Any:
        self.bodies.append(body)
        done()
        return None if body else RejectError(RejectReason.MISSING, "no plate")

    def acknowledge_duplicate(self, done: Callable[[], None]) -> None:
        done()


def post(body: str = "{}", *headers: str, path: str = "/cars", method: str = "POST") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: here", TOKEN, f"Content-Length: {len(body)}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def source_of(**changes: Any) -> HttpPush:
    source = Catalog.read(CATALOG).extent("car").source
    assert isinstance(source, HttpPush)
    return replace(source, **changes)


async def one_answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], Any]:
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)).decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    is_json = headers.get("content-type", "").startswith("application/json")
    return int(head[0].split()[1]), headers, json.loads(body) if is_json else body


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PUSH_TOKEN", "let-me-in")


@pytest.fixture
def feed() -> FeedStub:
    return FeedStub()


@pytest.fixture
def serving(feed: FeedStub) -> Callable[..., Any]:
    """Runs a coroutine that gets a receiver that listens."""

    def run(work: Callable[[HttpReceiver], Any]) -> Any:
        async def served() -> Any:
            receiver = HttpReceiver(source_of(port=0), feed)  # type: ignore[arg-type]
            await receiver.start()
            try:
                return await work(receiver)
            finally:
                await receiver.stop()

        return asyncio.run(served())

    return run


@pytest.fixture
def answers(serving: Any) -> Callable[..., Found]:
    """Sends requests over one connection; the answers until the receiver closes it or falls silent."""

    async def exchange(receiver: HttpReceiver, requests: tuple[bytes, ...]) -> Found:
        reader, writer = await asyncio.open_connection("127.0.0.1", receiver.port)
        found = []
        try:
            for request in requests:
                writer.write(request)
                found.append(await one_answer(reader))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # closed by the receiver
        finally:
            writer.close()
        return found

    return lambda *requests: serving(lambda receiver: exchange(receiver, requests))


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


def test_idempotency_key_of_a_dead_message_gets_the_same_answer(feed: FeedStub, answers: Any) -> None:
    found = answers(*(post("", f"Idempotency-Key: {key}") for key in ("a", "a", "dead before")))
    dead = {"reason": RejectReason.MISSING.value, "detail": "no plate"}
    assert [(status, body) for status, _, body in found] == [
        (422, dead),
        (422, dead),
        (422, {"reason": "late", "detail": "too late"}),
    ]
    assert len(feed.bodies) == 1


def test_rejected_message_names_the_reason(answers: Any) -> None:
    [(status, _, body)] = answers(post(""))
    assert (status, body) == (422, {"reason": RejectReason.MISSING.value, "detail": "no plate"})


def test_log_that_cannot_be_written(feed: FeedStub, answers: Any) -> None:
    feed.writable = False
    [(status, _, body)] = answers(post())
    assert (status, body, feed.bodies) == (503, {"error": "the log cannot be written"}, [])


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (post(path="/else"), 404),
        (post(method="GET"), 405),
        (post().replace(b"let-me-in", b"let-me-on"), 401),
        (post().replace(TOKEN.encode(), b"Accept: */*"), 401),
        (post().replace(b"Bearer ", b""), 401),
        (post().replace(b"Bearer ", b"Basic "), 401),
        (post("").replace(b"Content-Length: 0\r\n", b""), 411),
        (post("{}", "Content-Encoding: gzip"), 415),
        (post("{}", "Expect: a wonder"), 417),
        (post().replace(b"Content-Length: 2", f"Content-Length: {4 * MAX_MESSAGE_BYTES + 1}".encode()), 413),
    ],
)
def test_refused_request_closes_the_connection(feed: FeedStub, answers: Any, request_bytes: bytes, status: int) -> None:
    [(found, headers, body)] = answers(request_bytes, post())
    assert found == status
    assert headers["connection"] == "close"
    assert set(body) == {"error"}
    assert feed.bodies == []


CHUNKED = "Transfer-Encoding: chunked"


@pytest.mark.parametrize(
    "request_bytes",
    [
        post().replace(b"Content-Length: 2", b"Content-Length: -2"),
        post("0\r\n\r\n", CHUNKED),
        post("{}", "Content-Length: 3"),
        post("{}", *(f"X-{number}: 1" for number in range(100))),
        post("{}", *("X-Same: 1" for _ in range(100))),
        post("{}", f"X-Long: {'a' * 20_000}"),
        post(path="/cars?" + "a" * 20_000),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
    ids=["negative", "smuggled", "two lengths", "many headers", "many equal headers", "long", "long path", "no HTTP"],
)
def test_malformed_request_is_refused(feed: FeedStub, answers: Any, request_bytes: bytes) -> None:
    [(status, _, _)] = answers(request_bytes, post())  # and then the connection is closed
    assert status == 400
    assert feed.bodies == []


def test_chunked_body_is_taken_up_to_the_limit(feed: FeedStub, answers: Any) -> None:
    head = post("", CHUNKED).replace(b"Content-Length: 0\r\n", b"")
    assert [status for status, _, _ in answers(head + b"2\r\n{}\r\n0\r\n\r\n")] == [200]
    piece = b"%x\r\n%s\r\n" % (MAX_MESSAGE_BYTES, b"a" * MAX_MESSAGE_BYTES)
    assert [status for status, _, _ in answers(head + 5 * piece)] == [413]
    assert feed.bodies == [b"{}"]


def test_sender_that_asks_before_the_body_is_answered(feed: FeedStub, serving: Any) -> None:
    async def ask(receiver: HttpReceiver) -> tuple[bytes, int]:
        reader, writer = await asyncio.open_connection("127.0.0.1", receiver.port)
        writer.write(post("{}", "Expect: 100-continue")[:-2])
        first = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
        writer.write(b"{}")
        status, _, _ = await one_answer(reader)
        writer.close()
        return first, status

    assert serving(ask) == (b"HTTP/1.1 100 Continue\r\n\r\n", 200)


def test_query_part_of_the_address_is_ignored(answers: Any) -> None:
    assert answers(post(path="/cars?from=a"))[0][0] == 200


@pytest.mark.parametrize("sent", [b"", b"POST /cars HTTP/1.1\r\nX-Slow", post("{}")[:-1]], ids=["none", "head", "body"])
def test_slow_request_is_cut_off(monkeypatch: pytest.MonkeyPatch, serving: Any, sent: bytes) -> None:
    """The deadline is for the whole head and the whole body; more bytes do not extend it."""
    monkeypatch.setattr(http_server, "DEADLINE", 0.4)

    async def wait(receiver: HttpReceiver) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", receiver.port)
        writer.write(sent)

        async def drip() -> None:
            while sent and b"Slow" in sent:
                writer.write(b"a")
                await asyncio.sleep(0.05)

        dripping = asyncio.create_task(drip())
        try:
            return await asyncio.wait_for(reader.read(), 5)
        except ConnectionError:
            return b""
        finally:
            dripping.cancel()
            writer.close()

    found = serving(wait)
    assert found == b"" or found.startswith(b"HTTP/1.1 408 ")


def test_idle_connections_make_room_for_new_ones(serving: Any) -> None:
    async def crowd(receiver: HttpReceiver) -> tuple[int, int]:
        idle = [await asyncio.open_connection("127.0.0.1", receiver.port) for _ in range(2 * receiver.connections)]
        reader, writer = await asyncio.open_connection("127.0.0.1", receiver.port)
        writer.write(post())
        status, _, _ = await one_answer(reader)
        await asyncio.sleep(0.1)
        closed = sum(one.at_eof() or one.exception() is not None for one, _ in idle)
        for _, other in [*idle, (reader, writer)]:
            other.close()
        return status, closed - receiver.connections

    assert serving(crowd) == (200, 1)


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", "10.0.0.1", "plant"])  # noqa: S104
def test_address_that_others_reach_needs_a_token(feed: FeedStub, host: str) -> None:
    with pytest.raises(UsageError, match="without a token: anybody could send rows"):
        HttpReceiver(source_of(host=host, token=None), feed)  # type: ignore[arg-type]
    HttpReceiver(source_of(host=host), feed)  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost", "127.1.2.3"])
def test_loopback_needs_no_token(feed: FeedStub, host: str) -> None:
    HttpReceiver(source_of(host=host, token=None), feed)  # type: ignore[arg-type]


def test_empty_token_is_refused(feed: FeedStub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PUSH_TOKEN", "")
    with pytest.raises(UsageError, match="empty"):
        HttpReceiver(source_of(), feed)  # type: ignore[arg-type]


def test_port_that_is_taken(serving: Any, feed: FeedStub) -> None:
    async def second(receiver: HttpReceiver) -> None:
        other = HttpReceiver(source_of(port=receiver.port), feed)  # type: ignore[arg-type]
        with pytest.raises(Unavailable, match=r"cannot listen on 127\.0\.0\.1"):
            await other.start()

    serving(second)
