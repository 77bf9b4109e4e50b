"""Where the answers of a run begin: at a tick of recorded history, or after the query of an older checkpoint.

The run reads its sources from `reach` ticks before the first answer on, so that its answers are those of a run that
read everything. Earlier answers are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from transom.algebra.state.reach import HistoryReach, gives_changes
from transom.errors import CheckpointError, TransomError, UsageError
from transom.runtime.checkpoint.fingerprint import check_fingerprint, fingerprint
from transom.runtime.checkpoint.handover import (
    Handover,
    check_rebuild,
    finish_rebuild,
    read_handover,
    rebuild,
    refuse_handed_over,
    take_over,
)
from transom.runtime.checkpoint.lock import CheckpointLock
from transom.runtime.checkpoint.remembered import PLAN_FILE
from transom.runtime.job import Job, Plannable
from transom.runtime.options import RunOptions
from transom.runtime.start import check_job, start_query
from transom.runtime.topics import source_topics, warn_of_deleted_history
from transom.runtime.upgrade.takeover import begin_takeover

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from transom.runtime.running import Running

OnQueryChange = Literal["refuse", "rebuild"]
REBUILD = "--on-change rebuild"


class Reaching(Plannable, Protocol):
    """A compiled query that knows how far back its rows matter."""

    @property
    def text(self) -> str:
        """The text of the query."""
        ...

    @property
    def name(self) -> str | None:
        """The name of the query's file, for messages; None if no name was given."""
        ...

    @property
    def language(self) -> str:
        """The name of the query's language."""
        ...

    @property
    def optimized(self) -> Any:
        """The optimized algebra plan of the query; its class depends on the query's language and form."""
        ...

    @property
    def semantics(self) -> Any:
        """The query's Semantics object, whose `locate` finds an operator's position in the query text."""
        ...

    @property
    def reach(self) -> HistoryReach:
        """How many ticks back input rows can affect an answer, or the reason why there is no such limit."""
        ...


@dataclass(frozen=True)
class Beginning:
    """Where the user wants a run to begin; `since` is the first tick of the answer, `after` an older checkpoint.

    `on_change` says what happens if the checkpoint of the run is that of another query.
    """

    since: int | None = None
    after: Path | None = None
    on_change: OnQueryChange = "refuse"


def start_at(
    query: Reaching,
    spark: SparkSession,
    options: RunOptions,
    beginning: Beginning,
    user_frames: Mapping[str, DataFrame] | None = None,
    *,
    before_start: Callable[[Job], None] = lambda _: None,
) -> Running:
    """Start a query where `beginning` says: a first tick or an older checkpoint; `before_start` gets the planned query.

    `before_start` is called with the planned query.
    """
    options = resolve(query, spark, options, beginning, tuple(user_frames or ()))
    job = query.job(spark, options, tuple(user_frames or ()))
    if beginning.on_change == "rebuild" and find_change(job, user_frames or {}) is not None:
        ticks = check_beginning(query, REBUILD, index=options.index, handover=True)
        options = _from(options, ticks, rebuild(spark, options.folder, query.catalog.calendar))
        job = query.job(spark, options, tuple(user_frames or ()))
    if options.since is not None and recorded_beginning(options.folder) is None:
        warn_of_deleted_history(source_topics(job.sources, user_frames or {}))
    before_start(job)
    return start_query(job, spark, user_frames)


def check_start(query: Reaching, spark: SparkSession, options: RunOptions, beginning: Beginning) -> None:
    """Raise the error with which `start_at` would refuse a query; the checkpoint and the sink may be in use meanwhile.

    Nothing is changed. Not checked are what only the start itself can see, such as a sink that another run has taken,
    and `beginning.after`, because reading that checkpoint begins the takeover.
    """
    options = resolve(query, spark, options, replace(beginning, after=None))
    refuse_handed_over(options.folder)
    job = query.job(spark, options)
    change = find_change(job, {})
    if change is not None:
        if beginning.on_change != "rebuild":
            raise change
        ticks = check_beginning(query, REBUILD, index=options.index, handover=True)
        options = _from(options, ticks, check_rebuild(spark, options.folder, query.catalog.calendar))
        job = query.job(spark, options)
    check_job(job, spark)


