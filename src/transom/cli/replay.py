"""The commands that run a query over existing data: `replay` and `verify`."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from transom.cli import output
from transom.cli.arguments import (
    CatalogFile,
    EndTime,
    FailOnWarnings,
    LanguageOption,
    ParameterValues,
    QueryFile,
    QueryFiles,
    QueryText,
    Quiet,
    StartTime,
    TimeStyleOption,
)
from transom.cli.check import Totals
from transom.cli.files import query_source, query_sources
from transom.cli.options import answer_view, load_checked, parse_tick, refuse_time_style, report_warnings
from transom.cli.output import remark, say, warn
from transom.cli.run import (
    IndexOption,
    KernelOption,
    KernelUse,
    MasterOption,
    read_renamed,
    start_session,
    status_message,
)
from transom.errors import TransomError, UsageError

if TYPE_CHECKING:
    from transom.model.balance import Balance
    from transom.model.view import PrintOptions
    from transom.physical.nodes.windows import KernelMode
    from transom.query import Query
    from transom.runtime.sinks.sink import Sink
    from transom.runtime.verify.verify import CheckResult

SinkOption = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="SINK",
        help="console (default), parquet:DIR or jsonl:DIR; for SPARQL also json:, nq: and jsonld:DIR.",
    ),
]
OldSinkOption = Annotated[str | None, typer.Option("--out", metavar="SINK", hidden=True)]
MAX_ROWS_SHOWN = 1000
"""The most rows that a replay prints."""


def replay(
    file: QueryFile = None,
    query: QueryText = None,
    language: LanguageOption = None,
    catalog: CatalogFile = None,
    parameters: ParameterValues = None,
    sink: SinkOption = None,
    old_sink: OldSinkOption = None,
    until: EndTime = None,
    start: StartTime = None,
    time_unit: TimeStyleOption = None,
    index: IndexOption = False,
    master: MasterOption = None,
    kernel: KernelOption = KernelUse.auto,
    quiet: Quiet = False,
    strict: FailOnWarnings = False,
) -> None:
    """Evaluate a query over recorded data on Spark, as one batch; the answer is a live run's without late rows.

    All times in the answer are in UTC, also if the catalog declares a zone for the times that it reads.
    """
    output.set_verbosity(quiet=quiet, strict=strict)
    loaded = load_checked(query_source(file, query, language), catalog, parameters)
    first, last = parse_tick(start, "--start", loaded) or 0, parse_tick(until, "--until", loaded)
    from transom.project.settings import refuse_options

    refuse_options(loaded, {"--index": index})
    target, view = read_renamed(sink, old_sink, "--out"), answer_view(loaded, time_unit)
    refuse_time_style(time_unit, target.partition(":")[0], is_folder=":" in target)
    replay_query(loaded, master, target, view, start=first, until=last, index=index, kernel=kernel)


def replay_query(
    query: Query[Any],
    master: str | None,
    sink_text: str,
    view: PrintOptions,
    *,
    start: int,
    until: int | None,
    index: bool,
    kernel: KernelUse,
) -> None:
    """Run a query on Spark as a batch; print its rows, numbered if `index`, or write them to a sink like `parquet:DIR`.

    The rows are numbered if `index` is True.
    """
    query.physical(user_sources=None)
    form, _, folder = sink_text.partition(":")
    needs_answer = form in query.semantics.folder_formats and bool(folder)
    sink = replay_sink(f"jsonl:{folder}" if needs_answer else sink_text)
    if needs_answer:
        query.semantics.check_format(form)
    spark = start_session(master)
    from transom.cli.printing.answers import print_table
    from transom.connectors.rejections import rejection_hint
    from transom.model.reject_reason import rejected_line
    from transom.runtime.dataframe import dataframe
    from transom.runtime.dataframe import replay as replay_on_spark
    from transom.runtime.options import RunOptions
    from transom.spark.input.rejected import RejectedRows

    job = query.job(spark, RunOptions(start, until, index, kernel=kernel.value), live=False)
    remark(job.kernel.line, err=True)
    rejected = RejectedRows()
    with status_message("replaying"):
        if needs_answer:  # these formats need all rows of the answer
            answer = job.results.collect_replay(dataframe(job, spark, live=False, rejected=rejected), start, None)
            lines = query.semantics.lines(answer, form, start, until, view, escape_formulas=False)
            write_lines(Path(folder) / f"answer.{form}", lines)
        else:
            frame = replay_on_spark(job, spark, rejected=rejected)
            if sink.folder is not None:
                sink.attach(frame.write.mode("errorifexists")).save()
    for stream, messages in rejected.messages().items():
        source, calendar = job.catalog.sources[stream], job.catalog.calendar
        hint = rejection_hint(source, calendar, messages.counts, messages.used, messages.example)
        warn(f"warning: {rejected_line(stream, messages.counts, messages.first, messages.unit, hint)}")
    if sink.folder is not None:
        remark(f"{sink.folder}: written")
    elif job.results.show(
        frame, MAX_ROWS_SHOWN, lambda shown: print_table(query.semantics.table(shown, start, until, view))
    ):
        remark(f"and more; the first {MAX_ROWS_SHOWN:,} rows are shown", err=True)
    for extent, balance in rejected.balances().items():
        warn(f"warning: {speed_limit_message(extent, balance)}")
    rejected.release()


def write_lines(file: Path, lines: Iterable[str]) -> None:
    """Write lines to a new file, and create the file's folder."""
    file.parent.mkdir(parents=True)
    with file.open("x", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def replay_sink(sink_text: str) -> Sink:
    """Parse the sink of a replay: the console or a new folder; raise UsageError for a server or an existing folder."""
    from transom.runtime.sinks.sink import Sink

    sink = Sink.read(sink_text)
    if sink.address is not None:
        raise UsageError(f"{sink.kind} takes the answers of a live run", hint="a replay writes files")
    if sink.folder is not None and Path(sink.folder).exists():
        raise UsageError(f"{sink.folder} is there already", hint="a replay writes into a new folder")
    return sink


def verify(
    files: QueryFiles = None,
    query: QueryText = None,
    language: LanguageOption = None,
    catalog: CatalogFile = None,
    parameters: ParameterValues = None,
    splits: Annotated[
        str,
        typer.Option(
            metavar="LIST", help="How to cut the stream: rows per micro-batch, all, or uneven:SEED; several by commas."
        ),
    ] = "1,7,all",
    until: EndTime = None,
    start: StartTime = None,
    master: MasterOption = None,
    kernel: KernelOption = KernelUse.auto,
    quiet: Quiet = False,
    strict: FailOnWarnings = False,
) -> None:
    """Compare the answers of simulate, of replay and of run over streams cut in several ways, on recorded data."""
    output.set_verbosity(quiet=quiet, strict=strict)
    sources = query_sources(files or [], query, language)
    totals = Totals(("verified", "not verified"))
    for source in sources:
        if len(sources) > 1:
            say(f"{source.name}:")
        try:
            loaded = load_checked(source, catalog, parameters)
            first, last = parse_tick(start, "--start", loaded) or 0, parse_tick(until, "--until", loaded)
            agrees = verify_query(loaded, master, splits, start=first, until=last, kernel=kernel)
        except TransomError as error:
            totals.add_error(source, error, len(sources))
        else:
            totals.add("verified" if agrees else "not verified", 0 if agrees else 1)
    totals.finish(len(sources))


def verify_query(
    query: Query[Any], master: str | None, splits: str, *, start: int, until: int | None, kernel: KernelUse
) -> bool:
    """Compare answers on Spark, per split such as `1,7,all`, with the reference engine's; return whether all agree.

    They are a replay and runs over streams cut by `splits`, such as `1,7,all`.
    """
    query.physical(user_sources=None)
    spark = start_session(master)
    from transom.runtime.options import RunOptions
    from transom.runtime.verify.verify import find_late_rows
    from transom.runtime.verify.verify import verify as verify_on_spark

    started = time.monotonic()
    job = query.job(spark, RunOptions(kernel=kernel.value), live=False)
    remark(job.kernel.line, err=True)
    use: KernelMode = "on" if job.kernel.used else "off"
    with report_warnings(), status_message("verifying") as update_status:
        split_texts = splits.split(",")
        checks = verify_on_spark(
            query,
            spark,
            splits=split_texts,
            start=start,
            until=until,
            on_step=update_status,
            kernel=use,
        )
        all_agree = report_checks(checks, job.results.part_name)
    for rows in find_late_rows(query, until):
        say(
            f"late: {rows.count:,} rows of {rows.extent} came more than {rows.lateness} ticks behind, the first at "
            f"{rows.first}; a live run could drop them (a larger `lateness` keeps them)"
        )
    say(f"{'all agree' if all_agree else 'they do not agree'} ({time.monotonic() - started:.0f} s)")
    return all_agree


def report_checks(checks: Iterable[CheckResult], part_name: str) -> bool:
    """Print each check of `verify` when it is done, with a count of `part_name` such as tuples; whether all agree.

    An answer has a number of `part_name`s.
    """
    all_agree = True
    for check in checks:
        all_agree = all_agree and check.agrees
        verdict = "as the reference" if check.agrees else "DIFFERS"
        comparison = "" if check.run == "reference" else f", {verdict}"
        say(f"{check.run}: {check.count:,} {part_name}{comparison}")
        if check.difference:
            say(f"  first difference: {check.difference}")
    return all_agree


def speed_limit_message(extent: str, balance: Balance | None) -> str:
    """Return a line with the row counts of an extent that has a `max_speed`; None as `balance` means not known."""
    if balance is None:
        return f"{extent}: not known how many rows are beyond its max_speed, as Spark did not report it"
    return f"{extent}: {balance}"
