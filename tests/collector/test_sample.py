"""First catalogs from files; those of servers are in tests/servers."""

from __future__ import annotations

import pytest

from transom.catalog import Catalog
from transom.collector.sample import first_catalog
from transom.errors import UsageError

ROWS = "at,line,machine-no,watts,on\n" + "".join(
    f"2024-06-01T06:00:{n:02}Z,{'ab'[n % 2]},{n},{n / 4 if n else ''},{str(n % 2 == 0).lower()}\n" for n in range(10)
)


def test_a_stream_in_a_file(tmp_path):
    (tmp_path / "power.csv").write_text(ROWS)
    text = first_catalog(str(tmp_path / "power.csv"))
    [extent] = Catalog.read(text).extents.values()
    assert extent.declaration == "power: pushed (line:string, machine_no:integer, watts:float, on:boolean)"
    assert extent.source.time == "at"
    assert extent.keys == 2
    assert text.count("guess") == 4


def test_a_table_in_a_file(tmp_path):
    (tmp_path / "9 classes.jsonl").write_text('{"temp": 1, "name": "cold"}\n{"temp": 2.5, "name": null}\n')
    [extent] = Catalog.read(first_catalog(str(tmp_path / "9 classes.jsonl"))).extents.values()
    assert extent.declaration == "_9_classes: stored (temp:float, name:string)"


@pytest.mark.parametrize("place", ["nothing.csv", "redis://a/b", "notes.txt"])
def test_refused(place):
    with pytest.raises(UsageError):
        first_catalog(place)
