"""String functions of SPARQL 1.1 on Spark; a NULL result is an error."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_

from transom.model.rdf.terms import IRI, LANG_STRING, STRING, Literal
from transom.model.rdf.values import NumericKind
from transom.spark.expressions.sql import F, Sql, let
from transom.spark.rdf.terms.shapes import ShapedTerm, TermShape, constant_term, truth_term
from transom.spark.rdf.terms.spelling import TermText, is_iri, literal_term
from transom.spark.rdf.terms.values import TextStruct, ValueClass, exact, value_struct

_MAX_LENGTH = 2**30
"""An upper bound for the length of strings, at which positions and lengths are clamped."""

_LANGUAGE_TAG = r"\A[A-Za-z]+(?:-[A-Za-z0-9]+)*\z"
_IRI = r"\A[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*\z"


def _text_struct(column: TextStruct) -> ShapedTerm:
    """Wrap an SQL struct of text and language as a ShapedTerm, that is SQL marked as a parsed string."""
    return ShapedTerm(TermShape.TEXT, column)


def with_characters(text: TextStruct, characters: Sql) -> TextStruct:
    """Build a parsed string of `characters` with the language tag of the parsed string `text`; NULL stays NULL."""
    return F.when(text.isNotNull(), value_struct(ValueClass.TEXT, string=characters, language=text["l"]))


def integer_of(number: Sql) -> ShapedTerm:
    """Wrap an integral number as a ShapedTerm (SQL and its representation) of type xsd:integer."""
    column = let(
        [number],
        lambda n: F.when(n.isNotNull(), value_struct(ValueClass.NUMBER, kind=int(NumericKind.INTEGER), number=n)),
    )
    return ShapedTerm(TermShape.NUMBER, column)


def length(argument: ShapedTerm) -> ShapedTerm:
    """Compute STRLEN: the number of characters of a string."""
    return integer_of(F.length(argument.text()["s"]))


def _string_index(number: Sql) -> Sql:
    """Clamp an exact integer to 1 .. 2^30, as a character position for Spark's `substring`; NULL stays NULL."""
    last = exact(_MAX_LENGTH)
    return F.when(number < exact(1), F.lit(1)).when(number > last, F.lit(_MAX_LENGTH)).otherwise(number.try_cast("int"))


def substring(argument: ShapedTerm, start: ShapedTerm, count: ShapedTerm | None = None) -> ShapedTerm:
    """Compute SUBSTR: the characters from number `start` (from 1) on, at most `count`; None means all."""

    def integer(operand: ShapedTerm) -> Sql:
        """The exact integer in an operand; NULL for other values."""
        return let([operand.number()], lambda number: F.when(number["k"] == int(NumericKind.INTEGER), number["n"]))

    def slice_text(text: TextStruct, start: Sql, longest: Sql) -> TextStruct:
        """Return the part of a string from position `start` (from 1) on, of at most `longest` characters."""
        first = _string_index(start)
        end = _string_index(F.coalesce(F.try_add(start, longest), longest))
        characters = F.substring(text["s"], first, F.greatest(end - first, F.lit(0)))
        return F.when(start.isNotNull() & longest.isNotNull(), with_characters(text, characters))

    # no count: use one that exceeds any length from any start
    longest = exact(10**38 - 1) if count is None else integer(count)
    return _text_struct(let([argument.text(), integer(start), longest], slice_text))


def map_characters(function: Callable[[Sql], Sql]) -> Callable[[ShapedTerm], ShapedTerm]:
    """Build the translation of UCASE or LCASE: `function` changes the characters, the language tag is kept."""
    return lambda argument: _text_struct(
        let([argument.text()], lambda text: with_characters(text, function(text["s"])))
    )


def _are_compatible(first: TextStruct, second: TextStruct) -> Sql:
    """Whether two strings are compatible arguments in SPARQL: the second has no language, or the first one's."""
    return (second["l"] == F.lit("")) | (second["l"] == first["l"])


def string_predicate(function: Callable[[Sql, Sql], Sql]) -> Callable[[ShapedTerm, ShapedTerm], ShapedTerm]:
    """Build the translation of STRSTARTS, STRENDS or CONTAINS; NULL if the strings' languages are not compatible."""

    def lowered(left: ShapedTerm, right: ShapedTerm) -> ShapedTerm:
        """Translate a string test such as CONTAINS to a boolean term; NULL (an error) for unsuitable operands."""

        def applied(first: TextStruct, second: TextStruct) -> Sql:
            """Test two strings, for example with CONTAINS; NULL if their language tags are incompatible."""
            return F.when(_are_compatible(first, second), function(first["s"], second["s"]))

        return truth_term(let([left.text(), right.text()], applied))

    return lowered


