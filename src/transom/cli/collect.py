"""The commands that talk to sources: `collect` and `init`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from transom.cli.output import say
from transom.errors import UsageError, install_hint

ExtentNames = Annotated[
    list[str] | None, typer.Argument(metavar="[EXTENT]...", help="Extents; default: all that can be.")
]
CatalogPath = Annotated[Path, typer.Option("--catalog", "-c", help="The catalog.")]
SegmentLength = Annotated[str, typer.Option("--segment", help="How long to gather messages before they are written.")]
CollectDuration = Annotated[
    str | None, typer.Option("--for", help="How long to collect; default: until it is stopped.")
]


def collect(
    catalog: CatalogPath, extents: ExtentNames = None, segment: SegmentLength = "1 s", length: CollectDuration = None
) -> None:
    """Acquire rows from sensors and brokers into logs that queries read."""
    from transom.catalog.catalog import Catalog

    try:
        from transom.collector.run import collect as run
    except ImportError as error:
        raise UsageError("collecting needs pyarrow", hint=install_hint("collect"), detail=str(error)) from error
    result = run(
        Catalog.load(catalog),
        extents or [],
        flush_seconds=parse_seconds(segment, "--segment"),
        seconds=None if length is None else parse_seconds(length, "--for"),
        notify=lambda text: say(text, err=True),
    )
    for name, counts in result.counts.items():
        say(f"{name}: {describe_counts(counts)}", err=True)
        if name in result.totals:
            totals = result.totals[name]
            since = f"since entry {totals.first} of its log" if totals.first else "since the first start"
            say(f"{name}, {since}: {totals}", err=True)
    if result.failed:
        say(f"error: nothing more could be written to the log of {', '.join(result.failed)}", err=True)
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
        from transom.collector.discover.servers import discover_catalog
    except ImportError as error:
        raise UsageError("init needs pyarrow", hint=install_hint("collect"), detail=str(error)) from error
    if output.exists():
        raise UsageError(f"{output} is there already", hint="name another file with --output")
    settings = dict(parse_setting(setting) for setting in option or ())
    text = discover_catalog(source, parse_seconds(length, "--for"), settings, output.parent)
    output.write_text(text, "utf-8")
    for line in text.splitlines():
        if line.lstrip().startswith("# note: "):
            say(line.strip("# "), err=True)
    say(f"{output}: written; read it, it holds guesses")


def parse_setting(text: str) -> tuple[str, str]:
    """Parse the Kafka setting NAME=VALUE of `--option`; raise UsageError if there is no name or no equals sign."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UsageError(f"--option {text!r} is no setting", hint="write for example security.protocol=SSL")
    return name, value


def describe_counts(counts: Counter[str]) -> str:
    """Describe how many rows the collector wrote, then its other counts by reason, such as rejections."""
    reasons = [f"{count:,} {reason}" for reason, count in sorted(counts.items()) if reason != "rows"]
    return ", ".join([f"{counts['rows']:,} rows", *reasons])


def parse_seconds(text: str, option: str) -> float:
    """Parse a positive duration, such as `1 s`, to seconds; raise a UsageError about `option` if it is invalid."""
    from transom.model.time import read_duration

    try:
        seconds = read_duration(text) / 1e6
    except ValueError as error:
        raise UsageError(f"{option} {text!r} is no length of time", hint="write for example '1 s'") from error
    if seconds <= 0:
        raise UsageError(f"{option} is longer than nothing", hint="write for example '1 s'")
    return seconds
