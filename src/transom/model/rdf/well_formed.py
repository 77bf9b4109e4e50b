"""Checks before Oxigraph parses a text: input that it would read only in part, or that would crash the process.

Its JSON-LD parser is recursive, and a few thousand brackets overflow the stack of the process. Its RDF/XML parser
accepts a text that ends too early, and expands entities without a limit.
"""

from __future__ import annotations

import re
from xml.parsers import expat

from transom.errors import DataError

MAX_DEPTH = 100
"""The most levels of brackets in JSON-LD, and of elements in RDF/XML."""
MAX_EXPANDED_SIZE = 1 << 20
"""The most characters that RDF/XML entities may expand to, in addition to ten times those of the text."""
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)


class NestedTooDeeply(DataError):
    """A text that is nested too deeply."""


def check_text(text: str | bytes, format: str) -> None:
    """Raise DataError for JSON-LD or RDF/XML (`format` jsonld, rdf) that would crash or mislead the parser Oxigraph.

    That is JSON-LD that is nested too deeply, and XML that is malformed or too large.
    """
    if format == "jsonld":
        _check_json(text if isinstance(text, str) else text.decode("utf-8", "replace"))
    elif format == "rdf":
        _XmlCheck(text).check()


def _check_json(text: str) -> None:
    """Raise DataError if the brackets in JSON-LD text are nested too deeply for Oxigraph's recursive parser."""
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        if bracket[0] in "[{":
            depth += 1
            _check_depth(depth, "brackets")
        elif bracket[0] in "]}":
            depth -= 1


def _check_depth(depth: int, construct: str) -> None:
    """Raise NestedTooDeeply if `depth` exceeds the limit; the error calls the levels `construct`."""
    if depth > MAX_DEPTH:
        detail = f"more than {MAX_DEPTH} levels of {construct}"
        raise NestedTooDeeply("this is nested too deeply", detail=detail, hint="write the inner parts on their own")


class _XmlCheck:
    """One pass over RDF/XML that checks that it is complete, not too deep, and has only small entities."""

    def __init__(self, text: str | bytes) -> None:
        """Prepare to check RDF/XML text; the check itself is done by `check`."""
        self.text = text if isinstance(text, bytes) else text.encode()
        self.depth = 0
        self.expanded = 0
        self.entities = 0

    def check(self) -> None:
        """Raise DataError unless the RDF/XML is complete, not nested too deeply, and has only small entities."""
        parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.EntityDeclHandler = self._entity
        try:
            parser.Parse(self.text, True)
        except expat.ExpatError as error:
            raise DataError("this is not well-formed XML", detail=str(error)) from None
        if self.text.count(b"!ENTITY") != self.entities:  # Oxigraph sees those in comments, too
            raise DataError(
                "only entities of plain text are read", detail="an entity is declared in an unexpected position"
            )

    def _start(self, _name: str, _attributes: dict[str, str]) -> None:
        """Count one more level of nesting at the start of an RDF/XML element; raise NestedTooDeeply above the limit."""
        self.depth += 1
        _check_depth(self.depth, "elements")

    def _end(self, _name: str) -> None:
        """Count one level of nesting less at the end of an RDF/XML element."""
        self.depth -= 1

    def _entity(self, name: str, parameter: bool, value: str | None, *_more: object) -> None:
        """Raise DataError for a parameter entity of XML, one that is not plain text, or one that grows too long."""
        self.entities += 1
        if value is None or parameter or "&" in value:
            detail = f"the entity {name[:40]} is not plain text"
            raise DataError("only entities of plain text are read", detail=detail, hint="write out what it stands for")
        self.expanded += self.text.count(f"&{name};".encode()) * len(value)
        if self.expanded > MAX_EXPANDED_SIZE + 10 * len(self.text):
            raise DataError("the entities stand for too much text", detail=f"{self.expanded} characters")
