"""The command `diff`: what starting a query on the checkpoint of another one would change."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from transom.cli import output
from transom.cli.arguments import CatalogFile, EndTime, LanguageOption, ParameterValues, Quiet, StartTime
from transom.cli.files import query_source
from transom.cli.options import load_checked, parse_tick
from transom.cli.output import remark, say, write_data
from transom.cli.run import ApproximateSumsOption, IndexOption, KernelOption, KernelUse, require_spark
from transom.printable import escape_json

if TYPE_CHECKING:
    from transom.query import Query
    from transom.runtime.checkpoint.remembered import Remembered
    from transom.runtime.upgrade.difference import Difference, OperatorState
    from transom.runtime.upgrade.replay_point import ReplayPoint

QueryArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="The new query, - for stdin; its ending names the language.")
]
CheckpointArgument = Annotated[Path, typer.Argument(metavar="DIR", help="The checkpoint of the old query.")]


class DiffFormat(StrEnum):
    """How `diff` shows the difference."""

    text = "text"
    json = "json"


def diff(
    file: QueryArgument,
    checkpoint: CheckpointArgument,
    language: LanguageOption = None,
    catalog: CatalogFile = None,
    parameters: ParameterValues = None,
    until: EndTime = None,
    start: StartTime = None,
    index: IndexOption = False,
    approximate_sums: ApproximateSumsOption = False,
    kernel: KernelOption = KernelUse.auto,
    format: Annotated[DiffFormat, typer.Option(help="For people or for programs.")] = DiffFormat.text,
    quiet: Quiet = False,
) -> None:
    """Compare a query with the one that a checkpoint belongs to: exit code 0 if it can resume, 1 if it cannot.

    Options that are left out have the values with which the checkpoint was made.
    """
    output.set_verbosity(quiet=quiet)
    query = load_checked(query_source(file, None, language), catalog, parameters)
    remembered = read_checkpoint(checkpoint)
    from transom.runtime.options import RunOptions

    recorded = {**remembered.fingerprint, **(remembered.options or {})}
    requested: dict[str, Any] = {
        "start": parse_tick(start, "--start", query),
        "until": parse_tick(until, "--until", query),
        "index": index or None,
        "approximate_sums": approximate_sums or None,
    }
    chosen = {name: recorded.get(name) if value is None else value for name, value in requested.items()}
    use_kernel = recorded.get("kernel", True) if kernel is KernelUse.auto else kernel is KernelUse.on
    options = RunOptions(
        checkpoint=checkpoint.absolute(),
        start=chosen["start"] or 0,
        until=chosen["until"],
        index=bool(chosen["index"]),
        approximate_sums=bool(chosen["approximate_sums"]),
        kernel="on" if use_kernel else "off",
    )
    difference, point = compare_with(query, remembered, options)
    if format is DiffFormat.json:
        write_data(json.dumps(to_json(remembered, difference, point), ensure_ascii=False, indent=2), escape_json)
    else:
        print_difference(remembered, difference, point)
    if not difference.resumes:
        raise SystemExit(1)


def read_checkpoint(checkpoint: Path) -> Remembered:
    """Read what a checkpoint records about its query and run; raise UsageError if PySpark is not installed."""
    require_spark()
    from transom.runtime.checkpoint.remembered import read_remembered

    return read_remembered(checkpoint)


def compare_with(query: Query[Any], remembered: Remembered, run_options: Any) -> tuple[Difference, ReplayPoint]:
    """Compare a query with the one of a checkpoint; also return the tick from which a new run must read rows."""
    from transom.runtime.upgrade.difference import compare, user_sources
    from transom.runtime.upgrade.replay_point import replay_point

    job = query.job(None, run_options)
    opened_by_caller = user_sources(remembered, job)
    if opened_by_caller:
        job = query.job(None, run_options, opened_by_caller)
    return compare(remembered, job, opened_by_caller), replay_point(query.optimized, job)


def to_json(remembered: Remembered, difference: Difference, point: ReplayPoint) -> dict[str, Any]:
    """Convert the comparison of a query with a checkpoint's to JSON; `point`: the first tick to read in a new run."""
    return {
        "resumes": difference.resumes,
        "made_by": dict(remembered.versions or {}),
        "settings": dict(remembered.settings or {}),
        "changes": dict(difference.changes),
        "ignored": dict(difference.ignored),
        "text": list(difference.text),
        "operators": [asdict(operator) for operator in difference.operators],
        "answered_until": point.answered_until,
        "rows_needed": None if point.reach is None else {"ticks": point.reach, "from": point.first_tick},
        "unbounded": point.why_unbounded,
    }


def print_difference(remembered: Remembered, difference: Difference, point: ReplayPoint) -> None:
    """Print how a query differs from a checkpoint's, and at which `point` a new checkpoint would begin to read."""
    from transom.runtime.checkpoint.fingerprint import versions_in_use

    if remembered.versions != versions_in_use():
        remark(f"the checkpoint was made by {remembered.made_by}")
    for line in difference.text:
        say(f"  {line}")
    for description in difference.changes.values():
        say(f"changed: {description}", "yellow")
    for description in difference.ignored.values():
        remark(f"changes no answer: {description}")
    for operator in difference.operators:
        if operator.has_state is not False:
            say(f"state {operator.fate.value}: {_operator_text(operator)}")
    if difference.resumes:
        say("a run resumes this checkpoint", "green")
        return
    say("a run needs a new checkpoint", "yellow")
    for line in point.lines():
        remark(line)


def _operator_text(operator: OperatorState) -> str:
    """Describe an operator and its executor, and say so if an earlier version did not record whether it has state."""
    unknown = "" if operator.has_state else ", if it has state"
    return f"{operator.operator} ({operator.executor}{unknown})"
