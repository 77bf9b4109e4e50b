"""Which options a run begins with: a first start, a restart, a hand-over and a rebuild."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.runtime.beginning.folders import SESSION, begun, write
from transom import Query
from transom.catalog.servers import KafkaTopic
from transom.connectors.kafka import positions
from transom.errors import CheckpointError, RunWarning, UsageError
from transom.runtime.beginning import Beginning, beginning_line, recorded_beginning, resolve
from transom.runtime.checkpoint.handover import rebuild
from transom.runtime.checkpoint.remembered import PLAN_FILE
from transom.runtime.options import RunOptions
from transom.runtime.topics import warn_of_deleted_history

CATALOG = {"extents": {"a": "pushed (x:integer)"}}


def compiled(text: str = "RSTREAM(SELECT AVG(x) FROM a [FROM NOW-9 TO NOW SLIDE 1 SEC])") -> Query[Any]:
    return transom.compile(text, CATALOG)


def resolved(
    folder: Path, beginning: Beginning, query: Query[Any] | None = None, **more: Any
) -> tuple[int, int | None]:
    options = resolve(query or compiled(), SESSION, RunOptions(checkpoint=folder, **more), beginning)
    return options.start, options.since


def record(folder: Path, start: int, since: int | None) -> None:
    """What the first start of a run writes."""
    write(folder / PLAN_FILE, json.dumps({"start": start} | ({} if since is None else {"since": since})))


def test_the_rows_of_the_reach_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "k"
    assert resolved(folder, Beginning()) == (0, None)
    assert resolved(folder, Beginning(since=30)) == (21, 30)
    assert resolved(folder, Beginning(since=5)) == (0, 5)
    assert resolved(folder, Beginning(since=30), start=25) == (25, 30), "rows before --start never count"
    line = beginning_line(compiled(), RunOptions(start=21, since=30))
    assert line == "answers begin at tick 30, and rows at tick 21, 9 s earlier"
    assert beginning_line(compiled(), RunOptions()) is None


def test_a_restart_keeps_what_its_checkpoint_records(tmp_path: Path) -> None:
    folder = tmp_path / "k"
    assert recorded_beginning(folder) is None
    record(folder, 21, 30)
    assert resolved(folder, Beginning()) == (21, 30)
    assert resolved(folder, Beginning(), start=4) == (4, None), "the fingerprint refuses it then"
    assert resolved(folder, Beginning(since=31)) == (22, 31)
    assert resolved(folder, Beginning(after=tmp_path / "gone")) == (21, 30), "the older checkpoint may be gone"
    record(folder, 0, None)
    assert resolved(folder, Beginning()) == (0, None)
    with pytest.raises(UsageError, match="was begun without --after"):
        resolved(folder, Beginning(after=tmp_path / "gone"))
    write(folder / PLAN_FILE, "[]")
    assert recorded_beginning(folder) is None


def test_the_first_answer_after_a_handover_is_that_of_the_next_tick(tmp_path: Path) -> None:
    older = begun(tmp_path / "older")
    assert resolved(tmp_path / "k", Beginning(after=older)) == (11, 20)
    assert resolved(tmp_path / "k", Beginning(after=older)) == (11, 20)
    late = begun(tmp_path / "late", start=15)
    assert resolved(tmp_path / "new", Beginning(after=late)) == (15, 20), "the older query never counted rows before 15"
    with pytest.raises(CheckpointError, match="was handed over"):
        resolved(tmp_path / "another", Beginning(after=older))


def test_a_rebuilt_checkpoint_goes_on_whatever_else_is_asked_for(tmp_path: Path) -> None:
    folder = begun(tmp_path / "k")
    rebuild(SESSION, folder, compiled().catalog.calendar)
    for beginning in (Beginning(), Beginning(since=3), Beginning(on_change="rebuild")):
        assert resolved(folder, beginning) == (11, 20)
    record(folder, 11, 20)
    assert resolved(folder, Beginning(since=3)) == (11, 20)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT COUNT(x) FROM a [FROM NOW-4 TO NOW SLIDE 5 ROWS]", "created by counting all rows"),
        ("ISTREAM(SELECT x FROM a [FROM NOW-4 TO NOW SLIDE 1 SEC])", "the rows of the query are changes"),
        ("SELECT x + 1 FROM (DSTREAM(SELECT x FROM a [FROM NOW-4 TO NOW SLIDE 1 SEC]))", "the rows of the query are"),
    ],
)
def test_a_refused_handover_leaves_the_older_checkpoint_alone(tmp_path: Path, text: str, words: str) -> None:
    older = begun(tmp_path / "older")
    with pytest.raises(UsageError, match=words):
        resolved(tmp_path / "k", Beginning(after=older), compiled(text))
    assert not [*older.glob("hand*")]
    if "STREAM" in text:
        assert resolved(tmp_path / "k", Beginning(since=30), compiled(text)) == (25, 30)
    with pytest.raises(UsageError, match="both say where the answer begins"):
        resolved(tmp_path / "k", Beginning(since=3, after=older))
    with pytest.raises(UsageError, match="--index exclude each other"):
        resolved(tmp_path / "k", Beginning(since=3), index=True)


def test_sparql_is_refused_by_name(tmp_path: Path) -> None:
    catalog = {"rdf": {"r": {"stream": "http://ex/r"}}}
    text = "SELECT ?s FROM STREAM <http://ex/r> WINDOW RANGE 3 S SLIDE 1 S WHERE { ?s ?p ?o }"
    query = transom.compile(text, catalog, language="sparql")
    assert query.reach.ticks == 2
    with pytest.raises(UsageError, match="--since is not for SPARQL"):
        resolved(tmp_path / "k", Beginning(since=3), query)


@pytest.mark.parametrize(("first", "deleted"), [({0: 0, 1: 0}, 0), ({0: 3, 1: 1200}, 1203)])
def test_deleted_messages_of_the_history_are_reported(
    monkeypatch: pytest.MonkeyPatch, first: dict[int, int], deleted: int
) -> None:
    pytest.importorskip("confluent_kafka")
    monkeypatch.setattr(positions, "topic_positions", lambda source: positions.TopicPositions("id", first))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunWarning)
        warn_of_deleted_history([KafkaTopic("broker:9092", "power")])
    assert [str(warning.message).partition(":")[0] for warning in caught] == (
        [f"the broker has deleted {deleted:,} older messages of power"] if deleted else []
    )
