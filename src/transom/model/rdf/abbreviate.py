"""Terms as short text for display: prefixed names, numbers without quotes, blank nodes, quoted text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from transom.model.rdf.terms import BOOLEAN, DECIMAL, DOUBLE, INTEGER, IRI, RDF, BlankNode, Literal, Term

_LOCAL = re.compile(r"[^\W_](?:[\w-]*[\w])?|")
_UNQUOTED = {
    INTEGER: re.compile(r"[+-]?[0-9]+"),
    DECIMAL: re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    DOUBLE: re.compile(r"[+-]?[0-9]+(\.[0-9]*)?[eE][+-]?[0-9]+"),
    BOOLEAN: re.compile(r"true|false"),
}
_DEFAULT_PREFIXES = {"xsd": "http://www.w3.org/2001/XMLSchema#", "rdf": RDF}


def abbreviate_term(term: Term | None, prefixes: Mapping[str, str]) -> str:
    """Format an RDF term for display, with IRIs shortened by prefixes; the empty string for an unbound variable (None).

    >>> abbreviate_term(IRI("http://ex/a"), {"": "http://ex/"}), abbreviate_term(Literal("3", INTEGER), {})
    (':a', '3')
    """
    match term:
        case None:
            return ""
        case IRI(value=value):
            candidates = [
                f"{prefix}:{value[len(namespace) :]}"
                for prefix, namespace in prefixes.items()
                if value.startswith(namespace) and _LOCAL.fullmatch(value[len(namespace) :])
            ]
            return min(candidates, key=len, default=str(term))
        case BlankNode():
            return str(term)
        case Literal(lexical=lexical, datatype=datatype, language=language):
            unquoted = _UNQUOTED.get(datatype)
            if unquoted is not None and unquoted.fullmatch(lexical):
                return lexical
            text, separator, _ = str(term).rpartition("^^")
            if language or not separator or str(term) == str(Literal(lexical)):
                return str(term)
            return f"{text}^^{abbreviate_term(IRI(datatype), {**_DEFAULT_PREFIXES, **prefixes})}"
