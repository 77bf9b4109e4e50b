"""Who may ask a server, and how much: tokens, proxies, rates, sizes and the number of readers.

Every refusal is a 4xx response.
"""

from __future__ import annotations

import hmac
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from transom.project.entries import LimitsEntry
from transom.serving.address import is_loopback_name
from transom.serving.json_text import to_json

OPEN_PATHS = ("/healthz", "/readyz")
"""Paths that need no token and count as no reader, so that a busy server still tells that it is alive."""
LONGEST_TARGET = 2048
_MOST_CLIENTS = 10_000
_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


@dataclass(frozen=True)
class Access:
    """Who may ask: with a `token` only its bearers, with a `proxy` only connections from there.

    Without a token, only requests to a loopback name are answered, so that no page in a browser can ask under a name
    of its own.
    """

    token: str | None = None
    proxy: str | None = None


class Refusal(Exception):
    """A request that gets a 4xx response."""

    def __init__(self, status: HTTPStatus, message: str, hint: str | None = None, **headers: str) -> None:
        """Create the refusal of a request; `headers` are further ones of the response."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.hint = hint
        self.headers = headers

    def response(self) -> Response:
        """Return the response to the refused request, as JSON."""
        content = {"error": self.message, **({"hint": self.hint} if self.hint else {})}
        headers = {name.replace("_", "-"): value for name, value in self.headers.items()}
        return Response(to_json(content), self.status, headers, "application/json")


class Rates:
    """Requests per second of each client: as many at once as in two seconds, then the rest as they come."""

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Allow each client this number of requests per second."""
        self._per_second = per_second
        self._most = max(2 * per_second, 1.0)
        self._clock = clock
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, client: str) -> bool:
        """Count a request of a client; return whether it is within the rate."""
        now = self._clock()
        left, at = self._clients.pop(client, (self._most, now))
        left = min(left + (now - at) * self._per_second, self._most)
        allowed = left >= 1
        self._clients[client] = (left - 1 if allowed else left, now)
        if len(self._clients) > _MOST_CLIENTS:
            self._clients.popitem(last=False)
        return allowed


class AccessControl:
    """The outermost part of the application: it refuses requests before anything else reads them."""

    def __init__(self, app: ASGIApp, access: Access, limits: LimitsEntry) -> None:
        """Protect an application by the rules of `access`, and by `limits`."""
        self._app = app
        self._access = access
        self._limits = limits
        self._rates = Rates(limits.requests_per_second)
        self._readers = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_open = scope["path"] in OPEN_PATHS
        try:
            self._check(scope, Headers(scope=scope), is_open=is_open)
            if not is_open and self._readers >= self._limits.readers:
                raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, "too many readers at the same time", Retry_After="1")
        except Refusal as refusal:
            await refusal.response()(scope, receive, _with_headers(send))
            return
        self._readers += not is_open
        try:
            await self._app(scope, receive, _with_headers(send))
        finally:
            self._readers -= not is_open

    def _check(self, scope: Scope, headers: Headers, *, is_open: bool) -> None:
        """Raise Refusal for a request that is not allowed, or too large."""
        client = (scope.get("client") or ("", 0))[0]
        if self._access.proxy is not None and client != self._access.proxy:
            raise Refusal(HTTPStatus.FORBIDDEN, "only the proxy may connect")
        if self._access.proxy is not None:
            client = headers.get("x-forwarded-for", client).rpartition(",")[2].strip()
        if not self._rates.allows(client):
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, "too many requests", Retry_After="1")
        if self._access.token is None and not is_loopback_name(headers.get("host", "")):
            raise Refusal(HTTPStatus.MISDIRECTED_REQUEST, "this address answers requests to localhost")
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_TARGET:
            raise Refusal(HTTPStatus.REQUEST_URI_TOO_LONG, f"the address is longer than {LONGEST_TARGET:,} bytes")
        if sum(len(name) + len(value) for name, value in headers.raw) > self._limits.request_bytes:
            raise Refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the headers are too large")
        if scope["method"] != "GET":
            raise Refusal(HTTPStatus.METHOD_NOT_ALLOWED, "only GET is answered", Allow="GET")
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "a request has no body", Connection="close")
        if not is_open:
            self._check_token(headers)

    def _check_token(self, headers: Headers) -> None:
        """Raise Refusal unless the request has the token, if one is needed."""
        if self._access.token is None:
            return
        sent = headers.getlist("authorization")
        scheme, _, token = (sent[0] if len(sent) == 1 else "").partition(" ")
        is_right = hmac.compare_digest(token.strip().encode(), self._access.token.encode())
        if scheme.lower() != "bearer" or not is_right:
            raise Refusal(HTTPStatus.UNAUTHORIZED, "a token is needed", WWW_Authenticate="Bearer")


def _with_headers(send: Send) -> Send:
    """Return a `send` that adds the headers of all responses."""

    async def send_with_headers(message: Message) -> None:
        """Send a part of a response."""
        if message["type"] == "http.response.start":
            headers = [*message.get("headers", ()), *((n.encode(), v.encode()) for n, v in _HEADERS.items())]
            message = {**message, "headers": headers}
        await send(message)

    return send_with_headers
