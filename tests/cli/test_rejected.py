"""What `run` and `replay` say of rows beyond a speed limit: how many, that nobody knows, or nothing."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from transom.cli.replay import replay_query, speed_limit_message
from transom.cli.run import watch_and_report
from transom.cli.signals import stop_on_signal
from transom.model.balance import Balance
from transom.model.time import Calendar


class Told:
    """An observation of Spark's: what it counted, or a wait without end."""

    def __init__(self, rows: int | None, *, told: bool = True) -> None:
        self.rows = rows
        self.told = told

    @property
    def get(self) -> dict[str, int | None]:
        if not self.told:
            threading.Event().wait()
        return {"rows": self.rows}


SILENT = Told(0, told=False)


def test_the_words() -> None:
    assert speed_limit_message("cars", 1234) == "rejected: 1,234 rows of cars beyond its max_speed"
    assert "not known" in speed_limit_message("cars", None)
    assert "0" not in speed_limit_message("cars", None)


@pytest.mark.parametrize(
    ("observed", "counts"),
    [
        ([], {}),
        ([("cars", Told(3))], {"cars": 3}),
        ([("cars", Told(0))], {}),
        ([("cars", Told(None))], {}),
        ([("cars", SILENT)], {"cars": None}),
        ([("cars", SILENT), ("cars", Told(3)), ("cars", Told(3))], {"cars": 3}),
        ([("cars", SILENT), ("cars", Told(0))], {}),
        ([("cars", SILENT), ("ships", Told(2))], {"cars": None, "ships": 2}),
    ],
)
def test_what_spark_does_not_tell_is_not_known(
    observed: list[Any], counts: dict[str, int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    rejected = pytest.importorskip("transom.spark.input.rejected")
    monkeypatch.setattr(rejected, "OBSERVATION_TIMEOUT", 0.05)
    found = rejected.RejectedRows()
    found._observed = observed
    assert found.counts() == counts


@pytest.mark.parametrize(
    ("count", "words"), [(7, "rejected: 7 rows of cars"), (None, "not known how many rows of cars")]
)
def test_a_replay_says_it(
    count: int | None, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyspark")
    from transom.cli import replay
    from transom.model.view import WHOLE
    from transom.runtime import dataframe
    from transom.spark.input.rejected import RejectedRows

    shown: list[Any] = []
    monkeypatch.setattr(replay, "start_session", lambda master: None)
    monkeypatch.setattr(dataframe, "replay", lambda *given, **more: None)
    monkeypatch.setattr(RejectedRows, "counts", lambda self: {"cars": count})
    results = SimpleNamespace(show=lambda *given: shown.append(given))
    job = SimpleNamespace(kernel=SimpleNamespace(line="kernel: off"), results=results)
    semantics = SimpleNamespace(folder_formats=())
    query: Any = SimpleNamespace(job=lambda *given, **more: job, physical=lambda **more: None, semantics=semantics)
    kernel: Any = SimpleNamespace(value="auto")
    replay_query(query, None, "console", WHOLE, start=0, until=None, index=False, kernel=kernel)
    assert len(shown) == 1
    path, said = capsys.readouterr().err.splitlines()
    assert path == "kernel: off"
    assert words in said


def test_a_run_says_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    from transom.runtime.options import RunOptions
    from transom.runtime.progress import Progress

    def run(done: Progress) -> str:
        job = SimpleNamespace(options=RunOptions(until=9, once=True, checkpoint=tmp_path))
        running: Any = SimpleNamespace(
            resumed=False, job=job, wait=lambda seconds: True, progress=lambda: done, changed_files=list
        )
        with stop_on_signal() as stop:
            watch_and_report(running, stop)
        return capsys.readouterr().err

    cars = Balance(9, 2, 0, {"beyond max_speed": 7})
    assert run(Progress(sources={"cars": cars}, rows_out=2)).splitlines() == [
        "9 rows in, 2 out, 0 late",
        "cars: 9 read = 2 used + 0 late + 7 rejected (7 beyond max_speed)",
    ]
    ships = Balance(1000, 990, 3, {}, 7)
    late = "late rows are not in the answers: a larger `lateness` keeps them, and files in the order of their rows"
    assert run(Progress(sources={"ships": ships})).splitlines() == [
        "1,000 rows in, 0 out, 3 late",
        "ships: 1,000 read = 990 used + 3 late + 0 rejected + 7 outside of --start and --until",
        f"warning: {late}",
    ]


@pytest.mark.parametrize(
    ("until", "closed", "state", "line"),
    [
        (None, 59, 3, "last closed tick: 59, which ended at 2026-01-01 00:01:00 UTC"),
        (None, None, 3, "last closed tick: none; a tick closes when every source has a later row"),
        (None, None, 0, None),
        (99, 59, 3, None),
    ],
    ids=["closed", "open", "without state", "until"],
)
def test_run_once_prints_the_last_closed_tick(
    until: int | None,
    closed: int | None,
    state: int,
    line: str | None,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    pytest.importorskip("pyspark")
    from transom.runtime.options import RunOptions
    from transom.runtime.progress import Progress

    calendar = Calendar(epoch=datetime(2026, 1, 1, tzinfo=UTC))
    job = SimpleNamespace(
        catalog=SimpleNamespace(calendar=calendar),
        bound=SimpleNamespace(rows=state),
        options=RunOptions(until=until, once=True, checkpoint=tmp_path),
    )
    running: Any = SimpleNamespace(
        resumed=False,
        job=job,
        wait=lambda seconds: True,
        progress=Progress,
        changed_files=list,
        closed_tick=lambda: closed,
    )
    with stop_on_signal() as stop:
        watch_and_report(running, stop)
    assert capsys.readouterr().err.splitlines()[1:] == ([] if line is None else [line])
