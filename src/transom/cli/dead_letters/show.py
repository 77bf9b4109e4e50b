"""The command `dead-letters`, which counts messages that could not be used."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from transom.cli import output
from transom.cli.output import say
from transom.errors import UsageError, install_hint

if TYPE_CHECKING:
    from transom.catalog.catalog import Catalog
    from transom.catalog.extent import Extent
    from transom.connectors.dead_letters.store import LetterStore, ReasonCount

ExtentNames = Annotated[
    list[str] | None,
    typer.Argument(metavar="[EXTENT]...", help="Extents; default: all that keep dead letters.", show_default=False),
]
CatalogPath = Annotated[Path, typer.Option("--catalog", "-c", metavar="FILE", help="The catalog.")]


class LettersFormat(StrEnum):
    """How `dead-letters` shows the counts."""

    text = "text"
    json = "json"


def show_dead_letters(
    extents: ExtentNames = None,
    catalog: CatalogPath = Path("catalog.yaml"),
    format: Annotated[LettersFormat, typer.Option(help="How to show the counts.")] = LettersFormat.text,
) -> None:
    """Count the messages that could not be used, by extent and reason."""
    output.set_verbosity()
    require_pyarrow()
    from transom.catalog.catalog import Catalog
    from transom.connectors.dead_letters.store import count_by_reason, keeps_dead_letters, open_store

    loaded = Catalog.load(catalog)
    chosen = [find_extent(loaded, name) for name in extents or []]
    chosen = chosen or [extent for extent in loaded.sources.values() if keeps_dead_letters(extent)]
    counted = [(store, count_by_reason(store)) for store in (open_store(extent, loaded.folder) for extent in chosen)]
    if format is LettersFormat.json:
        import json

        say(json.dumps([_fields(store, counts) for store, counts in counted], ensure_ascii=False, indent=2), json=True)
        return
    if not chosen:
        say(f"no extent of {catalog} keeps dead letters")
    for store, counts in counted:
        if not counts:
            say(f"{store.extent.name}: no dead letters in {store.location}")
    rows = [row for store, counts in counted for row in _rows(store, counts)]
    if rows:
        from transom.cli.printing.answers import print_table

        print_table([("extent", "reason", "messages", "sent again", "first (UTC)", "last (UTC)"), *rows])


def find_extent(catalog: Catalog, name: str) -> Extent:
    """Return the extent or RDF stream with this name; raise NameProblem, with a suggestion, if there is ncount."""
    return catalog.sources[name] if name in catalog.sources else catalog.extent(name)


def require_pyarrow() -> None:
    """Raise UsageError if pyarrow is not installed, which reads logs and files of dead letters."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        hint = install_hint("parquet")
        raise UsageError("dead letters are read with pyarrow", hint=hint, detail=str(error)) from error


def _rows(store: LetterStore, counts: dict[str, ReasonCount]) -> list[tuple[str, ...]]:
    """Return a row of the table for each reason of an extent's dead letters."""
    return [
        (
            store.extent.name,
            reason,
            f"{count.count:,}",
            f"{count.sent:,}",
            f"{count.first:{_TIME}}",
            f"{count.last:{_TIME}}",
        )
        for reason, count in counts.items()
    ]


_TIME = "%Y-%m-%d %H:%M:%S"


def _fields(store: LetterStore, counts: dict[str, ReasonCount]) -> dict[str, Any]:
    """Convert the counts of an extent to a dictionary for JSON."""
    return {
        "extent": store.extent.name,
        "location": store.location,
        "reasons": [
            {
                "reason": reason,
                "messages": count.count,
                "sent_again": count.sent,
                "first": None if count.first is None else count.first.isoformat(),
                "last": None if count.last is None else count.last.isoformat(),
            }
            for reason, count in counts.items()
        ],
    }
