"""The pages of the documentation, and the fenced blocks in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")),
        *(ROOT / "docs").glob("**/*.md"),
        *(ROOT / "examples").glob("*/README.md"),
    ]
)
_FENCE = re.compile(r"```(?P<language>\w*)(?: title=\"(?P<title>[^\"]*)\")?\s*\Z")
SPARK = "<!-- spark -->"
"""The line before the fence of a block that needs a JVM; nobody who reads the page sees it."""
SERVERS = "<!-- servers -->"
"""The same for one that starts a server."""


@dataclass(frozen=True)
class Block:
    """A fenced block: `first` is the number of its first line of content, counted from 0; `spark` if it needs a JVM.

    `servers` if it starts one.
    """

    language: str
    title: str | None
    first: int
    lines: tuple[str, ...]
    spark: bool = False
    servers: bool = False

    @property
    def text(self) -> str:
        """Its content, with a newline at the end."""
        return "".join(f"{line}\n" for line in self.lines)

    def answers(self, other: Block) -> bool:
        """Whether this block says what the other one gives: a plain block with nothing but blanks between them."""
        return self.language == "text" and self.title is None and self.gap(other) == 0

    def gap(self, other: Block) -> int:
        """How many lines stand between another block and this one, beside fences and one blank line."""
        return self.first - 1 - (other.first + len(other.lines) + 2)


def alone(page: Path) -> bool:
    """Whether a page needs nothing but what it says itself: a tutorial."""
    return page.parent == TUTORIALS


def name_of(page: Path) -> str:
    """A page as messages call it."""
    return page.relative_to(ROOT).as_posix()


def text_of(name: str) -> str:
    """The text of a page by its path."""
    return (ROOT / name).read_text("utf-8")


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order; a fence that cannot be read is an error."""
    blocks: list[Block] = []
    lines = page.read_text("utf-8").splitlines()
    start: tuple[int, re.Match[str]] | None = None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if start is None:
            found = _FENCE.match(line)
            assert found, f"{name_of(page)}:{number + 1}: a fence that no test understands: {line}"
            start = (number + 1, found)
        else:
            assert line.rstrip() == "```", f"{name_of(page)}:{number + 1}: a fence inside a fence"
            first, found = start
            content = tuple(lines[first:number])
            before = lines[first - 2 : first - 1]
            blocks.append(
                Block(found["language"], found["title"], first, content, before == [SPARK], before == [SERVERS])
            )
            start = None
    assert start is None, f"{name_of(page)}: a fence is not closed"
    return blocks


def rewrite_page(page: Path, changes: Sequence[tuple[Block, list[str]]]) -> None:
    """Put new content into some blocks of a page."""
    lines = page.read_text("utf-8").splitlines()
    for block, new in sorted(changes, key=lambda change: change[0].first, reverse=True):
        lines[block.first : block.first + len(block.lines)] = new
    page.write_text("\n".join(lines) + "\n", "utf-8")
