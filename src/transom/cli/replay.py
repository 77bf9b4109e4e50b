"""The commands that run a query over existing data: `replay` and `verify`."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transom.cli.output import say
from transom.cli.run import KernelUse, print_rejected, start_session, status_message
from transom.errors import UsageError

if TYPE_CHECKING:
    from transom.physical.nodes.windows import KernelMode
    from transom.query import Query
    from transom.runtime.sinks.sink import Sink
    from transom.runtime.verify.verify import CheckResult

MAX_ROWS_SHOWN = 1000
"""The most rows that a replay prints."""


def replay_query(
    query: Query[Any], master: str | None, out: str, *, start: int, until: int | None, index: bool, kernel: KernelUse
) -> None:
    """Run a query as a batch from tick `start` to `until`; print or write to `out` its rows, numbered if `index`."""
    query.physical(user_sources=None)
    form, _, folder = out.partition(":")
    needs_answer = form in query.semantics.folder_formats and bool(folder)
    sink = replay_sink(f"jsonl:{folder}" if needs_answer else out)
    if needs_answer:
        query.semantics.check_format(form)
    spark = start_session(master)
    from transom.cli.answers import print_table
    from transom.runtime.dataframe import dataframe, replay
    from transom.runtime.options import RunOptions
    from transom.spark.input.rejected import RejectedRows

    job = query.job(spark, RunOptions(start, until, index, kernel=kernel.value), live=False)
    say(job.kernel.line, err=True)
    rejected = RejectedRows()
    with status_message("replaying"):
        if needs_answer:  # these formats need all rows of the answer
            answer = job.results.collect_replay(dataframe(job, spark, live=False, rejected=rejected), start, None)
            lines = query.semantics.lines(answer, form, start, until, escape_formulas=False)
            write_lines(Path(folder) / f"answer.{form}", lines)
        else:
            frame = replay(job, spark, rejected=rejected)
            if sink.folder is not None:
                sink.attach(frame.write.mode("errorifexists")).save()
    for stream, messages in rejected.messages().items():
        print_rejected(stream, messages.counts, messages.first)
    if sink.folder is not None:
        say(f"{sink.folder}: written")
    elif job.results.show(frame, MAX_ROWS_SHOWN, lambda shown: print_table(query.semantics.table(shown, start, until))):
        say(f"and more; the first {MAX_ROWS_SHOWN:,} rows are shown", err=True)
    for extent, count in rejected.counts().items():
        say(speed_limit_message(extent, count), err=True)
    rejected.release()


def write_lines(file: Path, lines: Iterable[str]) -> None:
    """Write lines to a new file in a new folder."""
    file.parent.mkdir(parents=True)
    with file.open("x", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def replay_sink(out: str) -> Sink:
    """Parse the sink of a replay: the console or a new folder; UsageError for a server or an existing folder."""
    from transom.runtime.sinks.sink import Sink

    sink = Sink.read(out)
    if sink.address is not None:
        raise UsageError(f"{sink.kind} takes the answers of a live run", hint="a replay writes files")
    if sink.folder is not None and Path(sink.folder).exists():
        raise UsageError(f"{sink.folder} is there already", hint="a replay writes into a new folder")
    return sink


def verify_query(
    query: Query[Any], master: str | None, splits: str, *, start: int, until: int | None, kernel: KernelUse
) -> bool:
    """Compare a replay and streams cut by `splits` (`1,7,all`) with the reference engine, print it; True if equal."""
    query.physical(user_sources=None)
    spark = start_session(master)
    from transom.runtime.options import RunOptions
    from transom.runtime.verify.verify import find_late_rows, verify
    from transom.spark.input.rejected import RejectedRows

    started, rejected = time.monotonic(), RejectedRows()
    job = query.job(spark, RunOptions(kernel=kernel.value), live=False)
    say(job.kernel.line, err=True)
    use: KernelMode = "on" if job.kernel.used else "off"
    with status_message("verifying") as update_status:
        split_texts = splits.split(",")
        checks = verify(
            query,
            spark,
            splits=split_texts,
            start=start,
            until=until,
            watch=update_status,
            kernel=use,
            rejected=rejected,
        )
        all_agree = report_checks(checks, job.results.part_name)
    for stream, messages in rejected.messages().items():
        print_rejected(stream, messages.counts, messages.first)
    for rows in find_late_rows(query, until):
        say(
            f"late: {rows.count:,} rows of {rows.extent} came more than {rows.lateness} ticks behind, the first at "
            f"{rows.first}; a live run could drop them (a larger `lateness` keeps them)"
        )
    say(f"{'all agree' if all_agree else 'they do not agree'} ({time.monotonic() - started:.0f} s)")
    return all_agree


def report_checks(checks: Iterable[CheckResult], part_name: str) -> bool:
    """Print each check of `verify` as soon as it is done, with its number of `part_name`s; True if all agree."""
    all_agree = True
    for check in checks:
        all_agree = all_agree and check.agrees
        verdict = "as the reference" if check.agrees else "DIFFERS"
        comparison = "" if check.run == "reference" else f", {verdict}"
        say(f"{check.run}: {check.count:,} {part_name}{comparison}")
        if check.difference:
            say(f"  first difference: {check.difference}")
    return all_agree


def speed_limit_message(extent: str, count: int | None) -> str:
    """The message about rows of `extent` rejected by a speed limit; `count` is None if Spark did not count them."""
    if count is None:
        return f"rejected: not known how many rows of {extent} beyond its max_speed, as Spark did not tell"
    return f"rejected: {count:,} rows of {extent} beyond its max_speed"
