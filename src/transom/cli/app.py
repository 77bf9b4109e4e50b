"""The commands of `transom`. `errors.EXIT_CODES` lists the exit codes.

`transom --help` pays for every import at the top of the `cli` modules. What a command needs beyond them is imported in
the function that uses it: `files.load_query` imports the compiler.
"""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from transom.cli import collect
from transom.cli import replay as replaying
from transom.cli import run as running
from transom.cli.errors import report_errors
from transom.cli.files import MapColour, load_query, pause_garbage_collection, write_text
from transom.cli.options import parse_tick, print_query_warnings, report_warnings
from transom.cli.output import say, use_json_lines
from transom.reports import MAP_ENDINGS, PICTURE_ENDINGS, check_drawing_name
from transom.version import __version__

if TYPE_CHECKING:
    from transom.query import Query

app = typer.Typer(
    name="transom",
    help="Ask continuous questions of sensors, streams and tables.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Stage(StrEnum):
    """The stages that `explain` shows."""

    syntax = "syntax"
    algebra = "algebra"
    optimized = "optimized"
    plan = "plan"
    spark = "spark"


class TreeFormat(StrEnum):
    """How `explain` shows a stage."""

    text = "text"
    json = "json"
    dot = "dot"


class AnswerFormat(StrEnum):
    """How `simulate` shows an answer."""

    table = "table"
    csv = "csv"
    jsonl = "jsonl"
    json = "json"
    nq = "nq"
    jsonld = "jsonld"


RESULT_KIND_LABELS = {
    "tagged-tuples": "tagged tuples",
    "stream": "a stream",
    "windows": "windows",
    "solutions": "solutions",
    "sequences": "solutions in order",
    "triples": "statements",
    "boolean": "true or false",
}
"""How `check` names the kind of an answer."""
QueryFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The query; its ending names the language (.sneeql, .cql, .rq).")
]
CatalogFile = Annotated[
    Path | None, typer.Option("--catalog", "-c", help="The catalog; default: catalog.yaml beside the query.")
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until", "-u", metavar="T", help="The last tick: a number, a time such as '10 min', now, or an instant."
    ),
]
Start = Annotated[
    str | None,
    typer.Option("--start", "-s", metavar="T", help="The first tick, as --until; rows before it do not count."),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="The value of a parameter of the query."),
]
CsvGuard = Annotated[
    bool, typer.Option("--csv-guard/--no-csv-guard", help="In CSV, an apostrophe before text that would be a formula.")
]
Without = Annotated[list[str] | None, typer.Option("--without", help="An optimizer rule to switch off, by name.")]


def main() -> None:
    """Run the command line: parse the arguments, run the command, print errors and exit."""
    atexit.register(gc.freeze)  # the last garbage collection costs 0.1 s and frees what the exit frees anyway
    with report_errors():
        app()


def print_version(requested: bool) -> None:
    """Callback of `--version`: if it was `requested`, print the version and exit."""
    if requested:
        say(f"transom {__version__}")
        raise typer.Exit