def _split_at(part: Callable[[Sql, Sql, Sql], Sql]) -> Callable[[ShapedTerm, ShapedTerm], ShapedTerm]:
    """Build STRBEFORE or STRAFTER; `part(text, separator, position)` cuts the text where the separator begins.

    `part` cuts a string, from the separator and the number of the character where it begins.
    """

    def lowered(left: ShapedTerm, right: ShapedTerm) -> ShapedTerm:
        """Compute STRBEFORE or STRAFTER of the left string; '' if the right is not in it, NULL on error."""

        def take_part(first: TextStruct, second: TextStruct, position: Sql) -> TextStruct:
            """Return the part of `first` before or after `second`, found at `position` (0: none, empty)."""
            result = with_characters(first, part(first["s"], second["s"], position))
            missing = value_struct(ValueClass.TEXT, string="", language="")
            return F.when(_are_compatible(first, second), F.when(position > 0, result).when(position == 0, missing))

        def located(first: TextStruct, second: TextStruct) -> TextStruct:
            """Return the part of string `first` before or after string `second` (STRBEFORE or STRAFTER)."""
            return let([first, second, F.position(second["s"], first["s"])], take_part)

        return _text_struct(let([left.text(), right.text()], located))

    return lowered


substring_before = _split_at(lambda text, _, position: F.substring(text, F.lit(1), position - F.lit(1)))
substring_after = _split_at(
    lambda text, separator, position: F.substring(text, position + F.length(separator), F.length(text))
)


def encode_for_uri(argument: ShapedTerm) -> ShapedTerm:
    """Compute ENCODE_FOR_URI: percent-encode all characters of a string but letters, digits and - _ . ~."""
    encoded = F.url_encode(argument.text()["s"])
    for java_text, replacement in (("+", "%20"), ("*", "%2A"), ("%7E", "~")):
        encoded = F.replace(encoded, F.lit(java_text), F.lit(replacement))
    return ShapedTerm(TermShape.CHARACTERS, encoded)


def concat(*operands: ShapedTerm) -> ShapedTerm:
    """Compute CONCAT; the result has a language tag if all strings have the same one; NULL if one is not a string."""
    if not operands:
        return constant_term(Literal(""))

    def joined(*texts: Sql) -> TextStruct:
        """Concatenate strings (parsed values); NULL if one of them is NULL."""
        same_language = reduce(and_, (text["l"] == texts[0]["l"] for text in texts))
        all_present = reduce(and_, (text.isNotNull() for text in texts))
        language = F.when(same_language, texts[0]["l"]).otherwise(F.lit(""))
        return F.when(
            all_present,
            value_struct(ValueClass.TEXT, string=F.concat(*(text["s"] for text in texts)), language=language),
        )

    return _text_struct(let([operand.text() for operand in operands], joined))


def lang_matches(tag: ShapedTerm, language_range: ShapedTerm) -> ShapedTerm:
    """Compute langMatches: whether a language tag matches a language range such as `de` or `*`.

    It matches if it equals the range or extends it by subtags, or if the range is `*` and the tag is not empty.
    """

    def matches(language: Sql, range_: Sql) -> Sql:
        """Whether a language tag matches a language range; both are in lower case."""
        is_prefix = (range_ != F.lit("")) & F.startswith(language, F.concat(range_, F.lit("-")))
        return F.when(range_ == F.lit("*"), language != F.lit("")).otherwise((language == range_) | is_prefix)

    return truth_term(let([F.lower(tag.characters()), F.lower(language_range.characters())], matches))


def language_literal(argument: ShapedTerm, tag: ShapedTerm) -> ShapedTerm:
    """Compute STRLANG: a literal from a plain string and a language tag; NULL (an error) if the tag is invalid."""

    def tagged_literal(text: Sql, language: Sql) -> TextStruct:
        """Build the parsed value of the string with the language tag; NULL if the tag is invalid."""
        is_valid = text.isNotNull() & F.rlike(language, F.lit(_LANGUAGE_TAG))
        return F.when(is_valid, value_struct(ValueClass.TEXT, string=text, language=F.lower(language)))

    return _text_struct(let([argument.characters(), tag.characters()], tagged_literal))


def typed_literal(argument: ShapedTerm, datatype: ShapedTerm) -> ShapedTerm:
    """Compute STRDT: a literal from a plain string and a datatype IRI; NULL (an error) for rdf:langString."""

    def literal(text: Sql, name: Sql) -> TermText:
        """Return a literal in N-Triples text; NULL if the datatype `name` is no IRI or is rdf:langString."""
        suffix = F.when(name == F.lit(str(IRI(STRING))), F.lit("")).otherwise(F.concat(F.lit("^^"), name))
        return F.when(is_iri(name) & (name != F.lit(str(IRI(LANG_STRING)))), literal_term(text, suffix))

    return ShapedTerm(TermShape.TERM, let([argument.characters(), datatype.term()], literal))


def iri_of(argument: ShapedTerm) -> ShapedTerm:
    """Compute IRI: an IRI unchanged, or the IRI that a string spells; NULL (an error) if it is not absolute."""

    def from_term_or_text(term: TermText, characters: Sql) -> TermText:
        """Return the term if it is an IRI, otherwise the IRI that the characters spell, as N-Triples text."""
        spelled = F.concat(F.lit("<"), characters, F.lit(">"))
        return F.when(is_iri(term), term).when(F.rlike(characters, F.lit(_IRI)), spelled)

    term = argument.column if argument.shape is TermShape.TERM else F.lit(None).cast("string")
    return ShapedTerm(TermShape.TERM, let([term, argument.characters()], from_term_or_text))


def digest(function: Callable[[Sql], Sql]) -> Callable[[ShapedTerm], ShapedTerm]:
    """Build the translation of MD5, SHA1, ...: `function` hashes the characters of a plain string; NULL for others."""
    return lambda argument: ShapedTerm(TermShape.CHARACTERS, function(argument.characters()))
