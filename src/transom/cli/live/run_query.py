"""The command `run`: evaluate a query over live streams on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from transom.cli import output
from transom.cli import run as running
from transom.cli.arguments import (
    CatalogFile,
    EndTime,
    FailOnWarnings,
    LanguageOption,
    ParameterValues,
    QueryFile,
    QueryText,
    Quiet,
    StartTime,
)
from transom.cli.files import QuerySource, query_source
from transom.cli.options import load_checked
from transom.cli.output import use_json_lines
from transom.cli.upgrade import beginning
from transom.errors import UsageError


def run(
    file: QueryFile = None,
    checkpoint: running.CheckpointOption = None,
    query: QueryText = None,
    language: LanguageOption = None,
    catalog: CatalogFile = None,
    parameters: ParameterValues = None,
    sink: running.SinkOption = None,
    old_sink: running.OldSinkOption = None,
    until: EndTime = None,
    start: StartTime = None,
    since: beginning.SinceOption = None,
    after: beginning.AfterOption = None,
    on_change: beginning.OnChangeOption = beginning.OnQueryChange.refuse,
    index: running.IndexOption = False,
    once: Annotated[bool, typer.Option("--once", help="Take what is there, then stop.")] = False,
    approximate_sums: running.ApproximateSumsOption = False,
    allow_unbounded: Annotated[bool, typer.Option("--allow-unbounded", help="Run without a bound on state.")] = False,
    master: running.MasterOption = None,
    kernel: running.KernelOption = running.KernelUse.auto,
    on_data_loss: running.DataLossOption = running.DataLoss.refuse,
    log_format: running.LogFormatOption = running.LogFormat.auto,
    quiet: Quiet = False,
    strict: FailOnWarnings = False,
) -> None:
    """Evaluate a query over live streams on Spark until you stop it; it resumes from its checkpoint.

    All times in the answer are in UTC, also if the catalog declares a zone for the times that it reads.
    """
    output.set_verbosity(quiet=quiet, strict=strict)
    from transom.project.settings import RunSettings

    with use_json_lines(running.wants_json(log_format, once)), running.stop_on_signal() as stop:
        stop.must_finish = once
        source = query_source(file, query, language)
        settings = RunSettings(
            sink=running.read_renamed(sink, old_sink, "--sink"),
            start=start,
            until=until,
            since=since,
            after=after,
            on_change="rebuild" if on_change is beginning.OnQueryChange.rebuild else "refuse",
            on_data_loss=on_data_loss.value,
            kernel=kernel.value,
            index=index,
            approximate_sums=approximate_sums,
            allow_unbounded=allow_unbounded,
            once=once,
            prefix="--",
        )
        if source.declared is not None:
            settings = settings.over(source.declared.settings)
        folder = checkpoint_folder(checkpoint, source)
        loaded = load_checked(source, catalog, parameters)
        options = running.run_options(settings, loaded, folder)
        loaded.physical(start=options.start, index=index)
        if on_change is beginning.OnQueryChange.show:
            beginning.show_change(loaded, master, options)
            return
        begins = settings.beginning(loaded, options.folder)
        running.watch_and_report(running.start_run(loaded, master, options, begins), stop, loaded.semantics.flow)


def checkpoint_folder(checkpoint: Path | None, source: QuerySource) -> Path:
    """Return the folder of `--checkpoint` or, for a query of a project, the one below the project's folder of state."""
    if checkpoint is not None:
        return checkpoint.absolute()
    if source.declared is not None:
        return source.declared.checkpoint
    raise UsageError("a run needs a checkpoint", hint="name a folder with --checkpoint; the run goes on from there")
