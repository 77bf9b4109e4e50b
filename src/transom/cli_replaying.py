"""The verbs of the command line that run a query over the data that is there: replay and verify."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transom.cli_lines import say
from transom.cli_running import KernelUse, doing, show_rejected, started
from transom.errors import UsageError

if TYPE_CHECKING:
    from transom.physical.plan import Kernel
    from transom.query import Query
    from transom.runtime.sinks import Sink
    from transom.runtime.verify import Check

SHOWN = 1000
"""The most rows that a replay shows."""


def replay_query(
    query: Query[Any], master: str | None, out: str, *, start: int, until: int | None, index: bool, kernel: KernelUse
) -> None:
    """Answer over last month's data: the same text, as a batch."""
    query.physical(given=None)
    form, _, folder = out.partition(":")
    gathered = form in query.semantics.folder_formats and bool(folder)
    sink = new_folder(f"jsonl:{folder}" if gathered else out)
    if gathered:
        query.semantics.check_format(form)
    spark = started(master)
    from transom.cli_answers import print_table
    from transom.runtime.dataframe import dataframe, replay
    from transom.runtime.options import RunOptions
    from transom.spark.rejected import Rejected

    job = query.job(spark, RunOptions(start, until, index, kernel=kernel.value), live=False)
    say(job.kernel.line, err=True)
    rejected = Rejected()
    with doing("replaying"):
        if gathered:  # a format looks at the whole answer
            whole = job.results.of_replay(dataframe(job, spark, live=False, rejected=rejected), start, None)
            lines = query.semantics.lines(whole, form, start, until, guard=False)
            write_lines(Path(folder) / f"answer.{form}", lines)
        else:
            frame = replay(job, spark, rejected=rejected)
            if sink.folder is not None:
                sink.attach(frame.write.mode("errorifexists")).save()
    for stream, found in rejected.messages().items():
        show_rejected(stream, found.counts, found.first)
    if sink.folder is not None:
        say(f"{sink.folder}: written")
    elif job.results.show(frame, SHOWN, lambda answer: print_table(query.semantics.table(answer, start, until))):
        say(f"and more; the first {SHOWN:,} rows are shown", err=True)
    for extent, count in rejected.counts().items():
        say(too_fast(extent, count), err=True)
    rejected.forget()


def write_lines(file: Path, lines: Iterable[str]) -> None:
    """A new file of lines, in a new folder."""
    file.parent.mkdir(parents=True)
    with file.open("x", encoding="utf-8") as written:
        written.writelines(f"{line}\n" for line in lines)


def new_folder(out: str) -> Sink:
    """Where a replay writes: the console, or a folder that is not there yet."""
    from transom.runtime.sinks import Sink

    sink = Sink.read(out)
    if sink.address is not None:
        raise UsageError(f"{sink.kind} takes the answers of a live run", hint="a replay writes files")
    if sink.folder is not None and Path(sink.folder).exists():
        raise UsageError(f"{sink.folder} is there already", hint="a replay writes into a new folder")
    return sink


def verify_query(
    query: Query[Any], master: str | None, splits: str, *, start: int, until: int | None, kernel: KernelUse
) -> bool:
    """Whether all ways of running a query agree, said line by line."""
    query.physical(given=None)
    spark = started(master)
    from transom.runtime.options import RunOptions
    from transom.runtime.verify import late, verify
    from transom.spark.rejected import Rejected

    began, rejected = time.monotonic(), Rejected()
    job = query.job(spark, RunOptions(kernel=kernel.value), live=False)
    say(job.kernel.line, err=True)
    use: Kernel = "on" if job.kernel.used else "off"
    with doing("verifying") as tell:
        cuts = splits.split(",")
        checks = verify(query, spark, splits=cuts, start=start, until=until, watch=tell, kernel=use, rejected=rejected)
        fine = agree(checks, job.results.parts)
    for stream, found in rejected.messages().items():
        show_rejected(stream, found.counts, found.first)
    for rows in late(query, until):
        say(
            f"late: {rows.count:,} rows of {rows.extent} came more than {rows.behind} ticks behind, the first at "
            f"{rows.first}; a live run could drop them (a larger `lateness` keeps them)"
        )
    say(f"{'all agree' if fine else 'they do not agree'} ({time.monotonic() - began:.0f} s)")
    return fine


def agree(checks: Iterable[Check], word: str) -> bool:
    """Whether all ways of running a query agree; each is said as soon as it is known."""
    fine = True
    for check in checks:
        fine = fine and check.agrees
        mark = "as the reference" if check.agrees else "DIFFERS"
        said = "" if check.way == "reference" else f", {mark}"
        say(f"{check.way}: {check.count:,} {word}{said}")
        if check.difference:
            say(f"  first difference: {check.difference}")
    return fine


def too_fast(extent: str, count: int | None) -> str:
    """What is said of rows beyond a speed limit; None is a number that Spark did not tell."""
    if count is None:
        return f"rejected: not known how many rows of {extent} beyond its max_speed, as Spark did not tell"
    return f"rejected: {count:,} rows of {extent} beyond its max_speed"
