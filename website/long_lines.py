"""A Markdown extension: the lines of output that no screen holds, such as those of `transom explain`, wrap.

A table in the same block keeps its columns: only lines longer than `LONGEST` are marked, and style.css wraps those. It
needs the options `line_spans` and `pygments_lang_class` of pymdownx.highlight.
"""

from __future__ import annotations

import re
from html import unescape

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor

LONGEST = 100
LANGUAGES = ("console", "text", "json")
BLOCK = re.compile(rf'<div class="language-(?:{"|".join(LANGUAGES)}) highlight">')
LINE = re.compile(r'<span id="(__line-[\d-]+)">(.*?\n)</span>', re.DOTALL)
TAG = re.compile(r"<[^>]*>")


def marked(block: str) -> str:
    """The HTML of a code block with the class `long` at the lines that are longer than `LONGEST`."""

    def line(match: re.Match[str]) -> str:
        text = unescape(TAG.sub("", match[2])).rstrip("\n")
        return f'<span id="{match[1]}" class="long">{match[2]}</span>' if len(text) > LONGEST else match[0]

    return LINE.sub(line, block) if BLOCK.match(block) else block


class LongLines(Treeprocessor):
    """Marks long lines in the code blocks, which are finished HTML by now."""

    def run(self, root: object) -> None:
        """Change the stored blocks; the tree has only their placeholders."""
        blocks = self.md.htmlStash.rawHtmlBlocks
        blocks[:] = [marked(block) if isinstance(block, str) else block for block in blocks]


class LongLinesExtension(Extension):
    """Registers `LongLines` after the blocks are highlighted."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the name is Markdown's
        """Called by Markdown."""
        md.treeprocessors.register(LongLines(md), "long_lines", 4)


def makeExtension(**options: object) -> LongLinesExtension:  # noqa: N802 - the name is Markdown's
    """Called by Markdown."""
    return LongLinesExtension(**options)
