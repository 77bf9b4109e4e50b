"""The commands that talk to sources: `collect` and `init`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transom.cli.live.listening import CertificateOption, KeyOption, ProxyOption, TokenOption, read_listening
from transom.cli.output import say
from transom.errors import UsageError, install_hint

if TYPE_CHECKING:
    from transom.collector.status import CollectorStatus
    from transom.serving.http.server import Listening

ExtentNames = Annotated[
    list[str] | None, typer.Argument(metavar="[EXTENT]...", help="Extents; default: all that can be.")
]
CatalogPath = Annotated[Path, typer.Option("--catalog", "-c", help="The catalog.")]
SegmentLength = Annotated[str, typer.Option("--segment", help="How long to gather messages before they are written.")]
CollectDuration = Annotated[
    str | None, typer.Option("--for", help="How long to collect; default: until it is stopped.")
]
ListenOption = Annotated[
    str | None,
    typer.Option("--listen", metavar="HOST:PORT", help="Tell programs how it goes, at this address; port 0: any."),
]


def collect(
    catalog: CatalogPath,
    extents: ExtentNames = None,
    segment: SegmentLength = "1 s",
    length: CollectDuration = None,
    listen: ListenOption = None,
    token_file: TokenOption = None,
    tls_certificate: CertificateOption = None,
    tls_key: KeyOption = None,
    behind_proxy: ProxyOption = None,
) -> None:
    """Acquire rows from sensors and brokers into logs that queries read; with --listen, tell programs how it goes."""
    from transom.catalog.catalog import Catalog

    try:
        from transom.collector.run import collect as run
        from transom.collector.status import CollectorStatus
    except ImportError as error:
        raise UsageError("collecting needs pyarrow", hint=install_hint("collect"), detail=str(error)) from error
    listening = None
    if listen is not None:
        hint = "or leave out --listen"
        listening = read_listening(listen, token_file, tls_certificate, tls_key, behind_proxy, hint)
    elif token_file or tls_certificate or tls_key or behind_proxy:
        raise UsageError("without --listen, no program can ask", hint="add for example --listen 127.0.0.1:8471")
    flush_seconds = parse_seconds(segment, "--segment")
    seconds = None if length is None else parse_seconds(length, "--for")
    declared = Catalog.load(catalog)
    status = CollectorStatus()
    with collector_server(status, listening):
        result = run(
            declared,
            extents or [],
            flush_seconds=flush_seconds,
            seconds=seconds,
            notify=lambda text: say(text, err=True),
            status=status,
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


@contextmanager
def collector_server(status: CollectorStatus, listening: Listening | None) -> Iterator[str | None]:
    """Tell a collector's status over HTTP in the block, unless `listening` is None; print and yield the address."""
    if listening is None:
        yield None
        return
    from transom.serving.http.collector_app import CollectorServer

    with CollectorServer(status, listening) as server:
        say(f"listening on {server.address}", err=True)
        yield server.address


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
