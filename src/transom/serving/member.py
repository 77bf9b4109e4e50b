"""One query of a running project: its status, and what happens next to it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from transom.errors import CheckpointError, EngineError, Fenced, TransomError
from transom.project.entries import LimitsEntry
from transom.project.project import ProjectQuery
from transom.serving.back_off import BackOff
from transom.serving.starting import StartedQuery, Starter

Notify = Callable[..., None]
"""Called with the kind of an event, the name of the query and the fields of the event."""


class Status(StrEnum):
    """What a query of a project does."""

    waiting = "waiting"
    """It will be started: for the first time, or again after a pause."""
    starting = "starting"
    running = "running"
    stopping = "stopping"
    refused = "refused"
    """It cannot be started as it is; it is tried again once its files have changed."""
    ended = "ended"
    """It has answered all ticks up to its `until`."""
    stopped = "stopped"
    """It is removed from the project, or the whole project is stopped."""


class Member:
    """One query of a running project. `step` takes it from one status to the next; it never waits.

    Starts and stops take long, so they run in executors: starts one after the other, and stops at once. A query that
    fails is started again after a growing pause, and one that cannot start is refused until its files change.
    """

    def __init__(
        self,
        declared: ProjectQuery,
        digest: str,
        limits: LimitsEntry,
        starter: Starter,
        starts: Executor,
        stops: Executor,
        notify: Notify,
    ) -> None:
        """Create the member of a query that is not started yet."""
        self.name = declared.name
        self.declared = declared
        self.status = Status.waiting
        self.since = datetime.now(UTC)
        """When the query got its status."""
        self.error: TransomError | None = None
        """The last error, until a micro-batch succeeds or the query has changed."""
        self.started: StartedQuery | None = None
        """The run, and the query that it answers, which may be older than the project says."""
        self.last: StartedQuery | None = None
        """The newest run, which may have ended."""
        self.last_report: dict[str, Any] = {}
        """Spark's report of the last micro-batch."""
        self.restarts = 0
        self.tried = False
        """Whether the first start has succeeded or failed."""
        self._wanted: str | None = digest
        self._taken: str | None = None
        self._starter = starter
        self._starts = starts
        self._stops = stops
        self._notify = notify
        self._pauses = BackOff(limits.restart_first, limits.restart_longest)
        self._next_start = 0.0
        self._task: Future[Any] | None = None

    def change(self, declared: ProjectQuery, digest: str) -> None:
        """Take the query as the project declares it now; a changed one is stopped and started again."""
        if digest == self._wanted:
            return
        self.declared, self._wanted = declared, digest
        if self.status in (Status.refused, Status.ended, Status.waiting):
            self._wait(0.0)

    def remove(self) -> None:
        """Stop the query for good, between two micro-batches."""
        self._wanted = None

    @property
    def is_gone(self) -> bool:
        """Whether the query is removed, and its run has stopped."""
        return self._wanted is None and self.status is Status.stopped

    def step(self, now: float) -> None:
        """Look at the query, and start or stop it if that is due at the time `now`, in seconds of any clock."""
        if self._task is not None:
            if self._wanted is None and self.status is Status.starting and self._task.cancel():
                self._task = None
                self._set(Status.stopped)
            elif self._task.done():
                self._finish_task(now)
            return
        if self.started is not None:
            self._read_reports()
            if self._wanted != self._taken:
                self._set(Status.stopping)
                self._task = self._stops.submit(_stop, self.started)
            elif not _is_active(self.started):
                self._task = self._stops.submit(_end, self.started)
        elif self._wanted is None:
            if self.status is not Status.stopped:
                self._set(Status.stopped)
        elif self.status is Status.waiting and now >= self._next_start:
            self._taken = self._wanted
            self.restarts += self._pauses.failures > 0
            self._set(Status.starting)
            self._task = self._starts.submit(self._starter.start, self.declared)

    def _finish_task(self, now: float) -> None:
        """Take the result of a start, of a stop, or of a run that has ended by itself."""
        task, self._task = self._task, None
        assert task is not None  # noqa: S101 - the caller has checked it
        error = task.exception()
        if self.status is Status.starting:
            self.tried = True
            if error is None:
                started: StartedQuery = task.result()
                self.started = self.last = started
                self._set(Status.running, notes=list(started.warnings))
            else:
                self._fail(error, now, starting=True)
            return
        self._read_reports()
        self.started = None
        if error is not None and self._wanted == self._taken:
            self._fail(error, now, starting=False)
        elif self._wanted is None:
            self._set(Status.stopped, **({} if error is None else {"message": _translate(error).render()}))
        elif self.status is Status.stopping:
            self._wait(0.0, error)
        else:
            self._set(Status.ended)

    def _fail(self, error: BaseException, now: float, *, starting: bool) -> None:
        """Refuse a query that a restart cannot help; let another one wait for its next start."""
        failure = _translate(error)
        self.error = failure
        permanent = isinstance(failure, CheckpointError | Fenced) or (starting and failure.exit_code in (1, 2))
        if self._wanted != self._taken:
            self._wait(0.0, failure)
        elif permanent:
            self._set(Status.refused, message=failure.render())
        else:
            pause = self._pauses.pause()
            self._next_start = now + pause
            self._set(Status.waiting, message=failure.render(), next_start_seconds=pause)

    def _wait(self, next_start: float, error: BaseException | None = None) -> None:
        """Let the query wait for its next start, which is no restart: its files have changed."""
        self._pauses.reset()
        self.error = None if error is None else _translate(error)
        self._next_start = next_start
        self._set(Status.waiting, **({} if error is None else {"message": _translate(error).render()}))

    def _set(self, status: Status, **fields: Any) -> None:
        """Set the status, and notify of it."""
        self.status = status
        self.since = datetime.now(UTC)
        self._notify("status", self.name, status=status.value, **fields)

    def _read_reports(self) -> None:
        """Notify of the micro-batches that have ended since the last call; one of them resets the pauses."""
        if self.started is None:
            return
        from transom.runtime.progress import batch_record

        run = self.started.run
        while run.reports:
            report = run.reports.popleft()
            record = batch_record(report, run.counts)
            record["totals"] = {name: asdict(balance) for name, balance in run.last_progress.totals.items()}
            self.last_report = dict(report)
            self._pauses.reset()
            self.error = None
            self._notify("batch", self.name, **record)


def _is_active(started: StartedQuery) -> bool:
    """Whether the run is active; False if its session is gone."""
    try:
        return started.run.is_active
    except Exception:  # the session is gone
        return False


def _stop(started: StartedQuery) -> None:
    """Stop a run between two micro-batches, and raise the error that it had before."""
    started.run.stop()
    started.run.wait(1)


def _end(started: StartedQuery) -> None:
    """Release what a run that has ended by itself holds, and raise its error."""
    try:
        started.run.wait(60)
    finally:
        with contextlib.suppress(Exception):  # the session may be gone
            started.run.final_progress()


def _translate(error: BaseException) -> TransomError:
    """Return an error of a run as a TransomError."""
    if isinstance(error, TransomError):
        return error
    from transom.runtime.failures import translate_error, unknown_error

    try:
        return translate_error(error) or unknown_error(error)
    except Exception:  # the text of an error of Java is fetched from the JVM, which is gone
        return EngineError("Spark stopped the query", detail=type(error).__name__)
