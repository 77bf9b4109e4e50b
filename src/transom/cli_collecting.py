"""The verbs of the command line that talk to sources: collect, init."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from transom.cli_lines import say
from transom.errors import UsageError

Names = Annotated[list[str] | None, typer.Argument(metavar="[EXTENT]...", help="Extents; default: all that can be.")]
Place = Annotated[Path, typer.Option("--catalog", "-c", help="The catalog.")]
Segment = Annotated[str, typer.Option("--segment", help="How long to gather messages before they are written.")]
For = Annotated[str | None, typer.Option("--for", help="How long to collect; default: until it is stopped.")]


def collect(catalog: Place, extents: Names = None, segment: Segment = "1 s", length: For = None) -> None:
    """Acquire rows from sensors and brokers into logs that queries read."""
    from transom.catalog.catalog import Catalog

    try:
        from transom.collector.run import collect as run
    except ImportError as error:
        raise UsageError(
            "collecting needs pyarrow", hint="in a checkout of Transom: pip install '.[collect]'", detail=str(error)
        ) from error
    found = run(
        Catalog.load(catalog),
        extents or [],
        apart=seconds(segment, "--segment"),
        seconds=None if length is None else seconds(length, "--for"),
        tell=lambda words: say(words, err=True),
    )
    for name, counts in found.counts.items():
        say(f"{name}: {told(counts)}", err=True)
    if found.failed:
        say(f"error: nothing more could be written to the log of {', '.join(found.failed)}", err=True)
        raise SystemExit(1)


def init(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="kafka://, mqtt://, postgresql://, or a file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The catalog to write.")] = Path("catalog.yaml"),
    length: Annotated[str, typer.Option("--for", help="How long to listen to a broker.")] = "5 s",
    option: Annotated[
        list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="A setting of Kafka's own.")
    ] = None,
) -> None:
    """Look at a source and write a first catalog for it, every guess with a comment."""
    try:
        from transom.collector.looks import first_catalog
    except ImportError as error:
        raise UsageError(
            "init needs pyarrow", hint="in a checkout of Transom: pip install '.[collect]'", detail=str(error)
        ) from error
    if output.exists():
        raise UsageError(f"{output} is there already", hint="name another file with --output")
    settings = dict(setting(words) for words in option or ())
    text = first_catalog(source, seconds(length, "--for"), settings, output.parent)
    output.write_text(text, "utf-8")
    for line in text.splitlines():
        if line.lstrip().startswith("# note: "):
            say(line.strip("# "), err=True)
    say(f"{output}: written; read it, it holds guesses")


def setting(words: str) -> tuple[str, str]:
    """A name and its value."""
    name, equals, value = words.partition("=")
    if not name or not equals:
        raise UsageError(f"--option {words!r} is no setting", hint="write for example security.protocol=SSL")
    return name, value


def told(found: Counter[str]) -> str:
    """What came, and what is missing or dead by reason."""
    rest = [f"{count:,} {reason}" for reason, count in sorted(found.items()) if reason != "rows"]
    return ", ".join([f"{found['rows']:,} rows", *rest])


def seconds(words: str, option: str) -> float:
    """A length of time in seconds."""
    from transom.model.time import read_duration

    try:
        found = read_duration(words) / 1e6
    except ValueError as error:
        raise UsageError(f"{option} {words!r} is no length of time", hint="write for example '1 s'") from error
    if found <= 0:
        raise UsageError(f"{option} is longer than nothing", hint="write for example '1 s'")
    return found
