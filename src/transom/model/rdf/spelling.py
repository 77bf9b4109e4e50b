"""Terms as text: the canonical spelling of N-Triples, one for each term, so that equal texts are the same term.

A name is `<...>`, a blank node `_:label`, a literal `"..."`, `"..."@tag` with the tag in lower case, or
`"..."^^<datatype>`; a string has no datatype. In a literal only the quote, the backslash and control characters are
escaped, with the short escape where there is one; in a name, what N-Triples forbids there.
"""

from __future__ import annotations

import re

from transom.errors import DataError
from transom.model.rdf.terms import IRI, STRING, BlankNode, Literal, Term, Triple

_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^<>"]*)>)?', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SHORT = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def encode(term: Term) -> str:
    """A term in its canonical spelling."""
    return str(term)


def decode(text: str) -> Term:
    """The term that a text spells, canonical or not; DataError where it spells none.

    >>> decode('"1"^^<http://www.w3.org/2001/XMLSchema#integer>')
    Literal(lexical='1', datatype='http://www.w3.org/2001/XMLSchema#integer', language='')
    """
    if text.startswith("<") and text.endswith(">"):
        return IRI(_plain(text[1:-1]))
    if text.startswith("_:") and len(text) > 2:
        return BlankNode(text[2:])
    found = _LITERAL.fullmatch(text)
    if not found:
        raise DataError("this is no term of RDF in N-Triples", detail=text)
    characters, language, datatype = found.groups()
    return Literal(_plain(characters), STRING if datatype is None else _plain(datatype), language or "")


def statement_row(triple: Triple) -> tuple[str, str, str]:
    """A statement as a row of terms."""
    return encode(triple.subject), encode(triple.predicate), encode(triple.object)


def _plain(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    short, long, letter = found.groups()
    if letter is None:
        return chr(int(short or long, 16))
    if letter not in _SHORT:
        raise DataError("this is no term of RDF in N-Triples", detail=f"no such escape: {found[0]}")
    return _SHORT[letter]
