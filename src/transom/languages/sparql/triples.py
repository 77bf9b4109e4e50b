"""Statements to triples: lists and brackets written out; terms and paths of the syntax to those of the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from itertools import count
from typing import NamedTuple, assert_never

from transom.algebra.expressions import Column
from transom.algebra.rdf import patterns
from transom.algebra.rdf.patterns import Place
from transom.algebra.terms import variable
from transom.languages.sparql import terms
from transom.languages.sparql.names import Names
from transom.model.rdf.terms import BOOLEAN, DECIMAL, DOUBLE, INTEGER, IRI, RDF, BlankNode, Literal, Term

FIRST, REST, NIL = IRI(RDF + "first"), IRI(RDF + "rest"), IRI(RDF + "nil")


class Row(NamedTuple):
    """One triple of a text: a subject, a predicate or a path, an object."""

    subject: Place
    verb: terms.Path | IRI | Column
    object: Place


@dataclass(frozen=True, slots=True)
class Triples:
    """Makes triples; blank nodes that the text does not name get labels that it cannot write."""

    names: Names
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def rows(self, statements: Iterable[terms.Statement]) -> list[Row]:
        """The triples of statements."""
        rows: list[Row] = []
        for statement in statements:
            subject = self.place(statement.subject, rows)
            self._properties(subject, statement.properties, rows)
        return rows

    def fresh(self) -> BlankNode:
        """A blank node that nothing else names."""
        return BlankNode(f"[{next(self.numbers)}]")

    def place(self, node: terms.Node, rows: list[Row]) -> Place:
        """What a node stands for; what it says besides is added to the rows."""
        match node:
            case terms.Variable(name=name):
                return variable(name)
            case terms.BlankNode(label=label):
                return BlankNode(label)
            case terms.Described(properties=properties):
                blank = self.fresh()
                self._properties(blank, properties, rows)
                return blank
            case terms.Collection(items=()):
                return NIL
            case terms.Collection(items=items):
                links: list[Place] = [*(self.fresh() for _ in items), NIL]
                for item, link, following in zip(items, links, links[1:]):
                    rows.append(Row(link, FIRST, self.place(item, rows)))
                    rows.append(Row(link, REST, following))
                return links[0]
            case _:
                return term(node, self.names)

    def _properties(self, subject: Place, properties: Iterable[terms.Property], rows: list[Row]) -> None:
        for one in properties:
            verb = variable(one.verb.name) if isinstance(one.verb, terms.Variable) else one.verb
            for node in one.objects:
                place = self.place(node, rows)
                rows.append(Row(subject, verb, place))


def term(node: terms.IriName | terms.LiteralTerm, names: Names) -> Term:
    """A term of the syntax as one of the model."""
    match node:
        case terms.Iri() | terms.PrefixedName():
            return names.iri(node)
        case terms.Text(value=value, language=language) if language is not None:
            return Literal(value, language=language)
        case terms.Text(value=value, datatype=None):
            return Literal(value)
        case terms.Text(value=value, datatype=datatype) if datatype is not None:
            return Literal(value, names.iri(datatype).value)
        case terms.Number(digits=digits):
            kind = DOUBLE if "e" in digits.lower() else DECIMAL if "." in digits else INTEGER
            return Literal(digits, kind)
        case terms.Boolean(value=value):
            return Literal("true" if value else "false", BOOLEAN)
    raise AssertionError(node)


def path(way: terms.Path | IRI, names: Names) -> patterns.Path:
    """A path of the syntax as one of the algebra."""
    match way:
        case IRI():
            return patterns.Link(way)
        case terms.Iri() | terms.PrefixedName():
            return patterns.Link(names.iri(way))
        case terms.Inverse(path=inner):
            return patterns.Inverse(path(inner, names))
        case terms.Sequence(steps=steps):
            return reduce(patterns.Steps, (path(step, names) for step in steps))
        case terms.Alternative(options=options):
            return reduce(patterns.Either, (path(option, names) for option in options))
        case terms.Repeat(path=inner, sign=sign):
            below = path(inner, names)
            if sign == "?":
                return patterns.ZeroOrOne(below)
            return patterns.ZeroOrMore(below) if sign == "*" else patterns.OneOrMore(below)
        case terms.NoneOf(forbidden=forbidden):
            forward = tuple(names.iri(one) for one in forbidden if not isinstance(one, terms.Inverse))
            back = [one.path for one in forbidden if isinstance(one, terms.Inverse)]
            backward = tuple(names.iri(one) for one in back if isinstance(one, terms.IriName))
            return patterns.NoneOf(forward, backward)
        case _:
            assert_never(way)
