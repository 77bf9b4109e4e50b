"""The HTTP server of pushed extents: aiohttp with a connection limit, and deadlines on everything a client does.

A client has `DEADLINE` seconds for the whole head of a request, counted from the connection or the previous response,
and again for the body. A server at its connection limit closes the connection that has waited longest for a request;
if all are busy, it closes the new one.
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

from transom.collector.sources.http_tls import TlsHandshake

DEADLINE = 30.0
"""Seconds a client has for the head of a request, for its body, and with TLS for the handshake."""
_LINE, _HEADERS = 8190, 64
"""Maximum bytes of a header line, and maximum number of headers."""
_KEY = 255
"""Maximum characters of an Idempotency-Key."""
_LINGER = 1.0
"""Seconds to read the body of a refused request, so that the client sees the response."""


class HttpError(Exception):
    """A request that gets an error response."""

    def __init__(self, status: HTTPStatus, detail: str | None = None) -> None:
        """Create the error response to a refused request; the client sees `detail`, by default the status text."""
        super().__init__(status.phrase)
        self.status = status
        self.detail = detail or status.phrase


class HttpRequest(NamedTuple):
    """The head of a request: what the server needs of it, without the body."""

    method: str
    path: str
    authorization: str
    key: str | None


class HttpResponse(NamedTuple):
    """A response: its status, and its content as JSON."""

    status: HTTPStatus
    content: dict[str, object]


CheckRequest = Callable[[HttpRequest], None]
HandleRequest = Callable[[HttpRequest, bytes], Awaitable[HttpResponse]]


class HttpServer:
    """Serves one address: `check` may refuse a request by its head, `handle` gets the body."""

    def __init__(
        self,
        check: CheckRequest,
        handle: HandleRequest,
        *,
        max_body_bytes: int,
        max_connections: int,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Create an HTTP server: `check` may refuse a request by its headers, `handle` responds; `tls`: None for HTTP.

        It does not listen yet. With `tls`, each connection begins with a TLS handshake.
        """
        self._check = check
        self._handle_body = handle
        self._max_body_bytes = max_body_bytes
        self._max_connections = max_connections
        self._tls = tls
        self._runner: web.ServerRunner | None = None
        self._limited_server: _LimitedServer | None = None
        self.port = 0
        self.error: str | None = None

    async def start(self, host: str, port: int) -> None:
        """Listen on a host and port (0: any free port); raise OSError if that is not possible."""
        logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # invalid requests are the client's errors
        self._limited_server = _LimitedServer(self._respond, self._max_connections, self._tls)
        self._runner = web.ServerRunner(self._limited_server, shutdown_timeout=1.0)
        await self._runner.setup()
        try:
            # connections in the backlog are not counted yet: at most twice the limit are open
            site = web.TCPSite(self._runner, host, port, backlog=self._max_connections)
            await site.start()
        except BaseException:
            await self._runner.cleanup()
            raise
        self.port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Stop listening, and close all connections."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Handle one HTTP request, and turn its result or HttpError into a JSON response."""
        assert self._limited_server is not None  # noqa: S101 - it listens
        with self._limited_server.busy(request.protocol):
            try:
                result = await self._result(request)
            except HttpError as refusal:
                result = HttpResponse(refusal.status, {"error": refusal.detail})
            except Exception as error:
                self.error = f"a request failed: {type(error).__name__}: {error}"
                result = HttpResponse(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "Internal Server Error"})
        text = json.dumps(result.content)
        response = web.Response(status=result.status, text=text, content_type="application/json")
        if "error" in result.content:
            response.force_close()
            response.headers["Connection"] = "close"
        return response

    async def _result(self, request: web.BaseRequest) -> HttpResponse:
        """Check a request's headers, read its body and pass it to the handler; raise HttpError if it is refused."""
        headers = request.headers
        head = HttpRequest(
            request.method, request.path, _single_header(headers, "Authorization") or "", _message_key(headers)
        )
        self._check(head)
        if headers.get("Content-Encoding", "identity").lower() != "identity":
            raise HttpError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send the body without Content-Encoding")
        if headers.get("Transfer-Encoding", "chunked").strip().lower() != "chunked":
            raise HttpError(HTTPStatus.BAD_REQUEST, "the only Transfer-Encoding is chunked")
        if request.content_length is None and "Transfer-Encoding" not in headers:
            raise HttpError(HTTPStatus.LENGTH_REQUIRED)
        if (request.content_length or 0) > self._max_body_bytes:
            raise HttpError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if "Expect" in headers:
            if headers["Expect"].lower() != "100-continue":
                raise HttpError(HTTPStatus.EXPECTATION_FAILED)
            if request.transport is not None:
                request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return await self._handle_body(head, await self._body(request))

    async def _body(self, request: web.BaseRequest) -> bytes:
        """Read a request's body; raise HttpError if it is too long, or takes more than DEADLINE seconds."""
        body = bytearray()
        try:
            async with asyncio.timeout(DEADLINE):
                async for chunk in request.content.iter_any():
                    body += chunk
                    if len(body) > self._max_body_bytes:
                        raise HttpError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        except TimeoutError:
            raise HttpError(HTTPStatus.REQUEST_TIMEOUT) from None
        return bytes(body)


