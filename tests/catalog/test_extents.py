"""The catalog as people use it from Python."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from datetime import date, datetime
from pathlib import Path

import pytest

from transom.catalog import Catalog, Extent, ExtentKind
from transom.catalog.sources import Files, FileVersions, Format
from transom.errors import CatalogError, NameProblem, UsageError
from transom.model.time import Calendar
from transom.model.types import Type

ROAD = "road: sensed (site:integer, temp:float) RATE 1 MIN SITES (1, 2)\n"


def test_load_knows_folder_text_and_name(tmp_path):
    path = tmp_path / "roads.yaml"
    path.write_text("\ufeff" + ROAD, encoding="utf-8")
    catalog = Catalog.load(path)
    assert (catalog.folder, catalog.text, catalog.name) == (tmp_path, ROAD, str(path))
    assert Catalog.load(str(path)) == catalog


def test_errors_of_a_file_name_the_file(tmp_path):
    path = tmp_path / "roads.yaml"
    path.write_text("road: sensed (site:int)\n")
    with pytest.raises(CatalogError) as caught:
        Catalog.load(path)
    assert str(caught.value).splitlines() == [
        f"{path}:1:20: no type 'int'",
        "     1 | road: sensed (site:int)",
        "       |                    ^^^",
        "  hint: did you mean integer?",
    ]


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(UsageError, match="no catalog file"):
        Catalog.load(tmp_path / "none.yaml")
    with pytest.raises(UsageError, match="cannot read the catalog file"):
        Catalog.load(tmp_path)
    with pytest.raises(UsageError, match="cannot read the catalog file"):
        Catalog.load("a\0b")
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"\xe9: 1\n")
    with pytest.raises(CatalogError, match="not UTF-8") as caught:
        Catalog.load(path)
    assert caught.value.source == str(path)


@pytest.mark.parametrize("path", [None, 5, ["a.yaml"]])
def test_a_catalog_is_loaded_from_a_path(path):
    with pytest.raises(UsageError, match="a catalog is loaded from a path") as caught:
        Catalog.load(path)
    assert caught.value.hint == "give the path of a YAML file"
    with pytest.raises(UsageError, match="a catalog is read from text"):
        Catalog.read(path)


@pytest.mark.parametrize("entries", [[1], None, "road: sensed (site:integer)", 5])
def test_from_dict_takes_entries(entries):
    with pytest.raises(CatalogError, match=r"expected a catalog|the catalog is empty") as caught:
        Catalog.from_dict(entries)
    assert caught.value.hint


@pytest.mark.parametrize("files", [Path("a/b.csv"), [Path("a/b.csv")], {"path": Path("a/b.csv")}])
def test_from_dict_takes_paths(files):
    catalog = Catalog.from_dict({"extents": {"it": {"declare": "pushed (x:integer)", "source": {"files": files}}}})
    assert catalog.extent("it").source == Files((str(Path("a/b.csv")),), Format.CSV)


def test_from_dict_takes_paths_of_versions():
    files = {"versions": {0: Path("a.csv")}}
    catalog = Catalog.from_dict({"extents": {"it": {"declare": "stored (x:integer)", "source": {"files": files}}}})
    assert catalog.extent("it").source == FileVersions(((0, "a.csv"),), Format.CSV)


def test_read_takes_a_folder_as_text():
    assert Catalog.read(ROAD, folder="data").folder == Path("data")


@pytest.mark.parametrize("epoch", [date(2009, 1, 1), datetime(2009, 1, 1), "2009-01-01"])
def test_from_dict(epoch):
    text = Catalog.read(
        "epoch: 2009-01-01\nextents:\n  t:\n    kind: stored\n    attributes: {a: integer}\n"
        "    source: {table: {versions: {0: [[1]]}}}\n"
    )
    entries = {
        "epoch": epoch,
        "extents": {
            "t": {"kind": "stored", "attributes": {"a": "integer"}, "source": {"table": {"versions": {0: [[1]]}}}}
        },
    }
    assert Catalog.from_dict(entries) == text
    assert Catalog.from_dict(entries, folder="x").folder == Path("x")


def test_from_dict_says_where():
    with pytest.raises(CatalogError) as caught:
        Catalog.from_dict({"extents": {"road": {"kind": "sensed", "attributes": {"site": "int"}}}})
    error = caught.value
    assert (error.message, error.detail, error.span) == ("no type 'int'", "at extents.road.attributes.site", None)
    with pytest.raises(CatalogError, match="declares no extent"):
        Catalog.from_dict({})
    with pytest.raises(CatalogError, match="expected text, not 5"):
        Catalog.from_dict({"extents": {5: "sensed (a:integer)"}})
    with pytest.raises(CatalogError, match="unknown entry '5'"):
        Catalog.from_dict({5: 6})
    with pytest.raises(CatalogError, match="expected entries"):
        Catalog.from_dict({"extents": []})


def test_extent_by_name():
    catalog = Catalog.read(ROAD)
    assert catalog.extent("road").kind is ExtentKind.SENSED
    with pytest.raises(NameProblem, match="no extent 'raod' in the catalog") as caught:
        catalog.extent("raod")
    assert caught.value.hint == "did you mean road?"
    with pytest.raises(NameProblem) as caught:
        catalog.extent("x" * 1000)
    assert caught.value.hint == "the catalog has road; or declare under extents: NAME: pushed (x:float)"
    with pytest.raises(NameProblem) as caught:
        Catalog().extent("road")
    assert caught.value.hint == "declare under extents: road: pushed (x:float)"
    line = str(caught.value.hint).removeprefix("declare under extents: ")
    assert Catalog.read(f"extents: {{{line.replace(', ', ',')}}}").extent("road").is_stream


def test_the_line_for_a_missing_region_declares_it():
    with pytest.raises(NameProblem) as caught:
        Catalog().region("Port")
    line = str(caught.value.hint).removeprefix("declare under regions: ")
    assert Catalog.read(f"extents: {{a: pushed (x:float)}}\nregions: {{{line}}}").region("Port").covers(8, 4)


def test_long_lists_of_names_are_cut():
    catalog = Catalog.read("".join(f"e{n}: pushed (a:integer)\n" for n in range(20)))
    with pytest.raises(NameProblem) as caught:
        catalog.extent("zzz")
    assert str(caught.value.hint).startswith(
        "the catalog has e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, ...; or declare"
    )


def test_catalogs_and_extents_do_not_change():
    catalog = Catalog.read(ROAD)
    with pytest.raises(FrozenInstanceError):
        catalog.folder = Path()
    with pytest.raises(FrozenInstanceError):
        catalog.extent("road").every = 3
    assert len({catalog.extent("road"), Catalog.read(ROAD).extent("road")}) == 1


def test_a_catalog_can_be_made_by_hand():
    road = Catalog.read(ROAD).extent("road")
    again = Extent("road", ExtentKind.SENSED, road.schema, every=60, sites=(1, 2), site="site")
    assert Catalog(Calendar(), {"road": again}) == Catalog.read(ROAD)
    assert [str(a) for a in again.schema] == ["road.site:integer", "road.temp:float"]
    assert again.schema.attributes[0].type is Type.INTEGER
    assert str(ExtentKind.PUSHED) == "pushed"


def test_html_is_escaped():
    catalog = Catalog.read(
        ROAD
        + """
