"""The verb of the command line that runs a query live, and what it shares with others that need Spark."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from transom import cli_lines
from transom.cli_lines import say
from transom.cli_stopping import Stop, stoppable
from transom.errors import RunWarning, UsageError
from transom.printable import escape

__all__ = ["stoppable"]

if TYPE_CHECKING:
    from rich.table import Table

    from transom.algebra.state_bound import StateBound
    from transom.query import Query
    from transom.runtime.options import RunOptions
    from transom.runtime.progress import Progress
    from transom.runtime.running import Running

Checkpoint = Annotated[Path, typer.Option("--checkpoint", "-k", metavar="DIR", help="Where to go on from later.")]
SinkOption = Annotated[str, typer.Option("--sink", help="console, parquet:DIR, jsonl:DIR, or the address of a server.")]
Master = Annotated[str | None, typer.Option("--master", help="The Spark master; default: this machine.")]
Index = Annotated[bool, typer.Option("--index", help="Add the running index of tagged tuples.")]


BETWEEN_LOOKS = 60.0
"""Seconds between two looks at the files of a run."""


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
    """How `run` writes to the standard error."""

    auto = "auto"
    text = "text"
    json = "json"


class DataLoss(StrEnum):
    """What to do when messages of a topic are gone before they were read."""

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
Approximate = Annotated[
    bool, typer.Option("--approximate-sums", help="Sum floats fast; the last digits may then depend on the run.")
]


def started(master: str | None) -> Any:
    """A session of Spark, with word of it on a terminal, as it takes seconds."""
    try:
        from transom.runtime.session import session
    except ImportError as error:
        raise _no_spark(error) from error
    with doing("starting Spark"):
        return session(master)


def _no_spark(error: ImportError) -> UsageError:
    return UsageError(
        "PySpark is not installed", hint="in a checkout of Transom: pip install '.[spark]'", detail=str(error)
    )


def is_json(wanted: LogFormat, once: bool) -> bool:
    """Whether a run writes JSON to the standard error."""
    if wanted is LogFormat.auto:
        return not once and not sys.stderr.isatty()
    return wanted is LogFormat.json


def first_tick(start: str | None, checkpoint: Path) -> int | None:
    """The tick that `--start now` meant when a checkpoint was made; None if there is none, or another start."""
    from transom.runtime.fingerprint import kept_start

    return kept_start(checkpoint) if start == "now" else None


@contextmanager
def doing(what: str) -> Iterator[Callable[[str], None]]:
    """A line that says what takes so long, on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        yield status.update


def run_options(**options: Any) -> RunOptions:
    """The options of a run; PySpark must be installed."""
    try:
        from transom.runtime.options import RunOptions
    except ImportError as error:
        raise _no_spark(error) from error
    return RunOptions(**options)


def begun(query: Query[Any], master: str | None, options: RunOptions) -> Running:
    """A query that has just been started, and the line about the kernel."""
    from transom.runtime.start import start_query

    spark = started(master)
    job = query.job(spark, options)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", RunWarning)
        running = start_query(job, spark)
    for one in found:
        say(f"warning: {one.message}", "yellow", err=True)
    say(job.kernel.line, err=True)
    return running


def run_query(running: Running, stop: Stop, flow: tuple[str, str] = ("rows", "out")) -> None:
    """Watch a query until it ends or somebody stops it; then say what it did."""
    done = follow(running, stop)
    taken, made = flow
    say(f"{done.rows_in:,} {taken} in, {done.rows_out:,} {made}, {done.late_rows:,} late", err=True)
    show_balances(running, done)


def show_balances(running: Running, done: Progress) -> None:
    """Print what became of the rows of each source, what the sink refused, and up to where the answers go."""
    for source, balance in done.sources.items():
        say(f"{source}: {balance}", "yellow" if balance.late or balance.rejected else "", err=True)
    warn_of_late_rows(done)
    for what, count in done.refused.items():
        say(f"dead letters: {count:,} {what}", err=True)
    show_unread(running, done)
    show_closed_tick(running)


def show_unread(running: Running, done: Progress) -> None:
    """Print how many offsets of a topic were passed over, where a run may lose messages."""
    if running.job.options.on_data_loss == "continue":
        for topic, count in done.unread.items():
            say(f"warning: {count:,} offsets of {topic} held no message any more", "yellow", err=True)


def warn_of_late_rows(done: Progress) -> None:
    """Say that late rows are missing in the answers, and what to do about it."""
    if done.late_rows:
        words = "late rows are not in the answers: a larger `lateness` keeps them, and files in the order of their rows"
        say(f"warning: {words}", "yellow", err=True)


