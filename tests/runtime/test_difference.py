"""What starting a query on the checkpoint of another would change. Nothing here needs Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from transom import Query
from transom.cli.upgrade.diff import compare_with
from transom.runtime.checkpoint.checkpoint import SPARK_FOLDER
from transom.runtime.checkpoint.fingerprint import check_fingerprint, fingerprint
from transom.runtime.checkpoint.notes import notes
from transom.runtime.checkpoint.remembered import read_remembered
from transom.runtime.options import RunOptions
from transom.runtime.upgrade.difference import Difference, Fate
from transom.runtime.upgrade.replay_point import ReplayPoint

TEXT = "RSTREAM(SELECT site, MAX(temp) AS hottest FROM road [FROM NOW-9 TO NOW SLIDE 10 SEC] GROUP BY site)"
LONGER = TEXT.replace("MAX(temp) AS hottest", "MAX(temp) AS hottest, COUNT(*) AS readings")
ROWS = "RSTREAM(SELECT site FROM road [FROM NOW-1 TO NOW SLIDE 2 ROWS])"


def compiled(text: str, folder: Path | None = None, **entries: Any) -> Query:
    extent = {"kind": "pushed", "rate": "9 per s", "attributes": ["site:integer", "temp:float"], **entries}
    catalog = transom.Catalog.from_dict(
        {"tick": "1 s", "epoch": "2026-01-01T00:00:00Z", "extents": {"road": extent}}, folder=folder
    )
    return transom.compile(text, catalog, name="new.sneeql")


def options(folder: Path, **more: Any) -> RunOptions:
    return RunOptions(checkpoint=folder, **{"kernel": "off", **more})


def made(folder: Path, query: Query, user_sources: tuple[str, ...] = (), **more: Any) -> None:
    """The checkpoint of a run of the query."""
    job = query.job(None, options(folder, **more), user_sources)
    check_fingerprint(folder, fingerprint(job, user_sources), query.text, uncompared_notes=notes(job, {}))


def answered(folder: Path, *watermarks: int) -> None:
    """The logs of committed micro-batches with these watermarks, in milliseconds."""
    for number, watermark in enumerate(watermarks):
        for log, lines in (("offsets", [{"batchWatermarkMs": watermark}, {"logOffset": 1}]), ("commits", [{}])):
            file = folder / SPARK_FOLDER / log / str(number)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(["v1", *map(json.dumps, lines)]))


def compared(folder: Path, query: Query, **more: Any) -> tuple[Difference, ReplayPoint]:
    return compare_with(query, read_remembered(folder), options(folder, **more))


def fates(difference: Difference) -> dict[str, set[str]]:
    """The operators with state, by what becomes of it; only their names."""
    found: dict[str, set[str]] = {}
    for state in difference.operators:
        if state.has_state is not False:
            found.setdefault(state.fate, set()).add(state.operator.partition("(")[0])
    return found


def test_same_query_resumes(tmp_path: Path) -> None:
    made(tmp_path, compiled(TEXT))
    difference, _ = compared(tmp_path, compiled(TEXT))
    assert difference.resumes
    assert (difference.changes, difference.ignored, difference.text) == ({}, {}, ())
    assert fates(difference) == {Fate.KEPT: {"WindowAggregate"}}


def test_text_that_means_the_same_resumes(tmp_path: Path) -> None:
    made(tmp_path, compiled(TEXT))
    difference, _ = compared(
        tmp_path, compiled(TEXT.replace("SELECT site", "select site").replace("FROM road", "\nFROM road"))
    )
    assert difference.resumes
    assert difference.text[:2] == ("--- the checkpoint", "+++ new.sneeql")
    assert f"-{TEXT}" in difference.text


def test_hints_change_no_answer(tmp_path: Path) -> None:
    made(tmp_path, compiled(TEXT))
    difference, _ = compared(tmp_path, compiled(TEXT, rate="7 per s", keys=3))
    assert difference.resumes
    assert difference.ignored == {
        "keys of road": "keys of road was not set, and is 3",
        "rate of road": "rate of road was 9 per tick, and is 7 per tick",
    }


def test_another_aggregate_needs_a_new_checkpoint(tmp_path: Path) -> None:
    made(tmp_path, compiled(TEXT))
    answered(tmp_path, 0, 1_767_225_640_000)
    difference, point = compared(tmp_path, compiled(LONGER))
    assert not difference.resumes
    assert [*difference.changes] == ["the plan"]
    assert fates(difference) == {Fate.NEW: {"WindowAggregate"}, Fate.LOST: {"WindowAggregate"}}
    assert (point.answered_until, point.reach, point.first_tick) == (39, 9, 31)
    assert point.lines() == [
        "the checkpoint's run has answered up to tick 39 (2026-01-01 00:00:39 UTC)",
        "to answer the ticks after it, the new query needs the rows from tick 31 (2026-01-01 00:00:31 UTC) on "
        "(9 ticks before)",
    ]


def test_operator_that_both_plans_have_is_rebuilt(tmp_path: Path) -> None:
    """The aggregate stays as it was; what compares its windows is new."""
    made(tmp_path, compiled(TEXT))
    difference, point = compared(tmp_path, compiled(TEXT.replace("RSTREAM", "ISTREAM")))
    assert fates(difference) == {Fate.REBUILT: {"WindowAggregate"}, Fate.NEW: {"IntervalDiff"}}
    assert point.reach == 19, "the window before is needed, too"


@pytest.mark.parametrize(
    ("entries", "more", "name", "description"),
    [
        ({"lateness": "2 s"}, {}, "extent road", "lateness of road was 0, and is 2"),
        ({}, {"until": 18}, "until", "until was null, and is 18"),
        ({}, {"kernel": "on"}, "the plan", "was WindowAggregate, and is SlidingWindowAggregate"),
    ],
    ids=["lateness", "until", "kernel"],
)
def test_each_change_is_named(
    tmp_path: Path, entries: dict[str, Any], more: dict[str, Any], name: str, description: str
) -> None:
    made(tmp_path, compiled(TEXT))
    difference, _ = compared(tmp_path, compiled(TEXT, **entries), **more)
    assert [*difference.changes] == [name]
    assert difference.changes[name].endswith(description)


def test_rows_without_a_bound_in_time(tmp_path: Path) -> None:
    made(tmp_path, compiled(TEXT))
    _, point = compared(tmp_path, compiled(ROWS))
    assert (point.reach, point.first_tick, point.answered_until) == (None, None, None)
    assert point.lines() == [f"the new query needs all rows: {point.why_unbounded}"]
    assert point.why_unbounded


def test_sources_that_the_caller_had_opened_are_no_change(tmp_path: Path) -> None:
    query = compiled(TEXT, tmp_path, source={"files": "road/*.csv"})
    made(tmp_path / "python", query, ("road",))
    made(tmp_path / "shell", query)
    elsewhere = compiled(TEXT, tmp_path, source={"files": "other/*.csv"})
    assert compared(tmp_path / "python", query)[0].resumes
    assert compared(tmp_path / "python", elsewhere)[0].resumes
    assert compared(tmp_path / "shell", query)[0].resumes
    assert [*compared(tmp_path / "shell", elsewhere)[0].changes] == ["the source of road"]


def test_checkpoint_of_an_earlier_version_has_operators_with_unknown_state(tmp_path: Path) -> None:
    query = compiled(TEXT)
    check_fingerprint(tmp_path, fingerprint(query.job(None, options(tmp_path))), TEXT)
    assert fates(compared(tmp_path, query)[0]) == {Fate.KEPT: {"WindowAggregate"}}
    lost = [state for state in compared(tmp_path, compiled(LONGER))[0].operators if state.fate is Fate.LOST]
    assert {(state.operator, state.has_state) for state in lost} >= {("WindowAggregate", None)}
