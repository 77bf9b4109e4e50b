"""Rows that a live run could drop, found in files (E12)."""

from __future__ import annotations

from pathlib import Path

import pytest

from transom.catalog.catalog import Catalog
from transom.catalog.servers import Kafka
from transom.catalog.sources import Files
from transom.connectors.files.read import read_late_rows
from transom.connectors.kafka import read
from transom.connectors.kafka.read import KafkaMessage, read_topic

ROWS = "tick,x\n0,1\n5,2\n3,3\n4,4\n9,5\n5,6\n"


@pytest.mark.parametrize(("lateness", "late"), [("0 s", [3, 4, 5]), ("1 s", [3, 5]), ("2 s", [5]), ("4 s", [])])
def test_rows_behind_by_more_than_the_lateness(tmp_path: Path, lateness: str, late: list[int]) -> None:
    (tmp_path / "a.csv").write_text(ROWS)
    entry = {"kind": "pushed", "attributes": ["x:integer"], "lateness": lateness, "source": {"files": "a.csv"}}
    catalog = Catalog.from_dict({"extents": {"a": entry}}, folder=tmp_path)
    extent = catalog.extent("a")
    assert isinstance(extent.source, Files)
    found = list(read_late_rows(extent, extent.source, catalog.calendar, tmp_path))
    assert [(row.tick, row.origin.unit) for row in found] == [(tick, "line") for tick in late]
    assert [r.tick for r in read_late_rows(extent, extent.source, catalog.calendar, tmp_path, until=4)] == [
        tick for tick in late if tick <= 4
    ]


TOPIC = """
epoch: 2024-06-01T00:00:00Z
extents:
  power:
    declare: pushed (watts:float)
    source: {kafka: {servers: 'nowhere:9092', topic: power, time: at%s}}
"""


@pytest.mark.parametrize(("dead", "ticks"), [(", dead: letters", [7, 9]), ("", [7, 9, 2_354_054_400])])
def test_row_of_a_topic_from_the_future(monkeypatch: pytest.MonkeyPatch, dead: str, ticks: list[int]) -> None:
    """A replay does not count it where it has a place to go."""
    values = [b'{"at": 7, "watts": 1.5}', b'{"at": "2099-01-05T00:00:00Z", "watts": 2.5}', b'{"at": 9, "watts": 3.5}']
    found = [KafkaMessage(0, offset, 1_717_200_000_000, None, (), value) for offset, value in enumerate(values)]
    monkeypatch.setattr(read, "messages", lambda source: found)
    catalog = Catalog.read(TOPIC % dead)
    extent = catalog.extent("power")
    assert isinstance(extent.source, Kafka)
    assert [element.tick for element in read_topic(extent, extent.source, catalog.calendar)] == ticks
