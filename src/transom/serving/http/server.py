"""Serve an application on an address, in a thread of its own: with TLS or not, deadlines and a limit on connections."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from transom.errors import Unavailable, UsageError
from transom.project.entries import LimitsEntry
from transom.serving.http.access import Access, AccessControl

HEAD_SECONDS = 10.0
"""Seconds that a client has for the head of a request, from the connection or from the last response."""
STALL_SECONDS = 30.0
"""Seconds after which a client that takes nothing of a response is disconnected."""
SEND_BUFFER = 1 << 18
"""Bytes that the kernel keeps for a client that takes nothing; Linux doubles it. Otherwise it may be megabytes."""
CONNECTIONS_PER_READER = 4
"""Open connections that the server accepts for each reader that the project allows."""
SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class Listening:
    """Where a server listens, and to whom it answers: the address, the token, TLS or the proxy in front of it."""

    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = None
    certificate: Path | None = None
    key: Path | None = None
    proxy: str | None = None

    def check(self) -> None:
        """Raise UsageError for an address that others can reach without a token, or without TLS or a proxy."""
        if self.token is not None and not (
            len(self.token) >= SHORTEST_TOKEN and self.token.isascii() and self.token.isprintable()
        ):
            raise UsageError(
                f"the token is not {SHORTEST_TOKEN} or more printable ASCII characters",
                hint="make one: openssl rand -hex 32",
            )
        if (self.certificate is None) != (self.key is None):
            raise UsageError("--tls-certificate and --tls-key belong together", hint="give both, or neither")
        for file in (self.certificate, self.key):
            if file is not None and not file.is_file():
                raise UsageError(f"cannot read {file}", hint="give the path of a PEM file")
        if self.proxy is not None:
            _read_address(self.proxy, "--behind-proxy")
        if _read_address(self.host, "--listen").is_loopback:
            return
        if self.token is None:
            raise UsageError(
                f"others can reach {self.host}, so a token is needed",
                hint="name a file that contains it with --token-file, or listen on 127.0.0.1",
            )
        if self.certificate is None and self.proxy is None:
            raise UsageError(
                f"others can reach {self.host}, so the token must be encrypted on its way",
                hint="give --tls-certificate and --tls-key, or the address of the TLS proxy with --behind-proxy",
            )


def _read_address(text: str, option: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Parse an IP address; raise UsageError about an option if it is none."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        raise UsageError(f"{option}: {text!r} is no IP address", hint="write for example 127.0.0.1") from None


class AppServer:
    """An HTTP server in a thread; as a context, it stops at the end of the block."""

    def __init__(self, app: ASGIApp, listening: Listening, limits: LimitsEntry) -> None:
        """Open the address, and serve `app` there within `limits`; raise Unavailable if the address is in use."""
        listening.check()
        self._listening = listening
        self._socket = _bind(listening)
        protocol = type(
            "ServerProtocol", (LimitedProtocol,), {"most_connections": limits.readers * CONNECTIONS_PER_READER}
        )
        for name in ("uvicorn.error", "uvicorn.access"):  # errors are the client's, and addresses may have secrets
            logging.getLogger(name).setLevel(logging.CRITICAL)
        config = uvicorn.Config(
            AccessControl(app, Access(listening.token, listening.proxy), limits),
            http=protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=limits.request_bytes,
            ssl_certfile=listening.certificate,
            ssl_keyfile=listening.key,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="transom http", daemon=True)

    @property
    def address(self) -> str:
        """The address of the server, as a URL."""
        host, port = self._socket.getsockname()[:2]
        scheme = "http" if self._listening.certificate is None else "https"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    def __enter__(self) -> AppServer:
        """Start to answer requests."""
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Close the address and all connections."""
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    def _run(self) -> None:
        """Answer requests until the server stops."""
        asyncio.run(self._server.serve(sockets=[self._socket]))


def _bind(listening: Listening) -> socket.socket:
    """Open the address of a server; raise Unavailable if another process has it."""
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    try:
        opened.bind((listening.host, listening.port))
        opened.listen(128)
    except (OSError, OverflowError) as error:
        opened.close()
        raise Unavailable(
            f"cannot listen on {listening.host} port {listening.port}",
            detail=str(error),
            hint="another process may use it: choose another one with --listen",
        ) from error
    return opened


class LimitedProtocol(H11Protocol):
    """HTTP with a limit on connections, and deadlines for the head of a request and for taking the response."""

    most_connections = 256

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Create the protocol of one connection."""
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count a new connection; one that is too many is closed."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            transport.abort()
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection that has closed."""
        self._cancel_deadline()
        self._cancel_stall()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a client; a complete head ends the deadline."""
        super().data_received(data)
        self._await_head()

    def pause_writing(self) -> None:
        """Start the deadline for a client that does not take the response."""
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the deadline, because the client has taken a part of the response."""
        self._cancel_stall()
        super().resume_writing()

    def on_response_complete(self) -> None:
        """Wait for the next request of the connection, or for its end."""
        super().on_response_complete()
        self._await_head()

    def _await_head(self) -> None:
        """Start the deadline if the connection waits for the head of a request, else cancel it."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._cancel_deadline()
        elif self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _cancel_deadline(self) -> None:
        """Cancel the deadline for the head of a request."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _cancel_stall(self) -> None:
        """Cancel the deadline for taking the response."""
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
