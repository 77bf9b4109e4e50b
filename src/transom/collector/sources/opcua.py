"""Poll OPC UA servers: one session per server, one Read for all its nodes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from transom.catalog.extras import require_library
from transom.catalog.reading.references import resolve_references
from transom.catalog.servers import Device, OpcUa
from transom.collector.sources.opcua_namespaces import Namespaces
from transom.collector.sources.opcua_security import secure_client


class OpcUaConnection:
    """The sites whose nodes are on one server."""

    def __init__(self, devices: Sequence[Device], source: OpcUa) -> None:
        """Create the connection to one OPC UA server for the sites on it; it connects at the first read."""
        self.devices = devices
        self.source = source
        self._client: Any = None
        self._nodes: list[Any] = []
        self._namespaces = Namespaces()
        self._closing: set[asyncio.Future[None]] = set()

    async def read(self, results: dict[Device, Mapping[str, object] | Exception]) -> None:
        """Read the nodes of all sites with one request into `results`; a bad status affects only its own site."""
        asyncua = require_library("asyncua", "opcua")
        if self._client is None:
            await self._connect(asyncua)
        values = await self._client.read_attributes(self._nodes, asyncua.ua.AttributeIds.Value)
        width = len(self.source.nodes)
        for index, device in enumerate(self.devices):
            device_values = values[index * width : (index + 1) * width]
            bad_values = [value for value in device_values if not value.StatusCode.is_good()]
            if bad_values:
                results[device] = ValueError(f"status {bad_values[0].StatusCode.name}")
            else:
                results[device] = {
                    name: value.Value.Value for (name, _), value in zip(self.source.nodes, device_values)
                }

    async def _connect(self, asyncua: Any) -> None:
        """Open a session with the server, signed and encrypted if declared, and look up its nodes.

        `asyncua` is the OPC UA library.
        """
        client = asyncua.Client(resolve_references(self.devices[0].address), timeout=self.source.deadline / 1e6)
        if self.source.user is not None:
            client.set_user(resolve_references(self.source.user))
        if self.source.password is not None:
            client.set_password(resolve_references(self.source.password))
        try:
            if self.source.tls is not None:
                await secure_client(client, self.source.tls)
            await client.connect()
            self._nodes = self._find_nodes(client, await client.get_namespace_array())
        except BaseException:
            with contextlib.suppress(Exception):
                client.disconnect_socket()
            raise
        self._client = client

    def _find_nodes(self, client: Any, uris: Sequence[str]) -> list[Any]:
        """Return the OPC UA nodes to read, for all sites (devices); `uris` are the server's namespaces."""
        texts = (text.replace("{site}", str(device.site)) for device in self.devices for _, text in self.source.nodes)
        return [client.get_node(self._namespaces.node_id(text, uris)) for text in texts]

    def reset(self) -> None:
        """Discard the session, and close it in the background; the next read opens a new one."""
        client, self._client = self._client, None
        if client is not None:
            task = asyncio.ensure_future(_disconnect(client))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Close the OPC UA session, and wait until discarded sessions are closed as well."""
        self.reset()
        await asyncio.gather(*self._closing)


async def _disconnect(client: Any) -> None:
    """Close an OPC UA client's session within two seconds, ignoring errors."""
    with contextlib.suppress(Exception):
        await asyncio.wait_for(client.disconnect(), 2.0)


def opcua_connections(source: OpcUa) -> list[OpcUaConnection]:
    """Create one OPC UA connection per server address, shared by the sites on that server."""
    require_library("asyncua", "opcua")
    if source.tls is not None:
        source.tls.check()
    logging.getLogger("asyncua").setLevel(logging.CRITICAL)  # the poller reports errors
    by_address: dict[str, list[Device]] = {}
    for device in source.devices:
        by_address.setdefault(device.address, []).append(device)
    return [OpcUaConnection(devices, source) for devices in by_address.values()]
