"""Supervision: starts, restarts with growing pauses, changes, removals and stops, each query on its own."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.serving.recorded import AtOnce, RecordedStarter, Served, write_project
from transom.errors import (
    CheckpointError,
    DataError,
    EngineError,
    Fenced,
    LostRows,
    QueryError,
    TransomError,
    Unavailable,
)
from transom.project.project import ProjectQuery
from transom.query import Query
from transom.serving.starting import StartedQuery
from transom.serving.supervisor import Supervisor
from transom.serving.watch import ProjectWatch

A, B = "RSTREAM(SELECT site FROM road [NOW])", "RSTREAM(SELECT temp FROM road [NOW])"


@pytest.fixture
def served(tmp_path: Path) -> Served:
    return Served(write_project(tmp_path, {"a": A, "b": B}, "restart_first = 1\nrestart_longest = 8"))


def kinds(served: Served, query: str | None) -> list[str]:
    events = [event for event in served.supervisor.events.since(0)[1] if event.query == query]
    return [str(event.fields.get("status", event.kind)) for event in events]


def test_all_queries_are_started(served: Served) -> None:
    assert not served.supervisor.is_ready
    served.steps()
    assert served.statuses() == {"a": "running", "b": "running"}
    assert served.supervisor.is_ready
    assert kinds(served, "a") == ["starting", "running"]
    assert served.run("a").job.options.folder == served.folder / "state" / "a"
    assert served.run("a").job.options.sink == f"parquet:{served.folder}/answers/a"


@pytest.mark.parametrize("error", [DataError("row"), Unavailable("away"), EngineError("?"), RuntimeError("py4j")])
def test_a_failed_query_is_started_again_after_growing_pauses(served: Served, error: BaseException) -> None:
    served.steps()
    started = []
    for _ in range(6):
        served.run("a").end(error)
        begin = served.now
        served.steps(2)
        assert served.statuses() == {"a": "waiting", "b": "running"}
        while served.statuses()["a"] != "running":
            served.steps(1, seconds=0.25)
        started.append(served.now - begin)
    assert [int(pause) for pause in started] == [1, 2, 4, 8, 8, 8]
    member = served.supervisor.members["a"]
    assert (member.restarts, len(served.starter.runs["a"]), len(served.starter.runs["b"])) == (6, 7, 1)
    assert member.error is not None, "the last error is shown until a micro-batch succeeds"
    served.run("a").batch(0)
    served.steps(1)
    assert member.error is None


def test_a_micro_batch_resets_the_pauses(served: Served) -> None:
    served.steps()
    for _ in range(3):
        served.run("a").end(Unavailable("away"))
        served.steps(40, seconds=0.25)
    served.run("a").batch(0)
    served.steps()
    served.run("a").end(Unavailable("away"))
    served.steps(2)
    served.now += 1.0
    served.steps(2)
    assert served.statuses()["a"] == "running"
    assert "batch" in kinds(served, "a")


@pytest.mark.parametrize("error", [CheckpointError("damaged"), LostRows("lost"), Fenced("newer")])
def test_a_query_that_must_not_run_again_is_refused(served: Served, error: TransomError) -> None:
    served.steps()
    served.run("a").end(error)
    served.steps(9, seconds=600.0)
    assert served.statuses() == {"a": "refused", "b": "running"}
    assert served.supervisor.members["a"].error is error


def test_a_query_that_does_not_compile_is_refused_until_it_changes(served: Served) -> None:
    (served.folder / "a.cql").write_text("SELECT nothing FROM road [NOW]")
    served.steps(9, seconds=600.0)
    assert served.statuses() == {"a": "refused", "b": "running"}
    assert isinstance(served.supervisor.members["a"].error, QueryError)
    assert served.supervisor.is_ready
    (served.folder / "a.cql").write_text(A)
    served.steps(4)
    assert served.statuses() == {"a": "running", "b": "running"}
    assert (served.supervisor.members["a"].restarts, served.supervisor.members["a"].error) == (0, None)


def test_a_start_that_may_succeed_later_is_tried_again(served: Served) -> None:
    served.starter.errors["a"] = [Unavailable("in use by another run"), EngineError("?")]
    served.steps(40, seconds=0.25)
    assert served.statuses()["a"] == "running"
    assert served.supervisor.members["a"].restarts == 2


def test_a_changed_query_is_stopped_and_started_again(served: Served) -> None:
    served.steps()
    first = served.run("a")
    (served.folder / "a.cql").write_text(A.replace("site", "site, temp"))
    served.steps(6)
    assert (first.stops, served.statuses()["a"]) == (1, "running")
    assert served.run("a") is not first
    assert served.run("a").query.columns == ("site", "temp")
    assert (len(served.starter.runs["b"]), served.run("b").stops) == (1, 0)


def test_a_change_that_its_checkpoint_refuses(served: Served) -> None:
    served.steps()
    served.starter.errors["a"] = [CheckpointError("the checkpoint belongs to another query")]
    (served.folder / "a.cql").write_text(B)
    served.steps(9, seconds=60.0)
    assert served.statuses() == {"a": "refused", "b": "running"}
    assert "another query" in str(served.supervisor.members["a"].error)


def test_queries_are_added_and_removed(served: Served) -> None:
    served.steps()
    first = served.run("a")
    text = (served.folder / "transom.toml").read_text()
    (served.folder / "c.cql").write_text(A)
    (served.folder / "transom.toml").write_text(text.replace("queries.a", "queries.c").replace("a.cql", "c.cql"))
    served.steps(6)
    assert served.statuses() == {"b": "running", "c": "running"}
    assert (first.stops, kinds(served, "a")[-1]) == (1, "stopped")
    (served.folder / "transom.toml").write_text(text)
    served.steps(6)
    assert served.statuses() == {"b": "running", "a": "running"}


def test_a_query_that_comes_back_while_it_stops_runs_again(served: Served) -> None:
    served.steps()
    member = served.supervisor.members["a"]
    member.remove()
    member.step(served.now)
    assert member.status.value == "stopping"
    member.declare(member.declared, "another digest")
    served.steps(4)
    assert (served.statuses()["a"], len(served.starter.runs["a"])) == ("running", 2)


def test_an_invalid_project_file_changes_nothing(served: Served) -> None:
    served.steps()
    (served.folder / "transom.toml").write_text("[queries")
    served.steps(4)
    assert served.statuses() == {"a": "running", "b": "running"}
    assert served.supervisor.error is not None
    assert kinds(served, None) == ["project"]
    assert sum(run.stops for runs in served.starter.runs.values() for run in runs) == 0


def test_a_query_may_end(served: Served) -> None:
    served.steps()
    served.run("a").end()
    served.steps(9, seconds=600.0)
    assert served.statuses() == {"a": "ended", "b": "running"}


def test_stop_stops_all(served: Served) -> None:
    served.steps()
    served.supervisor.stop()
    assert not served.supervisor.has_stopped
    served.steps()
    assert served.supervisor.has_stopped
    assert not served.supervisor.is_ready
    assert [served.run(name).stops for name in "ab"] == [1, 1]


def test_a_start_that_has_not_begun_is_cancelled(tmp_path: Path) -> None:
    """One query starts at a time; a stop does not wait for the starts of the others."""
    begun, go_on = threading.Event(), threading.Event()

    class SlowStarter(RecordedStarter):
        def start(self, declared: ProjectQuery, query: Query[Any] | None = None) -> StartedQuery:
            begun.set()
            go_on.wait(10)
            return super().start(declared, query)

    starter = SlowStarter()
    watch = ProjectWatch(write_project(tmp_path, {"a": A, "b": B}))
    with ThreadPoolExecutor(1) as starts:
        supervisor = Supervisor(watch, starter, starts, AtOnce())
        supervisor.step()
        assert begun.wait(10)
        supervisor.stop()
        supervisor.step()
        assert {name: member.status.value for name, member in supervisor.members.items()} == {
            "a": "starting",
            "b": "stopped",
        }
        go_on.set()
        while not supervisor.has_stopped:
            supervisor.step()
    assert {name: [run.stops for run in runs] for name, runs in starter.runs.items()} == {"a": [1]}


def test_an_error_at_the_stop_is_told(served: Served) -> None:
    served.steps()
    run = served.run("a")
    run.error = LostRows("the rows do not add up")
    served.supervisor.stop()
    served.steps()
    assert served.supervisor.has_stopped
    messages = [event.fields.get("message", "") for event in served.supervisor.events.since(0)[1]]
    assert any("do not add up" in str(message) for message in messages)


def test_an_error_without_a_text(served: Served) -> None:
    """The text of an error of Java comes from the JVM, which a signal to the process group has ended."""

    class Gone(Exception):
        def __str__(self) -> str:
            raise ConnectionRefusedError

    served.steps()
    served.run("a").error = Gone()
    served.supervisor.stop()
    served.steps()
    assert served.supervisor.has_stopped
    assert "detail: Gone" in str([event.fields for event in served.supervisor.events.since(0)[1]])


def test_the_end_of_spark_is_an_error(served: Served) -> None:
    served.steps()
    served.starter.alive = False
    with pytest.raises(EngineError, match="Spark has ended"):
        served.supervisor.step()
    served.supervisor.stop()
    served.steps()
    assert served.supervisor.has_stopped


def test_a_supervisor_that_does_not_step_is_not_healthy(served: Served) -> None:
    served.steps()
    assert served.supervisor.is_healthy
    served.now += 31
    assert not served.supervisor.is_healthy


def test_a_limit_of_state_refuses_one_query(tmp_path: Path) -> None:
    wide = "SELECT temp FROM road [RANGE 100 SECONDS SLIDE 5 SECONDS]"
    served = Served(write_project(tmp_path, {"a": A, "wide": wide}, "state_rows = 500"))
    served.steps()
    assert served.statuses() == {"a": "running", "wide": "refused"}
    assert isinstance(served.starter, RecordedStarter)
