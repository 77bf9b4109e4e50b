"""Questions over RDF on the command line: their answers in every format, what was set aside, their stages."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transom.errors import UsageError
from transom.model.rdf import formats
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.short import short
from transom.rdf_query import RdfQuery

KINDS = {
    "solutions": "solutions",
    "sequences": "solutions in order",
    "triples": "statements",
    "boolean": "true or false",
}
_LINES = {
    "csv": formats.csv_lines,
    "jsonl": formats.json_lines,
    "nq": formats.quad_lines,
    "jsonld": formats.json_ld_lines,
}
ONLY_RDF = ("json", "nq", "jsonld")
"""Formats that only answers over RDF have."""


def explain(query: RdfQuery, stage: Any, format: Any, kernel: Any) -> None:
    """Show one stage, and with the algebra how much it remembers."""
    typer.echo(query.explain(stage, format, kernel=kernel))
    if format == "text" and stage == "algebra":
        typer.echo(f"\nstate: {query.state} statements and solutions")


def simulate(query: RdfQuery, format: str, start: int, until: int | None) -> None:
    """Answer a query and show what is valid between two instants."""
    whole = query.simulate()
    answer = whole.during(start, until)
    show_aside(whole)
    if format == "table":
        print_table(answer, query)
        return
    for line in formats.results_lines(whole, start, until) if format == "json" else _LINES[format](answer):
        typer.echo(line)


def show_aside(answer: RdfAnswer) -> None:
    """How many messages of which stream could not be read, and the first of each."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for stream, aside in answer.aside.items():
        counts = Counter(one.reason.value for one in aside)
        said = ", ".join(f"{count} {reason}" for reason, count in counts.items())
        first = f"{aside[0].place}: {aside[0].words}"
        console.print(Text(f"warning: set aside of {stream}: {said}; the first is {first}", style="yellow"))


def print_table(answer: RdfAnswer, query: RdfQuery) -> None:
    """An answer for people: when it is valid, how often, and terms as the query's prefixes shorten them."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("start", "end", "n", *answer.columns):
        table.add_column(Text(name), overflow="fold")
    previous: object = None
    prefixes = query.prefixes
    for start, end, n, terms in formats.rows(answer):
        when = (str(start), "∞" if end is None else str(end))
        if answer.sequences:
            when = ("", "") if previous == (start, end) else when
            previous = (start, end)
        cells = [str(t).lower() if isinstance(t, bool) else short(t, prefixes) for t in terms]
        table.add_row(*map(Text, (*when, str(n), *cells)))
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(table)


def refuse_format(format: str) -> None:
    """Formats of RDF are for answers over RDF."""
    if format in ONLY_RDF:
        raise UsageError(f"only answers to SPARQL can be written as {format}", hint="write table, csv or jsonl")
