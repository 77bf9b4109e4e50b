"""Terms as short text for display: prefixed names, numbers without quotes, blank nodes, quoted text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from transom.model.rdf.terms import BOOLEAN, DECIMAL, DOUBLE, INTEGER, IRI, RDF, RDFS, XSD, BlankNode, Literal, Term

_LOCAL = re.compile(r"[^\W_](?:[\w-]*[\w])?|")
_UNQUOTED = {
    INTEGER: re.compile(r"[+-]?[0-9]+"),
    DECIMAL: re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    DOUBLE: re.compile(r"[+-]?[0-9]+(\.[0-9]*)?[eE][+-]?[0-9]+"),
    BOOLEAN: re.compile(r"true|false"),
}
_BUILT_IN_PREFIXES = {"xsd": XSD, "rdf": RDF, "rdfs": RDFS}


def display_term(term: Term | None, prefixes: Mapping[str, str]) -> str:
    """Format an RDF term for a table or picture, with IRIs shortened by `prefixes` and by rdf:, rdfs: and xsd:.

    A prefix of `prefixes` takes precedence over a built-in prefix with the same name. For text that is parsed again,
    use `abbreviate_term`.

    >>> display_term(IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), {})
    'rdf:type'
    """
    return abbreviate_term(term, _with_built_in(prefixes))


def _with_built_in(prefixes: Mapping[str, str]) -> dict[str, str]:
    """Add the built-in prefixes whose names `prefixes` does not declare, after those that it declares."""
    return {**prefixes, **{name: iri for name, iri in _BUILT_IN_PREFIXES.items() if name not in prefixes}}


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
            return f"{text}^^{abbreviate_term(IRI(datatype), _with_built_in(prefixes))}"
