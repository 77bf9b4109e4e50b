"""Arguments and options that several commands share, and how `--help` shows them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup


def hide_flag_types(params: list[Any]) -> list[Any]:
    """Remove the type `<bool>` of options without a value from `--help`; return the parameters of a command."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params


class Command(TyperCommand):
    """A command whose help shows no type beside options without a value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters of the command and its help option."""
        return hide_flag_types(super().get_params(ctx))


class CommandGroup(TyperGroup):
    """`transom` itself; its help shows no type beside options without a value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options that may precede the name of a command."""
        return hide_flag_types(super().get_params(ctx))


class TimeStyle(StrEnum):
    """How the times of an answer are printed."""

    instant = "instant"
    tick = "tick"


class LanguageName(StrEnum):
    """The query languages."""

    sneeql = "sneeql"
    cql = "cql"
    sparql = "sparql"


_FILE_HELP = "The query, - for stdin, or PROJECT:NAME; its ending names the language: .sneeql, .cql, .rq or .sparql."
QueryFile = Annotated[Path | None, typer.Argument(metavar="FILE", help=_FILE_HELP, show_default=False)]
QueryFiles = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FILE",
        help="Queries, folders and projects; - for stdin. Endings name languages: .sneeql, .cql, .rq or .sparql.",
        show_default=False,
    ),
]
QueryText = Annotated[
    str | None, typer.Option("--query", "-q", metavar="TEXT", help="The query itself instead of a file.")
]
LanguageOption = Annotated[
    LanguageName | None, typer.Option("--language", help="The language, where no ending of a file names it.")
]
CatalogFile = Annotated[
    Path | None,
    typer.Option(
        "--catalog",
        "-c",
        metavar="FILE",
        help="The catalog; default: catalog.yaml beside the query, or in this folder.",
    ),
]
ParameterValues = Annotated[
    list[str] | None,
    typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="The value of a parameter of the query."),
]
DisabledRules = Annotated[
    list[str] | None, typer.Option("--without", metavar="RULE", help="An optimizer rule to switch off, by name.")
]
EndTime = Annotated[
    str | None,
    typer.Option(
        "--until", "-u", metavar="T", help="The last tick: a number, a time such as '10 min', now, or an instant."
    ),
]
StartTime = Annotated[
    str | None,
    typer.Option("--start", "-s", metavar="T", help="The first tick, as --until; rows before it do not count."),
]
TimeStyleOption = Annotated[
    TimeStyle | None,
    typer.Option(
        "--time",
        help="Times of the answer as instants in UTC, or as ticks; default: instants if the catalog has an epoch.",
    ),
]
FirstPrintedTick = Annotated[
    str | None,
    typer.Option("--from", metavar="T", help="Show the answer from this time on; earlier rows count all the same."),
]
OmitEmptyWindows = Annotated[bool, typer.Option("--no-empty", help="Leave out empty windows.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no remarks: only answers, warnings and errors.")]
FailOnWarnings = Annotated[bool, typer.Option("--strict", help="A warning fails the command: exit code 1.")]
