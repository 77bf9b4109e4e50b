"""What commands say of rows beyond a speed limit: the balance of the extent, that nobody knows it, or nothing."""

from __future__ import annotations

import re
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

import transom
from transom.cli.app import main
from transom.cli.replay import speed_limit_message
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
        return {"rows": self.rows, "accepted": 9}


SILENT = Told(0, told=False)


def test_the_words() -> None:
    cars = Balance(1237, 3, rejected={"beyond max_speed": 1234})
    words = "cars: 1,237 read = 3 used + 0 late + 1,234 rejected (1,234 beyond max_speed)"
    assert speed_limit_message("cars", cars) == words
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
    balances = {
        name: None if n is None else Balance(9 + n, 9, 0, {"beyond max_speed": n}) for name, n in counts.items()
    }
    assert found.balances() == balances


def test_simulate_picture_and_map_warn_of_rows_after_a_wrong_first_position(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first position of a is wrong by 1,000 km, so its three good rows are rejected; a row without one is not."""
    rows = ["0,a,1000000", "0,b,0", "1,a,0", "1,b,10", "2,a,", "2,a,10", "3,a,20"]
    (tmp_path / "cars.csv").write_text("\n".join(["tick,id,x", *rows, ""]), "utf-8")
    (tmp_path / "catalog.yaml").write_text(
        "extents: {cars: {declare: 'pushed (id:string, x:float)', position: {x: x}, object: id,"
        " max_speed: 30 m/s, rate: 2 per s, keys: 2, source: {files: cars.csv}}}",
        "utf-8",
    )
    text = "SELECT id, x FROM cars [NOW]"
    query = tmp_path / "all.cql"
    query.write_text(text, "utf-8")
    balance = "cars: 7 read = 4 used + 0 late + 3 rejected (3 beyond max_speed)"
    first = "cars: 3 rows were rejected right after the first row of a, which no max_speed checks: "
    first += "if its position is wrong, remove that row"
    words = [f"warning: {balance}", f"warning: {first}"]
    svg = str(tmp_path / "out.svg")
    for command in (["simulate"], ["simulate", "--format", "jsonl"], ["picture", "-o", svg], ["map", "-o", svg]):
        assert run_command([command[0], str(query), *command[1:]]) == 0
        assert capsys.readouterr().err.splitlines() == words, command
        assert run_command([command[0], str(query), *command[1:], "--strict"]) == 1
        assert capsys.readouterr().err.splitlines() == [*words, "error: warnings fail with --strict"], command
    compiled = transom.compile(text, tmp_path / "catalog.yaml", language="cql")
    calls = [compiled.simulate, lambda: compiled.evaluate(compiled.inputs()), compiled.picture, compiled.map]
    for call in calls:
        with pytest.warns(transom.RejectedWarning) as caught:
            call()
        assert [str(warning.message) for warning in caught] == [balance, first]
        assert {Path(warning.filename).name for warning in caught} == {"test_rejected.py"}


def test_single_jumps_are_no_wrong_first_position() -> None:
    catalog = {
        "extents": {
            "cars": {
                "declare": "pushed (id:string, x:float)",
                "position": {"x": "x"},
                "object": "id",
                "max_speed": "30 m/s",
            }
        }
    }
    query = transom.compile("SELECT id FROM cars", catalog, language="sneeql")
    with pytest.warns(transom.RejectedWarning) as caught:
        query.simulate({"cars": [(0, "a", 0), (1, "a", 1000), (2, "a", 10), (3, "a", 2000), (4, "a", 3000)]})
    assert [str(w.message) for w in caught] == [
        "cars: 5 read = 2 used + 0 late + 3 rejected (3 beyond max_speed)",
    ]


def run_command(arguments: list[str]) -> int:
    """Run the command line in this process; return its exit code."""
    with mock.patch.object(sys, "argv", ["transom", *arguments]), pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def test_a_run_says_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    from transom.runtime.options import RunOptions
    from transom.runtime.progress import Progress

    def run(done: Progress) -> str:
        job = SimpleNamespace(options=RunOptions(until=9, once=True, checkpoint=tmp_path))
        running: Any = SimpleNamespace(
            resumed=False, job=job, wait=lambda seconds: True, final_progress=lambda: done, changed_files=list
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


CLOSED = "last closed tick: 59, which ended at 2026-01-01 00:01:00 UTC"
AHEAD = "the newest row is at 2026-01-01 00:02:00 UTC; the clock ends windows that may be empty, so pass --until "
AHEAD += "2026-01-01T00:02:00Z to end them up to this row"


@pytest.mark.parametrize(
    ("until", "closed", "ahead", "state", "lines"),
    [
        (None, 59, None, 3, [CLOSED]),
        (None, None, None, 3, ["last closed tick: none; a tick closes when every source has a later row"]),
        (None, None, None, 0, []),
        (99, 59, None, 3, []),
        (None, 59, 120, 3, [CLOSED, AHEAD]),
        (None, None, 120, 3, [AHEAD]),
    ],
    ids=["closed", "open", "without state", "until", "closed by the clock", "open by the clock"],
)
def test_run_once_prints_the_last_closed_tick(
    until: int | None,
    closed: int | None,
    ahead: int | None,
    state: int,
    lines: list[str],
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
        final_progress=Progress,
        changed_files=list,
        closed_tick=lambda: closed,
        newest_tick_ahead=lambda: ahead,
    )
    with stop_on_signal() as stop:
        watch_and_report(running, stop)
    said = capsys.readouterr().err.splitlines()[1:]
    assert [re.sub(r"^warning: the clock is at [-0-9: ]+ UTC, and ", "", line) for line in said] == lines


def test_rows_ahead_of_the_clock_count_only_if_the_clock_ends_windows() -> None:
    pytest.importorskip("pyspark")
    from transom.runtime.options import RunOptions
    from transom.runtime.progress import Progress
    from transom.runtime.running import Running

    calendar = Calendar(epoch=datetime(2026, 1, 1, tzinfo=UTC))
    catalog = transom.Catalog.from_dict({"epoch": "2026-01-01", "extents": {"a": {"declare": "pushed (x:integer)"}}})

    def ahead(
        text: str, newest: datetime | None, now: datetime, until: int | None = None, calendar: Calendar = calendar
    ) -> int | None:
        query = transom.compile(text, catalog, language="sneeql")
        job = SimpleNamespace(
            catalog=SimpleNamespace(calendar=calendar), options=RunOptions(until=until), plan=query.physical()
        )
        running: Any = SimpleNamespace(job=job, last_progress=Progress(newest=newest))
        return Running.newest_tick_ahead(running, now)

    windows = "RSTREAM(SELECT COUNT(*) AS n FROM a [FROM NOW-9 TO NOW SLIDE 10 SEC])"
    early, late = datetime(2026, 1, 1, 0, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 2, 1, tzinfo=UTC)
    assert ahead(windows, late, early) == 120
    assert ahead(windows, late, late) is None
    assert ahead(windows, None, early) is None
    within = Calendar(epoch=datetime(2026, 1, 1, 0, 0, 0, 192_770, tzinfo=UTC))
    assert ahead(windows, datetime(2026, 1, 1, 0, 2, 1, 192_000, tzinfo=UTC), early, calendar=within) == 120
    assert ahead(windows, late, early, until=7) is None
    assert ahead("SELECT x FROM a", late, early) is None


def test_progress_keeps_the_newest_event_time() -> None:
    pytest.importorskip("pyspark")
    from transom.runtime.progress import Progress
    from transom.spark.input.balance import RowCounts

    done = Progress()
    for batch, newest in enumerate(["2026-01-01T00:02:00.000Z", "2026-01-01T00:01:00.000Z", None]):
        report = {
            "batchId": batch,
            "durationMs": {"addBatch": 1},
            "stateOperators": [],
            "sources": [],
            "eventTime": {} if newest is None else {"max": newest},
        }
        done = done.with_report(report, RowCounts())
    assert done.newest == datetime(2026, 1, 1, 0, 2, tzinfo=UTC)
