"""The command that runs a query live, and what it shares with other commands that need Spark."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from transom.cli import output
from transom.cli.output import remark, say, warn
from transom.cli.signals import Interrupted, StopRequest, stop_on_signal
from transom.errors import RunWarning, UsageError, install_hint
from transom.printable import escape

__all__ = ["stop_on_signal"]

if TYPE_CHECKING:
    from rich.table import Table

    from transom.algebra.state.bound import StateBound
    from transom.project.settings import RunSettings
    from transom.query import Query
    from transom.runtime.beginning import Beginning
    from transom.runtime.options import RunOptions
    from transom.runtime.progress import Progress
    from transom.runtime.running import Running

CheckpointOption = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint", "-k", metavar="DIR", help="Where to go on from later; a query of a project has its own."
    ),
]
SinkOption = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="SINK", help="console (default), parquet:DIR, jsonl:DIR, or the address of a server."
    ),
]
OldSinkOption = Annotated[str | None, typer.Option("--sink", metavar="SINK", hidden=True)]
MasterOption = Annotated[str | None, typer.Option("--master", help="The Spark master; default: this computer.")]
IndexOption = Annotated[bool, typer.Option("--index", help="Add the running index of tagged tuples.")]


FILE_CHECK_SECONDS = 60.0
"""Seconds between two checks of a run's source files."""


class KernelUse(StrEnum):
    """Whether stateful operators run in Java."""

    auto = "auto"
    on = "on"
    off = "off"


KernelOption = Annotated[
    KernelUse,
    typer.Option("--kernel", help="Stateful operators in Java: where the session takes it, always, or never."),
]


class LogFormat(StrEnum):
    """The format of what `run` writes to stderr."""

    auto = "auto"
    text = "text"
    json = "json"


class DataLoss(StrEnum):
    """What to do when a broker has deleted unread messages of a topic."""

    refuse = "refuse"
    proceed = "continue"


LogFormatOption = Annotated[
    LogFormat,
    typer.Option("--log-format", help="JSON: a line per micro-batch; auto: JSON for a live run without a terminal."),
]
DataLossOption = Annotated[
    DataLoss,
    typer.Option("--on-data-loss", help="When Kafka has deleted messages before they were read: stop, or go on."),
]
ApproximateSumsOption = Annotated[
    bool, typer.Option("--approximate-sums", help="Sum floats fast; the last digits may then depend on the run.")
]


def read_renamed(value: str | None, old_value: str | None, old_name: str) -> str:
    """Return the sink of `--output` or, with a warning, the `old_value` of the renamed option; else the console."""
    if old_value is not None:
        if value is not None:
            raise UsageError(f"--output and {old_name} are the same option", hint=f"leave out {old_name}")
        warn(f"warning: {old_name} is an old name of --output")
    return value or old_value or "console"


def start_session(master: str | None, settings: Mapping[str, str] | None = None) -> Any:
    """Start a Spark session on `master` (None: the default), with a status line; UsageError without PySpark.

    `settings` are further settings of a new session.
    """
    try:
        from transom.runtime.session import get_session
    except ImportError as error:
        raise _spark_missing(error) from error
    with status_message("starting Spark"):
        return get_session(master, settings=settings)


def _spark_missing(error: ImportError) -> UsageError:
    """Build the error of a command that cannot import PySpark, which says how to install it."""
    return UsageError("PySpark is not installed", hint=install_hint("spark"), detail=str(error))


def wants_json(log_format: LogFormat, once: bool) -> bool:
    """Whether a run writes JSON to stderr; with `auto`, it does unless stderr is a terminal or the run is `once`."""
    if log_format is LogFormat.auto:
        return not once and not sys.stderr.isatty()
    return log_format is LogFormat.json


@contextmanager
def status_message(message: str) -> Iterator[Callable[[str], None]]:
    """Show a status line during a slow step, on a terminal only; yield the function that changes its text."""
    if not sys.stderr.isatty() or output.is_quiet():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(message) as status:
        yield status.update


def run_options(settings: RunSettings, query: Query[Any], checkpoint: Path) -> RunOptions:
    """Return the RunOptions of a query with this checkpoint; raise UsageError if PySpark is not installed."""
    require_spark()
    return settings.options(query, checkpoint)


def require_spark() -> None:
    """Raise UsageError if PySpark, which the runtime needs, is not installed."""
    try:
        import transom.runtime.options  # noqa: F401
    except ImportError as error:
        raise _spark_missing(error) from error


