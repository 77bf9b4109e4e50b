"""The commands of `transom`. `errors.EXIT_CODES` lists the exit codes.

`transom --help` pays for every import at the top of the `cli` modules. What a command needs beyond them is imported in
the function that uses it: `files.load_query` imports the compiler.
"""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Sequence
from copy import copy
from enum import StrEnum
from os.path import commonpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from transom.cli import catalog as catalogs
from transom.cli import check, collect, output
from transom.cli import replay as replaying
from transom.cli import run as running
from transom.cli import test as testing
from transom.cli.arguments import (
    CatalogFile,
    Command,
    CommandGroup,
    DisabledRules,
    EndTime,
    FailOnWarnings,
    FirstPrintedTick,
    LanguageOption,
    OmitEmptyWindows,
    ParameterValues,
    QueryFile,
    QueryFiles,
    QueryText,
    Quiet,
    StartTime,
    TimeStyleOption,
)
from transom.cli.dead_letters import clean as cleaning
from transom.cli.dead_letters import resend as resending
from transom.cli.dead_letters import show as letters
from transom.cli.errors import report_errors
from transom.cli.files import (
    MapColour,
    QuerySource,
    load_query,
    query_source,
    query_sources,
)
from transom.cli.live import run_query, serve, status
from transom.cli.options import answer_view, load_checked, parse_tick, refuse_time_style, report_warnings
from transom.cli.output import fail_on_warnings, remark, say, warn
from transom.cli.state import repartition, show
from transom.cli.upgrade import diff
from transom.errors import TransomError, UsageError
from transom.version import __version__

if TYPE_CHECKING:
    from transom.query import Query

