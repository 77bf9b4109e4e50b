"""Terms and statements of RDF; two terms are equal exactly when SPARQL's sameTerm says so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
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
    """A name of something."""

    value: str

    def __str__(self) -> str:
        return f"<{_escaped_iri(self.value)}>"


@dataclass(frozen=True, slots=True)
class BlankNode:
    """Something without a name; its label tells it from others of the same input only."""

    label: str

    def __str__(self) -> str:
        return f"_:{self.label}"


@dataclass(frozen=True, slots=True)
class Literal:
    """A value written down: its characters, its datatype, and for text in a language the language's tag.

    The characters are kept as they came: "01" and "1" are two terms with one value. Tags are in lower case, since they
    differ by case in no way that means anything.
    """

    lexical: str
    datatype: str = STRING
    language: str = ""

    def __post_init__(self) -> None:
        if self.language:
            object.__setattr__(self, "language", self.language.lower())
            object.__setattr__(self, "datatype", LANG_STRING)

    def __str__(self) -> str:
        text = f'"{_escaped(self.lexical)}"'
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
        return f"{self.subject} {self.predicate} {self.object} ."


TRUE = Literal("true", BOOLEAN)
FALSE = Literal("false", BOOLEAN)


def boolean(value: bool) -> Literal:
    """A truth value as a term."""
    return TRUE if value else FALSE


def integer(value: int) -> Literal:
    """A whole number as a term."""
    return Literal(str(value), INTEGER)


def in_order(term: Term | None) -> tuple[int, str, str, str]:
    """A key that puts any two terms in one fixed order: nothing, blank nodes, names, literals by their characters."""
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


def _escaped(text: str) -> str:
    return re.sub(r'[\\"\x00-\x1f\x7f]', lambda m: _SHORT.get(m[0], f"\\u{ord(m[0]):04X}"), text)


def _escaped_iri(text: str) -> str:
    return re.sub(r'[\x00-\x20<>"{}|^`\\]', lambda m: f"\\u{ord(m[0]):04X}", text)
