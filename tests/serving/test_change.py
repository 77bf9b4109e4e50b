"""A changed query is checked while its old run goes on; only a change that can start takes the place of the run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.serving.recorded import Served, write_project
from transom.errors import (
    CheckpointError,
    DataError,
    Fenced,
    LostRows,
    QueryError,
    TransomError,
    Unavailable,
    UsageError,
)

A, B = "RSTREAM(SELECT site FROM road [NOW])", "RSTREAM(SELECT temp FROM road [NOW])"
WRONG = "RSTREAM(SELECT tmep FROM road [NOW])"


@pytest.fixture
def served(tmp_path: Path) -> Served:
    served = Served(write_project(tmp_path, {"a": A, "b": B}, "restart_first = 1\nrestart_longest = 8"))
    served.steps()
    return served


def write(served: Served, text: str, steps: int = 6) -> None:
    (served.folder / "a.cql").write_text(text)
    served.steps(steps)


def events(served: Served) -> list[tuple[str, str]]:
    """What happened to the query a: the kind of each event, and its status or what became of the change."""
    found = [event for event in served.supervisor.events.since(0)[1] if event.query == "a"]
    return [(event.kind, str(event.fields.get(event.kind))) for event in found]


def error_of_change(served: Served) -> TransomError:
    change = served.supervisor.members["a"].change
    assert change is not None
    assert change.error is not None
    return change.error


def test_a_change_that_does_not_compile_keeps_the_run(served: Served) -> None:
    run, member = served.run("a"), served.supervisor.members["a"]
    write(served, WRONG, steps=9)
    assert (served.statuses()["a"], run.stops, len(served.starter.runs["a"])) == ("running", 0, 1)
    assert isinstance(error_of_change(served), QueryError)
    assert (member.error, member.started is not None) == (None, True)
    assert events(served)[2:] == [("change", "refused")]
    run.batch(0)
    served.steps(1)
    assert events(served)[3:] == [("batch", "0")]


@pytest.mark.parametrize(
    "error", [CheckpointError("belongs to another query"), UsageError("unbounded"), LostRows("lost"), Fenced("newer")]
)
def test_a_change_whose_start_would_be_refused_keeps_the_run(served: Served, error: TransomError) -> None:
    served.starter.check_errors["a"] = [error]
    write(served, B, steps=9)
    assert (served.statuses()["a"], served.run("a").stops, served.run("a").query.text) == ("running", 0, A)
    assert error_of_change(served) is error


def test_a_missing_entry_of_the_catalog_keeps_all_runs(served: Served) -> None:
    catalog = (served.folder / "catalog.yaml").read_text()
    (served.folder / "catalog.yaml").write_text(catalog.replace("road:", "street:"))
    served.steps(9)
    assert served.statuses() == {"a": "running", "b": "running"}
    assert sum(run.stops for runs in served.starter.runs.values() for run in runs) == 0
    assert "road" in str(error_of_change(served))


def test_a_smaller_limit_of_state_keeps_a_run_that_exceeds_it(tmp_path: Path) -> None:
    wide = "SELECT temp FROM road [RANGE 100 SECONDS SLIDE 5 SECONDS]"
    served = Served(write_project(tmp_path, {"a": wide}, "state_rows = 5000"))
    served.steps()
    project = served.folder / "transom.toml"
    project.write_text(project.read_text().replace("5000", "500"))
    served.steps(6)
    assert (served.statuses()["a"], served.run("a").stops) == ("running", 0)
    assert "more than 500 rows" in str(error_of_change(served))


def test_a_change_that_is_accepted_starts_as_it_was_checked(served: Served) -> None:
    """The file may change again after the check; what starts is the text that was checked."""
    first, checked = served.run("a"), served.starter.check

    def check_and_write(declared: Any) -> Any:
        query = checked(declared)
        (served.folder / "a.cql").write_text(WRONG)
        return query

    served.starter.check = check_and_write  # type: ignore[method-assign]
    write(served, B, steps=3)
    served.starter.check = checked  # type: ignore[method-assign]
    served.steps(6)
    assert (first.stops, served.run("a").query.text, served.statuses()["a"]) == (1, B, "running")
    told = events(served)[2:]
    assert [word for kind, word in told if kind == "status"] == ["stopping", "waiting", "starting", "running"]
    assert [word for kind, word in told if kind == "change"] == ["accepted", "refused"]


def test_a_change_that_is_taken_back(served: Served) -> None:
    write(served, WRONG)
    write(served, A)
    assert (served.supervisor.members["a"].change, served.run("a").stops) == (None, 0)
    assert events(served)[2:] == [("change", "refused"), ("change", "withdrawn")]


def test_a_refused_change_that_is_corrected(served: Served) -> None:
    first = served.run("a")
    write(served, WRONG)
    write(served, B)
    assert (served.supervisor.members["a"].change, first.stops, served.run("a").query.text) == (None, 1, B)


def test_a_failed_run_is_started_again_with_its_old_text_while_the_change_is_refused(served: Served) -> None:
    write(served, WRONG)
    for error in (Unavailable("away"), DataError("row")):
        served.run("a").end(error)
        served.steps(40, seconds=0.25)
        assert (served.statuses()["a"], served.run("a").query.text) == ("running", A)
    assert (served.supervisor.members["a"].restarts, len(served.starter.runs["a"])) == (2, 3)
    assert isinstance(error_of_change(served), QueryError)


def test_a_failed_run_whose_query_is_changed_starts_with_the_change_at_once(served: Served) -> None:
    """A run that fails again and again waits for minutes, and the change may be the remedy."""
    served.run("a").end(DataError("row"))
    served.steps(2)
    assert served.statuses()["a"] == "waiting"
    write(served, B)
    assert (served.statuses()["a"], served.run("a").query.text) == ("running", B)
    assert served.supervisor.members["a"].restarts == 0


def test_a_check_that_may_succeed_later_is_repeated(served: Served) -> None:
    served.starter.check_errors["a"] = [Unavailable("no registry"), Unavailable("no registry"), Unavailable("busy")]
    write(served, B)
    assert (served.run("a").query.text, error_of_change(served).message) == (A, "no registry")
    served.steps(40, seconds=0.25)
    assert (served.run("a").query.text, served.statuses()["a"]) == (B, "running")
    changes = [word for kind, word in events(served) if kind == "change"]
    assert changes == ["waiting", "waiting", "accepted"], "an error that comes again is told once"


def test_a_run_that_ends_while_its_query_changes(served: Served) -> None:
    """The end of the run and the change are noticed in the same step; neither is lost."""
    write(served, B, steps=1)
    served.run("a").end()
    served.steps(6)
    assert (served.statuses()["a"], served.run("a").query.text) == ("running", B)


def test_a_refused_query_that_changes_is_started_without_another_check(served: Served) -> None:
    served.run("a").end(CheckpointError("damaged"))
    served.steps(2)
    served.starter.check_errors["a"] = [CheckpointError("damaged")]
    write(served, B)
    assert (served.statuses()["a"], served.run("a").query.text) == ("running", B)


def test_a_query_that_is_removed_while_its_change_is_checked(tmp_path: Path) -> None:
    served = Served(write_project(tmp_path, {"a": A}))
    served.steps()
    member = served.supervisor.members["a"]
    with ThreadPoolExecutor(1) as starts:
        released = Event()
        starts.submit(released.wait, 10)
        member._starts = starts
        write(served, WRONG, steps=3)
        assert member.change is not None
        assert member.change.is_checking
        served.supervisor.stop()
        served.steps()
        assert (served.supervisor.has_stopped, served.run("a").stops, member.change) == (True, 1, None)
        released.set()
