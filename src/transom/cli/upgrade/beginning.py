"""The options of `run` that say where its answers begin: in recorded history, or after another query."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from transom.cli.output import say

if TYPE_CHECKING:
    from transom.query import Query
    from transom.runtime.options import RunOptions


class OnQueryChange(StrEnum):
    """What `run` does if the checkpoint belongs to another query."""

    refuse = "refuse"
    show = "show"
    rebuild = "rebuild"


SinceOption = Annotated[
    str | None,
    typer.Option(
        "--since", metavar="T", help="The first tick of the answer, as --until; reads the earlier rows that matter."
    ),
]
AfterOption = Annotated[
    Path | None,
    typer.Option("--after", metavar="DIR", help="The checkpoint of another query, after which this one goes on."),
]
OnChangeOption = Annotated[
    OnQueryChange,
    typer.Option("--on-change", help="When the checkpoint is another query's: stop, show the change, or go on anew."),
]


def show_change(query: Query[Any], master: str | None, options: RunOptions) -> None:
    """Print how a query differs from the one of its checkpoint, and what `--on-change rebuild` would do."""
    from transom.cli.run import start_session
    from transom.runtime.beginning import describe_change

    say(describe_change(query, start_session(master), options))
