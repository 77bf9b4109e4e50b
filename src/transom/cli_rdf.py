"""Questions over RDF on the command line: their answers in every format, what was set aside, their stages, on Spark."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transom import cli_running
from transom.cli_lines import say, write_data
from transom.cli_running import KernelUse
from transom.cli_stopping import Stop
from transom.errors import UsageError
from transom.printable import escape, escape_json, escape_lines

if TYPE_CHECKING:
    from transom.model.rdf.answer import RdfAnswer
    from transom.physical.plan import Kernel
    from transom.rdf_query import RdfQuery
    from transom.runtime.options import RunOptions

KINDS = {
    "solutions": "solutions",
    "sequences": "solutions in order",
    "triples": "statements",
    "boolean": "true or false",
}
ONLY_RDF = ("json", "nq", "jsonld")
"""Formats that only answers over RDF have."""


def explain(query: RdfQuery, stage: Any, format: Any, kernel: Any) -> None:
    """Show one stage, and with the algebra how much it remembers."""
    say(query.explain(stage, format, kernel=kernel), json=format == "json")
    if format == "text" and stage == "algebra":
        say(f"\nstate: {query.state} statements and solutions")


def simulate(query: RdfQuery, format: str, start: int, until: int | None) -> None:
    """Answer a query and show what is valid between two instants."""
    from transom.reference.rdf.evaluate import evaluate

    found, aside = query.inputs(until=until)
    for remark in query.unmatched(found):
        say(remark.line(query.text, query.name, "warning: "), "yellow", err=True)
    whole = replace(evaluate(query.algebra, found), aside=aside)
    answer = whole.during(start, until)
    show_aside(whole)
    if format == "table":
        print_table(answer, query)
        return
    for line in lines(format, whole, start, until):
        write_data(line, escape_lines if format == "csv" else escape_json)


def lines(format: str, whole: RdfAnswer, start: int, until: int | None) -> Iterator[str]:
    """What of an answer is valid between two instants, in a format."""
    from transom.model.rdf import formats

    if format == "json":
        return formats.results_lines(whole, start, until)
    written = {
        "csv": formats.csv_lines,
        "jsonl": formats.json_lines,
        "nq": formats.quad_lines,
        "jsonld": formats.json_ld_lines,
    }
    return written[format](whole.during(start, until))


def show_aside(answer: RdfAnswer) -> None:
    """How many messages of which stream could not be read, and the first of each."""
    for stream, aside in answer.aside.items():
        say_aside(stream, Counter(one.reason.value for one in aside), f"{aside[0].place}: {aside[0].words}")


def say_aside(stream: str, counts: Mapping[str, int], first: str) -> None:
    """The words for it."""
    said = ", ".join(f"{count} {reason}" for reason, count in counts.items())
    say(f"warning: set aside of {stream}: {said}; the first is {first}", "yellow", err=True)


def print_table(answer: RdfAnswer, query: RdfQuery) -> None:
    """An answer for people: when it is valid, how often, and terms as the query's prefixes shorten them."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from transom.model.rdf import formats
    from transom.model.rdf.short import short

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("start", "end", "n", *answer.columns):
        table.add_column(Text(escape(name)), overflow="fold")
    previous: object = None
    prefixes = query.prefixes
    for start, end, n, terms in formats.rows(answer):
        when = (str(start), "∞" if end is None else str(end))
        if answer.sequences:
            when = ("", "") if previous == (start, end) else when
            previous = (start, end)
        cells = [str(t).lower() if isinstance(t, bool) else escape(short(t, prefixes)) for t in terms]
        table.add_row(*map(Text, (*when, str(n), *cells)))
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(table)


def refuse_format(format: str) -> None:
    """Formats of RDF are for answers over RDF."""
    if format in ONLY_RDF:
        raise UsageError(f"only answers to SPARQL can be written as {format}", hint="write table, csv or jsonl")


PARTS = {"solutions": "solutions", "sequences": "sequences", "triples": "statements", "boolean": "truth values"}
"""What an answer has some of."""
SHOWN = 1000
"""The most rows that a replay shows."""


