"""Terms as people write them: prefixed names, numbers without quotes, blank nodes, text in quotes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from transom.model.rdf.terms import BOOLEAN, DECIMAL, DOUBLE, INTEGER, IRI, RDF, BlankNode, Literal, Term

_LOCAL = re.compile(r"[^\W_](?:[\w-]*[\w])?|")
_PLAIN = {
    INTEGER: re.compile(r"[+-]?[0-9]+"),
    DECIMAL: re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    DOUBLE: re.compile(r"[+-]?[0-9]+(\.[0-9]*)?[eE][+-]?[0-9]+"),
    BOOLEAN: re.compile(r"true|false"),
}
_KNOWN = {"xsd": "http://www.w3.org/2001/XMLSchema#", "rdf": RDF}


def short(term: Term | None, prefixes: Mapping[str, str]) -> str:
    """A term for people to read, as short as prefixes allow; nothing for what is unbound.

    >>> short(IRI("http://ex/a"), {"": "http://ex/"}), short(Literal("3", INTEGER), {})
    (':a', '3')
    """
    match term:
        case None:
            return ""
        case IRI(value=value):
            fits = [
                f"{prefix}:{value[len(start) :]}"
                for prefix, start in prefixes.items()
                if value.startswith(start) and _LOCAL.fullmatch(value[len(start) :])
            ]
            return min(fits, key=len, default=str(term))
        case BlankNode():
            return str(term)
        case Literal(lexical=lexical, datatype=datatype, language=language):
            plain = _PLAIN.get(datatype)
            if plain is not None and plain.fullmatch(lexical):
                return lexical
            text, arrows, _ = str(term).rpartition("^^")
            if language or not arrows or str(term) == str(Literal(lexical)):
                return str(term)
            return f"{text}^^{short(IRI(datatype), {**_KNOWN, **prefixes})}"
