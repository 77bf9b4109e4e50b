"""Files that somebody wrote to do harm: each is refused as stated, or holds what is stated."""

from __future__ import annotations

from pathlib import Path

import pytest

from transom.catalog import Catalog
from transom.connectors import open_stream
from transom.model.bag import Element

from .case import Case, check
from .files import CASES, File

DECLARED = {"gpx": "lon:float, lat:float", "geojson": "lon:float, lat:float", "nmea": "mmsi:integer, lon:float"}


def elements(given: File, folder: Path) -> list[Element]:
    """The rows of a file, by the plain reader."""
    path = folder / ("loop.csv" if given.link else f"it.{given.ending}")
    declared = f"pushed ({DECLARED.get(given.ending, 'x:integer')})"
    entries = {"epoch": "2024-01-01", "extents": {"s": {"declare": declared, "source": {"files": path.name}}}}
    catalog = Catalog.from_dict(entries, folder=folder)
    return open_stream(catalog.extent("s"), catalog.calendar, folder)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_file(case: Case, tmp_path: Path) -> None:
    given = case.given
    assert isinstance(given, File)
    if given.link is not None:
        (tmp_path / "loop.csv").symlink_to(given.link)
    else:
        content = given.content if isinstance(given.content, bytes) else given.content.encode()
        (tmp_path / f"it.{given.ending}").write_bytes(content)
    check(case, lambda file: elements(file, tmp_path))


def test_there_are_enough_cases() -> None:
    """What the tables of this folder hold together."""
    from . import catalogs, messages, queries, requests

    tables = (queries.CASES, catalogs.CASES, messages.CASES, requests.CASES, CASES)
    assert sum(map(len, tables)) >= 350
    for table in tables:
        names = [case.why for case in table]
        texts = [repr(case) for case in table]
        assert len(set(texts)) == len(texts), "an input stands twice"
        assert names.count("") == 0
