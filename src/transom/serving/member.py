"""One query of a running project: its status, and what happens next to it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from transom.errors import TransomError
from transom.project.entries import LimitsEntry
from transom.project.project import ProjectQuery
from transom.serving.back_off import BackOff
from transom.serving.change import Change
from transom.serving.failures import is_permanent, translate
from transom.serving.starting import StartedQuery, Starter

if TYPE_CHECKING:
    from transom.query import Query

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
    fails is started again after a growing pause, and one that cannot start is refused until its files change. If the
    files of a query that runs change, its run goes on until a check has shown that the changed query can start.
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
        """The declaration that runs, or starts next; that of the files if there is no `change`."""
        self.status = Status.waiting
        self.since = datetime.now(UTC)
        """When the query got its status."""
        self.error: TransomError | None = None
        """The last error, until a micro-batch succeeds or the query has changed."""
        self.change: Change | None = None
        """The newer declaration of the files, while it is checked or refused."""
        self.started: StartedQuery | None = None
        """The run, and the query that it answers."""
        self.last: StartedQuery | None = None
        """The newest run, which may have ended."""
        self.last_report: dict[str, Any] = {}
        """Spark's report of the last micro-batch."""
        self.restarts = 0
        self.tried = False
        """Whether the first start has succeeded or failed."""
        self._digest = digest
        self._checked: Query[Any] | None = None
        """The query of a change that was accepted, until its first start has succeeded."""
        self._removed = False
        self._limits = limits
        self._starter = starter
        self._starts = starts
        self._stops = stops
        self._notify = notify
        self._pauses = self._new_pauses()
        self._next_start = 0.0
        self._task: Future[Any] | None = None

    def declare(self, declared: ProjectQuery, digest: str) -> None:
        """Take the query as the project declares it now; if it has run, a changed one is checked first."""
        returned, self._removed = self._removed, False
        if digest == (self._digest if self.change is None else self.change.digest):
            return
        if digest == self._digest:
            self._drop_change()
            self._notify("change", self.name, change="withdrawn")
        if self.status in (Status.refused, Status.ended) or (self.last is None and self.status is Status.waiting):
            self._adopt(declared, digest)
            self._wait(0.0)
        elif returned and self.status is Status.stopping:
            self._adopt(declared, digest)
        elif digest != self._digest:
            self._drop_change()
            self.change = Change(declared, digest, self._new_pauses())

    def remove(self) -> None:
        """Stop the query for good, between two micro-batches."""
        self._removed = True
        self._drop_change()

    @property
    def is_gone(self) -> bool:
        """Whether the query is removed, and its run has stopped."""
        return self._removed and self.status is Status.stopped

    def step(self, now: float) -> None:
        """Look at the query, and start or stop it if that is due at the time `now`, in seconds of any clock."""
        if self._task is not None:
            if self._removed and self.status is Status.starting and self._task.cancel():
                self._task = None
                self._set(Status.stopped)
            elif self._task.done():
                self._finish_task(now)
            return
        if self.change is not None:
            self._follow(self.change, now)
        if self._task is not None:
            return
        if self.started is not None:
            self._read_reports()
            if self._removed:
                self._stop(self.started)
            elif not _is_active(self.started):
                self._task = self._stops.submit(_end, self.started)
        elif self._removed:
            if self.status is not Status.stopped:
                self._set(Status.stopped)
        elif self.status is Status.waiting and now >= self._next_start and not self._is_checking:
            self.restarts += self._pauses.failures > 0
            self._set(Status.starting)
            self._task = self._starts.submit(self._starter.start, self.declared, self._compiled)

    @property
    def _is_checking(self) -> bool:
        """Whether a check of a change is under way, which decides what starts next."""
        return self.change is not None and self.change.is_checking

    @property
    def _compiled(self) -> Query[Any] | None:
        """The query that starts next, if the files do not contain it any more; None if they are compiled."""
        if self._checked is not None:
            return self._checked
        return self.last.query if self.change is not None and self.last is not None else None

    def _follow(self, change: Change, now: float) -> None:
        """Check a change, and then stop the run to start the changed query, or let the run go on."""
        if not change.is_refused and (self.last is None or self.status in (Status.refused, Status.ended)):
            self._adopt(change.declared, change.digest)
            self._wait(0.0)
            return
        reported = None if change.error is None else change.error.message
        if not change.step(now, self._starter, self._starts):
            return
        if change.error is not None and change.query is None:
            if change.is_refused or change.error.message != reported:
                word = "refused" if change.is_refused else "waiting"
                self._notify("change", self.name, change=word, message=change.error.render())
            return
        self._notify("change", self.name, change="accepted")
        self._adopt(change.declared, change.digest, change.query)
        if self.started is not None:
            self._stop(self.started)
        else:
            self._wait(0.0)

    def _adopt(self, declared: ProjectQuery, digest: str, query: Query[Any] | None = None) -> None:
        """Let a declaration be the one that starts next, as the compiled `query` if it was checked."""
        self._drop_change()
        self.declared, self._digest, self._checked = declared, digest, query

    def _drop_change(self) -> None:
        """Forget the change, because it is accepted, withdrawn, replaced by a newer one, or the query is removed."""
        if self.change is not None:
            self.change.drop()
            self.change = None

    def _stop(self, started: StartedQuery) -> None:
        """Begin to stop the run between two micro-batches."""
        self._set(Status.stopping)
        self._task = self._stops.submit(_stop, started)

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
                self._checked = None
                self._set(Status.running, notes=list(started.warnings))
            else:
                self._fail(error, now, starting=True)
            return
        self._read_reports()
        self.started = None
        if self._removed:
            self._set(Status.stopped, **({} if error is None else {"message": translate(error).render()}))
        elif self._checked is not None:
            self._wait(0.0, error)
        elif error is not None:
            self._fail(error, now, starting=False)
        elif self.status is Status.stopping:
            self._wait(0.0)
        else:
            self._set(Status.ended)

    def _fail(self, error: BaseException, now: float, *, starting: bool) -> None:
        """Refuse a query that a restart cannot help; let another one wait for its next start."""
        failure = translate(error)
        self.error = failure
        if is_permanent(failure, starting=starting):
            self._set(Status.refused, message=failure.render())
        else:
            pause = self._pauses.pause()
            self._next_start = now + pause
            self._set(Status.waiting, message=failure.render(), next_start_seconds=pause)

    def _wait(self, next_start: float, error: BaseException | None = None) -> None:
        """Let the query wait for its next start, which is no restart: its files have changed."""
        self._pauses.reset()
        self.error = None if error is None else translate(error)
        self._next_start = next_start
        self._set(Status.waiting, **({} if error is None else {"message": translate(error).render()}))

    def _new_pauses(self) -> BackOff:
        """Return the pauses between attempts, as the project limits them."""
        return BackOff(self._limits.restart_first, self._limits.restart_longest)

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
