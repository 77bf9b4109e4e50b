"""Receive messages by HTTP POST, and answer once they are in the log.

A sender that gets no answer sends again. With the header Idempotency-Key, the message is then logged only once, and
gets the answer that it got, or would have got, the first time.
"""

from __future__ import annotations

import asyncio
import hmac
import resource
from collections.abc import Callable
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING

from transom.catalog.extras import require_library
from transom.catalog.reading.references import resolve_references
from transom.catalog.servers import HttpPush
from transom.catalog.tls import server_context
from transom.collector.feed import Feed
from transom.connectors.log.columns import MessageOutcome
from transom.connectors.payloads import MAX_MESSAGE_BYTES
from transom.errors import Unavailable, UsageError

if TYPE_CHECKING:
    from transom.collector.sources.http_server import HttpRequest, HttpResponse, HttpServer

REMEMBERED_KEYS = 100_000
"""Maximum number of remembered idempotency keys."""
LARGEST_BODY = 4 * MAX_MESSAGE_BYTES
"""Maximum size of a request body in bytes; a message above MAX_MESSAGE_BYTES is rejected."""
_CONNECTIONS = 256
_LARGE = 1 << 16
"""Messages above this size in bytes are decoded in a separate thread."""
_WRITTEN = 30.0
"""Seconds that a sender waits for the log."""


