"""Checks before Oxigraph reads a text: what it would read in part, or what would end the process.

Its reader of JSON-LD is recursive, and a few thousand brackets overflow the stack of the process. Its reader of RDF/XML
takes a text that ends too early, and expands entities without a limit.
"""

from __future__ import annotations

import re
from xml.parsers import expat

from transom.errors import DataError

DEEPEST = 100
"""Levels of brackets in JSON-LD, and of elements in RDF/XML."""
EXPANDED = 1 << 20
"""Characters that the entities of RDF/XML may become, beside ten times those of the text."""
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)


class TooDeep(DataError):
    """A text that is nested too deeply."""


def check_text(text: str | bytes, format: str) -> None:
    """DataError if a text of this format cannot be handed to Oxigraph."""
    if format == "jsonld":
        _check_json(text if isinstance(text, str) else text.decode("utf-8", "replace"))
    elif format == "rdf":
        _Xml(text).check()


def _check_json(text: str) -> None:
    depth = 0
    for found in _BRACKETS.finditer(text):
        if found[0] in "[{":
            depth += 1
            _check_depth(depth, "brackets")
        elif found[0] in "]}":
            depth -= 1


def _check_depth(depth: int, what: str) -> None:
    if depth > DEEPEST:
        detail = f"more than {DEEPEST} levels of {what}"
        raise TooDeep("this is nested too deeply", detail=detail, hint="write the inner parts on their own")


class _Xml:
    """One pass over a text of RDF/XML: it is whole, not too deep, and its entities stay small."""

    def __init__(self, text: str | bytes) -> None:
        self.text = text if isinstance(text, bytes) else text.encode()
        self.depth = 0
        self.expanded = 0
        self.entities = 0

    def check(self) -> None:
        """DataError if the text is no XML that can be read as a whole."""
        parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.EntityDeclHandler = self._entity
        try:
            parser.Parse(self.text, True)
        except expat.ExpatError as error:
            raise DataError("this is not well-formed XML", detail=str(error)) from None
        if self.text.count(b"!ENTITY") != self.entities:  # Oxigraph sees those in comments, too
            raise DataError("only entities of plain text are read", detail="an entity is declared in an odd place")

    def _start(self, _name: str, _attributes: dict[str, str]) -> None:
        self.depth += 1
        _check_depth(self.depth, "elements")

    def _end(self, _name: str) -> None:
        self.depth -= 1

    def _entity(self, name: str, parameter: bool, value: str | None, *_more: object) -> None:
        self.entities += 1
        if value is None or parameter or "&" in value:
            detail = f"the entity {name[:40]} is not plain text"
            raise DataError("only entities of plain text are read", detail=detail, hint="write out what it stands for")
        self.expanded += self.text.count(f"&{name};".encode()) * len(value)
        if self.expanded > EXPANDED + 10 * len(self.text):
            raise DataError("the entities stand for too much text", detail=f"{self.expanded} characters")
