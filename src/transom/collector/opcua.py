"""OPC UA: one session per server, one Read for all its nodes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from transom.catalog.extras import needed
from transom.catalog.references import resolved
from transom.catalog.servers import Device, OpcUa
from transom.collector.opcua_security import secure


class OpcUaStation:
    """The sites whose nodes one server has."""

    def __init__(self, devices: Sequence[Device], source: OpcUa) -> None:
        self.devices = devices
        self.source = source
        self._client: Any = None
        self._nodes: list[Any] = []
        self._leaving: set[asyncio.Future[None]] = set()

    async def read(self, found: dict[Device, Mapping[str, object] | Exception]) -> None:
        """Read all nodes at once; a node with a bad status is an error of its site alone."""
        asyncua = needed("asyncua", "opcua")
        if self._client is None:
            await self._connect(asyncua)
        values = await self._client.read_attributes(self._nodes, asyncua.ua.AttributeIds.Value)
        width = len(self.source.nodes)
        for place, device in enumerate(self.devices):
            mine = values[place * width : (place + 1) * width]
            bad = [value for value in mine if not value.StatusCode.is_good()]
            if bad:
                found[device] = ValueError(f"status {bad[0].StatusCode.name}")
            else:
                found[device] = {name: one.Value.Value for (name, _), one in zip(self.source.nodes, mine)}

    async def _connect(self, asyncua: Any) -> None:
        client = asyncua.Client(resolved(self.devices[0].address), timeout=self.source.deadline / 1e6)
        if self.source.user is not None:
            client.set_user(resolved(self.source.user))
        if self.source.password is not None:
            client.set_password(resolved(self.source.password))
        try:
            if self.source.tls is not None:
                await secure(client, self.source.tls)
            await client.connect()
        except BaseException:
            with contextlib.suppress(Exception):
                client.disconnect_socket()
            raise
        self._client = client
        self._nodes = [
            client.get_node(text.replace("{site}", str(device.site)))
            for device in self.devices
            for _, text in self.source.nodes
        ]

    def reset(self) -> None:
        """Begin a new session next time; the old one is ended aside, as the server may not answer."""
        client, self._client = self._client, None
        if client is not None:
            task = asyncio.ensure_future(_leave(client))
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)

    async def close(self) -> None:
        """End the session, as far as the server still listens."""
        self.reset()
        await asyncio.gather(*self._leaving)


async def _leave(client: Any) -> None:
    with contextlib.suppress(Exception):
        await asyncio.wait_for(client.disconnect(), 2.0)


def stations(source: OpcUa) -> list[OpcUaStation]:
    """One station per server."""
    needed("asyncua", "opcua")
    if source.tls is not None:
        source.tls.check()
    logging.getLogger("asyncua").setLevel(logging.CRITICAL)  # what goes wrong is told once, by the poller
    by_address: dict[str, list[Device]] = {}
    for device in source.devices:
        by_address.setdefault(device.address, []).append(device)
    return [OpcUaStation(devices, source) for devices in by_address.values()]
