"""Prints terms, paths and triples as canonical text."""

from __future__ import annotations

import re
from typing import assert_never

from transom.languages.sparql import terms
from transom.languages.sparql.characters import quote

_SPECIAL = re.compile(r"%(?![0-9A-Fa-f]{2})|[~!$&'()*+,;=/?#@]|^[.-]|\.\Z")


def variable(term: terms.Variable) -> str:
    """Return the canonical text of a variable: ?name."""
    return "?" + term.name


def iri(name: terms.IriName) -> str:
    """Return the canonical text of an IRI: in angle brackets, or a prefixed name."""
    if isinstance(name, terms.Iri):
        return f"<{name.text}>"
    return f"{name.prefix}:{_SPECIAL.sub(lambda match: chr(92) + match[0], name.local)}"


def literal(term: terms.LiteralTerm) -> str:
    """Return the canonical text of a literal, with its language tag or datatype."""
    match term:
        case terms.StringLiteral(value=value, language=language, datatype=datatype):
            text = quote(value)
            if language is not None:
                return f"{text}@{language}"
            return text if datatype is None else f"{text}^^{iri(datatype)}"
        case terms.NumericLiteral(digits=digits):
            return digits
        case terms.BooleanLiteral(value=value):
            return "true" if value else "false"
        case _:
            assert_never(term)


def node(term: terms.Node) -> str:
    """Return the canonical text of a subject or object of a triple."""
    match term:
        case terms.Variable():
            return variable(term)
        case terms.Iri() | terms.PrefixedName():
            return iri(term)
        case terms.StringLiteral() | terms.NumericLiteral() | terms.BooleanLiteral():
            return literal(term)
        case terms.BlankNode(label=label):
            return f"_:{label}"
        case terms.BlankNodePropertyList(properties=()):
            return "[]"
        case terms.BlankNodePropertyList(properties=entries):
            return f"[ {properties(entries)} ]"
        case terms.RdfCollection(items=items):
            return f"({' '.join(map(node, items))})"
        case _:
            assert_never(term)


def statement(triples: terms.TriplesSameSubject) -> str:
    """Return the canonical text of a subject with its predicates and objects."""
    return f"{node(triples.subject)} {properties(triples.properties)}".rstrip()


def properties(lists: tuple[terms.PredicateObjectList, ...]) -> str:
    """Return the canonical text of one subject's predicates with their objects, separated by semicolons."""
    return " ; ".join(f"{verb(entry.verb)} {', '.join(map(node, entry.objects))}" for entry in lists)


def verb(predicate: terms.PropertyPath | terms.Variable) -> str:
    """Return the canonical text of a predicate: a variable or a path."""
    return variable(predicate) if isinstance(predicate, terms.Variable) else path(predicate)


def path(expression: terms.PropertyPath, min_precedence: int = 0) -> str:
    """Return the canonical text of a property path, in parentheses if its precedence is below `min_precedence`."""
    match expression:
        case terms.Iri(text=terms.RDF_TYPE):
            return "a"
        case terms.Iri() | terms.PrefixedName():
            return iri(expression)
        case terms.AlternativePath(options=options):
            level, text = 1, "|".join(path(option, 2) for option in options)
        case terms.SequencePath(steps=steps):
            level, text = 2, "/".join(path(step, 3) for step in steps)
        case terms.InversePath(path=inner):
            level, text = 3, "^" + path(inner, 4)
        case terms.RepeatedPath(path=inner, sign=sign):
            level, text = 4, path(inner, 5) + sign
        case terms.NegatedPropertySet(forbidden=forbidden):
            level, text = 5, f"!({'|'.join(path(predicate, 3) for predicate in forbidden)})"
        case _:
            assert_never(expression)
    return f"({text})" if level < min_precedence else text
