"""The command line: one verb per question a user asks. `errors.EXIT_CODES` says how a command ends.

Imports at the top of the `cli` modules are paid by `transom --help`. What a verb needs beyond them is imported in the
function that uses it: `cli_files.load` imports the compiler.
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

from transom import cli_collecting, cli_replaying, cli_running
from transom.cli_errors import errors_shown
from transom.cli_files import MapColour, garbage_collection_paused, load, write_text
from transom.cli_lines import json_lines, say
from transom.cli_words import said_warnings, show_warnings, tick_of
from transom.errors import UsageError
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


KINDS = {
    "tagged-tuples": "tagged tuples",
    "stream": "a stream",
    "windows": "windows",
    "solutions": "solutions",
    "sequences": "solutions in order",
    "triples": "statements",
    "boolean": "true or false",
}
"""What answers consist of, in words."""
File = Annotated[
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
    """Run the command line."""
    atexit.register(gc.freeze)  # the last collection of a process costs 0.1 s and frees what ends with it anyway
    with errors_shown():
        app()


def version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        say(f"transom {__version__}")
        raise typer.Exit


@app.callback()
def options(
    wanted: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Ask continuous questions of sensors, streams and tables."""


@app.command()
def check(file: File, catalog: CatalogFile = None, parameters: Parameters = None) -> None:
    """Say whether a query is right, what it gives, how much it must remember and which engines run it."""
    query = load(file, catalog, parameters=parameters)
    with garbage_collection_paused():
        engines = query.engines
    show_warnings(query, err=False)
    say(f"{file}: fine\n  gives {KINDS[query.gives]}: {', '.join(query.columns)}")
    say(f"  remembers {query.state} {query.semantics.unit}\n  runs on: {engines}")
    for hint in query.state.hints:
        say(f"  hint: {hint}", "green")


@app.command()
def fmt(
    file: File,
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    verify: Annotated[bool, typer.Option("--check", help="Change nothing; exit 1 if the text would change.")] = False,
) -> None:
    """Write a query in canonical form, into its file; comments stay."""
    query = load(file, catalog, parameters=parameters)
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
    file: File,
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    stage: Annotated[Stage, typer.Option(help="What to show.")] = Stage.plan,
    format: Annotated[TreeFormat, typer.Option(help="How to show it.")] = TreeFormat.text,
    without: Without = None,
    kernel: cli_running.KernelOption = cli_running.KernelUse.auto,
) -> None:
    """Show one stage of a query, with the rows that every operator must remember."""
    query = load(file, catalog, without, parameters)
    session = cli_running.started(None) if stage is Stage.spark else None
    tree = query.explain(stage.value, format.value, spark=session, kernel=kernel.value)
    say(tree, json=format is TreeFormat.json)
    if stage is Stage.spark:
        return
    if format is TreeFormat.text and stage is not Stage.syntax:
        planned = stage is Stage.plan
        state = query.spark_state(kernel.value) if planned else query.state
        say(f"\nstate: {state} {'rows' if planned else query.semantics.unit}")
        for hint in state.hints:
            say(f"hint: {hint}")
    if format is TreeFormat.text and stage in (Stage.optimized, Stage.plan) and query.steps:
        say("rules: " + ", ".join(dict.fromkeys(step.rule for step in query.steps)))


@app.command()
def simulate(
    file: File,
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    until: Until = None,
    start: Start = None,
    format: Annotated[AnswerFormat, typer.Option(help="How to show the answer.")] = AnswerFormat.table,
    without: Without = None,
    csv_guard: CsvGuard = True,
) -> None:
    """Answer a query over the catalog's sources with the reference engine."""
    query = load(file, catalog, without, parameters)
    show_warnings(query)
    first, last = tick_of(start, "--start", query) or 0, tick_of(until, "--until", query)
    if format is not AnswerFormat.table:
        query.semantics.check_format(format.value)
    with said_warnings(), progress(query) as watch:
        found = query.inputs(None, last, start=first, watch=watch)
        for remark in query.semantics.unmatched(found):
            say(remark.line(query.text, query.name, "warning: "), "yellow", err=True)
        answer = query.evaluate(found)
    for stream, (counts, message) in query.semantics.rejected(answer).items():
        cli_running.show_rejected(stream, counts, message)
    from transom.cli_answers import print_answer

    print_answer(query, answer, format.value, first, last, guard=csv_guard)


@app.command()
def picture(
    file: File,
    output: Annotated[Path, typer.Option("--output", "-o", help="The SVG file to write.")],
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    until: Until = None,
    start: Start = None,
) -> None:
    """Draw the windows of a query over time, or for SPARQL when its solutions are valid."""
    if output.suffix.lower() != ".svg":
        raise UsageError(f"{output} is no name for a picture", hint="pictures are SVG: let the name end in .svg")
    query = load(file, catalog, parameters=parameters)
    show_warnings(query)
    first, last = tick_of(start, "--start", query) or 0, tick_of(until, "--until", query)
    with progress(query) as watch:
        drawing = query.picture(until=last, start=first, watch=watch)
    write_text(output, drawing.svg)
    say(f"{output}: written")


