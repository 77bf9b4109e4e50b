"""A small plant, up and down: what comes out at the end of the chain is what the reference engine says of the logs."""

from __future__ import annotations

import pytest

from examples.plant.check import check, closed, entries
from examples.plant.layout import QUERIES, Layout
from examples.plant.plant import PROCESSES, SENDERS, Plant
from tests.servers.start import free_port, installed, listens, wait_for

pytestmark = pytest.mark.spark
SMALL = Layout(ovens=8, tanks=4, rooms=4, machines=5, lines=2, hour=4, pause=0.25)


@pytest.fixture
def plant(tmp_path, jars):
    one = Plant(tmp_path / "plant", jars)
    yield one
    one.down()


def scanned(plant, kind):
    """The ticks at which the table was seen to be so."""
    return [tick for found, tick in entries(plant, "tariff", "_kind", "_tick") if found == kind]


@pytest.mark.nightly
def test_answers_at_the_end_of_the_chain(plant):
    layout = Layout(**{**vars(SMALL), "ports": {name: free_port() for name in SMALL.names}})
    with installed():
        plant.serve(layout)
    plant.start("devices")
    wait_for(lambda: listens(layout.port("rooms")), 30, "the devices")
    plant.start("collector")
    wait_for(plant.acquiring, 60, "the collector")
    plant.start(*SENDERS)
    wait_for(lambda: len(scanned(plant, "beat")) > 1, 20, "the second scan")
    first = min(scanned(plant, "beat"))
    wait_for(lambda: closed(plant) > first + 3 * layout.hour, 60, "an hour at the old price")
    with plant.database() as one:
        one.execute("UPDATE tariff SET price = 0.75 WHERE line = 'l1'")
    wait_for(lambda: scanned(plant, "left") != [], 20, "the scan of the new price")
    plant.start(*QUERIES)
    [changed] = scanned(plant, "left")
    wait_for(lambda: closed(plant) > changed + 3 * layout.hour, 40, "an hour at the new price")
    figures = check(plant, patience=60)
    assert not figures.wrong, f"{figures}"
    assert all(figures.counted[f"{name}: rows of the reference"] for name in QUERIES), f"{figures}"
    with plant.database() as one:
        prices = one.execute("SELECT DISTINCT round((cost / kwh)::numeric, 6) FROM energy WHERE line = 'l1'").fetchall()
    assert sorted(float(price) for (price,) in prices) == [0.25, 0.75]
    assert all(plant.pid(name) for name in PROCESSES)
    plant.down()
    assert not any(plant.pid(name) for name in (*PROCESSES, "kafka", "mqtt"))
    assert not any(listens(layout.port(name)) for name in layout.names)
