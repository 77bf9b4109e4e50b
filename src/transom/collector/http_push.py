"""Messages that others send by POST: answered when the log has them.

A sender that gets no answer sends again; with the header Idempotency-Key the message is then in the log once, and gets
the answer that it got, or would have got, at first.
"""

from __future__ import annotations

import asyncio
import hmac
import resource
from collections.abc import Callable
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING

from transom.catalog.extras import needed
from transom.catalog.references import resolved
from transom.catalog.servers import HttpPush
from transom.catalog.tls import server_context
from transom.collector.feed import Feed
from transom.connectors.log.columns import Answered
from transom.connectors.payloads import LARGEST
from transom.errors import Unavailable, UsageError

if TYPE_CHECKING:
    from transom.collector.http_server import Answer, HttpServer, Request

KEYS = 100_000
"""How many keys are remembered."""
LARGEST_BODY = 4 * LARGEST
"""Bytes that the body of a request may have; a message has at most LARGEST, and is dead if it has more."""
_CONNECTIONS = 256
_LARGE = 1 << 16
"""Bytes from which on a message is read in a thread of its own."""
_WRITTEN = 30.0
"""Seconds that a sender waits for the log."""


class HttpReceiver:
    """The server of one extent; `receivers` is how many share the files that the process may open."""

    def __init__(self, source: HttpPush, feed: Feed, receivers: int = 1) -> None:
        needed("aiohttp", "http")
        self.source = source
        self.feed = feed
        self.connections = connection_limit(receivers)
        self._token = _token(source, feed.extent.name)
        self._tls = None if source.tls is None else server_context(source.tls)
        self._known: dict[str, Answered] = {one.token: one for one in feed.log.answered(KEYS)}
        self._pending: dict[str, asyncio.Future[Answered]] = {}
        self._server: HttpServer | None = None

    async def start(self) -> None:
        """Listen; Unavailable if the address cannot be had."""
        from transom.collector.http_server import HttpServer

        limits = {"largest": LARGEST_BODY, "connections": self.connections}
        server = HttpServer(self._check, self._take, **limits, tls=self._tls)
        try:
            await server.start(self.source.host.strip("[]"), self.source.port)
        except OSError as error:
            what = f"cannot listen on {self.source.host}:{self.source.port}"
            hint = "look whether another process has the port"
            raise Unavailable(what, detail=error.strerror or str(error), hint=hint) from None
        self._server = server

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return self._server.port if self._server is not None else self.source.port

    @property
    def place(self) -> str:
        """The address as the operator is told of it; without TLS others on the network can read the token."""
        place = f"{self.source.host}:{self.source.port}{self.source.path}"
        if self._tls is not None:
            return f"{place} with TLS"
        return place if _is_loopback(self.source.host.strip("[]")) else f"{place} without TLS"

    @property
    def problem(self) -> str | None:
        """The last error of our own in a request."""
        return None if self._server is None else self._server.error

    async def stop(self) -> None:
        """Listen no longer."""
        if self._server is not None:
            await self._server.stop()

    def _check(self, request: Request) -> None:
        """Refuse a request by its head."""
        from transom.collector.http_server import Refused

        if request.path != self.source.path:
            raise Refused(HTTPStatus.NOT_FOUND)
        if request.method != "POST":
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED)
        scheme, _, given = request.authorization.partition(" ")
        if self._token is not None and not (
            scheme.lower() == "bearer"
            and hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), self._token.encode())
        ):
            raise Refused(HTTPStatus.UNAUTHORIZED)
        if not self.feed.writable:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "the log cannot be written")

    async def _take(self, request: Request, body: bytes) -> Answer:
        from transom.collector.http_server import Answer, Refused

        loop = asyncio.get_running_loop()
        written = loop.create_future()

        def done() -> None:
            loop.call_soon_threadsafe(lambda: None if written.done() else written.set_result(None))

        found = await self._duplicate(request.key)
        if found is not None:
            self.feed.acknowledge_duplicate(done)
        else:
            answered = await self._fed(body, request.key, done)
        try:
            await asyncio.wait_for(written, _WRITTEN)
        except TimeoutError:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "the log cannot be written") from None
        one = found or answered
        if one.reason is not None:
            return Answer(HTTPStatus.UNPROCESSABLE_ENTITY, {"reason": one.reason, "words": one.words})
        return Answer(HTTPStatus.OK, {"taken": found is None})

    async def _duplicate(self, key: str | None) -> Answered | None:
        """What became of the message that had this key; None if there was none."""
        if key is None:
            return None
        if key in self._pending:
            return await asyncio.shield(self._pending[key])
        return self._known.get(key)

    async def _fed(self, body: bytes, key: str | None, done: Callable[[], None]) -> Answered:
        """Take a message, and remember what became of it under its key."""
        reading = asyncio.ensure_future(self._read(body, key, done))
        if key is None:
            return await reading
        self._pending[key] = reading
        try:
            answered = self._known[key] = await asyncio.shield(reading)
        finally:
            del self._pending[key]
        if len(self._known) > KEYS:
            del self._known[next(iter(self._known))]
        return answered

    async def _read(self, body: bytes, key: str | None, done: Callable[[], None]) -> Answered:
        if len(body) > _LARGE:
            dead = await asyncio.to_thread(self.feed.take, body, {}, "POST", key, done)
        else:
            dead = self.feed.take(body, {}, "POST", key, done)
        if dead is None:
            return Answered(key or "", None, None)
        return Answered(key or "", dead.reason.value, dead.words[:1000])


def connection_limit(receivers: int) -> int:
    """How many connections one receiver may have: all of them together take a quarter of the files of the process."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _CONNECTIONS if files == resource.RLIM_INFINITY else min(_CONNECTIONS, files // 4)
    return max(4, most // receivers)


def _token(source: HttpPush, name: str) -> str | None:
    """What senders must say; UsageError if anybody on the network could send."""
    token = None if source.token is None else resolved(source.token)
    if token == "":
        raise UsageError(f"the token of {name} is empty", hint="set what the reference names")
    if token is None and not _is_loopback(source.host.strip("[]")):
        hint = "give it one (token: ${NAME}), or listen on 127.0.0.1"
        raise UsageError(f"{name} listens on {source.host} without a token: anybody could send rows", hint=hint)
    return token


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