@app.callback()
def main_options(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """The options before any command: `--version` prints the version and stops."""


@app.command()
def check(file: QueryFile, catalog: CatalogFile = None, parameters: Parameters = None) -> None:
    """Say whether a query is right, what it gives, how much it must remember and which engines run it."""
    query = load_query(file, catalog, parameters=parameters)
    with pause_garbage_collection():
        engines = query.engines
    print_query_warnings(query, err=False)
    say(f"{file}: fine\n  gives {RESULT_KIND_LABELS[query.result_kind]}: {', '.join(query.columns)}")
    say(f"  remembers {query.state} {query.semantics.unit}\n  runs on: {engines}")
    for hint in query.state.hints:
        say(f"  hint: {hint}", "green")


@app.command()
def fmt(
    file: QueryFile,
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    verify: Annotated[bool, typer.Option("--check", help="Change nothing; exit 1 if the text would change.")] = False,
) -> None:
    """Write a query in canonical form, into its file; comments stay."""
    query = load_query(file, catalog, parameters=parameters)
    text = query.format()
    if text == query.text:
        say(f"{file}: is in canonical form")
    elif verify:
        say(f"{file}: would change")
        raise SystemExit(1)
    else:
        write_text(file, text)
        say(f"{file}: written anew")


@app.command()
def explain(
    file: QueryFile,
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    stage: Annotated[Stage, typer.Option(help="What to show.")] = Stage.plan,
    format: Annotated[TreeFormat, typer.Option(help="How to show it.")] = TreeFormat.text,
    without: Without = None,
    kernel: running.KernelOption = running.KernelUse.auto,
) -> None:
    """Show one stage of a query, with the rows that every operator must remember."""
    query = load_query(file, catalog, without, parameters)
    session = running.start_session(None) if stage is Stage.spark else None
    tree = query.explain(stage.value, format.value, spark=session, kernel=kernel.value)
    say(tree, json=format is TreeFormat.json)
    if stage is Stage.spark:
        return
    if format is TreeFormat.text and stage is not Stage.syntax:
        is_plan = stage is Stage.plan
        state = query.spark_state(kernel.value) if is_plan else query.state
        say(f"\nstate: {state} {'rows' if is_plan else query.semantics.unit}")
        for hint in state.hints:
            say(f"hint: {hint}")
    if format is TreeFormat.text and stage in (Stage.optimized, Stage.plan) and query.steps:
        say("rules: " + ", ".join(dict.fromkeys(step.rule for step in query.steps)))


@app.command()
def simulate(
    file: QueryFile,
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    until: Until = None,
    start: Start = None,
    format: Annotated[AnswerFormat, typer.Option(help="How to show the answer.")] = AnswerFormat.table,
    without: Without = None,
    csv_guard: CsvGuard = True,
) -> None:
    """Answer a query over the catalog's sources with the reference engine."""
    query = load_query(file, catalog, without, parameters)
    print_query_warnings(query)
    first, last = parse_tick(start, "--start", query) or 0, parse_tick(until, "--until", query)
    if format is not AnswerFormat.table:
        query.semantics.check_format(format.value)
    with report_warnings(), progress_bar(query) as watch:
        inputs = query.inputs(None, last, start=first, watch=watch)
        for remark in query.semantics.input_remarks(inputs):
            say(remark.line(query.text, query.name, "warning: "), "yellow", err=True)
        answer = query.evaluate(inputs)
    for stream, (counts, message) in query.semantics.rejected(answer).items():
        running.print_rejected(stream, counts, message)
    from transom.cli.answers import print_answer

    print_answer(query, answer, format.value, first, last, escape_formulas=csv_guard)


@app.command()
def picture(
    file: QueryFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write: .svg or .png.")],
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    until: Until = None,
    start: Start = None,
) -> None:
    """Draw the windows of a query over time, or for SPARQL when its solutions are valid."""
    check_drawing_name(output, PICTURE_ENDINGS, "picture")
    query = load_query(file, catalog, parameters=parameters)
    print_query_warnings(query)
    first, last = parse_tick(start, "--start", query) or 0, parse_tick(until, "--until", query)
    with progress_bar(query) as watch:
        query.picture(until=last, start=first, watch=watch).save(output)
    say(f"{output}: written")


@app.command("map")
def draw_map(
    file: QueryFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write: .svg, .png, .html or .geojson.")],
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    until: Until = None,
    start: Start = None,
    at: Annotated[str | None, typer.Option("--at", help="The tick whose windows are shown; default the last.")] = None,
    colour: Annotated[MapColour, typer.Option(help="What the colour of a track says.")] = MapColour.object,
) -> None:
    """Draw where objects went: tracks, regions, the current window and where it slid."""
    check_drawing_name(output, MAP_ENDINGS, "map")
    query = load_query(file, catalog, parameters=parameters)
    print_query_warnings(query)
    with progress_bar(query) as watch:
        first, now = parse_tick(start, "--start", query) or 0, parse_tick(at, "--at", query)
        last = parse_tick(until, "--until", query)
        query.map(until=last, start=first, at=now, colour=colour.value, watch=watch).save(output)
    say(f"{output}: written")


@app.command()
def run(
    file: QueryFile,
    checkpoint: running.CheckpointOption,
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    sink: running.SinkOption = "console",
    until: Until = None,
    start: Start = None,
    index: running.IndexOption = False,
    once: Annotated[bool, typer.Option("--once", help="Take what is there, then stop.")] = False,
    approximate_sums: running.ApproximateSumsOption = False,
    allow_unbounded: Annotated[bool, typer.Option("--allow-unbounded", help="Run without a bound on state.")] = False,
    master: running.MasterOption = None,
    kernel: running.KernelOption = running.KernelUse.auto,
    on_data_loss: running.DataLossOption = running.DataLoss.refuse,
    log_format: running.LogFormatOption = running.LogFormat.auto,
) -> None:
    """Run a live query on Spark; stop it with Ctrl-C and resume it later."""
    with use_json_lines(running.wants_json(log_format, once)), running.stop_on_signal() as stop:
        query = load_query(file, catalog, parameters=parameters)
        print_query_warnings(query)
        recorded_start = running.checkpoint_start_tick(start, checkpoint)
        first = recorded_start if recorded_start is not None else parse_tick(start, "--start", query) or 0
        last = parse_tick(until, "--until", query)
        running.refuse_options(query, {"--index": index, "--approximate-sums": approximate_sums})
        options = running.run_options(
            start=first,
            until=last,
            index=index,
            approximate_sums=approximate_sums,
            kernel=kernel.value,
            sink=sink,
            checkpoint=checkpoint.absolute(),
            once=once,
            allow_unbounded=allow_unbounded,
            on_data_loss=on_data_loss.value,
        )
        query.physical(start=first, index=index)
        running.watch_and_report(running.start_run(query, master, options), stop, query.semantics.flow)


@app.command()
def replay(
    file: QueryFile,
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    out: Annotated[
        str, typer.Option("--out", help="console, parquet:DIR or jsonl:DIR; for SPARQL also json:, nq: and jsonld:DIR.")
    ] = "console",
    until: Until = None,
    start: Start = None,
    index: running.IndexOption = False,
    master: running.MasterOption = None,
    kernel: running.KernelOption = running.KernelUse.auto,
) -> None:
    """Answer a query on Spark over existing data, as a batch; the answers are those of a live run."""
    query = load_query(file, catalog, parameters=parameters)
    print_query_warnings(query)
    first, last = parse_tick(start, "--start", query) or 0, parse_tick(until, "--until", query)
    running.refuse_options(query, {"--index": index})
    replaying.replay_query(query, master, out, start=first, until=last, index=index, kernel=kernel)


@app.command()
def verify(
    file: QueryFile,
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    splits: Annotated[
        str, typer.Option(help="How to cut the stream: rows per micro-batch, all, or uneven:SEED; several by commas.")
    ] = "1,7,all",
    until: Until = None,
    start: Start = None,
    master: running.MasterOption = None,
    kernel: running.KernelOption = running.KernelUse.auto,
) -> None:
    """Say whether the reference engine, a replay and streams cut in several ways agree on your own data."""
    query = load_query(file, catalog, parameters=parameters)
    print_query_warnings(query)
    first, last = parse_tick(start, "--start", query) or 0, parse_tick(until, "--until", query)
    if not replaying.verify_query(query, master, splits, start=first, until=last, kernel=kernel):
        raise SystemExit(1)


app.command()(collect.collect)
app.command()(collect.init)


@contextmanager
def progress_bar(query: Query[Any]) -> Iterator[Callable[[str], None] | None]:
    """Show a progress bar while a query is evaluated; yields a function that shows a step, None without a terminal."""
    if not (sys.stderr.isatty() and sys.stdout.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=len(query.sources) + query.semantics.size)

        def show_step(step: str) -> None:
            """Show the name of the next evaluation step beside the progress bar."""
            bar.update(task, description=step, advance=1)

        yield show_step
