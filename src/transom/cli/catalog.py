"""The command `catalog`, which shows what a catalog declares."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from transom.cli import output
from transom.cli.output import say, warn
from transom.errors import UsageError


class CatalogFormat(StrEnum):
    """How `catalog` shows a catalog."""

    text = "text"
    json = "json"


def show_catalog(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The catalog, or the folder of a catalog.yaml.", show_default="."),
    ] = Path(),
    format: Annotated[CatalogFormat, typer.Option(help="How to show the catalog.")] = CatalogFormat.text,
) -> None:
    """Show what queries can read: extents with their columns, types, units and sources, and regions."""
    output.set_verbosity()
    from transom.catalog.catalog import Catalog
    from transom.cli.printing.answers import print_table
    from transom.cli.printing.catalogs import catalog_fields, catalog_rows, other_lines, ticks_line

    path = file / "catalog.yaml" if file.is_dir() else file
    if not path.exists():
        hint = "give its path, or write one: `transom init FILE` drafts it from a file with rows"
        raise UsageError(f"no catalog file {path}", hint=hint)
    catalog = Catalog.load(path)
    for extent in catalog.sources.values():
        if extent.speed_limit_warning is not None:
            warn(f"warning: {extent.speed_limit_warning}")
    if format is CatalogFormat.json:
        import json

        say(json.dumps(catalog_fields(catalog), ensure_ascii=False, indent=2), json=True)
        return
    say(f"{path}: {ticks_line(catalog)}")
    if catalog.sources:
        say("")
        print_table(catalog_rows(catalog))
    for line in other_lines(catalog):
        say(line)
