"""Single terms as SPARQL writes them: `<iri>`, `prefix:name`, `_:label`, `"text"@en`, `1.5`, `true`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from transom.errors import ParseError, QueryError
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.names import Names
from transom.languages.sparql.parse import parse
from transom.languages.sparql.triples import term
from transom.model.rdf.terms import BlankNode, Term

_EXAMPLES = 'write for example <http://example.org/a>, ex:a, _:a, 1.5 or "text"'


def read_term(text: str, prefixes: Mapping[str, str]) -> Term:
    """The term that a text writes; ParseError if it writes none, NameProblem if its prefix is not known."""
    node = read_node(text)
    return BlankNode(node.label) if isinstance(node, terms.BlankNode) else term(node, Names(prefixes))


@lru_cache(maxsize=10_000)
def read_node(text: str) -> terms.IriName | terms.LiteralTerm | terms.BlankNode:
    """The syntax of a single term; ParseError if a text writes none."""
    try:
        query = parse(f"ASK {{ [] <> {text}\n}}")
    except QueryError:
        query = None
    match query:
        case syntax.Query(
            form=syntax.Ask(
                where=syntax.Group(
                    elements=(syntax.TriplesBlock(statements=(terms.Statement(properties=(one,)),)),), window=None
                )
            )
        ) if len(one.objects) == 1:
            node = one.objects[0]
            if not isinstance(node, terms.Variable | terms.Described | terms.Collection):
                return node
    raise ParseError(f"{text!r} is no term", hint=_EXAMPLES)
