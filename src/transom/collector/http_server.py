"""The HTTP server of pushed extents: aiohttp, with a limit on connections and deadlines on all that a client does.

A client has `DEADLINE` seconds for the whole head of a request, counted from the connection or from the answer before,
and again for the body. A server that has as many connections as it may closes the one that has been waiting for a
request longest; if all are busy, the new one is closed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import NamedTuple

from aiohttp import web
from aiohttp.web_protocol import RequestHandler
from multidict import CIMultiDictProxy

from transom.collector.http_tls import Handshake

DEADLINE = 30.0
"""Seconds that a client has for the head of a request, and for its body; with TLS also for the handshake."""
_LINE, _HEADERS = 8190, 64
"""Bytes of a line of the head, and how many headers a request may have."""
_KEY = 255
"""Characters of an Idempotency-Key."""
_LINGER = 1.0
"""Seconds for which the body of a refused request is read, so that the client sees the answer."""


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: HTTPStatus, words: str | None = None) -> None:
        super().__init__(status.phrase)
        self.status = status
        self.words = words or status.phrase


class Request(NamedTuple):
    """What a client sent, without the body."""

    method: str
    path: str
    authorization: str
    key: str | None


class Answer(NamedTuple):
    """What it is told."""

    status: HTTPStatus
    content: dict[str, object]


Check = Callable[[Request], None]
Take = Callable[[Request, bytes], Awaitable[Answer]]


class HttpServer:
    """Serves one address: `check` refuses by the head of a request, `take` gets the body."""

    def __init__(
        self, check: Check, take: Take, *, largest: int, connections: int, tls: ssl.SSLContext | None = None
    ) -> None:
        self._check = check
        self._take = take
        self._largest = largest
        self._connections = connections
        self._tls = tls
        self._runner: web.ServerRunner | None = None
        self._limited: _Limited | None = None
        self.port = 0
        self.error: str | None = None

    async def start(self, host: str, port: int) -> None:
        """Listen; OSError if that is not possible."""
        logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # clients that speak no HTTP are not our errors
        self._limited = _Limited(self._handle, self._connections, self._tls)
        self._runner = web.ServerRunner(self._limited, shutdown_timeout=1.0)
        await self._runner.setup()
        try:
            # as many are accepted at once before one of them is counted: never more than twice the limit are open
            site = web.TCPSite(self._runner, host, port, backlog=self._connections)
            await site.start()
        except BaseException:
            await self._runner.cleanup()
            raise
        self.port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Listen no longer, and close what is open."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        assert self._limited is not None  # noqa: S101 - it listens
        with self._limited.busy(request.protocol):
            try:
                answer = await self._answer(request)
            except Refused as refused:
                answer = Answer(refused.status, {"error": refused.words})
            except Exception as error:
                self.error = f"a request failed: {type(error).__name__}: {error}"
                answer = Answer(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "Internal Server Error"})
        text = json.dumps(answer.content)
        response = web.Response(status=answer.status, text=text, content_type="application/json")
        if "error" in answer.content:
            response.force_close()
            response.headers["Connection"] = "close"
        return response

    async def _answer(self, request: web.BaseRequest) -> Answer:
        headers = request.headers
        head = Request(request.method, request.path, _only(headers, "Authorization") or "", _key(headers))
        self._check(head)
        if headers.get("Content-Encoding", "identity").lower() != "identity":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send the body without Content-Encoding")
        if headers.get("Transfer-Encoding", "chunked").strip().lower() != "chunked":
            raise Refused(HTTPStatus.BAD_REQUEST, "the only Transfer-Encoding is chunked")
        if request.content_length is None and "Transfer-Encoding" not in headers:
            raise Refused(HTTPStatus.LENGTH_REQUIRED)
        if (request.content_length or 0) > self._largest:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if "Expect" in headers:
            if headers["Expect"].lower() != "100-continue":
                raise Refused(HTTPStatus.EXPECTATION_FAILED)
            if request.transport is not None:
                request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return await self._take(head, await self._body(request))

    async def _body(self, request: web.BaseRequest) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(DEADLINE):
                async for piece in request.content.iter_any():
                    body += piece
                    if len(body) > self._largest:
                        raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        except TimeoutError:
            raise Refused(HTTPStatus.REQUEST_TIMEOUT) from None
        return bytes(body)


def _only(headers: CIMultiDictProxy[str], name: str) -> str | None:
    """The one header of a name; a proxy could look at the first of two, and we at the last."""
    found = headers.getall(name, [])
    if len(found) > 1:
        raise Refused(HTTPStatus.BAD_REQUEST, f"{len(found)} headers {name}")
    return found[0] if found else None


def _key(headers: CIMultiDictProxy[str]) -> str | None:
    """The key of a message, which goes into the log: text, and not long."""
    key = _only(headers, "Idempotency-Key")
    if key is not None and not (key.isascii() and key.isprintable() and len(key) <= _KEY):
        raise Refused(HTTPStatus.BAD_REQUEST, f"Idempotency-Key is not up to {_KEY} characters of ASCII")
    return key


class _Limited(web.Server):
    """A server with at most so many connections, each of which must send a request in time."""

    def __init__(
        self,
        handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
        most: int,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(
            handler,
            access_log=None,
            auto_decompress=False,
            keepalive_timeout=DEADLINE,
            lingering_time=_LINGER,
            max_line_size=_LINE,
            max_field_size=_LINE,
            max_headers=_HEADERS,
        )
        self._most = most
        self._tls = tls
        self._open: dict[asyncio.BaseProtocol, asyncio.Transport] = {}
        self._waiting: dict[asyncio.BaseProtocol, asyncio.TimerHandle] = {}

    def __call__(self) -> RequestHandler:
        """What a new connection begins with: with TLS a handshake."""
        if self._tls is None:
            return super().__call__()
        return Handshake(self._tls, self, super().__call__)  # type: ignore[return-value]

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        """A new connection waits for its first request; the one that has waited longest makes room for it."""
        super().connection_made(handler, transport)
        self.begin(handler, transport)

    def begin(self, protocol: asyncio.BaseProtocol, transport: asyncio.Transport) -> None:
        """Count a connection, which waits for a handshake or a request."""
        self._open[protocol] = transport
        self._wait(protocol)
        if len(self._open) > self._most:
            self._drop(next(iter(self._waiting)))

    def end(self, protocol: asyncio.BaseProtocol) -> None:
        """Count a connection no longer."""
        self._forget(protocol)

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        """A connection is closed."""
        self._forget(handler)
        super().connection_lost(handler, exc)

    def busy(self, handler: RequestHandler) -> _Busy:
        """While a request is worked on, its connection does not wait."""
        return _Busy(self, handler)

    def _wait(self, handler: asyncio.BaseProtocol) -> None:
        loop = asyncio.get_running_loop()
        self._waiting[handler] = loop.call_later(DEADLINE, self._drop, handler)

    def _work(self, handler: asyncio.BaseProtocol) -> None:
        timer = self._waiting.pop(handler, None)
        if timer is not None:
            timer.cancel()

    def _forget(self, handler: asyncio.BaseProtocol) -> None:
        self._work(handler)
        self._open.pop(handler, None)

    def _drop(self, handler: asyncio.BaseProtocol) -> None:
        transport = self._open.get(handler)
        self._forget(handler)
        if transport is not None:
            transport.abort()


class _Busy:
    """The time in which a request is worked on."""

    def __init__(self, server: _Limited, handler: RequestHandler) -> None:
        self._server = server
        self._handler = handler

    def __enter__(self) -> None:
        self._server._work(self._handler)

    def __exit__(self, *_: object) -> None:
        if self._handler in self._server._open:
            self._server._wait(self._handler)