def resolve(
    query: Reaching,
    spark: SparkSession,
    options: RunOptions,
    beginning: Beginning,
    opened_by_caller: Sequence[str] = (),
) -> RunOptions:
    """Return `options` with the first tick to read and that of the answer, as `beginning` or the checkpoint says.

    A run that resumes keeps what its checkpoint records, and so does one whose checkpoint was rebuilt.
    `opened_by_caller` are the names of the sources that the caller opens.
    """
    if beginning.since is not None and beginning.after is not None:
        raise UsageError("--since and --after both say where the answer begins", hint="leave out one of them")
    folder = options.folder
    rebuilt = finish_rebuild(folder)
    recorded = recorded_beginning(folder)
    if rebuilt is not None:
        if recorded is not None:
            return _recorded(options, recorded)
        return _from(options, check_beginning(query, REBUILD, index=options.index, handover=True), rebuilt)
    if beginning.after is not None:
        ticks = check_beginning(query, "--after", index=options.index, handover=True)
        if recorded is not None and recorded[1] is not None:
            return _recorded(options, recorded)
        if recorded is not None:
            raise UsageError(
                f"the checkpoint {folder} was begun without --after", hint="leave out --after, or give a new checkpoint"
            )
        handover = begin_takeover(spark, query.job(spark, options, opened_by_caller), beginning.after)
        if handover is None:
            handover = take_over(spark, beginning.after, folder, query.catalog.calendar)
        return _from(options, ticks, handover)
    if beginning.since is not None:
        ticks = check_beginning(query, "--since", index=options.index, handover=False)
        return replace(options, since=beginning.since, start=max(options.start, beginning.since - ticks))
    if recorded is not None and recorded[1] is not None and options.start == 0:
        return _recorded(options, recorded)
    return options


def check_beginning(query: Reaching, option: str, *, index: bool, handover: bool) -> int:
    """Return the ticks of earlier rows that `option` (--since) needs; UsageError if `index` or `handover` forbid it.

    `option` asks for it, `index` says whether tuples are numbered, `handover` whether the answer continues another one.
    """
    reach = query.reach
    if query.language == "sparql":
        raise UsageError(f"{option} is not for SPARQL", detail="its rows are changes since the query started")
    if index:
        raise UsageError(
            f"{option} and --index exclude each other", detail="the index counts all rows since the query started"
        )
    if reach.ticks is None:
        raise UsageError(
            f"{option} needs a bound on how far back rows matter: {reach.why}",
            hint="; ".join((*reach.hints, "or read all rows, with a new checkpoint and without this option")),
            span=query.semantics.locate(reach.operator, [extent.name for extent in query.sources]),
            text=query.text,
            source=query.name,
        )
    if handover and gives_changes(query.optimized):
        raise UsageError(
            f"{option} is refused: the rows of the query are changes",
            detail="the changes between the older relation and the newer one are not known",
            hint="use RSTREAM, or a new checkpoint and a new sink",
        )
    return reach.ticks


def _from(options: RunOptions, ticks: int, handover: Handover) -> RunOptions:
    """Return `options` for an answer from the tick after `handover` on, and input from `ticks` before that tick."""
    since = handover.tick + 1
    return replace(options, since=since, start=max(options.start, handover.first, since - ticks))


def _recorded(options: RunOptions, recorded: tuple[int, int | None]) -> RunOptions:
    """Return the options with a `recorded` pair: first tick of input rows, and of the answer (None: not set)."""
    return replace(options, start=recorded[0], since=recorded[1])


def recorded_beginning(folder: Path) -> tuple[int, int | None] | None:
    """Return a checkpoint's first ticks of input rows and of its answer (None: not set); None without a record."""
    try:
        recorded: Any = json.loads((folder / PLAN_FILE).read_bytes())
        return int(recorded["start"]), recorded.get("since")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # the check of the fingerprint says what is wrong


def find_change(job: Job, user_frames: Mapping[str, Any]) -> CheckpointError | None:
    """Return the error that says how a query differs from the one of its checkpoint; None if it may resume."""
    folder = job.options.folder
    if recorded_beginning(folder) is None:
        return None
    try:
        check_fingerprint(folder, fingerprint(job, user_frames), job.text, spark_has_written=True)
    except CheckpointError as change:
        return change
    return None


def describe_change(
    query: Reaching, spark: SparkSession, options: RunOptions, user_frames: Mapping[str, DataFrame] | None = None
) -> str:
    """Describe how a query differs from that of its checkpoint, and what a rebuild would do; nothing is changed."""
    options = resolve(query, spark, options, Beginning())
    folder = options.folder
    refuse_handed_over(folder)
    if recorded_beginning(folder) is None:
        return f"{folder} is a new checkpoint"
    change = find_change(query.job(spark, options, tuple(user_frames or ())), user_frames or {})
    if change is None:
        return f"{folder} belongs to this query, which resumes from it"
    try:
        ticks = check_beginning(query, REBUILD, index=options.index, handover=True)
        lock = CheckpointLock(folder).acquire()
        try:
            begun = _from(options, ticks, read_handover(spark, folder, query.catalog.calendar))
        finally:
            lock.release()
    except TransomError as reason:
        return f"{change.message}\n{change.detail}\n{REBUILD} is refused: {reason.message}"
    return f"{change.message}\n{change.detail}\nwith {REBUILD}, {beginning_line(query, begun)}"


def beginning_line(query: Reaching, options: RunOptions) -> str | None:
    """Describe the first ticks of a run's answer and input; None if its answer begins with its first row."""
    if options.since is None:
        return None
    calendar = query.catalog.calendar
    earlier = calendar.describe(options.since - options.start)
    return f"answers begin at tick {options.since}, and rows at tick {options.start}, {earlier} earlier"
