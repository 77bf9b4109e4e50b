"""The TLS handshake of connections to the HTTP receiver.

asyncio's own servers reveal a connection only after its handshake, so an unlimited number could be open before. Here a
connection is counted, and has its deadline, from the moment it is accepted.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Protocol

from aiohttp.web_protocol import RequestHandler

_LONGEST = 60.0
"""Seconds until a handshake is aborted, unless the connection was dropped before."""


class ConnectionCounter(Protocol):
    """Counts connections, and drops those that take too long."""

    def begin(self, protocol: asyncio.BaseProtocol, transport: asyncio.Transport) -> None:
        """Count a new connection and start its deadline; above the limit, this drops another connection."""

    def end(self, protocol: asyncio.BaseProtocol) -> None:
        """Stop counting a connection that is closed, or that another protocol has taken over."""


class TlsHandshake(asyncio.Protocol):
    """The protocol of a connection during the TLS handshake; then the HTTP handler takes over."""

    def __init__(
        self, context: ssl.SSLContext, counter: ConnectionCounter, make_handler: Callable[[], RequestHandler]
    ) -> None:
        """Create the protocol of a connection in its TLS handshake; then the protocol of `make_handler` takes over.

        The connection is counted in `counter`.
        """
        self._context = context
        self._counter = counter
        self._make_handler = make_handler
        self._early_data = bytearray()
        self._is_lost = False
        self._task: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the new connection, and start its TLS handshake."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a server of streams made it
        transport.pause_reading()
        self._counter.begin(self, transport)
        self._task = asyncio.ensure_future(self._run_handshake(transport))

    def data_received(self, data: bytes) -> None:
        """Buffer HTTP bytes that arrive together with the end of the TLS handshake."""
        self._early_data += data

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting a connection that closes during its TLS handshake."""
        self._is_lost = True
        self._counter.end(self)

    async def _run_handshake(self, transport: asyncio.Transport) -> None:
        """Run the TLS handshake, then hand the connection to the HTTP protocol; abort it on failure."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_LONGEST):
                secured = await loop.start_tls(transport, self, self._context, server_side=True)
        except OSError:  # no TLS, an untrusted certificate, or a timeout
            transport.abort()
            return
        finally:
            self._counter.end(self)
        if self._is_lost or secured is None:
            transport.abort()
            return
        handler = self._make_handler()
        handler.connection_made(secured)
        secured.set_protocol(handler)
        if self._early_data:
            handler.data_received(bytes(self._early_data))
