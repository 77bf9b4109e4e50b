"""RDF terms as strings in the canonical spelling of N-Triples: taking them apart and building them.

Equality of the strings is sameTerm. NULL is both an unbound variable and an error. The spelling uses the escapes of
JSON, so that Spark's JSON functions can write and read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from transom.model.rdf.terms import BOOLEAN, IRI, LANG_STRING, STRING
from transom.spark.expressions.sql import F, Sql

TermText: TypeAlias = Sql
"""An RDF term as N-Triples text."""
LiteralSuffix: TypeAlias = Sql
"""What follows the closing quote in a literal's N-Triples text: nothing, `@language` or `^^<datatype>`."""

TRUE, FALSE = (f'"{word}"^^<{BOOLEAN}>' for word in ("true", "false"))
LANG_STRING_SUFFIX = f"^^<{LANG_STRING}>"
"""The suffix of an rdf:langString literal without a language tag."""

_ESCAPED = r'[\x00-\x1f"\\\x7f]'


def datatype_suffix(datatype: str) -> str:
    """Return what follows the closing quote of a literal of this datatype: `^^<...>`, or nothing for xsd:string."""
    return "" if datatype == STRING else f"^^{IRI(datatype)}"


def is_iri(term: TermText) -> Sql:
    """Whether a term, given as N-Triples text, is an IRI."""
    return F.startswith(term, F.lit("<"))


def is_blank_node(term: TermText) -> Sql:
    """Whether a term, given as N-Triples text, is a blank node."""
    return F.startswith(term, F.lit("_"))


def is_literal(term: TermText) -> Sql:
    """Whether a term, given as N-Triples text, is a literal."""
    return F.startswith(term, F.lit('"'))


def literal_suffix(literal: TermText) -> LiteralSuffix:
    """Return what follows the closing quote of a literal's N-Triples text: nothing, `@language` or `^^<datatype>`."""
    return F.substring_index(literal, '"', -1)


def lexical(literal: TermText, suffix: LiteralSuffix) -> Sql:
    """The unescaped characters of a literal's N-Triples text; `suffix` is the text after its closing quote."""
    return unescape_characters(F.substring(literal, F.lit(2), F.length(literal) - F.length(suffix) - F.lit(2)))


def unescape_characters(spelled: Sql) -> Sql:
    """Decode the backslash escapes in N-Triples text."""
    unescaped = F.get_json_object(F.concat(F.lit('{"c":"'), spelled, F.lit('"}')), "$.c")
    return F.when(F.contains(spelled, F.lit("\\")), unescaped).otherwise(spelled)


def escape_characters(characters: Sql) -> Sql:
    """Escape control characters, quotes and backslashes for N-Triples text."""
    json = F.to_json(F.array(characters))
    inside = F.substring(json, F.lit(3), F.length(json) - F.lit(4))
    escaped = F.replace(inside, F.lit("\x7f"), F.lit("\\u007F"))
    return F.when(F.rlike(characters, F.lit(_ESCAPED)), escaped).otherwise(characters)


def literal_term(characters: Sql, suffix: Sql | str = "", *, needs_escape: bool = True) -> TermText:
    """Write a literal in N-Triples from characters and suffix (`@language`, `^^<datatype>`), escaped if `needs_escape`.

    `needs_escape` is False for characters that need no escapes.
    """
    ending = F.concat(F.lit('"'), suffix) if isinstance(suffix, Sql) else F.lit(f'"{suffix}')
    return F.concat(F.lit('"'), escape_characters(characters) if needs_escape else characters, ending)


def iri_text(term: TermText) -> Sql:
    """The characters of an IRI that is given as N-Triples text: without angle brackets and escapes."""
    return unescape_characters(F.substring(term, F.lit(2), F.length(term) - F.lit(2)))


def boolean_term(truth: Sql) -> TermText:
    """Write a boolean as an xsd:boolean literal in N-Triples text; NULL stays NULL."""
    return F.when(truth, F.lit(TRUE)).when(~truth, F.lit(FALSE))


def language_tag(suffix: LiteralSuffix) -> Sql:
    """The language tag in `suffix`, the text after a literal's closing quote; empty if there is none."""
    return F.when(F.startswith(suffix, F.lit("@")), F.substring(suffix, F.lit(2), F.length(suffix))).otherwise(
        F.lit("")
    )


def datatype_term(suffix: LiteralSuffix) -> TermText:
    """The datatype IRI, in angle brackets, of a literal; `suffix` is the text after its closing quote."""
    return (
        F.when(suffix == F.lit(""), F.lit(str(IRI(STRING))))
        .when(F.startswith(suffix, F.lit("@")), F.lit(str(IRI(LANG_STRING))))
        .otherwise(F.substring(suffix, F.lit(3), F.length(suffix)))
    )


def is_string(suffix: LiteralSuffix) -> Sql:
    """Whether a literal is a string, with or without language; `suffix` is the text after its closing quote."""
    return (suffix == F.lit("")) | F.startswith(suffix, F.lit("@")) | (suffix == F.lit(LANG_STRING_SUFFIX))


def has_datatype(suffix: LiteralSuffix, datatypes: Iterable[str]) -> Sql:
    """SQL that tests if a literal has one of the datatypes; `suffix` is SQL for the text after the closing quote."""
    return suffix.isin([datatype_suffix(datatype) for datatype in datatypes])
