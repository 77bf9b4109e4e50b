"""Terms, paths and triples as canonical text."""

from __future__ import annotations

import re
from typing import assert_never

from transom.languages.sparql import terms
from transom.languages.sparql.characters import quote

_SPECIAL = re.compile(r"%(?![0-9A-Fa-f]{2})|[~!$&'()*+,;=/?#@]|^[.-]|\.\Z")


def variable(one: terms.Variable) -> str:
    """?name."""
    return "?" + one.name


def iri(one: terms.IriName) -> str:
    """An IRI in angle brackets, or a prefixed name."""
    if isinstance(one, terms.Iri):
        return f"<{one.text}>"
    return f"{one.prefix}:{_SPECIAL.sub(lambda found: chr(92) + found[0], one.local)}"


def literal(one: terms.LiteralTerm) -> str:
    """A literal."""
    match one:
        case terms.Text(value=value, language=language, datatype=datatype):
            text = quote(value)
            if language is not None:
                return f"{text}@{language}"
            return text if datatype is None else f"{text}^^{iri(datatype)}"
        case terms.Number(digits=digits):
            return digits
        case terms.Boolean(value=value):
            return "true" if value else "false"
        case _:
            assert_never(one)


def node(one: terms.Node) -> str:
    """What is a subject or an object."""
    match one:
        case terms.Variable():
            return variable(one)
        case terms.Iri() | terms.PrefixedName():
            return iri(one)
        case terms.Text() | terms.Number() | terms.Boolean():
            return literal(one)
        case terms.BlankNode(label=label):
            return f"_:{label}"
        case terms.Described(properties=()):
            return "[]"
        case terms.Described(properties=listed):
            return f"[ {properties(listed)} ]"
        case terms.Collection(items=items):
            return f"({' '.join(map(node, items))})"
        case _:
            assert_never(one)


def statement(one: terms.Statement) -> str:
    """A subject with its properties."""
    return f"{node(one.subject)} {properties(one.properties)}".rstrip()


def properties(listed: tuple[terms.Property, ...]) -> str:
    """Verbs with their objects."""
    return " ; ".join(f"{verb(one.verb)} {', '.join(map(node, one.objects))}" for one in listed)


def verb(one: terms.Path | terms.Variable) -> str:
    """A predicate: a variable or a path."""
    return variable(one) if isinstance(one, terms.Variable) else path(one)


def path(one: terms.Path, above: int = 0) -> str:
    """A path; in parentheses where what stands around it binds more tightly."""
    match one:
        case terms.Iri(text=terms.RDF_TYPE):
            return "a"
        case terms.Iri() | terms.PrefixedName():
            return iri(one)
        case terms.Alternative(options=options):
            level, text = 1, "|".join(path(option, 2) for option in options)
        case terms.Sequence(steps=steps):
            level, text = 2, "/".join(path(step, 3) for step in steps)
        case terms.Inverse(path=inner):
            level, text = 3, "^" + path(inner, 4)
        case terms.Repeat(path=inner, sign=sign):
            level, text = 4, path(inner, 5) + sign
        case terms.NoneOf(forbidden=forbidden):
            level, text = 5, f"!({'|'.join(path(each, 3) for each in forbidden)})"
        case _:
            assert_never(one)
    return f"({text})" if level < above else text
