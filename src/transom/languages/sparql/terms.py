"""The syntax of terms, paths and triples; IRIs are kept as written, and `translate` resolves them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from transom.errors import Span
from transom.languages.sql.syntax import NOWHERE

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


@dataclass(frozen=True, slots=True)
class Variable:
    """?name or $name."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Iri:
    """<text>, possibly relative to BASE; the keyword `a` is stored as rdf:type."""

    text: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class PrefixedName:
    """prefix:local, with the escapes of the local part decoded."""

    prefix: str
    local: str
    span: Span = field(default=NOWHERE, compare=False)


IriName: TypeAlias = Iri | PrefixedName


@dataclass(frozen=True, slots=True)
class StringLiteral:
    """A quoted literal, with an optional language tag or datatype."""

    value: str
    language: str | None = None
    datatype: IriName | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class NumericLiteral:
    """A literal without quotes: an integer, a decimal with a point, a double with an exponent."""

    digits: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class BooleanLiteral:
    """true or false."""

    value: bool
    span: Span = field(default=NOWHERE, compare=False)


LiteralTerm: TypeAlias = StringLiteral | NumericLiteral | BooleanLiteral


@dataclass(frozen=True, slots=True)
class BlankNode:
    """_:label."""

    label: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class BlankNodePropertyList:
    """[ properties ]: a blank node with its properties; [] has none."""

    properties: tuple[PredicateObjectList, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class RdfCollection:
    """( items ): an RDF list."""

    items: tuple[Node, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


Node: TypeAlias = Variable | IriName | LiteralTerm | BlankNode | BlankNodePropertyList | RdfCollection
"""What can be the subject or an object of a triple."""


@dataclass(frozen=True, slots=True)
class InversePath:
    """^path."""

    path: PropertyPath
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class SequencePath:
    """path/path/..."""

    steps: tuple[PropertyPath, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class AlternativePath:
    """path|path|..."""

    options: tuple[PropertyPath, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class RepeatedPath:
    """path*, path+ or path?"""

    path: PropertyPath
    sign: Literal["*", "+", "?"]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class NegatedPropertySet:
    """!(iri|^iri|...): any other predicate."""

    forbidden: tuple[IriName | InversePath, ...]
    span: Span = field(default=NOWHERE, compare=False)


PropertyPath: TypeAlias = IriName | InversePath | SequencePath | AlternativePath | RepeatedPath | NegatedPropertySet


@dataclass(frozen=True, slots=True)
class PredicateObjectList:
    """A predicate or path with its objects."""

    verb: PropertyPath | Variable
    objects: tuple[Node, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class TriplesSameSubject:
    """A subject with its predicates and objects."""

    subject: Node
    properties: tuple[PredicateObjectList, ...]
    span: Span = field(default=NOWHERE, compare=False)