app = typer.Typer(
    name="transom",
    cls=CommandGroup,
    help="Ask continuous questions of sensors, streams and tables.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    result_callback=lambda *_, **__: fail_on_warnings(),
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


EscapeFormulas = Annotated[
    bool, typer.Option("--csv-guard/--no-csv-guard", help="In CSV, an apostrophe before text that would be a formula.")
]


def main() -> None:
    """Run the command line: parse the arguments, run the command, print errors and exit."""
    atexit.register(gc.freeze)  # the last garbage collection costs 0.1 s and frees what the exit frees anyway
    gc.disable()  # until a command begins: what the options are made of is never freed
    try:
        with report_errors():
            app_for(sys.argv[1:])()
    finally:
        gc.enable()


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return an app with only the command that the `arguments` of the command line name; with all commands if none.

    To build a command from its options takes some milliseconds, and there are twenty.
    """
    named = {command.name or getattr(command.callback, "__name__", ""): command for command in app.registered_commands}
    if not arguments or arguments[0] not in named:
        return app
    smaller = copy(app)
    smaller.registered_commands = [named[arguments[0]]]
    return smaller


def print_version(requested: bool) -> None:
    """Print the version and exit if the option `--version` is `requested`."""
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
    gc.enable()
    output.set_verbosity()


app.command(cls=Command)(check.check)
app.command(cls=Command)(check.fmt)


@app.command(cls=Command)
def explain(
    files: QueryFiles = None,
    query: QueryText = None,
    language: LanguageOption = None,
    catalog: CatalogFile = None,
    parameters: ParameterValues = None,
    stage: Annotated[Stage, typer.Option(help="What to show.")] = Stage.plan,
    format: Annotated[TreeFormat, typer.Option(help="How to show it.")] = TreeFormat.text,
    without: DisabledRules = None,
    kernel: running.KernelOption = running.KernelUse.auto,
    quiet: Quiet = False,
    strict: FailOnWarnings = False,
) -> None:
    """Show one stage of a query, with the rows that every operator must remember."""
    output.set_verbosity(quiet=quiet, strict=strict)
    sources = query_sources(files or [], query, language)
    if len(sources) > 1 and format is not TreeFormat.text:
        raise UsageError(f"explain writes one query as {format.value}", hint="name one query, or leave out --format")
    load = load_checked if strict else load_query
    totals = check.Totals(("shown",))
    for source in sources:
        try:
            loaded = load(source, catalog, parameters, without)
            session = running.start_session(None) if stage is Stage.spark else None
            tree = loaded.explain(stage.value, format.value, spark=session, kernel=kernel.value)
        except TransomError as error:
            totals.add_error(source, error, len(sources))
            continue
        totals.add("shown")
        if len(sources) > 1:
            say(f"{source.name}:")
        say(tree, json=format is TreeFormat.json)
        if format is TreeFormat.text and stage is not Stage.spark:
            explain_bounds(loaded, stage, kernel)
        if len(sources) > 1:
            say("")
    totals.finish(len(sources))


def explain_bounds(query: Query[Any], stage: Stage, kernel: running.KernelUse) -> None:
    """Print the lines below the tree of a query stage: state bound, hints and applied optimizer rules."""
    if stage is not Stage.syntax:
        is_plan = stage is Stage.plan
        state = query.spark_state(kernel.value) if is_plan else query.state
        say(f"\nstate: {state} {'rows' if is_plan else query.semantics.unit}")
        for hint in state.hints:
            remark(f"hint: {hint}")
    if stage in (Stage.optimized, Stage.plan) and query.steps:
        say("rules: " + ", ".join(dict.fromkeys(step.rule for step in query.steps)))


@app.command(cls=Command)
def simulate(
    file: QueryFile = None,
    query: QueryText = None,
    language: LanguageOption = None,
    catalog: CatalogFile = None,
    parameters: ParameterValues = None,
    until: EndTime = None,
    start: StartTime = None,
    first_shown: FirstPrintedTick = None,
    time: TimeStyleOption = None,
    no_empty: OmitEmptyWindows = False,
    format: Annotated[AnswerFormat, typer.Option(help="How to show the answer.")] = AnswerFormat.table,
    without: DisabledRules = None,
    csv_guard: EscapeFormulas = True,
    quiet: Quiet = False,
    strict: FailOnWarnings = False,
) -> None:
    """Evaluate a query over recorded data in plain Python, with the reference engine: no Spark, no server.

    All times in the answer are in UTC, also if the catalog declares a zone for the times that it reads.
    """
    output.set_verbosity(quiet=quiet, strict=strict)
    loaded = load_checked(query_source(file, query, language), catalog, parameters, without)
    first, last = parse_tick(start, "--start", loaded) or 0, parse_tick(until, "--until", loaded)
    refuse_time_style(time, format.value)
    view = answer_view(loaded, time, first_shown, show_empty_windows=not no_empty)
    if format is not AnswerFormat.table:
        loaded.semantics.check_format(format.value)
    from transom.cli.printing.answers import print_answer
    from transom.cli.printing.progress import show_progress

    with report_warnings(), show_progress() as watch:
        inputs = loaded.inputs(None, last, start=first, watch=watch)
        for remark_on_rows in loaded.semantics.input_remarks(inputs):
            warn(remark_on_rows.line(loaded.text, loaded.name, "warning: "))
        for hint in loaded.semantics.input_hints(inputs):
            remark(f"hint: {hint}", "green", err=True)
        answer = loaded.evaluate(inputs)
    print_answer(loaded, answer, format.value, first, last, view, escape_formulas=csv_guard)


@app.command(cls=Command)
def picture(
    output_path: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="PATH", help="An .svg or .png file; for several queries a folder."),
    ],
    files: QueryFiles = None,
    query: QueryText = None,
    language: LanguageOption = None,
    catalog: CatalogFile = None,
    parameters: ParameterValues = None,
    until: EndTime = None,
    start: StartTime = None,
    quiet: Quiet = False,
    strict: FailOnWarnings = False,
) -> None:
    """Draw the windows of a query over time, or for SPARQL when its solutions are valid."""
    output.set_verbosity(quiet=quiet, strict=strict)
    sources = query_sources(files or [], query, language)
    targets = picture_paths(sources, output_path)
    totals = check.Totals(("drawn",))
    from transom.cli.printing.progress import show_progress

    for source, target in targets.items():
        try:
            loaded = load_checked(source, catalog, parameters)
            first, last = parse_tick(start, "--start", loaded) or 0, parse_tick(until, "--until", loaded)
            with report_warnings(), show_progress() as watch:
                drawing = loaded.picture(until=last, start=first, watch=watch)
            if len(sources) > 1:
                target.parent.mkdir(parents=True, exist_ok=True)
            drawing.save(target)
        except TransomError as error:
            totals.add_error(source, error, len(sources))
            continue
        totals.add("drawn")
        remark(f"{target}: written")
    totals.finish(len(sources))


def picture_paths(sources: Sequence[QuerySource], output_path: Path) -> dict[QuerySource, Path]:
    """Return the file to draw each query into: `output_path` or, for several queries, NAME.svg in that folder.

    The folder is created.
    """
    if len(sources) == 1:
        from transom.reports import PICTURE_ENDINGS, check_drawing_name

        check_drawing_name(output_path, PICTURE_ENDINGS, "picture")
        return {sources[0]: output_path}
    if output_path.suffix:
        raise UsageError(f"{output_path} is no folder for {len(sources)} pictures", hint="name a folder with --output")
    top = commonpath([source.file.absolute().parent if source.file else Path.cwd() for source in sources])
    paths = {}
    for source in sources:
        name = source.file.absolute().relative_to(top) if source.file else Path(source.name.strip("<>"))
        paths[source] = output_path / name.with_name(f"{name.name}.svg")
    return paths


@app.command("map", cls=Command)
def draw_map(
    output_path: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write: .svg, .png, .html or .geojson.")
    ],
    file: QueryFile = None,
    query: QueryText = None,
    language: LanguageOption = None,
    catalog: CatalogFile = None,
    parameters: ParameterValues = None,
    until: EndTime = None,
    start: StartTime = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="T", help="The tick whose windows are shown; default the last.")
    ] = None,
    colour: Annotated[MapColour, typer.Option(help="What the colour of a track says.")] = MapColour.object,
    quiet: Quiet = False,
    strict: FailOnWarnings = False,
) -> None:
    """Draw where objects went: tracks, regions, the current window and where it slid."""
    output.set_verbosity(quiet=quiet, strict=strict)
    from transom.cli.printing.progress import show_progress
    from transom.reports import MAP_ENDINGS, check_drawing_name

    check_drawing_name(output_path, MAP_ENDINGS, "map")
    loaded = load_checked(query_source(file, query, language), catalog, parameters)
    with report_warnings(), show_progress() as watch:
        first, now = parse_tick(start, "--start", loaded) or 0, parse_tick(at, "--at", loaded)
        last = parse_tick(until, "--until", loaded)
        loaded.map(until=last, start=first, at=now, colour=colour.value, watch=watch).save(output_path)
    remark(f"{output_path}: written")


app.command(cls=Command)(run_query.run)
app.command(cls=Command)(serve.serve)
app.command("status", cls=Command)(status.show_status)
app.command(cls=Command)(diff.diff)
app.command(cls=Command)(repartition.repartition)
app.command("state", cls=Command)(show.show_state)
app.command(cls=Command)(replaying.replay)
app.command(cls=Command)(replaying.verify)
app.command("catalog", cls=Command)(catalogs.show_catalog)
app.command("test", cls=Command)(testing.run_tests)
app.command(cls=Command)(collect.collect)
app.command("dead-letters", cls=Command)(letters.show_dead_letters)
app.command(cls=Command)(resending.resend)
app.command(cls=Command)(cleaning.clean)
app.command(cls=Command)(collect.init)
