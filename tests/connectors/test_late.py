"""Rows that a live run could drop, found in files (E12)."""

from __future__ import annotations

from pathlib import Path

import pytest

from transom.catalog.extents import Catalog
from transom.catalog.sources import Files
from transom.connectors.files.read import read_late

ROWS = "tick,x\n0,1\n5,2\n3,3\n4,4\n9,5\n5,6\n"


@pytest.mark.parametrize(("lateness", "late"), [("0 s", [3, 4, 5]), ("1 s", [3, 5]), ("2 s", [5]), ("4 s", [])])
def test_rows_behind_by_more_than_the_lateness(tmp_path: Path, lateness: str, late: list[int]) -> None:
    (tmp_path / "a.csv").write_text(ROWS)
    entry = {"kind": "pushed", "attributes": ["x:integer"], "lateness": lateness, "source": {"files": "a.csv"}}
    catalog = Catalog.from_dict({"extents": {"a": entry}}, folder=tmp_path)
    extent = catalog.extent("a")
    assert isinstance(extent.source, Files)
    found = list(read_late(extent, extent.source, catalog.calendar, tmp_path))
    assert [(row.tick, row.origin.unit) for row in found] == [(tick, "line") for tick in late]
    assert [r.tick for r in read_late(extent, extent.source, catalog.calendar, tmp_path, until=4)] == [
        tick for tick in late if tick <= 4
    ]
