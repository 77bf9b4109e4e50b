"""The command `clean`, which deletes old dead letters."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transom.cli import output
from transom.cli.collect import parse_seconds
from transom.cli.dead_letters.show import require_pyarrow
from transom.cli.output import say, warn
from transom.errors import UsageError

if TYPE_CHECKING:
    from transom.connectors.dead_letters.retention import CleanPlan


def clean(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Folders of dead letters.")],
    older_than: Annotated[str, typer.Option("--older-than", metavar="AGE", help="The age, such as '30 days'.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be deleted, and delete nothing.")] = False,
    checkpoint: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Where a checkpoint is that was moved; repeat for several."),
    ] = None,
) -> None:
    """Delete dead letters that are older than an age, and whose micro-batches are committed."""
    output.set_verbosity()
    require_pyarrow()
    from transom.connectors.dead_letters.retention import carry_out

    oldest = time.time() - parse_seconds(older_than, "--older-than")
    plans = [plan_folder(folder, older_than, oldest, checkpoint or []) for folder in folders]
    for plan in plans:
        if not dry_run:
            carry_out(plan)
        report(plan, "would be deleted" if dry_run else "deleted")


def plan_folder(folder: Path, age: str, oldest: float, checkpoints: list[Path]) -> CleanPlan:
    """Plan the deletion of dead letters from before `oldest` in a folder; UsageError if the folder has none.

    `age` is `--older-than`, for messages.
    """
    from transom.connectors.dead_letters.files import letter_files
    from transom.connectors.dead_letters.retention import (
        SINK_FOLDER,
        is_emptied,
        plan_sink_folder,
        plan_topic_folder,
        refuse_other_folder,
    )
    from transom.connectors.log.segments import segments

    if folder.absolute().name == SINK_FOLDER and folder.is_dir():
        return plan_sink_folder(folder.absolute(), oldest)
    if letter_files(folder) or is_emptied(folder):
        return plan_topic_folder(folder.absolute(), oldest, checkpoints)
    if paths := segments(folder):
        old = [path for path in paths if path.stat().st_mtime < oldest]
        size = sum(path.stat().st_size for path in old) / 1e6
        raise UsageError(
            f"{folder} is a log, of which clean deletes nothing",
            detail=f"{len(old):,} of {len(paths):,} segments ({size:,.1f} MB) are older than {age}. Each query that "
            "reads the log checks that no segment is missing, and a new query begins with the first one",
            hint="give the extent a new log and archive this one once no query reads it, or keep the log in a Kafka "
            "topic with limited retention",
        )
    return refuse_other_folder(folder)


def report(plan: CleanPlan, done: str) -> None:
    """Print how many dead letters of a folder are `done`, such as deleted, and which are kept, and why."""
    letters, files = sum(old.count for old in plan.delete), len(plan.delete)
    sent = f", {plan.never_sent:,} of them never sent again" if plan.never_sent else ""
    say(f"{plan.folder}: {letters:,} dead letters in {files:,} files {done}{sent}; {plan.younger:,} files are younger")
    for why, kept in plan.keep.items():
        warn(f"warning: {sum(old.count for old in kept):,} older dead letters in {len(kept):,} files are kept: {why}")
