"""Parses single terms in SPARQL notation: `<iri>`, `prefix:name`, `_:label`, `"text"@en`, `1.5`, `true`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from transom.errors import ParseError, QueryError
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.parse import parse
from transom.languages.sparql.translation.names import NameResolver
from transom.languages.sparql.translation.triples import translate_term
from transom.model.rdf.terms import BlankNode, Term

_EXAMPLES = 'write for example <http://example.org/a>, ex:a, _:a, 1.5 or "text"'


def read_term(text: str, prefixes: Mapping[str, str]) -> Term:
    """Parse a single RDF term in SPARQL notation; raises ParseError or NameProblem if it is malformed.

    NameProblem is for a prefix that is not in `prefixes`.
    """
    node = read_node(text)
    return BlankNode(node.label) if isinstance(node, terms.BlankNode) else translate_term(node, NameResolver(prefixes))


@lru_cache(maxsize=10_000)
def read_node(text: str) -> terms.IriName | terms.LiteralTerm | terms.BlankNode:
    """Parse a single RDF term to its syntax node; raises ParseError if the text is not a term."""
    try:
        query = parse(f"ASK {{ [] <> {text}\n}}")
    except QueryError:
        query = None
    match query:
        case syntax.SparqlQuery(
            form=syntax.Ask(
                where=syntax.GroupPattern(
                    elements=(
                        syntax.TriplesBlock(statements=(terms.TriplesSameSubject(properties=(property_list,)),)),
                    ),
                    window=None,
                )
            )
        ) if len(property_list.objects) == 1:
            node = property_list.objects[0]
            if not isinstance(node, terms.Variable | terms.BlankNodePropertyList | terms.RdfCollection):
                return node
    raise ParseError(f"{text!r} is not an RDF term", hint=_EXAMPLES)
