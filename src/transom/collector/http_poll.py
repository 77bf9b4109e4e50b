"""Sensors that answer GET with JSON; all of an extent share one pool of connections."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping, Sequence
from typing import Any

from transom.catalog.extras import needed
from transom.catalog.references import resolved
from transom.catalog.servers import Device, HttpPoll
from transom.catalog.tls import client_context
from transom.connectors.payloads import LARGEST, Dead, field_of
from transom.model.reasons import Reason

LARGEST_ANSWER = 4 * LARGEST
"""Bytes that an answer may have."""
_LARGE = 1 << 16
"""Bytes from which on an answer is parsed in a thread of its own."""


class HttpStation:
    """One URL."""

    def __init__(self, device: Device, source: HttpPoll, clients: list[Any], verify: ssl.SSLContext | bool) -> None:
        self.devices: Sequence[Device] = (device,)
        self.source = source
        self._clients = clients
        self._verify = verify

    async def read(self, found: dict[Device, Mapping[str, object] | Exception]) -> None:
        """Fetch the JSON and take the attributes out of it."""
        if not self._clients:
            httpx = needed("httpx", "http")
            headers = {name: resolved(value) for name, value in self.source.headers}
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
            more = {"timeout": self.source.deadline / 1e6, "limits": limits, "trust_env": False}
            self._clients.append(httpx.AsyncClient(headers=headers, verify=self._verify, **more))
        [device] = self.devices
        async with self._clients[0].stream("GET", resolved(device.address)) as answer:
            if answer.status_code != 200:
                raise Dead(Reason.FAULT, f"status {answer.status_code}")
            raw = await _content(answer)
        found[device] = await asyncio.to_thread(self._fields, raw) if len(raw) > _LARGE else self._fields(raw)

    def _fields(self, raw: bytes) -> dict[str, object]:
        try:
            content = json.loads(raw)
        except RecursionError:
            raise Dead(Reason.DEPTH, "the JSON is nested too deeply") from None
        except ValueError as error:
            raise Dead(Reason.TEXT, str(error)) from None
        return {name: field_of(content, path, name) for name, path in self.source.fields}

    def reset(self) -> None:
        """Nothing is kept of a request."""

    async def close(self) -> None:
        """Close the connections, which all stations share."""
        while self._clients:
            await self._clients.pop().aclose()


async def _content(answer: Any) -> bytes:
    """The body of an answer, piece by piece; Dead as soon as it is too large."""
    raw = bytearray()
    async for piece in answer.aiter_bytes():
        raw += piece
        if len(raw) > LARGEST_ANSWER:
            raise Dead(Reason.SIZE, f"the answer has more than {LARGEST_ANSWER} bytes")
    return bytes(raw)


def stations(source: HttpPoll) -> list[HttpStation]:
    """One station per URL."""
    needed("httpx", "http")
    clients: list[Any] = []
    verify = True if source.tls is None else client_context(source.tls)
    return [HttpStation(device, source, clients, verify) for device in source.devices]