def start_run(
    query: Query[Any], master: str | None, options: RunOptions, beginning: Beginning | None = None
) -> Running:
    """Start a query on a Spark master (None: default) from `beginning`; print warnings and the kernel used."""
    from transom.runtime.beginning import beginning_line, start_at
    from transom.runtime.start import start_query

    spark = start_session(master)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunWarning)
        if beginning is None:
            job = query.job(spark, options)
            running = start_query(job, spark)
        else:
            running = start_at(query, spark, options, beginning)
            job = running.job
    for warning in caught:
        warn(f"warning: {warning.message}")
    remark(job.kernel.line, err=True)
    if line := None if beginning is None else beginning_line(query, job.options):
        remark(line, err=True)
    return running


def watch_and_report(
    running: Running, stop: StopRequest, input_output_names: tuple[str, str] = ("rows", "out")
) -> None:
    """Wait until a query ends or `stop` is requested; print its totals in and out, with words `input_output_names`.

    `input_output_names` are the words for its input and output. Raises Interrupted if the query was stopped and must
    finish.
    """
    progress, ended = watch_run(running, stop)
    input_name, output_name = input_output_names
    remark(
        f"{progress.rows_in:,} {input_name} in, {progress.rows_out:,} {output_name}, {progress.late_rows:,} late",
        err=True,
    )
    print_balances(running, progress)
    if stop.must_finish and not ended:
        raise Interrupted


def print_balances(running: Running, progress: Progress) -> None:
    """Print each source's used, late and rejected rows, rows that the sink refused, and the last complete tick."""
    for source, balance in progress.sources.items():
        if balance.late or balance.rejected:
            say(f"{source}: {balance}", "yellow", err=True)
        else:
            remark(f"{source}: {balance}", err=True)
    print_totals(progress)
    warn_of_late_rows(progress)
    for sink_label, count in progress.refused.items():
        say(f"dead letters: {count:,} {sink_label}", err=True)
    print_unread_offsets(running, progress)
    print_closed_tick(running)
    print_takeover(running)


def print_totals(progress: Progress) -> None:
    """Print how many Kafka offsets had rows or none; in a resumed run, also each source's counts over all runs."""
    for source, counts in progress.offsets.items():
        remark(f"{source}: {counts.sentence(progress.sources[source].read)}", err=True)
    if not progress.earlier.batches and not progress.uncounted:
        return
    first = f"since micro-batch {progress.counted_from}" if progress.counted_from else "since the first start"
    for source, balance in progress.totals.items():
        remark(f"{source}, {first}: {balance}", err=True)
    if progress.uncounted:
        warn(f"warning: micro-batches that were committed and not counted, after a kill: {progress.uncounted:,}")


def print_unread_offsets(running: Running, progress: Progress) -> None:
    """Print how many offsets of each Kafka topic held no message to read, in a run that accepts data loss."""
    if running.job.options.on_data_loss == "continue":
        for topic, count in progress.unread.items():
            warn(f"warning: {count:,} offsets of {topic} held no message any more")


def warn_of_late_rows(progress: Progress) -> None:
    """Warn that late rows are missing in the answers, and how to keep them."""
    if progress.late_rows:
        text = "late rows are not in the answers: a larger `lateness` keeps them, and files in the order of their rows"
        warn(f"warning: {text}")


def print_closed_tick(running: Running) -> None:
    """Print the last tick whose answers are complete in a run with --once, unless --until sets the last tick."""
    if not running.job.options.once or running.job.options.until is not None:
        return
    tick, ahead, calendar = running.closed_tick(), running.newest_tick_ahead(), running.job.catalog.calendar
    if tick is not None:
        end = calendar.instant_of(tick + 1)
        remark(f"last closed tick: {tick}, which ended at {end:%Y-%m-%d %H:%M:%S} UTC", err=True)
    if ahead is not None:
        newest = calendar.instant_of(ahead)
        warn(
            f"warning: the clock is at {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC, and the newest row is at "
            f"{newest:%Y-%m-%d %H:%M:%S} UTC; the clock ends windows that may be empty, so pass "
            f"--until {newest.isoformat().replace('+00:00', 'Z')} to end them up to this row"
        )
    elif tick is None and running.job.bound.rows != 0:
        remark("last closed tick: none; a tick closes when every source has a later row", err=True)


def print_takeover(running: Running) -> None:
    """Print that a run has replaced another running query, or that it has not caught up with that query yet."""
    from transom.runtime.upgrade.takeover import takeover_line

    line = takeover_line(running.job.options.folder)
    if line is not None:
        remark(line, err=True)


