"""A few odd messages or rows of a sample do not decide how all others are read, and are counted in a note."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

import transom
from transom.catalog import Catalog
from transom.cli.app import app
from transom.collector.discover import servers
from transom.collector.discover.fit import choose_time, fit_rows
from transom.collector.discover.infer import ABSENT
from transom.collector.discover.servers import discover_catalog
from transom.connectors.kafka.read import KafkaMessage
from transom.errors import DataError, UsageError

START = datetime(2024, 6, 1, 6, tzinfo=UTC)


def messages_of_machines(count=300):
    """Return messages of four machines, one a second, as JSON objects."""
    return [
        {"meta": {"ts": f"{START + timedelta(seconds=n):%FT%TZ}", "id": f"m{n % 4}"}, "watts": n / 4}
        for n in range(count)
    ]


@pytest.fixture
def draft_of_topic(monkeypatch):
    """A function that drafts the catalog of a topic with the given JSON values."""

    def draft(contents):
        log = [KafkaMessage(0, n, 1717221600000 + n, None, (), json.dumps(c).encode()) for n, c in enumerate(contents)]
        monkeypatch.setattr(servers, "messages", lambda _, limit, first=False: log[:limit] if first else log[-limit:])
        return discover_catalog("kafka://127.0.0.1:9092/plant")

    return draft


def test_messages_without_a_common_field_do_not_hide_it(draft_of_topic):
    contents = messages_of_machines(296)
    del contents[17]["meta"]["ts"], contents[40]["watts"]
    text = draft_of_topic(contents)
    [extent] = Catalog.read(text).extents.values()
    assert extent.declaration == "plant: pushed (meta_id:string, watts:float)"
    assert (extent.source.time, extent.source.dead, extent.rate.rows) == ("meta.ts", "dead/plant", 120)
    assert "epoch: 2024-06-01T00:00:00Z  # a guess: the midnight before the earliest time" in text
    note = "2 of 296 messages of the sample do not fit, and become dead letters"
    assert f"# note: {note}: 1 without meta.ts; 1 without watts; the first is partition 0, offset 17\n" in text
    assert "types are guesses from 294 messages" in text
    assert "no field has a time" not in text


@pytest.mark.parametrize("position", [0, 300])
def test_a_heartbeat_in_a_topic_is_one_dead_letter(draft_of_topic, position):
    contents = messages_of_machines()
    contents.insert(position, {"typ": "heartbeat"})
    text = draft_of_topic(contents)
    assert "declare: pushed (meta_id:string, watts:float)  #" in text
    problem = f"1 without meta.ts, meta.id, watts; the first is partition 0, offset {position}"
    assert f"# note: 1 of 301 messages of the sample do not fit, and become dead letters: {problem}\n" in text
    assert "# left out: typ, which 300 of 301 do not have\n" in text


def test_values_of_another_type_are_counted_by_field(draft_of_topic):
    contents = messages_of_machines()
    contents[5]["watts"] = contents[6]["watts"] = "n/a"
    contents[7]["meta"]["ts"] = "soon"
    contents[8]["meta"]["ts"] = None
    contents[9]["meta"]["id"] = 7
    text = draft_of_topic(contents)
    assert "declare: pushed (meta_id:string, watts:float)  # types are guesses from 295 messages" in text
    kinds = (
        "2 whose watts is not of type float; 1 whose meta.ts is not a time; 1 without meta.ts; 1 with other problems"
    )
    assert f"become dead letters: {kinds}; the first is partition 0, offset 5, with 'n/a'\n" in text


@pytest.mark.parametrize(("lacking", "kept"), [(30, True), (31, False)])
def test_a_field_is_kept_if_nine_of_ten_messages_have_it(draft_of_topic, lacking, kept):
    contents = messages_of_machines()
    for content in contents[:lacking]:
        del content["watts"]
    text = draft_of_topic(contents)
    assert ("watts:float" in text) is kept
    assert ("# left out: watts, which 31 of 300 do not have" in text) is not kept
    assert ("note: 30 of 300 messages of the sample do not fit" in text) is kept


def test_messages_without_a_common_field_are_refused_with_the_shares(draft_of_topic):
    contents = [content if n % 2 else {"typ": "heartbeat"} for n, content in enumerate(messages_of_machines(20))]
    with pytest.raises(
        UsageError, match=r"beside its time\n  detail: left out: typ, which 10 of 20 do not have; meta\.ts"
    ):
        draft_of_topic(contents)


def test_an_empty_topic_and_one_without_json_are_told_apart(draft_of_topic):
    with pytest.raises(UsageError, match="the topic plant is empty"):
        draft_of_topic([])
    with pytest.raises(UsageError, match=r"no message of the topic plant is a JSON object\n.*first of the 2 .* is '7'"):
        draft_of_topic([7, [8]])


def test_a_broker_that_sends_nothing_is_named_with_its_topic(monkeypatch):
    monkeypatch.setattr(servers, "_receive", lambda *_: [])
    with pytest.raises(UsageError, match=r"the topic plant/\+ sent no message in 2 s\n  hint: .*--for"):
        discover_catalog("mqtt://127.0.0.1/plant/{line}", 2)


def test_a_device_whose_clock_was_never_set_does_not_hide_the_unit_of_the_time(draft_of_topic):
    contents = [{"ts": 1717221600000 + 1000 * n, "watts": n / 4} for n in range(100)]
    contents[3]["ts"] = 0
    text = draft_of_topic(contents)
    assert "tick: 1 ms  # a guess" in text
    assert "rate: 120 per min" in text
    assert "do not fit" not in text  # it is a time, though an old one


def test_the_note_is_printed_and_queries_read_the_other_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"01.05.2024 08:{n // 60:02}:{n % 60:02};{n},5" for n in range(340)]
    rows[5] = "01.05.2024 08:00:05;1.234,50"
    rows[8] = ";1,5"
    Path("m.csv").write_text("\n".join(["Zeit;Temp", *rows]))
    done = CliRunner().invoke(app, ["init", "m.csv"])
    first_note = "note: 1 of 339 rows of the sample do not fit, and are rejected by queries: 1 without Zeit"
    assert f"{first_note}; the first is m.csv:10\n" in done.output
    assert "the first is m.csv:7: Temp: '1.234,50' is not a number\n" in done.output
    text = Path("catalog.yaml").read_text()
    assert "m: pushed (Temp:float)" in Catalog.read(text).extents["m"].declaration
    with pytest.warns(transom.RejectedWarning, match="1 no time, 1 wrong type"):
        assert len(transom.compile("SELECT Temp FROM m", "catalog.yaml").simulate()) == 338


@pytest.mark.parametrize("odd", ["1.234,50", "1 234", "21,5 °C", "12.5", "n/a"])
def test_one_number_written_in_another_way_leaves_a_column_of_numbers(tmp_path, odd):
    path = tmp_path / "m.csv"
    path.write_text("\n".join(["tick;temp", *(f"{n};{n},5" for n in range(30)), f"30;{odd}"]), "utf-8")
    text = discover_catalog(str(path))
    assert "(temp:float)" in text
    assert "decimal: ','" in text
    assert f"1 of 31 rows of the sample cannot be read; the first is {path}:32: temp:" in text
    assert "invalid_rows: reject" in text


def test_odd_json_lines_are_named_with_their_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"tick": n, "x": n, "y": "a"} for n in range(40)]
    rows[4]["x"] = "none"
    del rows[6]["y"]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = discover_catalog("t.jsonl")
    assert "declare: pushed (x:integer, y:string)" in text
    problems = "1 whose x is not of type integer; 1 without y; the first is t.jsonl:5, with 'none'"
    assert f"# note: 2 of 40 rows of the sample do not fit, and stop a query: {problems}\n" in text
    assert "invalid_rows" not in text  # only CSV files have it
    with pytest.raises(DataError, match="line 5 of t: x: 'none' is not of type integer"):
        transom.compile("SELECT x FROM t", Catalog.read(text, folder=tmp_path)).simulate()


def test_a_column_without_a_frequent_type_is_left_out():
    columns = {"tick": [0, 1, 2], "x": [1, "a", True], "y": [ABSENT, None, 1]}
    time = choose_time(columns, has_time_format=False)
    assert (time.name, time.is_integer) == ("tick", True)
    fitted = fit_rows(columns, time, {}, is_text=False)
    assert fitted.types == {}
    assert fitted.omitted == ["x, whose values are of no one type", "y, which 1 of 3 do not have"]
