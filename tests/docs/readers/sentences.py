"""The sentences of the pages, each with what a reader of the page sees around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[3]
DRAWN = 50
SHORTEST_SENTENCE = 5
"""In words: what is shorter is a label."""
_UNSEEN = re.compile(r"^```.*?^```$|<!--.*?-->|<a id=[^>]*></a>|^(?:!\[|:::|    ).*?$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"(?P<level>#+) (?P<title>.+)")
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")
_CODE = re.compile(r"`[^`]*`")
_CELL = re.compile(r"(?<!\\)\|")
_AFTER = ", after: "
_END = re.compile(r"(?<=[.?!]) (?=[A-Z`*\[])")


@dataclass(frozen=True)
class Sentence:
    """A sentence or a table cell, with the sentence before it, the lead of its list, or its column and row."""

    page: str
    headings: tuple[str, ...]
    context: str
    text: str

    def __str__(self) -> str:
        around = f"\n       {self.context}" if self.context else ""
        return f"{' > '.join((self.page, *self.headings))}{around}\n    >> {self.text}"


@dataclass
class _Place:
    """Where on a page a reader is."""

    page: str
    headings: tuple[str, ...] = ()
    before: str = ""
    columns: list[str] = field(default_factory=list)

    def enter(self, level: int, title: str) -> None:
        """Begin a section."""
        self.headings, self.before = (*self.headings[: level - 1], title), ""


def pages() -> list[Path]:
    """The pages whose sentences are judged."""
    front = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    return [*front, *sorted((ROOT / "docs").glob("**/*.md"))]


def sentences() -> Iterator[Sentence]:
    """Every sentence of all pages."""
    for page in pages():
        yield from sentences_of(page.relative_to(ROOT).as_posix(), page.read_text("utf-8"))


def drawn_sentences(seed: str) -> list[str]:
    """Fifty sentences with their context, the same ones for the same seed."""
    return [str(sentence) for sentence in Random(seed).sample(list(sentences()), DRAWN)]


def sentences_of(name: str, text: str) -> Iterator[Sentence]:
    """Every sentence of a page outside of code blocks; cells of tables count as sentences."""
    place, paragraph = _Place(name), ""
    for line in [*_UNSEEN.sub("", text).splitlines(), ""]:
        heading = _HEADING.match(line)
        is_item = _ITEM.match(line) and (not paragraph or _ITEM.match(paragraph))
        if heading or not line.strip() or line.startswith("|") or is_item:
            yield from _paragraph(place, paragraph)
            paragraph = ""
        if heading:
            place.enter(len(heading["level"]), heading["title"])
        elif line.startswith("|"):
            yield from _row(place, [cell.strip() for cell in _CELL.split(line)[1:-1]])
        else:
            place.columns = []
            paragraph += f"{line}\n"


def _paragraph(place: _Place, text: str) -> Iterator[Sentence]:
    item = _ITEM.match(text)
    lead = place.before
    for sentence in _END.split(" ".join(text[item.end() if item else 0 :].split())):
        if _is_sentence(sentence):
            yield Sentence(place.page, place.headings, f"after: {place.before}" if place.before else "", sentence)
        place.before = sentence or place.before
    if item:
        place.before = lead


def _row(place: _Place, cells: list[str]) -> Iterator[Sentence]:
    if not place.columns:
        place.columns = cells
        return
    for position, (column, cell) in enumerate(zip(place.columns, cells, strict=False)):
        row = f" of the row {' | '.join(cells[:position])}" if position else ""
        context = f"in the column {column or '(no name)'}{row}"
        for sentence in _END.split(cell):
            if _is_sentence(sentence):
                yield Sentence(place.page, place.headings, context, sentence)
            context = f"{context.partition(_AFTER)[0]}{_AFTER}{sentence}"


def _is_sentence(text: str) -> bool:
    is_code = not re.search(r"[A-Za-z]{2,}", _CODE.sub("", text))
    return not is_code and len(re.findall(r"[A-Za-z]{2,}", text)) >= SHORTEST_SENTENCE
