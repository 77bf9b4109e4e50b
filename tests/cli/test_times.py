"""How answers show times: instants or ticks, from a time on, with or without empty windows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.test_app import ROOT, transom

ROADS = ROOT / "examples" / "roads"
PARK = ROOT / "examples" / "windpark"


def table(*words: str | Path) -> list[list[str]]:
    """The cells of the table that `simulate` prints, without its header."""
    done = transom("simulate", *words)
    assert done.returncode == 0, done.stderr
    return [[cell for cell in line.split("  ") if cell] for line in done.stdout.splitlines()[2:]]


def ticks(*words: str | Path) -> list[str]:
    """The first column of the table that `simulate` prints."""
    return [cells[0] for cells in table(*words)]


def test_times_are_instants_if_the_catalog_has_an_epoch(tmp_path: Path) -> None:
    words = ["--until", "60"]
    assert ticks(ROADS / "q2.sneeql", *words) == ["2009-03-02 06:00:35", "2009-03-02 06:01:00"]
    assert ticks(ROADS / "q2.sneeql", *words, "--time", "tick") == ["35", "60"]
    folder = Path(shutil.copytree(ROADS, tmp_path / "roads"))
    (folder / "catalog.yaml").write_text((ROADS / "catalog.yaml").read_text().replace("epoch:", "# epoch:"))
    assert ticks(folder / "q2.sneeql", *words) == ["35", "60"]
    assert ticks(folder / "q2.sneeql", *words, "--time", "instant") == ["1970-01-01 00:00:35", "1970-01-01 00:01:00"]
    (folder / "catalog.yaml").write_text("epoch: 1970-01-01T00:00:00Z\n" + (folder / "catalog.yaml").read_text())
    assert ticks(folder / "q2.sneeql", *words) == ["1970-01-01 00:00:35", "1970-01-01 00:01:00"]


def test_times_are_in_utc_though_the_catalog_reads_local_times(tmp_path: Path) -> None:
    """The page on own CSV files has this row; --from reads UTC, too."""
    (tmp_path / "door.csv").write_text("at,opened\n2024-07-01 09:59,1\n2024-07-01 10:00,2\n")
    source = "{files: {path: door.csv, time: at, zone: Europe/Berlin}}"
    extent = f"{{declare: 'pushed (opened:integer)', source: {source}}}"
    (tmp_path / "catalog.yaml").write_text(f"epoch: 2024-07-01T00:00:00Z\nextents:\n  door: {extent}\n")
    (tmp_path / "q.sneeql").write_text("SELECT opened FROM door\n")
    assert ticks(tmp_path / "q.sneeql", "--from", "2024-07-01T08:00") == ["2024-07-01 08:00:00"]


def test_data_have_instants_in_iso_8601() -> None:
    words = ["simulate", ROADS / "q2.sneeql", "--until", "35"]
    assert json.loads(transom(*words, "--format", "jsonl").stdout)["tick"] == "2009-03-02T06:00:35.000Z"
    assert transom(*words, "--format", "csv").stdout.splitlines()[1].startswith("2009-03-02T06:00:35.000Z,1,false,")


def test_intervals_are_instants_but_in_names_of_graphs() -> None:
    words = ["simulate", PARK / "listing3.rq", "--until", "600"]
    [row] = table(*words[1:])
    assert row[:2] == ["2024-06-01 06:00:00.574", " 2024-06-01 06:00:01.574"]
    for form in ("jsonl", "json"):
        last = json.loads(transom(*words, "--format", form).stdout.splitlines()[-1])
        assert last["start"] == "2024-06-01T06:00:00.574Z"
    quads = transom("simulate", PARK / "restless.rq", "--until", "30 min", "--format", "nq").stdout
    assert "<urn:transom:interval:1559133:2400000>" in quads


@pytest.mark.parametrize("first", ["60", "1 min", "2009-03-02T06:00:59.5Z", "2009-03-02T06:01:00Z"])
def test_from_shows_the_answer_from_a_time_on_and_cuts_no_window(first: str) -> None:
    whole = table(ROADS / "q2.sneeql", "--until", "2 min")
    assert table(ROADS / "q2.sneeql", "--until", "2 min", "--from", first) == whole[1:]
    assert table(ROADS / "q2.sneeql", "--until", "2 min", "--start", "60") != whole[1:]


def test_from_keeps_intervals_that_are_valid_then() -> None:
    words = [PARK / "listing3.rq", "--until", "2 s", "--time", "tick"]
    whole = table(*words)
    later = table(*words, "--from", "1 s")
    assert later == [row for row in whole if int(row[1].strip().replace("∞", "9" * 9)) > 1000]
    assert 0 < len(later) <= len(whole)
    assert any(int(row[0]) < 1000 for row in later)


def test_a_time_that_from_does_not_understand() -> None:
    refused = transom("simulate", ROADS / "q2.sneeql", "--from", "noon")
    assert refused.returncode == 2
    assert "--from: 'noon' is not a time" in refused.stderr


def test_empty_windows_are_left_out_on_request(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text(
        "extents:\n  a:\n    declare: pushed (x:integer)\n    source: {files: a.csv}\n"
    )
    (tmp_path / "a.csv").write_text("tick,x\n1,7\n3,8\n")
    (tmp_path / "q.sneeql").write_text("SELECT x FROM a [FROM NOW TO NOW SLIDE 1 SEC]")
    assert ticks(tmp_path / "q.sneeql") == ["0", "1", "2", "3"]
    assert ticks(tmp_path / "q.sneeql", "--no-empty") == ["1", "3"]
    assert ticks(tmp_path / "q.sneeql", "--no-empty", "--from", "2") == ["3"]
    for form, lines in (
        ("csv", ["tick,seq,empty,x", "3,1,false,8"]),
        ("jsonl", ['{"tick": 3, "seq": 1, "rows": [{"x": 8}]}']),
    ):
        done = transom("simulate", tmp_path / "q.sneeql", "--format", form, "--no-empty", "--from", "2")
        assert done.stdout.splitlines() == lines


@pytest.mark.parametrize(
    ("words", "form", "reason"),
    [
        (["simulate", PARK / "restless.rq", "--format", "nq"], "nq", "names of graphs contain ticks"),
        (["replay", PARK / "restless.rq", "--output", "jsonld:new"], "jsonld", "names of graphs contain ticks"),
        (["replay", ROADS / "q2.sneeql", "--output", "csv:new"], "csv", "files contain event times"),
    ],
)
def test_a_style_of_times_that_an_output_cannot_have(words: list[str | Path], form: str, reason: str) -> None:
    refused = transom(*words, "--time", "tick")
    assert refused.returncode == 2
    assert f"--time does not change {form} output" in refused.stderr
    assert reason in refused.stderr
