"""Poll sensors that answer GET with JSON; all devices of an extent share one connection pool."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping, Sequence
from typing import Any

from transom.catalog.extras import require_library
from transom.catalog.reading.references import resolve_references
from transom.catalog.servers import Device, HttpPoll
from transom.catalog.tls import client_context
from transom.connectors.payloads import MAX_MESSAGE_BYTES, RejectError, read_field
from transom.model.reject_reason import RejectReason

LARGEST_ANSWER = 4 * MAX_MESSAGE_BYTES
"""Maximum size of a response in bytes."""
_LARGE = 1 << 16
"""Responses above this size in bytes are parsed in a separate thread."""


class HttpConnection:
    """A device behind one URL."""

    def __init__(
        self, device: Device, source: HttpPoll, shared_client: list[Any], verify_tls: ssl.SSLContext | bool
    ) -> None:
        """Create a connection to a polled URL; `shared_client` holds one HTTP client; `verify_tls` True: default CAs.

        It is empty until the first poll. `verify_tls` is whether, or with which certificates, servers are verified.
        """
        self.devices: Sequence[Device] = (device,)
        self.source = source
        self._clients = shared_client
        self._verify = verify_tls

    async def read(self, results: dict[Device, Mapping[str, object] | Exception]) -> None:
        """Fetch a device's JSON response and put its values into `results`; raise RejectError if it is invalid."""
        if not self._clients:
            httpx = require_library("httpx", "http")
            headers = {name: resolve_references(value) for name, value in self.source.headers}
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
            options = {"timeout": self.source.deadline / 1e6, "limits": limits, "trust_env": False}
            self._clients.append(httpx.AsyncClient(headers=headers, verify=self._verify, **options))
        [device] = self.devices
        async with self._clients[0].stream("GET", resolve_references(device.address)) as response:
            if response.status_code != 200:
                raise RejectError(RejectReason.FAULT, f"status {response.status_code}")
            raw = await _read_body(response)
        results[device] = await asyncio.to_thread(self._fields, raw) if len(raw) > _LARGE else self._fields(raw)

    def _fields(self, raw: bytes) -> dict[str, object]:
        """Return the attributes' values in a JSON response; raise RejectError if it is not JSON or lacks a field."""
        try:
            content = json.loads(raw)
        except RecursionError:
            raise RejectError(RejectReason.DEPTH, "the JSON is nested too deeply") from None
        except ValueError as error:
            raise RejectError(RejectReason.TEXT, str(error)) from None
        return {name: read_field(content, path, name) for name, path in self.source.fields}

    def reset(self) -> None:
        """Do nothing: the HTTP client reconnects by itself."""

    async def close(self) -> None:
        """Close the HTTP client that all devices of the extent share."""
        while self._clients:
            await self._clients.pop().aclose()


async def _read_body(response: Any) -> bytes:
    """Read an HTTP response's body; raise RejectError as soon as it exceeds LARGEST_ANSWER bytes."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > LARGEST_ANSWER:
            raise RejectError(RejectReason.SIZE, f"the answer has more than {LARGEST_ANSWER} bytes")
    return bytes(body)


def http_connections(source: HttpPoll) -> list[HttpConnection]:
    """Create a connection per device of a polled HTTP source; they share one HTTP client."""
    require_library("httpx", "http")
    clients: list[Any] = []
    verify = True if source.tls is None else client_context(source.tls)
    return [HttpConnection(device, source, clients, verify) for device in source.devices]
