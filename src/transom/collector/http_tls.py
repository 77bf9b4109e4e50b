"""The handshake of TLS on a connection to the HTTP receiver.

asyncio's own servers show a connection after its handshake, so that any number of connections without one could be
open. Here a connection is counted, and has its deadline, from the moment at which it is made.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Protocol

from aiohttp.web_protocol import RequestHandler

_LONGEST = 60.0
"""Seconds after which a handshake is given up, if nobody has dropped the connection before."""


class Counting(Protocol):
    """Who counts connections and drops those that take too long."""

    def begin(self, protocol: asyncio.BaseProtocol, transport: asyncio.Transport) -> None:
        """A connection is made."""

    def end(self, protocol: asyncio.BaseProtocol) -> None:
        """It is closed, or another protocol has it."""


class Handshake(asyncio.Protocol):
    """A connection until TLS is agreed on; then it is a handler's."""

    def __init__(self, context: ssl.SSLContext, counting: Counting, handler: Callable[[], RequestHandler]) -> None:
        self._context = context
        self._counting = counting
        self._handler = handler
        self._early = bytearray()
        self._is_lost = False
        self._task: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a server of streams made it
        transport.pause_reading()
        self._counting.begin(self, transport)
        self._task = asyncio.ensure_future(self._shake(transport))

    def data_received(self, data: bytes) -> None:
        """Keep what came with the last message of the handshake."""
        self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._is_lost = True
        self._counting.end(self)

    async def _shake(self, transport: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_LONGEST):
                secured = await loop.start_tls(transport, self, self._context, server_side=True)
        except OSError:  # the client speaks no TLS, does not trust us, or took too long
            transport.abort()
            return
        finally:
            self._counting.end(self)
        if self._is_lost or secured is None:
            transport.abort()
            return
        handler = self._handler()
        handler.connection_made(secured)
        secured.set_protocol(handler)
        if self._early:
            handler.data_received(bytes(self._early))
