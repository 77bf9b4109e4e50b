"""Terms of RDF as one text column in the canonical spelling of N-Triples: taking it apart and putting it together.

Equality of the columns is sameTerm. NULL is an unbound variable and an error alike. The escapes of the spelling are
those of JSON, so that Spark's own functions for JSON write and read them.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.model.rdf.terms import BOOLEAN, IRI, LANG_STRING, STRING

TRUE, FALSE = (f'"{word}"^^<{BOOLEAN}>' for word in ("true", "false"))
TAGGED = f"^^<{LANG_STRING}>"
"""How a literal ends that is text in a language, without saying which."""

_ESCAPED = r'[\x00-\x1f"\\\x7f]'


def ending(datatype: str) -> str:
    """How the spelling of a literal of a datatype ends."""
    return "" if datatype == STRING else f"^^{IRI(datatype)}"


def is_name(term: Column) -> Column:
    """Whether a term is an IRI."""
    return F.startswith(term, F.lit("<"))


def is_node(term: Column) -> Column:
    """Whether a term is a blank node."""
    return F.startswith(term, F.lit("_"))


def is_literal(term: Column) -> Column:
    """Whether a term is a literal."""
    return F.startswith(term, F.lit('"'))


def end(literal: Column) -> Column:
    """What comes after the closing quote of a literal: nothing, a tag or a datatype."""
    return F.substring_index(literal, '"', -1)


def lexical(literal: Column, ended: Column) -> Column:
    """The characters of a literal, given how it ends."""
    return plain(F.substring(literal, F.lit(2), F.length(literal) - F.length(ended) - F.lit(2)))


def plain(spelled: Column) -> Column:
    """Characters without their escapes."""
    read = F.get_json_object(F.concat(F.lit('{"c":"'), spelled, F.lit('"}')), "$.c")
    return F.when(F.contains(spelled, F.lit("\\")), read).otherwise(spelled)


def spelled(characters: Column) -> Column:
    """Characters with their escapes."""
    written = F.to_json(F.array(characters))
    inside = F.substring(written, F.lit(3), F.length(written) - F.lit(4))
    escaped = F.replace(inside, F.lit("\x7f"), F.lit("\\u007F"))
    return F.when(F.rlike(characters, F.lit(_ESCAPED)), escaped).otherwise(characters)


def literal(characters: Column, ended: Column | str = "", *, escape: bool = True) -> Column:
    """The literal of some characters; `escape` is not needed where they are figures and letters."""
    last = F.concat(F.lit('"'), ended) if isinstance(ended, Column) else F.lit(f'"{ended}')
    return F.concat(F.lit('"'), spelled(characters) if escape else characters, last)


def name_of(term: Column) -> Column:
    """The characters of an IRI."""
    return plain(F.substring(term, F.lit(2), F.length(term) - F.lit(2)))


def said(truth: Column) -> Column:
    """A truth value as a term."""
    return F.when(truth, F.lit(TRUE)).when(~truth, F.lit(FALSE))


def tag(ended: Column) -> Column:
    """The language tag of a literal by its end, empty if it has none."""
    return F.when(F.startswith(ended, F.lit("@")), F.substring(ended, F.lit(2), F.length(ended))).otherwise(F.lit(""))


def datatype(ended: Column) -> Column:
    """The datatype of a literal by its end, as a term."""
    return (
        F.when(ended == F.lit(""), F.lit(str(IRI(STRING))))
        .when(F.startswith(ended, F.lit("@")), F.lit(str(IRI(LANG_STRING))))
        .otherwise(F.substring(ended, F.lit(3), F.length(ended)))
    )


def is_text(ended: Column) -> Column:
    """Whether a literal that ends so is text."""
    return (ended == F.lit("")) | F.startswith(ended, F.lit("@")) | (ended == F.lit(TAGGED))


def one_of(ended: Column, datatypes: Iterable[str]) -> Column:
    """Whether a literal that ends so has one of some datatypes."""
    return ended.isin([ending(datatype) for datatype in datatypes])