p: pushed (a:integer) RATE 5/min
extents:
  bare: pushed (a:integer)
  s: {declare: "sensed (site:string)", sites: ["<b>&"], source: {files: "<i>.csv"}}
  g: {declare: "sensed (site:integer)", sites: [1], source: {generate: {seed: 3}}}
  t: {declare: "stored (a:integer)", rows: 5, source: {table: [[1], [2]]}}
  v: {declare: "stored (a:integer)", source: {files: {versions: {0: a.csv, 5: b.csv}}}}
"""
    )
    page = catalog._repr_html_()
    assert page.startswith("<table><thead><tr><th>extent</th>")
    assert "<td>&lt;b&gt;&amp;</td><td>&lt;i&gt;.csv</td>" in page
    for words in (
        "every 60 s",
        "at most 5 per 60 s",
        "at most 5 rows",
        "2 rows in the catalog",
        "a.csv, b.csv",
        "seed 3",
    ):
        assert f">{words}<" in page or f" {words}<" in page
    assert "<b>" not in page


def test_importing_the_catalog_is_quick():
    slow = "import sys, transom.catalog, transom.connectors; print({'pyarrow', 'pandas', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", slow], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(("tick", "words", "ticks"), [("1 s", "3 s", 3), ("1 s", "1500 ms", 2), ("1 min", "1 s", 1)])
def test_lateness_and_silence_are_whole_ticks_rounded_up(tick, words, ticks):
    entry = {"kind": "pushed", "attributes": ["x:integer"], "lateness": words, "idle_after": words}
    entry["max_ahead"] = words
    extent = Catalog.from_dict({"tick": tick, "extents": {"a": entry}}).extent("a")
    assert (extent.lateness, extent.idle_after, extent.max_ahead) == (ticks, ticks, ticks)


@pytest.mark.parametrize(("tick", "ticks"), [("1 s", 300), ("1 min", 5), ("7 min", 1)])
def test_rows_may_be_five_minutes_ahead(tick, ticks):
    catalog = Catalog.from_dict({"tick": tick, "extents": {"a": "pushed (x:integer)"}})
    assert catalog.extent("a").max_ahead_ticks(catalog.calendar) == ticks


@pytest.mark.parametrize("key", ["lateness", "idle_after", "max_ahead"])
def test_a_table_is_never_late(key):
    entry = {"kind": "stored", "attributes": ["x:integer"], key: "3 s"}
    with pytest.raises(CatalogError, match=f"a stored extent has no {key}"):
        Catalog.from_dict({"extents": {"a": entry}})


def test_how_many_keys_there_are():
    entry = {"kind": "pushed", "attributes": ["x:integer"], "keys": 500}
    assert Catalog.from_dict({"extents": {"a": entry}}).extent("a").keys == 500
    with pytest.raises(CatalogError, match="a stored extent has no keys"):
        Catalog.from_dict({"extents": {"a": {**entry, "kind": "stored"}}})
    with pytest.raises(CatalogError, match="keys"):
        Catalog.from_dict({"extents": {"a": {**entry, "keys": 0}}})


def test_lateness_is_a_length_of_time():
    entry = {"kind": "pushed", "attributes": ["x:integer"], "lateness": "soon"}
    with pytest.raises(CatalogError, match="'soon' is not a length of time"):
        Catalog.from_dict({"extents": {"a": entry}})
