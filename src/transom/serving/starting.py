"""Start one query of a project in the session that all of them share."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from transom.errors import RunWarning

if TYPE_CHECKING:
    from collections import deque

    from transom.project.project import ProjectQuery
    from transom.query import Query
    from transom.runtime.job import Job
    from transom.runtime.progress import Progress
    from transom.spark.input.balance import RowCounts

POOL = "spark.scheduler.pool"
"""Spark's name for the property of a thread that names the pool of its jobs."""
SESSION_SETTINGS = {"spark.scheduler.mode": "FAIR"}
"""What a session of several queries needs: their pools take turns, so that a large query does not delay the others."""


class QueryRun(Protocol):
    """What the supervisor needs of a running query; `Running` is one."""

    job: Job
    counts: RowCounts
    reports: deque[Mapping[str, Any]]
    last_progress: Progress

    @property
    def sink_retries(self) -> int:
        """How often the sink has repeated a delivery."""
        ...

    @property
    def is_active(self) -> bool:
        """Whether the query is still running."""
        ...

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the query ends or the timeout expires; raise the error of the run."""
        ...

    def stop(self) -> None:
        """Stop the query between two micro-batches."""
        ...

    def final_progress(self) -> Progress:
        """Return the totals of a run that has ended."""
        ...


@dataclass(frozen=True)
class StartedQuery:
    """A compiled query and its run; `warnings` are what the start warned of."""

    query: Query[Any]
    run: QueryRun
    warnings: tuple[str, ...] = ()

    @cached_property
    def plan(self) -> str:
        """The plan of the run, as `explain` prints it."""
        return self.query.explain("plan", kernel="on" if self.run.job.kernel.used else "off")


class Starter(Protocol):
    """Starts queries; it may be called from several threads."""

    def check(self, declared: ProjectQuery) -> Query[Any]:
        """Compile a query; raise the error with which its start would be refused. A run of it may go on meanwhile."""
        ...

    def start(self, declared: ProjectQuery, query: Query[Any] | None = None) -> StartedQuery:
        """Start a query as it was compiled (None: compile it first); raise the error that prevents it."""
        ...

    def is_alive(self) -> bool:
        """Whether queries can still be started and run."""
        ...


class SparkStarter:
    """Starts the queries of a project in one Spark session, one after the other, each in its own scheduler pool.

    A start changes settings of the session for a moment, and collects Python's warnings. Both are shared by all
    threads, so only one query is started or checked at a time.
    """

    def __init__(self, spark: Any) -> None:
        """Start queries in the session `spark`."""
        self._spark = spark
        self._starting = threading.Lock()

    def check(self, declared: ProjectQuery) -> Query[Any]:
        """Compile a query against its catalog; raise the error with which its checkpoint, plan or sink refuses it."""
        from transom.runtime.beginning import check_start

        with self._starting, warnings.catch_warnings():
            warnings.simplefilter("ignore", RunWarning)  # the start warns
            query = declared.compile()
            options = declared.settings.options(query, declared.checkpoint)
            check_start(query, self._spark, options, declared.settings.beginning(query, declared.checkpoint))
        return query

    def start(self, declared: ProjectQuery, query: Query[Any] | None = None) -> StartedQuery:
        """Start a compiled query, or compile it against its catalog first; it begins where its checkpoint says."""
        from transom.runtime.beginning import start_at

        with self._starting, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RunWarning)
            query = query or declared.compile()
            options = declared.settings.options(query, declared.checkpoint)
            beginning = declared.settings.beginning(query, declared.checkpoint)
            self._set_pool(declared.name)
            try:
                run = start_at(query, self._spark, options, beginning)
            finally:
                self._set_pool(None)
        notes = [str(warning.message) for warning in caught if issubclass(warning.category, RunWarning)]
        return StartedQuery(query, run, (*notes, run.job.kernel.line))

    def is_alive(self) -> bool:
        """Whether the Spark application still runs."""
        try:
            context = getattr(self._spark, "_jsc", None) or self._spark._sc._jsc
            return not context.sc().isStopped()
        except Exception:  # the JVM is gone
            return False

    def _set_pool(self, name: str | None) -> None:
        """Set the scheduler pool of the queries that this thread starts; a query keeps the pool of its start."""
        self._spark.sparkContext.setLocalProperty(POOL, name)
