"""Run all queries of a project: start, watch, restart, change and stop them, each on its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor

from transom.errors import EngineError, TransomError
from transom.project.project import QueryProject
from transom.serving.events import Event, Events
from transom.serving.member import Member
from transom.serving.starting import Starter
from transom.serving.watch import ProjectWatch

HEALTHY_SECONDS = 30.0
"""A supervisor whose last step is longer ago is not healthy."""


class Supervisor:
    """The queries of a running project. `step` is called about once a second, and never waits for a query.

    `on_event` is called with each event, in the thread of `step`.
    """

    def __init__(
        self,
        watch: ProjectWatch,
        starter: Starter,
        starts: Executor,
        stops: Executor,
        on_event: Callable[[Event], None] = lambda event: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create the supervisor of a project; its first `step` starts the queries.

        `starts` starts queries, best one after the other, and `stops` stops them, best all at once.
        """
        self.watch = watch
        self.events = Events()
        self.members: dict[str, Member] = {}
        self.error: TransomError | None = None
        """The error of the project file, if it is invalid now; the queries then run as it was before."""
        self._starter = starter
        self._starts = starts
        self._stops = stops
        self._on_event = on_event
        self._clock = clock
        self._stopping = False
        self._last_step = clock()
        self._project = self._valid(watch.current.project)
        self._take(self._project)

    @property
    def project(self) -> QueryProject:
        """The project as it was valid last."""
        return self._project

    def _valid(self, project: QueryProject | None) -> QueryProject:
        """Return the project of a snapshot without an error."""
        assert project is not None  # noqa: S101 - the watch raises the error of an invalid project
        return project

    def step(self) -> None:
        """Notice changes of the project, and take each query one step on; raise EngineError if Spark has ended."""
        if not self._stopping:
            self._notice_changes()
        now = self._clock()
        for member in list(self.members.values()):
            member.step(now)
            if member.is_gone and not self._stopping:
                del self.members[member.name]
        self._last_step = self._clock()
        if not self._starter.is_alive() and not self._stopping:
            raise EngineError("Spark has ended, and all queries with it", hint="start the project again")

    def stop(self) -> None:
        """Let each query stop between two micro-batches; they have stopped when `has_stopped`, after more steps."""
        self._stopping = True
        for member in self.members.values():
            member.remove()

    @property
    def has_stopped(self) -> bool:
        """Whether no query runs, starts or stops any more."""
        return all(member.is_gone for member in self.members.values())

    @property
    def is_healthy(self) -> bool:
        """Whether the supervisor still works: its last step was not long ago."""
        return self._clock() - self._last_step < HEALTHY_SECONDS

    @property
    def is_ready(self) -> bool:
        """Whether each query has been tried: the first starts are over, with or without success."""
        return not self._stopping and all(member.tried for member in self.members.values())

    def _notice_changes(self) -> None:
        """Take over what has changed in the project; keep what runs if the project file is invalid."""
        snapshot = self.watch.poll()
        if snapshot is None:
            return
        self.error = snapshot.error
        if snapshot.error is not None:
            self._notify("project", None, message=snapshot.error.render())
        if snapshot.project is not None:
            self._project = snapshot.project
            self._notify("project", None, queries=len(snapshot.project.queries))
            self._take(snapshot.project)

    def _take(self, project: QueryProject) -> None:
        """Add the queries that are new, change those that are known, and remove those that are gone.

        A query that comes back while its earlier run stops is added once that run has stopped.
        """
        digests = self.watch.current.digests
        for name, declared in project.queries.items():
            if name in self.members:
                self.members[name].declare(declared, digests[name])
            else:
                self.members[name] = Member(
                    declared, digests[name], project.limits, self._starter, self._starts, self._stops, self._notify
                )
        for name, member in self.members.items():
            if name not in project.queries:
                member.remove()

    def _notify(self, kind: str, query: str | None, **fields: object) -> None:
        """Add an event to the list that readers follow, and pass it on."""
        self._on_event(self.events.add(kind, query, **fields))