def show_closed_tick(running: Running) -> None:
    """Print up to which tick a run with --once has answered; with --until the user has named that tick."""
    if not running.job.options.once or running.job.options.until is not None:
        return
    tick = running.closed_tick()
    if tick is not None:
        end = running.job.catalog.calendar.instant_of(tick + 1)
        say(f"last closed tick: {tick}, which ended at {end:%Y-%m-%d %H:%M:%S} UTC", err=True)
    elif running.job.bound.rows != 0:
        say("last closed tick: none; a tick closes when every source has a later row", err=True)


def follow(running: Running, stop: Stop) -> Progress:
    """Wait until a query ends or somebody stops it, and then say how to go on; what it did."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if running.resumed:
        say(f"going on from {running.job.options.checkpoint}", err=True)
    stop.listen()
    stop.waits = True
    files = FileWatch(running)
    try:
        if console.is_terminal and not running.job.options.once and not cli_lines.is_json():
            from rich.live import Live

            bound = running.job.bound
            with Live(block(running.progress(), bound), console=console, refresh_per_second=2) as live:
                ended = _until(running, stop, files, lambda: live.update(block(running.progress(), bound)))
        else:
            ended = _until(running, stop, files, lambda: log_batches(running))
        if not ended:
            running.stop()
        done = running.progress()
        log_batches(running)
    except Exception:
        if not stop.asked:
            raise
        ended, done = False, running.seen  # whoever stopped the query has stopped Spark with it
    files.look(now=True)
    if not ended:
        say(f"stopped; start it again with --checkpoint {running.job.options.checkpoint} and it goes on", err=True)
    return done


def _until(running: Running, stop: Stop, files: FileWatch, show: Callable[[], None]) -> bool:
    """Wait until a query has ended, or somebody wants it to stop; whether it has ended."""
    while not running.wait(0.5):
        if stop.asked:
            return False
        files.look()
        show()
    return True


def log_batches(running: Running) -> None:
    """Log each micro-batch that has ended since as one line of JSON, if lines are JSON."""
    from transom.runtime.progress import described

    if not cli_lines.is_json():
        return
    running.progress()
    while running.reports:
        cli_lines.log("batch", query=running.job.name, **described(running.reports.popleft(), running.counts))


class FileWatch:
    """Warns once of each file that was changed after a run had read it."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._told: set[Path] = set()
        self._last = 0.0
        self.look(now=True)

    def look(self, *, now: bool = False) -> None:
        """Look at the files, if that is not too soon after the last time."""
        from transom.runtime.files_read import changed_line

        if not now and time.monotonic() - self._last < BETWEEN_LOOKS:
            return
        self._last = time.monotonic()
        for path in self._running.changed_files():
            if path not in self._told:
                self._told.add(path)
                say(f"warning: {changed_line(path)}", "yellow", err=True)


def block(done: Progress, bound: StateBound) -> Table:
    """The one block that a running query shows."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    lag = done.lag()
    state = f"{done.state_rows:,}" + (f" of at most {bound.rows:,}" if bound.rows else f" (bound: {bound})")
    rows = [
        ("rows in", f"{done.rows_in:,}", f"{done.in_per_second:,.0f} per second"),
        ("rows out", f"{done.rows_out:,}", f"{done.out_per_second:,.0f} per second"),
        ("watermark", f"{done.watermark:%Y-%m-%d %H:%M:%S}" if done.watermark else "none yet", _behind(lag)),
        ("rows in state", state, ""),
    ]
    rows += [
        (source, f"{balance.read:,} read", str(balance).partition(" = ")[2]) for source, balance in done.sources.items()
    ]
    rows += [("dead letters", f"{count:,}", what) for what, count in done.refused.items()]
    for name, value, more in rows:
        table.add_row(*map(Text, map(escape, (name, value, more)), ("dim", "", "dim")))
    return table


def _behind(lag: float | None) -> str:
    return "" if lag is None else f"{lag:,.0f} s behind the wall clock"


def refuse(query: Query[Any], options: Mapping[str, bool]) -> None:
    """Refuse options that mean nothing for a query."""
    for option, wanted in options.items():
        why = query.semantics.refused.get(option)
        if wanted and why is not None:
            raise UsageError(f"{option} is not for SPARQL", detail=why, hint=f"leave out {option}")


def show_rejected(stream: str, counts: Mapping[str, int], first: str) -> None:
    """How many messages of a stream could not be read, and the first of them."""
    said = ", ".join(f"{count} {reason}" for reason, count in counts.items())
    say(f"warning: set aside of {stream}: {said}; the first is {first}", "yellow", err=True)
