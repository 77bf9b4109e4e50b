"""Unusable messages of a topic with dead letters, in what `simulate` says; tests/spark has the same on Spark."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

import transom
from tests.cli.test_app import transom as command
from transom.connectors.kafka import read
from transom.connectors.kafka.read import KafkaMessage
from transom.errors import DataError

CATALOG = """
epoch: 2024-06-01T00:00:00Z
extents:
  power:
    declare: pushed (line:string, watts:float)
    source: {kafka: {servers: 'b:1', topic: p, time: at, dead: dead}}
"""
QUERY = "SELECT line, SUM(watts) AS w, COUNT(*) AS n FROM power [FROM NOW-9 TO NOW SLIDE 5 SEC] GROUP BY line"
AT = int(datetime(2024, 6, 1, tzinfo=UTC).timestamp())
"""Seconds since 1970 of tick 0, which is also when the messages came."""


def row(at: object, watts: object = 1.5) -> bytes:
    return json.dumps({"at": at, "line": "a", "watts": watts}).encode()


GOOD = [row(tick) for tick in range(30)]
BAD = [b"{", b"\xff", row(7, "much"), row("2024-05-31T23:59:59Z"), row(AT * 1000), b'{"at": 4, "line": "a"}', b"[]"]
COUNTS = "1 ahead, 1 before tick 0, 1 missing field, 1 no object, 1 not JSON, 1 not UTF-8, 1 wrong type"
LINES = [
    f"rejected messages of power: {COUNTS}; the first of each reason:",
    "  not JSON: p-0@30: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    "  not UTF-8: p-0@31: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
    "  wrong type: p-0@32: watts: 'much' is not of type float",
    "  before tick 0: p-0@33: '2024-05-31T23:59:59Z' lies before tick 0",
]
"""The warning but for its last line, which names the newest tick that is allowed now."""
AHEAD = "  ahead: p-0@34: tick 1717200000000, the last one that is allowed now is "


def topic(values: list[bytes]) -> list[KafkaMessage]:
    return [KafkaMessage(0, offset, AT * 1000, None, (), value) for offset, value in enumerate(values)]


def write_query(folder: Path, catalog: str = CATALOG) -> Path:
    (folder / "catalog.yaml").write_text(catalog, "utf-8")
    (folder / "power.sneeql").write_text(f"RSTREAM({QUERY})", "utf-8")
    return folder / "power.sneeql"


@pytest.fixture
def query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(read, "messages", lambda source: topic([*GOOD, *BAD]))
    return write_query(tmp_path)


@pytest.mark.parametrize("name", ["simulate", "picture"])
def test_commands_say_which_messages_are_rejected(query: Path, name: str, tmp_path: Path) -> None:
    more = ["-o", tmp_path / "p.svg"] if name == "picture" else []
    done = command(name, query, *more)
    lines = done.stderr.splitlines()
    assert (done.returncode, lines[:-1]) == (0, [f"warning: {LINES[0]}", *LINES[1:]])
    assert lines[-1].startswith(AHEAD)
    strict = command(name, query, *more, "--strict")
    assert (strict.returncode, strict.stderr.splitlines()[-1]) == (1, "error: warnings fail with --strict")


def test_python_warns_of_rejected_messages(query: Path) -> None:
    compiled = transom.compile(f"RSTREAM({QUERY})", transom.Catalog.load(query.parent / "catalog.yaml"))
    with pytest.warns(transom.RejectedWarning) as caught:
        answer = compiled.simulate()
    (warning,) = caught
    *lines, last = str(warning.message).splitlines()
    assert lines == LINES
    assert last.startswith(AHEAD)
    assert len(answer) > 3


def test_a_topic_without_dead_letters_stops_at_the_first_message(query: Path) -> None:
    catalog = transom.Catalog.read(CATALOG.replace(", dead: dead", ""))
    with pytest.raises(DataError, match="offset 30 of power: not JSON: Expecting") as refused:
        transom.compile(f"RSTREAM({QUERY})", catalog).simulate()
    assert refused.value.hint == "name a folder for such messages: dead: PATH"


def test_valid_messages_are_no_warning(query: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "messages", lambda source: topic(GOOD))
    done = command("simulate", query, "--strict")
    assert (done.returncode, done.stderr) == (0, "")
