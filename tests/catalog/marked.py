"""Catalogs in which « and » mark the words that the error has to underline."""

from __future__ import annotations

import pytest

from transom.catalog import Catalog
from transom.errors import CatalogError, Span

ROAD = "  road:\n    kind: sensed\n    attributes: {site: integer, time: integer, temp: float}\n    sites: [1, 2]\n"
TRAFFIC = "  traffic:\n    kind: pushed\n    attributes: {site: integer, name: string, at: timestamp}\n"
CLASSES = "  classes:\n    kind: stored\n    attributes: [temp:integer, category:string]\n"


def refused(marked: str) -> CatalogError:
    """The error of a catalog; its span is exactly the marked words, and its text names the line and the column."""
    start = marked.index("«")
    end = marked.index("»") - 1
    text = marked.replace("«", "").replace("»", "")
    with pytest.raises(CatalogError) as caught:
        Catalog.read(text, name="roads.yaml")
    error = caught.value
    assert error.span is not None
    shown = text[error.span.start : error.span.end]
    assert error.span == Span(start, end), f"underlined {shown!r} for {error.message}"
    line = text[:start].count("\n") + 1
    column = start - (text[:start].rfind("\n") + 1) + 1
    assert error.position == (line, column)
    assert str(error).startswith(f"roads.yaml:{line}:{column}: {error.message}\n")
    assert error.message[0] == error.message[0].lower()
    assert not any(word in error.message for word in ("invalid", "bad ", "unable"))
    return error


def says(marked: str, message: str, hint: str | None = None) -> None:
    """Whether a catalog is refused at the marked words with a message, and with some words in the hint."""
    error = refused(marked)
    assert error.message == message
    if hint is not None:
        assert error.hint is not None
        assert hint in error.hint