def watch_run(running: Running, stop: StopRequest) -> tuple[Progress, bool]:
    """Wait until a query ends or is stopped; return its final progress, and whether it has ended by itself.

    If it was stopped, print how to resume it.
    """
    from rich.console import Console

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if running.resumed:
        remark(f"going on from {running.job.options.checkpoint}", err=True)
    stop.listen()
    stop.polled = True
    file_watch = SourceFileWatch(running)
    try:
        if console.is_terminal and not (running.job.options.once or output.is_json() or output.is_quiet()):
            from rich.live import Live

            bound = running.job.bound
            with Live(progress_table(running.progress(), bound), console=console, refresh_per_second=2) as live:
                ended = _wait_for_end(
                    running, stop, file_watch, lambda: live.update(progress_table(running.progress(), bound))
                )
        else:
            ended = _wait_for_end(running, stop, file_watch, lambda: log_batches(running))
        if not ended:
            running.stop()
        log_batches(running)
    except Exception:
        if not stop.requested:
            raise
        ended = False  # the signal that stopped the query has stopped Spark, too
    progress = running.final_progress()
    file_watch.check_files(now=True)
    if not (ended or stop.must_finish):
        remark(f"stopped; start it again with --checkpoint {running.job.options.checkpoint} and it goes on", err=True)
    return progress, ended


def _wait_for_end(
    running: Running, stop: StopRequest, file_watch: SourceFileWatch, show_progress: Callable[[], None]
) -> bool:
    """Wait until a query ends (True) or a stop is requested (False); show progress and changed files meanwhile."""
    while not running.wait(0.5):
        if stop.requested:
            return False
        file_watch.check_files()
        show_progress()
    return True


def log_batches(running: Running) -> None:
    """In JSON mode, log each micro-batch that has ended since the last call as one line."""
    from transom.runtime.progress import batch_record

    if not output.is_json():
        return
    running.progress()
    while running.reports:
        record = batch_record(running.reports.popleft(), running.counts)
        record["totals"] = {name: asdict(balance) for name, balance in running.last_progress.totals.items()}
        if not output.is_quiet():
            output.log_event("batch", query=running.job.name, **record)


class SourceFileWatch:
    """Warns once about each file that was modified after a run had read it."""

    def __init__(self, running: Running) -> None:
        """Start to watch the source files of a run for changes, with a first check now."""
        self._running = running
        self._reported: set[Path] = set()
        self._last = 0.0
        self.check_files(now=True)

    def check_files(self, *, now: bool = False) -> None:
        """Warn of source files modified since the last check, at most every FILE_CHECK_SECONDS unless `now`."""
        from transom.runtime.checkpoint.logs.source_files import changed_file_message

        if not now and time.monotonic() - self._last < FILE_CHECK_SECONDS:
            return
        self._last = time.monotonic()
        for path in self._running.changed_files():
            if path not in self._reported:
                self._reported.add(path)
                warn(f"warning: {changed_file_message(path)}")


def progress_table(progress: Progress, bound: StateBound) -> Table:
    """Build the table that a running query shows on a terminal: totals, rows in state and their bound."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    lag = progress.lag()
    state = f"{progress.state_rows:,}" + (f" of at most {bound.rows:,}" if bound.rows else f" (bound: {bound})")
    rows = [
        ("rows in", f"{progress.rows_in:,}", f"{progress.in_per_second:,.0f} per second"),
        ("rows out", f"{progress.rows_out:,}", f"{progress.out_per_second:,.0f} per second"),
        ("watermark", f"{progress.watermark:%Y-%m-%d %H:%M:%S}" if progress.watermark else "none yet", _lag_text(lag)),
        ("rows in state", state, ""),
    ]
    rows += [
        (source, f"{balance.read:,} read", str(balance).partition(" = ")[2])
        for source, balance in progress.sources.items()
    ]
    if progress.earlier.batches:
        rows += [
            (f"{source}, in all", f"{balance.read:,} read", str(balance).partition(" = ")[2])
            for source, balance in progress.totals.items()
        ]
    rows += [("dead letters", f"{count:,}", sink_label) for sink_label, count in progress.refused.items()]
    for name, value, comment in rows:
        table.add_row(*map(Text, map(escape, (name, value, comment)), ("dim", "", "dim")))
    return table


def _lag_text(lag: float | None) -> str:
    """Describe how far the watermark lags behind the clock; empty before the first watermark."""
    return "" if lag is None else f"{lag:,.0f} s behind the wall clock"