class HttpReceiver:
    """The HTTP server of one extent; `receivers` is how many servers share the process's file limit."""

    def __init__(self, source: HttpPush, feed: Feed, server_count: int = 1) -> None:
        """Create the HTTP server of an extent, one of `server_count` that share the limit of open files.

        So a message that is sent again gets the same answer. There are `server_count` such servers, which share the
        limit of open files.
        """
        require_library("aiohttp", "http")
        self.source = source
        self.feed = feed
        self.connections = connection_limit(server_count)
        self._token = _token(source, feed.extent.name)
        self._tls = None if source.tls is None else server_context(source.tls)
        self._outcomes: dict[str, MessageOutcome] = {
            outcome.token: outcome for outcome in feed.log.recent_outcomes(REMEMBERED_KEYS)
        }
        self._pending_outcomes: dict[str, asyncio.Future[MessageOutcome]] = {}
        self._server: HttpServer | None = None

    async def start(self) -> None:
        """Listen for HTTP requests at the source's address; raise Unavailable if the address is in use."""
        from transom.collector.sources.http_server import HttpServer

        limits = {"max_body_bytes": LARGEST_BODY, "max_connections": self.connections}
        server = HttpServer(self._check, self._handle, **limits, tls=self._tls)
        try:
            await server.start(self.source.host.strip("[]"), self.source.port)
        except OSError as error:
            message = f"cannot listen on {self.source.host}:{self.source.port}"
            hint = "look whether another process has the port"
            raise Unavailable(message, detail=error.strerror or str(error), hint=hint) from None
        self._server = server

    @property
    def port(self) -> int:
        """The TCP port on which the receiver listens."""
        return self._server.port if self._server is not None else self.source.port

    @property
    def address(self) -> str:
        """The address shown to the operator, with the note `with TLS` or, if not loopback, `without TLS`.

        Without TLS, others on the network can read the token.
        """
        url = f"{self.source.host}:{self.source.port}{self.source.path}"
        if self._tls is not None:
            return f"{url} with TLS"
        return url if _is_loopback(self.source.host.strip("[]")) else f"{url} without TLS"

    @property
    def problem(self) -> str | None:
        """The last internal error while handling a request, as text; None if there was none."""
        return None if self._server is None else self._server.error

    async def stop(self) -> None:
        """Stop listening for HTTP requests, and close all connections."""
        if self._server is not None:
            await self._server.stop()

    def _check(self, request: HttpRequest) -> None:
        """Raise HttpError if a request's path, method or token is wrong, or if the log cannot be written."""
        from transom.collector.sources.http_server import HttpError

        if request.path != self.source.path:
            raise HttpError(HTTPStatus.NOT_FOUND)
        if request.method != "POST":
            raise HttpError(HTTPStatus.METHOD_NOT_ALLOWED)
        scheme, _, token = request.authorization.partition(" ")
        if self._token is not None and not (
            scheme.lower() == "bearer"
            and hmac.compare_digest(token.strip().encode("utf-8", "surrogateescape"), self._token.encode())
        ):
            raise HttpError(HTTPStatus.UNAUTHORIZED)
        if not self.feed.writable:
            raise HttpError(HTTPStatus.SERVICE_UNAVAILABLE, "the log cannot be written")

    async def _handle(self, request: HttpRequest, body: bytes) -> HttpResponse:
        """Queue a POST request's message for the log unless it is a duplicate; respond when it is in the log."""
        from transom.collector.sources.http_server import HttpError, HttpResponse

        loop = asyncio.get_running_loop()
        logged = loop.create_future()

        def on_logged() -> None:
            """Wake the HTTP request whose message is now in the log; called by the log's writer thread."""
            loop.call_soon_threadsafe(lambda: None if logged.done() else logged.set_result(None))

        duplicate = await self._duplicate(request.key)
        if duplicate is not None:
            self.feed.acknowledge_duplicate(on_logged)
        else:
            first_outcome = await self._feed_message(body, request.key, on_logged)
        try:
            await asyncio.wait_for(logged, _WRITTEN)
        except TimeoutError:
            raise HttpError(HTTPStatus.SERVICE_UNAVAILABLE, "the log cannot be written") from None
        outcome = duplicate or first_outcome
        if outcome.reason is not None:
            return HttpResponse(HTTPStatus.UNPROCESSABLE_ENTITY, {"reason": outcome.reason, "detail": outcome.detail})
        return HttpResponse(HTTPStatus.OK, {"taken": duplicate is None})

    async def _duplicate(self, key: str | None) -> MessageOutcome | None:
        """Return the outcome of the earlier message with this idempotency key; None if it is a new message.

        It waits if the earlier message is still being decoded.
        """
        if key is None:
            return None
        if key in self._pending_outcomes:
            return await asyncio.shield(self._pending_outcomes[key])
        return self._outcomes.get(key)

    async def _feed_message(self, body: bytes, key: str | None, on_logged: Callable[[], None]) -> MessageOutcome:
        """Queue a message for the log; return its outcome, and cache it under the idempotency key `key` if given.

        `on_logged` is called when the message is in the log.
        """
        decoding = asyncio.ensure_future(self._enqueue(body, key, on_logged))
        if key is None:
            return await decoding
        self._pending_outcomes[key] = decoding
        try:
            outcome = self._outcomes[key] = await asyncio.shield(decoding)
        finally:
            del self._pending_outcomes[key]
        if len(self._outcomes) > REMEMBERED_KEYS:
            del self._outcomes[next(iter(self._outcomes))]
        return outcome

    async def _enqueue(self, body: bytes, key: str | None, on_logged: Callable[[], None]) -> MessageOutcome:
        """Decode and queue a message; return its outcome; `on_logged` is called when it is in the log.

        `key` is its idempotency key; `on_logged` is called when it is in the log. The outcome is why the message was
        rejected, if it was.
        """
        if len(body) > _LARGE:
            rejection = await asyncio.to_thread(self.feed.enqueue, body, {}, "POST", key, on_logged)
        else:
            rejection = self.feed.enqueue(body, {}, "POST", key, on_logged)
        if rejection is None:
            return MessageOutcome(key or "", None, None)
        return MessageOutcome(key or "", rejection.reason.value, rejection.detail[:1000])


def connection_limit(server_count: int) -> int:
    """Return how many connections each of `server_count` HTTP servers may have under the limit of open files.

    At least 4 per receiver.
    """
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _CONNECTIONS if files == resource.RLIM_INFINITY else min(_CONNECTIONS, files // 4)
    return max(4, limit // server_count)


def _token(source: HttpPush, name: str) -> str | None:
    """Return the token that senders must present, or None; UsageError if extent `name` needs one and has none.

    `name` is the name of the extent, for errors. UsageError if the token is empty, or if there is none although other
    machines can connect.
    """
    token = None if source.token is None else resolve_references(source.token)
    if token == "":
        raise UsageError(f"the token of {name} is empty", hint="set what the reference names")
    if token is None and not _is_loopback(source.host.strip("[]")):
        hint = "give it one (token: ${NAME}), or listen on 127.0.0.1"
        raise UsageError(f"{name} listens on {source.host} without a token: anybody could send rows", hint=hint)
    return token


def _is_loopback(host: str) -> bool:
    """Whether a host is the local machine, so that only processes on it can connect."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
