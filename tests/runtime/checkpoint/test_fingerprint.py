"""What a checkpoint depends on: whatever of the catalog changes answers changes its fingerprint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

pytest.importorskip("pyspark")

import transom
from tests.covering import NODES
from transom import Catalog
from transom.errors import CheckpointError
from transom.runtime.checkpoint.fingerprint import check_fingerprint, fingerprint
from transom.runtime.checkpoint.node_codes import NODE_CODES
from transom.runtime.options import RunOptions

ZONE = [[0, 0], [9, 0], [9, 9], [0, 9]]
INSIDE = "SELECT RStream(id) FROM cars [PARTITION BY id RANGE BY Zone RATTR SPACE]"
ASKED = "SELECT RStream(id) FROM cars [PARTITION BY id ROWS 2] WHERE inside(g, Zone)"
TIMED = "SELECT RStream(id) FROM cars [PARTITION BY id ROWS 2]"


def printed(text: str, corners: Any = ZONE, **entries: Any) -> dict[str, Any]:
    extent = {
        "kind": "pushed",
        "attributes": ["x:float", "y:float", "id:string", "name:string"],
        "position": {"x": "x", "y": "y", "unit": "m"},
        "object": "id",
        **entries,
    }
    regions = {"Zone": {"polygon": corners}, "Other": {"polygon": [[0, 0], [1, 0], [1, len(corners)]]}}
    query = transom.compile(text, Catalog.from_dict({"extents": {"cars": extent}, "regions": regions}), language="cql")
    return fingerprint(query.job(MagicMock(), RunOptions(kernel="off")))


def changed(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    return {name for name in {**one, **other} if one.get(name) != other.get(name)}


@pytest.mark.parametrize("text", [INSIDE, ASKED])
def test_a_moved_corner_makes_another_region(text: str) -> None:
    before = printed(text)
    assert changed(before, printed(text)) == set()
    assert changed(before, printed(text, [[0, 0], [9, 0], [9, 9.000001], [0, 9]])) == {"region Zone"}
    assert changed(before, printed(text, [*ZONE, [0, 4]])) == {"region Zone"}, "another region is none of its business"


def test_a_query_without_a_region_does_not_care() -> None:
    assert changed(printed(TIMED), printed(TIMED, ZONE[:3])) == set()


@pytest.mark.parametrize(
    ("entries", "also"),
    [
        ({"position": {"x": "x", "y": "y", "unit": "km"}}, set()),
        ({"object": "name"}, set()),
        ({"max_speed": "50 km/h"}, {"the plan"}),
        ({"forget_after": "1 min"}, {"the plan"}),
    ],
    ids=["unit", "object", "max_speed", "forget_after"],
)
def test_what_is_said_of_objects_counts(entries: dict[str, Any], also: set[str]) -> None:
    assert changed(printed(TIMED), printed(TIMED, **entries)) == {"objects of cars", *also}
    assert changed(printed(TIMED), printed(TIMED, keys=7, max_rows_per_key=9)) == set(), "hints change no answer"


def test_rows_from_another_place_count(tmp_path: Path) -> None:
    """Spark would read all files of another folder once more, and their rows would come as late ones."""

    def at(files: Any, folder: Path = tmp_path, **more: Any) -> dict[str, Any]:
        extent = {"kind": "pushed", "attributes": ["id:string"], "source": files, **more}
        catalog = Catalog.from_dict({"extents": {"cars": extent}}, folder=folder)
        query = transom.compile("SELECT id FROM cars", catalog)
        return fingerprint(query.job(MagicMock(), RunOptions(kernel="off")))

    one = at({"files": "a/*.csv"})
    assert changed(one, at({"files": "b/*.csv"})) == {"the source of cars"}
    assert changed(one, at({"files": "a/*.csv"}, tmp_path / "moved")) == {"the source of cars"}
    assert changed(one, at({"files": "../a/*.csv"}, tmp_path / "moved")) == set(), "the same files"
    assert changed(one, at({"files": "a/*.csv"}, rate="9 per s", keys=7)) == set(), "hints change no answer"
    topic = {"servers": "h:1", "topic": "t"}
    assert changed(at({"kafka": topic}), at({"kafka": {**topic, "servers": "i:2"}})) == set(), "the same topic"
    assert changed(at({"kafka": topic}), at({"kafka": {**topic, "topic": "u"}})) == {"the source of cars"}


def test_a_refusal_says_which_part_of_a_plan_changed(tmp_path: Path) -> None:
    before, now = printed(TIMED), printed(TIMED.replace("ROWS 2", "ROWS 3"))
    assert not check_fingerprint(tmp_path, before, TIMED)
    assert check_fingerprint(tmp_path, before, TIMED)
    with pytest.raises(CheckpointError, match="changed is the plan") as caught:
        check_fingerprint(tmp_path, now, TIMED)
    detail = caught.value.detail or ""
    assert detail.startswith("the plan, ")
    was, now_is = detail.split(" was ")[1].split(", and is ")
    assert "low=(1, -1)" in was
    assert "low=(1, -2)" in now_is
    assert f"it was made by: {TIMED}" in detail


def test_checkpoint_of_an_earlier_format_is_refused(tmp_path: Path) -> None:
    """Also one that is too old to say which version made it."""
    now = printed(TIMED)
    check_fingerprint(tmp_path, now, TIMED)
    kept = json.loads((tmp_path / "plan.json").read_text())
    assert kept["made by"].keys() == {"transom", "spark"}
    del kept["digest"]
    kept["format"] = 1
    (tmp_path / "plan.json").write_text(json.dumps(kept))
    with pytest.raises(CheckpointError, match=r"has format 1; .* writes format \d+ and cannot continue it") as found:
        check_fingerprint(tmp_path, now, TIMED)
    assert found.value.detail == f"made by Transom {kept['made by']['transom']} on Spark {kept['made by']['spark']}"
    del kept["made by"]
    (tmp_path / "plan.json").write_text(json.dumps(kept))
    with pytest.raises(CheckpointError) as found:
        check_fingerprint(tmp_path, now, TIMED)
    assert found.value.detail == "made by an earlier version"


def test_a_plan_without_its_fingerprint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"plan\.json is missing"):
        check_fingerprint(tmp_path, printed(TIMED), TIMED, spark_has_written=True)


def test_checkpoint_is_private(tmp_path):
    folder = tmp_path / "states" / "one"
    assert not check_fingerprint(folder, {"format": 1}, "SELECT a FROM s")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert check_fingerprint(folder, {"format": 1}, "SELECT a FROM s")


def test_columns_of_files_count() -> None:
    plain = printed(TIMED, source={"files": "a.csv"})
    other = printed(TIMED, source={"files": {"path": "a.csv", "fields": {"name": "Name"}}})
    timed = printed(TIMED, source={"files": {"path": "a.csv", "time": "at", "time_format": "%Y-%m-%d"}})
    assert changed(plain, printed(TIMED)) == {"the source of cars"}
    assert changed(plain, other) == changed(plain, timed) == {"columns of cars"}
    marked = printed(TIMED, source={"files": {"path": "a.csv", "delimiter": ";"}})
    commas = printed(TIMED, source={"files": {"path": "a.csv", "delimiter": ";", "decimal": ","}})
    default = printed(TIMED, source={"files": {"path": "a.csv", "delimiter": ",", "decimal": "."}})
    assert changed(plain, marked) == changed(marked, commas) == {"columns of cars"}
    assert changed(plain, default) == set()


def test_every_node_has_its_own_code() -> None:
    assert set(NODE_CODES) >= set(NODES)
    assert len(set(NODE_CODES.values())) == len(NODE_CODES)


def test_class_and_field_names_are_not_part_of_a_checkpoint(tmp_path: Path) -> None:
    """A release that renames nodes continues the checkpoint; one that replaces a node does not."""
    now = printed(TIMED)
    before = json.loads(json.dumps(now))
    plan = before["the plan"]
    plan["node"], plan["fields"] = "NameBefore", {f"{name}_before": part for name, part in plan["fields"].items()}
    assert check_fingerprint(tmp_path / "renamed", before, TIMED) is False
    assert check_fingerprint(tmp_path / "renamed", now, TIMED) is True
    plan["code"] = 0
    check_fingerprint(tmp_path / "replaced", before, TIMED)
    with pytest.raises(CheckpointError, match="changed is the plan") as refused:
        check_fingerprint(tmp_path / "replaced", now, TIMED)
    assert f"the plan was NameBefore, and is {now['the plan']['node']}" in str(refused.value.detail)
