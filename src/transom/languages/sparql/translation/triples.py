"""Expands statements with lists and brackets to triples, and translates terms and paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from itertools import count
from typing import NamedTuple, assert_never

from transom.algebra.expressions.expression import Column
from transom.algebra.expressions.terms import variable
from transom.algebra.rdf import patterns
from transom.algebra.rdf.patterns import TermPattern
from transom.languages.sparql import terms
from transom.languages.sparql.translation.names import NameResolver
from transom.model.rdf.terms import BOOLEAN, DECIMAL, DOUBLE, INTEGER, IRI, RDF, BlankNode, Literal, Term

FIRST, REST, NIL = IRI(RDF + "first"), IRI(RDF + "rest"), IRI(RDF + "nil")


class TriplePath(NamedTuple):
    """A triple of a query: subject, predicate or path, object."""

    subject: TermPattern
    verb: terms.PropertyPath | IRI | Column
    object: TermPattern


@dataclass(frozen=True, slots=True)
class TripleBuilder:
    """Expands statements to triples; anonymous blank nodes get labels that no query can contain."""

    names: NameResolver
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def triples(self, statements: Iterable[terms.TriplesSameSubject]) -> list[TriplePath]:
        """Expand subjects with their property lists, RDF lists `(...)` and brackets `[...]` to single triples."""
        triples: list[TriplePath] = []
        for statement in statements:
            subject = self.term_pattern(statement.subject, triples)
            self._properties(subject, statement.properties, triples)
        return triples

    def fresh(self) -> BlankNode:
        """Return a new blank node for a list, brackets or a path; its label cannot occur in a query."""
        return BlankNode(f"[{next(self.numbers)}]")

    def term_pattern(self, node: terms.Node, triples: list[TriplePath]) -> TermPattern:
        """Translate a syntax node to a term pattern; the triples of lists and brackets are appended to `triples`."""
        match node:
            case terms.Variable(name=name):
                return variable(name)
            case terms.BlankNode(label=label):
                return BlankNode(label)
            case terms.BlankNodePropertyList(properties=properties):
                blank = self.fresh()
                self._properties(blank, properties, triples)
                return blank
            case terms.RdfCollection(items=()):
                return NIL
            case terms.RdfCollection(items=items):
                links: list[TermPattern] = [*(self.fresh() for _ in items), NIL]
                for item, link, following in zip(items, links, links[1:]):
                    triples.append(TriplePath(link, FIRST, self.term_pattern(item, triples)))
                    triples.append(TriplePath(link, REST, following))
                return links[0]
            case _:
                return translate_term(node, self.names)

    def _properties(
        self, subject: TermPattern, properties: Iterable[terms.PredicateObjectList], triples: list[TriplePath]
    ) -> None:
        """Append to `triples` one triple for each predicate and object in the property lists of `subject`."""
        for property_list in properties:
            verb = (
                variable(property_list.verb.name)
                if isinstance(property_list.verb, terms.Variable)
                else property_list.verb
            )
            for node in property_list.objects:
                object_pattern = self.term_pattern(node, triples)
                triples.append(TriplePath(subject, verb, object_pattern))


def translate_term(node: terms.IriName | terms.LiteralTerm, names: NameResolver) -> Term:
    """Translate an IRI or literal of the syntax to an RDF term; `names` resolves prefixes and relative IRIs."""
    match node:
        case terms.Iri() | terms.PrefixedName():
            return names.iri(node)
        case terms.StringLiteral(value=value, language=language) if language is not None:
            return Literal(value, language=language)
        case terms.StringLiteral(value=value, datatype=None):
            return Literal(value)
        case terms.StringLiteral(value=value, datatype=datatype) if datatype is not None:
            return Literal(value, names.iri(datatype).value)
        case terms.NumericLiteral(digits=digits):
            kind = DOUBLE if "e" in digits.lower() else DECIMAL if "." in digits else INTEGER
            return Literal(digits, kind)
        case terms.BooleanLiteral(value=value):
            return Literal("true" if value else "false", BOOLEAN)
    raise AssertionError(node)


def translate_path(path: terms.PropertyPath | IRI, names: NameResolver) -> patterns.PropertyPath:
    """Translate a property path to the algebra; `names` resolves its prefixes and relative IRIs."""
    match path:
        case IRI():
            return patterns.PredicatePath(path)
        case terms.Iri() | terms.PrefixedName():
            return patterns.PredicatePath(names.iri(path))
        case terms.InversePath(path=inner):
            return patterns.InversePath(translate_path(inner, names))
        case terms.SequencePath(steps=steps):
            return reduce(patterns.SequencePath, (translate_path(step, names) for step in steps))
        case terms.AlternativePath(options=options):
            return reduce(patterns.AlternativePath, (translate_path(option, names) for option in options))
        case terms.RepeatedPath(path=inner, sign=sign):
            below = translate_path(inner, names)
            if sign == "?":
                return patterns.ZeroOrOnePath(below)
            return patterns.ZeroOrMorePath(below) if sign == "*" else patterns.OneOrMorePath(below)
        case terms.NegatedPropertySet(forbidden=forbidden):
            forward = tuple(names.iri(item) for item in forbidden if not isinstance(item, terms.InversePath))
            back = [item.path for item in forbidden if isinstance(item, terms.InversePath)]
            backward = tuple(names.iri(item) for item in back if isinstance(item, terms.IriName))
            return patterns.NegatedPropertySet(forward, backward)
        case _:
            assert_never(path)
