"""An OPC UA server that comes back with other namespaces: no value of another node is taken for a reading."""

import asyncio
import threading
import time

import pytest
from asyncua import Server, ua

from tests.servers.devices.collecting import Collector
from tests.servers.start import free_port, wait_for

CATALOG = """
extents:
  by_index:
    declare: sensed (site:integer, level:float) RATE 1 S SITES (1)
    source: {{opcua: {{server: 'opc.tcp://127.0.0.1:{port}/', nodes: {{level: 'ns=2;s=level'}}, deadline: 500 ms}}}}
  by_uri:
    declare: sensed (site:integer, level:float) RATE 1 S SITES (1)
    source:
      opcua: {{server: 'opc.tcp://127.0.0.1:{port}/', nodes: {{level: 'nsu=urn:plant;s=level'}}, deadline: 500 ms}}
"""
PLANT, OTHER = 0.25, 99.0
EXTENTS = ("by_index", "by_uri")


@pytest.fixture
def loop():
    made = asyncio.new_event_loop()
    thread = threading.Thread(target=made.run_forever, daemon=True)
    thread.start()
    yield made
    made.call_soon_threadsafe(made.stop)
    thread.join()
    made.close()


async def serve(port, namespaces):
    """Start a server whose namespaces each have a node `level`, with a value by the namespace's URI."""
    server = Server()
    await server.init()
    server.set_endpoint(f"opc.tcp://127.0.0.1:{port}/")
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    for uri, value in namespaces.items():
        index = await server.register_namespace(uri)
        await server.nodes.objects.add_variable(ua.NodeId("level", index), "level", value)
    await server.start()
    return server


def rows(collector, extent):
    if not (collector.folder / "log" / extent).is_dir():
        return []
    return [level for kind, level in collector.entries(extent, "_kind", "level") if kind == "row"]


@pytest.mark.nightly
def test_values_come_from_the_same_namespace_after_a_restart(tmp_path, loop):
    def wait(action):
        return asyncio.run_coroutine_threadsafe(action, loop).result(30)

    port, collector = free_port(), Collector(tmp_path)
    collector.catalog(CATALOG.format(port=port))
    server = wait(serve(port, {"urn:plant": PLANT}))
    try:
        collector.start()
        for namespaces in ({"urn:other": OTHER, "urn:plant": PLANT}, {"urn:other": OTHER}):
            before = {name: len(rows(collector, name)) for name in EXTENTS}
            wait_for(
                lambda seen=before: all(len(rows(collector, name)) > seen[name] + 1 for name in EXTENTS), 40, "rows"
            )
            wait(server.stop())
            server = wait(serve(port, namespaces))
        time.sleep(4)
        said = collector.stop()
    finally:
        collector.kill()
        wait(server.stop())
    for name in EXTENTS:
        found = rows(collector, name)
        assert set(found) == {PLANT}, said
        details = {detail for (detail,) in collector.entries(name, "_words") if detail}
        assert any("the server has no namespace urn:plant" in detail for detail in details), details
