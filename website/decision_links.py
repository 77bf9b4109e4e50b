"""A Markdown extension: the id of a decision, such as C14, links to its row in docs/decisions.md.

The ids are those that the page itself lists: the first cells of its tables. Headings, code and links stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor

PAGE = "decisions.md"
REGISTER = Path(__file__).parents[1] / "docs" / "decisions.md"
ROW = re.compile(r"^\| ([A-Z]\d+) \|", re.MULTILINE)
WORD = re.compile(r"(?<![\w./#-])([A-Z]\d+)(?![\w/])")
UNTOUCHED = frozenset(["a", "code", "pre", "script", "style", "h1", "h2", "h3", "h4", "h5", "h6"])


def depth(md: Markdown) -> int:
    """In how many folders below docs the page that is rendered stands, as MkDocs or Zensical says it; otherwise 0."""
    if "relpath" in md.treeprocessors:
        return str(md.treeprocessors["relpath"].file.src_uri).count("/")
    if "rendering_context" in md.preprocessors:
        return str(md.preprocessors["rendering_context"].page.path).count("/")
    return 0


def decision_ids(page: str) -> frozenset[str]:
    """The ids of the decisions that a page lists."""
    return frozenset(ROW.findall(page))


class DecisionLinks(Treeprocessor):
    """Turns ids into links, and gives the first cell of a decision's row its id as anchor."""

    def __init__(self, md: Markdown, ids: frozenset[str]) -> None:
        super().__init__(md)
        self.ids = ids
        self.page = PAGE

    def run(self, root: Element) -> None:
        """Change the tree of a page."""
        self.page = "../" * depth(self.md) + PAGE
        for row in root.iter("tr"):
            cell = next(iter(row), None)
            if cell is not None and cell.tag == "td" and not len(cell) and cell.text in self.ids:
                cell.set("id", cell.text.lower())
        for parent in [element for element in self._prose(root) if "id" not in element.attrib]:
            self._link(parent)

    def _prose(self, element: Element) -> Iterator[Element]:
        """The elements whose text is prose, from the outside in."""
        if element.tag not in UNTOUCHED:
            yield element
            for child in element:
                yield from self._prose(child)

    def _link(self, parent: Element) -> None:
        """Link the ids in an element's own text and in the text after each of its children."""
        children = list(parent)
        for child in children:
            parent.remove(child)
        parent.text = self._append(parent, parent.text)
        for child in children:
            tail, child.tail = child.tail, None
            parent.append(child)
            child.tail = self._append(parent, tail)

    def _append(self, parent: Element, text: str | None) -> str | None:
        """Append the links in a text to `parent`; returns the part of the text before the first one."""
        pieces = WORD.split(text or "")  # text, id, text, id, text
        before, last = pieces[0], None
        for name, after in zip(pieces[1::2], pieces[2::2], strict=True):
            if name in self.ids:
                last = SubElement(parent, "a", {"href": f"{self.page}#{name.lower()}", "class": "decision"})
                last.text, last.tail = name, after
            elif last is None:
                before += name + after
            else:
                last.tail = f"{last.tail}{name}{after}"
        return before if text is not None else None


class DecisionLinksExtension(Extension):
    """Registers `DecisionLinks` between the inline patterns and the generator's own handling of links."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the name is Markdown's
        """Called by Markdown."""
        ids = decision_ids(REGISTER.read_text("utf-8"))
        md.treeprocessors.register(DecisionLinks(md, ids), "decision_links", 5)


def makeExtension(**options: object) -> DecisionLinksExtension:  # noqa: N802 - the name is Markdown's
    """Called by Markdown."""
    return DecisionLinksExtension(**options)
