"""The pages of the site as `mkdocs.yml` lists them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]


class Loader(yaml.CSafeLoader):
    """Reads mkdocs.yml, in which `!ENV [NAME, fallback]` stands for the fallback."""


def _fallback(loader: Loader, node: yaml.SequenceNode) -> Any:
    return loader.construct_sequence(node)[-1]


Loader.add_constructor("!ENV", _fallback)


def settings() -> dict[str, Any]:
    """What mkdocs.yml says without environment variables."""
    return dict(yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), Loader))  # noqa: S506 - a safe loader


def tabs() -> dict[str, list[tuple[str, str]]]:
    """The tabs of the site in order, each with the titles and files of its pages."""
    return {title: list(_pages(entry)) for entry in settings()["nav"] for title in entry}


def pages() -> list[str]:
    """The files of all pages, in the order of the tabs."""
    return [file for below in tabs().values() for _, file in below]


def _pages(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The titles and files of the pages in an entry of the navigation, at any depth."""
    for title, below in entry.items():
        if isinstance(below, str):
            yield title, below
        else:
            for inner in below:
                yield from _pages(inner)