@app.command("map")
def draw_map(
    file: File,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write: .svg, .html or .geojson.")],
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    until: Until = None,
    start: Start = None,
    at: Annotated[str | None, typer.Option("--at", help="The tick whose windows are shown; default the last.")] = None,
    colour: Annotated[MapColour, typer.Option(help="What the colour of a track says.")] = MapColour.object,
) -> None:
    """Draw where objects went: tracks, regions, the window in force and where it slid."""
    if output.suffix.lower() not in (".svg", ".html", ".geojson"):
        raise UsageError(f"{output} is no name for a map", hint="let it end in .svg, .html or .geojson")
    query = load(file, catalog, parameters=parameters)
    show_warnings(query)
    with progress(query) as watch:
        first, now = tick_of(start, "--start", query) or 0, tick_of(at, "--at", query)
        last = tick_of(until, "--until", query)
        query.map(until=last, start=first, at=now, colour=colour.value, watch=watch).save(output)
    say(f"{output}: written")


@app.command()
def run(
    file: File,
    checkpoint: cli_running.Checkpoint,
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    sink: cli_running.SinkOption = "console",
    until: Until = None,
    start: Start = None,
    index: cli_running.Index = False,
    once: Annotated[bool, typer.Option("--once", help="Take what is there, then stop.")] = False,
    approximate_sums: cli_running.Approximate = False,
    allow_unbounded: Annotated[bool, typer.Option("--allow-unbounded", help="Run without a bound on state.")] = False,
    master: cli_running.Master = None,
    kernel: cli_running.KernelOption = cli_running.KernelUse.auto,
    on_data_loss: cli_running.DataLossOption = cli_running.DataLoss.refuse,
    log_format: cli_running.LogFormatOption = cli_running.LogFormat.auto,
) -> None:
    """Run a query on Spark, live; stop it with Ctrl-C and go on later."""
    with json_lines(cli_running.is_json(log_format, once)), cli_running.stoppable() as stop:
        query = load(file, catalog, parameters=parameters)
        show_warnings(query)
        kept = cli_running.first_tick(start, checkpoint)
        first = kept if kept is not None else tick_of(start, "--start", query) or 0
        last = tick_of(until, "--until", query)
        cli_running.refuse(query, {"--index": index, "--approximate-sums": approximate_sums})
        options = cli_running.run_options(
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
        cli_running.run_query(cli_running.begun(query, master, options), stop, query.semantics.flow)


@app.command()
def replay(
    file: File,
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    out: Annotated[
        str, typer.Option("--out", help="console, parquet:DIR or jsonl:DIR; for SPARQL also json:, nq: and jsonld:DIR.")
    ] = "console",
    until: Until = None,
    start: Start = None,
    index: cli_running.Index = False,
    master: cli_running.Master = None,
    kernel: cli_running.KernelOption = cli_running.KernelUse.auto,
) -> None:
    """Answer a query on Spark over the data that is there, as a batch; the answers of a live run."""
    query = load(file, catalog, parameters=parameters)
    show_warnings(query)
    first, last = tick_of(start, "--start", query) or 0, tick_of(until, "--until", query)
    cli_running.refuse(query, {"--index": index})
    cli_replaying.replay_query(query, master, out, start=first, until=last, index=index, kernel=kernel)


@app.command()
def verify(
    file: File,
    catalog: CatalogFile = None,
    parameters: Parameters = None,
    splits: Annotated[
        str, typer.Option(help="How to cut the stream: rows per micro-batch, all, or uneven:SEED; several by commas.")
    ] = "1,7,all",
    until: Until = None,
    start: Start = None,
    master: cli_running.Master = None,
    kernel: cli_running.KernelOption = cli_running.KernelUse.auto,
) -> None:
    """Say whether the reference engine, a replay and streams cut in several ways agree on your own data."""
    query = load(file, catalog, parameters=parameters)
    show_warnings(query)
    first, last = tick_of(start, "--start", query) or 0, tick_of(until, "--until", query)
    if not cli_replaying.verify_query(query, master, splits, start=first, until=last, kernel=kernel):
        raise SystemExit(1)


app.command()(cli_collecting.collect)
app.command()(cli_collecting.init)


@contextmanager
def progress(query: Query[Any]) -> Iterator[Callable[[str], None] | None]:
    """A bar while a query is answered, on a terminal only."""
    if not (sys.stderr.isatty() and sys.stdout.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=len(query.reads) + query.semantics.size)

        def watch(doing: str) -> None:
            bar.update(task, description=doing, advance=1)

        yield watch
