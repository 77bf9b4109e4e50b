"""RDF terms and statements; `==` on terms is SPARQL's sameTerm."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
STRING = XSD + "string"
BOOLEAN = XSD + "boolean"
INTEGER = XSD + "integer"
DECIMAL = XSD + "decimal"
FLOAT = XSD + "float"
DOUBLE = XSD + "double"
DATE_TIME = XSD + "dateTime"
DATE = XSD + "date"
TIME = XSD + "time"
DURATION = XSD + "duration"
DAY_TIME = XSD + "dayTimeDuration"
YEAR_MONTH = XSD + "yearMonthDuration"
LANG_STRING = RDF + "langString"


@dataclass(frozen=True, slots=True)
class IRI:
    """An IRI."""

    value: str

    def __str__(self) -> str:
        """The IRI in N-Triples: in angle brackets, with forbidden characters escaped."""
        return f"<{_escape_iri(self.value)}>"


@dataclass(frozen=True, slots=True)
class BlankNode:
    """A blank node; its label identifies it only within one input."""

    label: str

    def __str__(self) -> str:
        """The blank node in N-Triples: `_:` and the label."""
        return f"_:{self.label}"


@dataclass(frozen=True, slots=True)
class Literal:
    """An RDF literal: its text as written, its datatype, and for text in a language the language tag.

    The lexical form is kept as written: "01" and "1" are two terms with one value. Tags are in lower case, since their
    case has no meaning.
    """

    lexical: str
    datatype: str = STRING
    language: str = ""

    def __post_init__(self) -> None:
        """Put a language tag in lower case, and give a literal with a language the datatype rdf:langString."""
        if self.language:
            object.__setattr__(self, "language", self.language.lower())
            object.__setattr__(self, "datatype", LANG_STRING)

    def __str__(self) -> str:
        """The literal in canonical N-Triples."""
        text = f'"{_escape_literal(self.lexical)}"'
        if self.language:
            return f"{text}@{self.language}"
        return text if self.datatype == STRING else f"{text}^^{IRI(self.datatype)}"


Term: TypeAlias = IRI | BlankNode | Literal


@dataclass(frozen=True, slots=True)
class Triple:
    """A statement: subject, predicate and object."""

    subject: IRI | BlankNode
    predicate: IRI
    object: Term

    def __str__(self) -> str:
        """The statement as a line of N-Triples."""
        return f"{self.subject} {self.predicate} {self.object} ."


TRUE = Literal("true", BOOLEAN)
FALSE = Literal("false", BOOLEAN)


def boolean(value: bool) -> Literal:
    """Create the xsd:boolean literal of a Python boolean."""
    return TRUE if value else FALSE


def integer(value: int) -> Literal:
    """Create the xsd:integer literal of a Python integer."""
    return Literal(str(value), INTEGER)


def term_order_key(term: Term | None) -> tuple[int, str, str, str]:
    """Return the sort key of a term in canonical output: unbound (None), blank nodes, IRIs, then literals, by text."""
    match term:
        case None:
            return (0, "", "", "")
        case BlankNode(label=label):
            return (1, label, "", "")
        case IRI(value=value):
            return (2, value, "", "")
        case Literal(lexical=lexical, datatype=datatype, language=language):
            return (3, lexical, datatype, language)


_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def _escape_literal(text: str) -> str:
    """Escape the quotes, backslashes and control characters of a literal as N-Triples requires."""
    return re.sub(r'[\\"\x00-\x1f\x7f]', lambda match: _SHORT.get(match[0], f"\\u{ord(match[0]):04X}"), text)


def _escape_iri(text: str) -> str:
    """Escape the characters that N-Triples forbids in an IRI."""
    return re.sub(r'[\x00-\x20<>"{}|^`\\]', lambda match: f"\\u{ord(match[0]):04X}", text)
