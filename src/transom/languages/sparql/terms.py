"""The syntax of terms, paths and triples; names of IRIs stand as they were written, and `translate` resolves them."""

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
    """<text>, perhaps relative to BASE; the word `a` is the IRI rdf:type."""

    text: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class PrefixedName:
    """prefix:local, the escapes of its local part undone."""

    prefix: str
    local: str
    span: Span = field(default=NOWHERE, compare=False)


IriName: TypeAlias = Iri | PrefixedName


@dataclass(frozen=True, slots=True)
class Text:
    """A literal in quotes, with a language or a datatype where one is written."""

    value: str
    language: str | None = None
    datatype: IriName | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Number:
    """A literal without quotes: an integer, a decimal with a point, a double with an exponent."""

    digits: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Boolean:
    """true or false."""

    value: bool
    span: Span = field(default=NOWHERE, compare=False)


LiteralTerm: TypeAlias = Text | Number | Boolean


@dataclass(frozen=True, slots=True)
class BlankNode:
    """_:label."""

    label: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Described:
    """[ properties ]: a blank node with what is said of it; [] has no properties."""

    properties: tuple[Property, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Collection:
    """( items ): an RDF list."""

    items: tuple[Node, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


Node: TypeAlias = Variable | IriName | LiteralTerm | BlankNode | Described | Collection
"""What can be the subject or an object of a triple."""


@dataclass(frozen=True, slots=True)
class Inverse:
    """^path."""

    path: Path
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Sequence:
    """path/path/..."""

    steps: tuple[Path, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Alternative:
    """path|path|..."""

    options: tuple[Path, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Repeat:
    """path*, path+ or path?"""

    path: Path
    sign: Literal["*", "+", "?"]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class NoneOf:
    """!(iri|^iri|...): any other predicate."""

    forbidden: tuple[IriName | Inverse, ...]
    span: Span = field(default=NOWHERE, compare=False)


Path: TypeAlias = IriName | Inverse | Sequence | Alternative | Repeat | NoneOf


@dataclass(frozen=True, slots=True)
class Property:
    """A verb and its objects."""

    verb: Path | Variable
    objects: tuple[Node, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Statement:
    """A subject and what is said of it."""

    subject: Node
    properties: tuple[Property, ...]
    span: Span = field(default=NOWHERE, compare=False)
