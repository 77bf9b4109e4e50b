"""Terms as canonical N-Triples, one text for each term, so that equal texts are the same term.

An IRI is `<...>`, a blank node `_:label`, a literal `"..."`, `"..."@tag` with the tag in lower case, or
`"..."^^<datatype>`; a string has no datatype. In a literal only the quote, the backslash and control characters are
escaped, with the short escape if there is one; in an IRI, the characters that N-Triples forbids there.
"""

from __future__ import annotations

import re

from transom.errors import DataError
from transom.model.rdf.terms import IRI, STRING, BlankNode, Literal, Term, Triple

_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^<>"]*)>)?', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SHORT = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def encode_term(term: Term) -> str:
    """Encode a term as canonical N-Triples, the text that stands for terms in Spark columns."""
    return str(term)


def decode_term(text: str) -> Term:
    """Parse a term from N-Triples, canonical or not; raise DataError if it is malformed.

    >>> decode_term('"1"^^<http://www.w3.org/2001/XMLSchema#integer>')
    Literal(lexical='1', datatype='http://www.w3.org/2001/XMLSchema#integer', language='')
    """
    if text.startswith("<") and text.endswith(">"):
        return IRI(_unescape(text[1:-1]))
    if text.startswith("_:") and len(text) > 2:
        return BlankNode(text[2:])
    match = _LITERAL.fullmatch(text)
    if not match:
        raise DataError("this is no term of RDF in N-Triples", detail=text)
    escaped, language, datatype = match.groups()
    return Literal(_unescape(escaped), STRING if datatype is None else _unescape(datatype), language or "")


def statement_row(triple: Triple) -> tuple[str, str, str]:
    """Encode a statement as a row of three texts in N-Triples: subject, predicate, object."""
    return encode_term(triple.subject), encode_term(triple.predicate), encode_term(triple.object)


def _unescape(text: str) -> str:
    """Replace the backslash escapes of N-Triples by their characters; raise DataError for an unknown escape."""
    return _ESCAPE.sub(_unescaped_character, text) if "\\" in text else text


def _unescaped_character(escape: re.Match[str]) -> str:
    """Return the character that a matched backslash escape denotes; raise DataError if there is no such escape."""
    short, long, letter = escape.groups()
    if letter is None:
        return chr(int(short or long, 16))
    if letter not in _SHORT:
        raise DataError("this is no term of RDF in N-Triples", detail=f"no such escape: {escape[0]}")
    return _SHORT[letter]
