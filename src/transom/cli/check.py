"""The commands that read queries without answering them: `check` and `fmt`, for any number of queries."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from transom.cli import output
from transom.cli.arguments import (
    CatalogFile,
    FailOnWarnings,
    LanguageOption,
    ParameterValues,
    QueryFiles,
    QueryText,
    Quiet,
)
from transom.cli.errors import print_error
from transom.cli.files import QuerySource, load_query, pause_garbage_collection, query_sources, write_text
from transom.cli.options import load_checked, query_warnings
from transom.cli.output import remark, say, warn
from transom.errors import CatalogError, TransomError

if TYPE_CHECKING:
    from transom.query import Query


class ReportFormat(StrEnum):
    """How `check` reports on queries."""

    text = "text"
    json = "json"
    github = "github"


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


def check(
    files: QueryFiles = None,
    query: QueryText = None,
    language: LanguageOption = None,
    catalog: CatalogFile = None,
    parameters: ParameterValues = None,
    format: Annotated[
        ReportFormat, typer.Option("--format", help="For people, for programs, or as annotations of GitHub.")
    ] = ReportFormat.text,
    quiet: Quiet = False,
    strict: FailOnWarnings = False,
) -> None:
    """Say whether queries are right, what they give, how much they must remember and which engines run them."""
    output.set_verbosity(quiet=quiet, strict=strict)
    sources = query_sources(files or [], query, language)
    if format is not ReportFormat.text:
        from transom.cli.printing.reports import print_report

        raise SystemExit(
            print_report(
                sources, catalog, parameters, fail_on_warnings=strict, as_github_annotations=format == "github"
            )
        )
    totals = Totals()
    for source in sources:
        try:
            with pause_garbage_collection():
                loaded = load_query(source, catalog, name_value_pairs=parameters)
                engines, lines = str(loaded.engines), query_warnings(loaded)
        except TransomError as error:
            totals.add_error(source, error, len(sources))
        else:
            for line in lines:
                warn(line, err=False)
            count = len(lines)
            totals.add("with warnings" if count else "fine", 1 if count and strict else 0)
            is_fine = not count or not (strict or loaded.state.is_excessive)
            refused = "fine" if is_fine else f"{count} {'warning' if count == 1 else 'warnings'}"
            print_query_report(loaded, source.name, refused, engines)
    totals.finish(len(sources))


def print_query_report(query: Query[Any], name: str, verdict: str, engines: str) -> None:
    """Print the verdict on a query, its kind of answer and columns, its state bound, and the engines that run it."""
    remark(f"{name}: {verdict}\n  gives {RESULT_KIND_LABELS[query.result_kind]}: {', '.join(query.columns)}")
    remark(f"  remembers {query.state} {query.semantics.unit}\n  runs on: {engines}")
    for hint in query.state.hints:
        remark(f"  hint: {hint}", "green")


class Totals:
    """How many queries of a command have each outcome, and the exit code: the highest code of a query."""

    def __init__(self, outcomes: Iterable[str] = ("fine", "with warnings")) -> None:
        """Set the count of each outcome to 0; they are printed in order of `outcomes`, then wrong queries."""
        self.counts = dict.fromkeys((*outcomes, "wrong"), 0)
        self.exit_code = 0
        self.catalog_errors: set[str] = set()

    def add(self, outcome: str, exit_code: int = 0) -> None:
        """Count one more query with this `outcome`, and keep the highest exit code so far."""
        self.counts[outcome] += 1
        self.exit_code = max(self.exit_code, exit_code)

    def add_error(self, source: QuerySource, error: TransomError, queries: int) -> None:
        """Count and print the error of one of several queries; if the command has one (`queries` is 1), raise it.

        An error in a catalog that several queries share is printed once.
        """
        if queries == 1:
            raise error
        self.add("wrong", error.exit_code)
        shown = error.render() if isinstance(error, CatalogError) else None
        if shown is not None and shown in self.catalog_errors:
            say(f"error: {source.name}: not read, because of the error in the catalog above", "bold red", err=True)
            return
        if shown is not None:
            self.catalog_errors.add(shown)
        if error.source is None and error.span is None:
            error.source = source.name
        print_error(error)

    def finish(self, queries: int) -> None:
        """Print how many of several queries had each outcome; then exit with the highest exit code unless it is 0."""
        if queries > 1:
            parts = (f"{count} {outcome}" for outcome, count in self.counts.items() if count)
            remark(f"{queries} queries: {', '.join(parts)}")
        if self.exit_code:
            raise SystemExit(self.exit_code)


def fmt(
    files: QueryFiles = None,
    query: QueryText = None,
    language: LanguageOption = None,
    catalog: CatalogFile = None,
    parameters: ParameterValues = None,
    verify: Annotated[bool, typer.Option("--check", help="Change nothing; exit 1 if a text would change.")] = False,
    quiet: Quiet = False,
    strict: FailOnWarnings = False,
) -> None:
    """Write queries in canonical form, into their files; comments stay. A query from stdin is written to stdout."""
    output.set_verbosity(quiet=quiet, strict=strict)
    sources = query_sources(files or [], query, language)
    load = load_checked if strict else load_query
    totals = Totals(("in canonical form", "would change" if verify else "written anew"))
    for source in sources:
        try:
            loaded = load(source, catalog, parameters)
            text = loaded.format()
            changed = text != loaded.text
            if source.file is None and not verify:
                typer.echo(text, nl=not text.endswith("\n"))
            elif changed and not verify:
                write_text(source.file or Path(source.name), text)
        except TransomError as error:
            totals.add_error(source, error, len(sources))
            continue
        if not changed:
            totals.add("in canonical form")
        else:
            totals.add("would change" if verify else "written anew", 1 if verify else 0)
        if source.file is not None or verify:
            report_format(source.name, changed=changed, verify=verify)
    totals.finish(len(sources))


def report_format(name: str, *, changed: bool, verify: bool) -> None:
    """Print whether `fmt` changed a query or found it in canonical form; with `verify`, whether it would change.

    That it would change is printed even if the command is quiet.
    """
    if not changed:
        remark(f"{name}: is in canonical form")
    elif verify:
        say(f"{name}: would change")
    else:
        remark(f"{name}: written anew")