def _single_header(headers: CIMultiDictProxy[str], name: str) -> str | None:
    """Return the value of an HTTP header, or None; raise HttpError if the header occurs twice.

    A proxy may use either of two.
    """
    values = headers.getall(name, [])
    if len(values) > 1:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{len(values)} headers {name}")
    return values[0] if values else None


def _message_key(headers: CIMultiDictProxy[str]) -> str | None:
    """Return a request's Idempotency-Key header, or None; raise HttpError unless it is short printable ASCII."""
    key = _single_header(headers, "Idempotency-Key")
    if key is not None and not (key.isascii() and key.isprintable() and len(key) <= _KEY):
        raise HttpError(HTTPStatus.BAD_REQUEST, f"Idempotency-Key is not up to {_KEY} characters of ASCII")
    return key


class _LimitedServer(web.Server):
    """A server with a connection limit; each connection must send a request before its deadline."""

    def __init__(
        self,
        handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
        max_connections: int,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Create an HTTP (or TLS) server that, above `max_connections`, drops the connection idle for longest.

        It is HTTPS if `tls` is set.
        """
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
        self._max_connections = max_connections
        self._tls = tls
        self._open: dict[asyncio.BaseProtocol, asyncio.Transport] = {}
        self._deadlines: dict[asyncio.BaseProtocol, asyncio.TimerHandle] = {}

    def __call__(self) -> RequestHandler:
        """Create the protocol that handles a new connection; with TLS, it begins with the handshake."""
        if self._tls is None:
            return super().__call__()
        return TlsHandshake(self._tls, self, super().__call__)  # type: ignore[return-value]

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        """Count a new HTTP connection; above the limit, drop the one that is idle for longest."""
        super().connection_made(handler, transport)
        self.begin(handler, transport)

    def begin(self, protocol: asyncio.BaseProtocol, transport: asyncio.Transport) -> None:
        """Count a connection and start its deadline; above the limit, drop the connection idle for longest."""
        self._open[protocol] = transport
        self._start_deadline(protocol)
        if len(self._open) > self._max_connections:
            self._drop(next(iter(self._deadlines)))

    def end(self, protocol: asyncio.BaseProtocol) -> None:
        """Stop counting a connection that is closed, or that another protocol has taken over."""
        self._forget(protocol)

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        """Stop counting an HTTP connection that has closed; aiohttp calls this."""
        self._forget(handler)
        super().connection_lost(handler, exc)

    def busy(self, handler: RequestHandler) -> _BusyConnection:
        """Return a context manager for handling a request, during which its connection has no deadline."""
        return _BusyConnection(self, handler)

    def _start_deadline(self, handler: asyncio.BaseProtocol) -> None:
        """Start the timer that drops a connection unless it sends a request within DEADLINE seconds."""
        loop = asyncio.get_running_loop()
        self._deadlines[handler] = loop.call_later(DEADLINE, self._drop, handler)

    def _cancel_deadline(self, handler: asyncio.BaseProtocol) -> None:
        """Cancel the deadline of a connection, because it has sent a request or is closed."""
        timer = self._deadlines.pop(handler, None)
        if timer is not None:
            timer.cancel()

    def _forget(self, handler: asyncio.BaseProtocol) -> None:
        """Stop counting a connection, and cancel its deadline."""
        self._cancel_deadline(handler)
        self._open.pop(handler, None)

    def _drop(self, handler: asyncio.BaseProtocol) -> None:
        """Abort a connection that is too slow or exceeds the limit, and stop counting it."""
        transport = self._open.get(handler)
        self._forget(handler)
        if transport is not None:
            transport.abort()


class _BusyConnection:
    """Suspends the deadline of a connection while a request is handled."""

    def __init__(self, server: _LimitedServer, handler: RequestHandler) -> None:
        """Create the context manager in which the connection of `handler` has no deadline."""
        self._server = server
        self._handler = handler

    def __enter__(self) -> None:
        """Suspend the deadline of the connection while its request is handled."""
        self._server._cancel_deadline(self._handler)

    def __exit__(self, *_: object) -> None:
        """Start the deadline for the connection's next request, unless the connection is closed."""
        if self._handler in self._server._open:
            self._server._start_deadline(self._handler)