def refuse(options: Mapping[str, bool]) -> None:
    """Options that mean nothing over RDF."""
    why = {
        "--start": "a run tells changes, which add up from tick 0 on",
        "--index": "solutions have no running index",
        "--approximate-sums": "nothing is summed",
    }
    for option, wanted in options.items():
        if wanted:
            raise UsageError(f"{option} is not for SPARQL", detail=why[option], hint=f"leave out {option}")


def run(query: RdfQuery, master: str | None, options: RunOptions, stop: Stop) -> None:
    """Run a query live, and say at the end what it did."""
    query.physical()
    running = cli_running.begun(query, master, options)
    done = cli_running.follow(running, stop)
    say(f"{done.rows_in:,} statements in, {done.rows_out:,} changes out, {done.late_rows:,} late", err=True)
    cli_running.show_balances(running, done)


def replay(query: RdfQuery, master: str | None, out: str, start: int, until: int | None, kernel: KernelUse) -> None:
    """Answer over the data that is there as a batch: intervals, or what the formats of RDF make of them."""
    from transom.model.rdf.answer import RdfAnswer
    from transom.runtime.sinks import Sink

    query.physical()
    kind, _, named = out.partition(":")
    folder = Path(named) if kind in ONLY_RDF and named else None
    sink = cli_running.new_folder(f"jsonl:{named}" if folder else out)
    if folder:
        list(lines(kind, RdfAnswer(query.gives, query.columns), 0, None))  # refused before anything is computed
    spark = cli_running.started(master)
    from transom.runtime.options import RunOptions
    from transom.runtime.rdf_aside import SetAside
    from transom.runtime.rdf_intervals import replay as batch

    aside = SetAside()
    first, last = (start, until) if folder is None else (0, None)  # a format looks at the whole answer
    job = query.job(spark, RunOptions(first, last, kernel=kernel.value), live=False)
    say(job.kernel.line, err=True)
    try:
        with cli_running.doing("replaying"):
            frame = batch(job, spark, aside=aside)
            for stream, broken in aside.broken().items():
                say_aside(stream, broken.counts, broken.first)
            if folder:
                whole = _gathered(query, frame.collect())
                write_lines(folder / f"answer.{kind}", lines(kind, whole, start, until))
            elif sink != Sink("console"):
                sink.attach(frame.orderBy(*_order(query)).write.mode("errorifexists")).save()
            else:
                rows = frame.orderBy(*_order(query)).limit(SHOWN + 1).collect()
        if sink == Sink("console"):
            print_table(_gathered(query, rows[:SHOWN]), query)
            if len(rows) > SHOWN:
                say(f"and more; the first {SHOWN:,} rows are shown", err=True)
        else:
            say(f"{sink.folder}: written")
    finally:
        aside.forget()


def write_lines(file: Path, lines: Iterator[str]) -> None:
    """A new file of lines, in a new folder."""
    file.parent.mkdir(parents=True)
    with file.open("x", encoding="utf-8") as written:
        written.writelines(f"{line}\n" for line in lines)


def _gathered(query: RdfQuery, rows: list[Any]) -> RdfAnswer:
    from transom.runtime.rdf_intervals import gathered

    return gathered(rows, query.gives, query.columns)


def _order(query: RdfQuery) -> list[str]:
    return ["start", "place"] if query.gives == "sequences" else ["start"]


def verify(query: RdfQuery, master: str | None, splits: str, start: int, until: int | None, kernel: KernelUse) -> bool:
    """Whether all ways of running a query agree, said line by line."""
    query.physical()
    spark = cli_running.started(master)
    from transom.runtime.options import RunOptions
    from transom.runtime.rdf_aside import SetAside
    from transom.runtime.rdf_verify import verify as checks

    began, aside = time.monotonic(), SetAside()
    choice = query.job(spark, RunOptions(kernel=kernel.value), live=False).kernel
    say(choice.line, err=True)
    use: Kernel = "on" if choice.used else "off"
    with cli_running.doing("verifying") as tell:
        cuts = splits.split(",")
        ways = checks(query, spark, splits=cuts, start=start, until=until, watch=tell, kernel=use, aside=aside)
        fine = cli_running.agree(ways, PARTS[query.gives])
    for stream, broken in aside.seen.items():
        say_aside(stream, broken.counts, broken.first)
    return cli_running.verdict(fine, began)
