"""`transom catalog` shows what queries can read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_app import ROOT, transom

CATALOG = """
tick: 1 min
epoch: 2024-06-03T08:00:00Z
parameters: {limit: 5}
extents:
  gps:
    declare: pushed (ship:string, lon:float, lat:float)
    position: {lon: lon, lat: lat}
    object: ship
    rate: 4 per min
    source: {files: {path: gps.csv, time: at}}
  tide:
    declare: sensed (pier:integer, level:float)
    every: 10 min
    site: pier
    sites: [1, 2]
    source: {files: tide.parquet}
  given: pushed (x:integer)
  ships:
    declare: stored (ship:string)
    rows: 9
    source: {table: [[a], [b]]}
regions:
  Port: {polygon: [[9, 53], [10, 53], [10, 54]]}
rdf:
  seen: {stream: "http://ex/s", files: s.nt, time: "http://ex/t"}
"""
TEXT = """\
catalog.yaml: a tick is 60 s, tick 0 begins at 2024-06-03 08:00:00 UTC

extent   kind         column    type      meaning
──────────────────────────────────────────────────────────────────────────────────────────────────────
gps      pushed       tick      integer   time of the row, column at; at most 4 per 60 s; from gps.csv
                      ship      string    identifies the object
                      lon       float     position g, in degrees
                      lat       float     position g, in degrees
tide     sensed       tick      integer   time of the row, column tick; every 600 s; from tide.parquet
                      pier      integer   site: 1, 2
                      level     float
given    pushed       tick      integer   no source: give rows in Python
                      x         integer
ships    stored                           at most 9 rows; from 2 rows in the catalog
                      ship      string
seen     RDF stream   s, p, o   term      <http://ex/s>; from s.nt

region Port: on the earth, longitude 9 to 10, latitude 53 to 54
parameter limit: 5
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a catalog, which is the current one."""
    (tmp_path / "catalog.yaml").write_text(CATALOG, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("where", [[], ["catalog.yaml"], ["."]])
def test_the_table_has_every_column(where: list[str], folder: Path) -> None:
    done = transom("catalog", *where)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.rstrip() for line in done.stdout.splitlines()] == TEXT.splitlines()


def test_json_has_the_same(folder: Path) -> None:
    content = json.loads(transom("catalog", "--format", "json").stdout)
    assert (content["tick"], content["epoch"]) == ("60 s", "2024-06-03T08:00:00+00:00")
    gps, tide, _, ships, seen = content["extents"]
    assert gps == {
        "name": "gps",
        "kind": "pushed",
        "holds": "rows",
        "iri": None,
        "columns": [
            {"name": "ship", "type": "string", "unit": None},
            {"name": "lon", "type": "float", "unit": "degrees"},
            {"name": "lat", "type": "float", "unit": "degrees"},
        ],
        "time": "at",
        "object": "ship",
        "source": "gps.csv",
    }
    assert (tide["time"], ships["time"], ships["source"]) == ("tick", None, "2 rows in the catalog")
    assert (seen["holds"], seen["iri"], seen["time"]) == ("statements", "http://ex/s", None)
    assert content["regions"] == [{"name": "Port", "on": "earth", "box": [9.0, 53.0, 10.0, 54.0]}]
    assert content["parameters"] == {"limit": 5}


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_speed_limit_without_an_object_is_a_warning(form: str, folder: Path) -> None:
    text = CATALOG.replace("object: ship", "max_speed: 20 kn")
    (folder / "catalog.yaml").write_text(text, "utf-8")
    done = transom("catalog", "--format", form)
    assert done.returncode == 0
    assert done.stderr.startswith("warning: max_speed of gps compares the positions of different objects")


def test_without_a_catalog_the_hint_says_how_to_write_one(tmp_path: Path) -> None:
    done = transom("catalog", tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"error: no catalog file {tmp_path / 'catalog.yaml'}",
        "  hint: give its path, or write one: `transom init FILE` drafts it from a file with rows",
    ]


@pytest.mark.parametrize("name", sorted(path.parent.name for path in ROOT.glob("examples/*/catalog.yaml")))
def test_every_example_is_shown(name: str) -> None:
    done = transom("catalog", ROOT / "examples" / name)
    assert done.returncode == 0, done.stderr
