"""Lowerings of the strict functions of SPARQL 1.1 to Spark SQL, by name; a NULL result is an error."""

from __future__ import annotations

from collections.abc import Callable

from transom.spark.expressions.sql import F, Sql, let
from transom.spark.rdf.terms import arithmetic as numbers
from transom.spark.rdf.terms import casts, strings
from transom.spark.rdf.terms.forms import equal, less, less_or_equal
from transom.spark.rdf.terms.shapes import ShapedTerm, TermShape, truth_term
from transom.spark.rdf.terms.spelling import (
    TermText,
    datatype_term,
    iri_text,
    is_blank_node,
    is_iri,
    is_literal,
    language_tag,
    lexical,
    literal_suffix,
)

TermLowering = Callable[..., ShapedTerm]


def _on_term(shape: TermShape, body: Callable[[Sql], Sql]) -> TermLowering:
    """Build the translation of a one-argument function, by `body` on N-Triples text; `shape`: the result's encoding.

    `shape` is the SQL representation of the result.
    """

    def lowered(argument: ShapedTerm) -> ShapedTerm:
        """Apply `body` to the N-Triples text of the argument."""
        column = body(argument.column) if argument.shape is TermShape.TERM else let([argument.term()], body)
        return ShapedTerm(shape, column)

    return lowered


def _on_literal_suffix(body: Callable[[Sql], Sql]) -> Callable[[Sql], Sql]:
    """Build a function that applies `body` to a literal's text after the closing quote; NULL for other terms."""
    return lambda term: F.when(is_literal(term), body(literal_suffix(term)))


def string_characters(term: TermText) -> Sql:
    """Return the characters of an IRI or a literal, given as N-Triples text; NULL for a blank node."""
    return F.when(is_iri(term), iri_text(term)).when(is_literal(term), lexical(term, literal_suffix(term)))


def _binary_numeric(operation: Callable[[Sql, Sql], Sql]) -> TermLowering:
    """Build the translation of a function of two numbers, from an operation on parsed values; NULL for non-numbers."""
    return lambda left, right: ShapedTerm(TermShape.NUMBER, let([left.number(), right.number()], operation))


def _unary_numeric(operation: Callable[[Sql], Sql]) -> TermLowering:
    """Build the translation of a function of one number, from an operation on parsed values; NULL for non-numbers."""
    return lambda argument: ShapedTerm(TermShape.NUMBER, let([argument.number()], operation))


def _is_numeric(argument: ShapedTerm) -> ShapedTerm:
    """Compute isNUMERIC: whether a term is a number; NULL stays NULL."""
    return truth_term(F.when(argument.column.isNotNull(), argument.number().isNotNull()))


TERM_LOWERINGS: dict[str, TermLowering] = {
    "=": lambda left, right: truth_term(equal(left, right)),
    "!=": lambda left, right: truth_term(~equal(left, right)),
    "<": lambda left, right: truth_term(less(left, right)),
    ">": lambda left, right: truth_term(less(right, left)),
    "<=": lambda left, right: truth_term(less_or_equal(left, right)),
    ">=": lambda left, right: truth_term(less_or_equal(right, left)),
    "sameTerm": lambda left, right: truth_term(left.term() == right.term()),
    "+": _binary_numeric(numbers.add),
    "-": _binary_numeric(numbers.subtract),
    "*": _binary_numeric(numbers.multiply),
    "/": _binary_numeric(numbers.divide),
    "unary +": _unary_numeric(lambda value: value),
    "unary -": _unary_numeric(numbers.negated),
    "ABS": _unary_numeric(numbers.absolute),
    "ROUND": _unary_numeric(numbers.rounded),
    "CEIL": _unary_numeric(numbers.ceiling),
    "FLOOR": _unary_numeric(numbers.floor),
    "isIRI": _on_term(TermShape.TRUTH, is_iri),
    "isURI": _on_term(TermShape.TRUTH, is_iri),
    "isBLANK": _on_term(TermShape.TRUTH, is_blank_node),
    "isLITERAL": _on_term(TermShape.TRUTH, is_literal),
    "isNUMERIC": _is_numeric,
    "STR": _on_term(TermShape.CHARACTERS, string_characters),
    "LANG": _on_term(TermShape.CHARACTERS, _on_literal_suffix(language_tag)),
    "DATATYPE": _on_term(TermShape.TERM, _on_literal_suffix(datatype_term)),
    "IRI": strings.iri_of,
    "URI": strings.iri_of,
    "STRDT": strings.typed_literal,
    "STRLANG": strings.language_literal,
    "STRLEN": strings.length,
    "SUBSTR": strings.substring,
    "UCASE": strings.map_characters(F.upper),
    "LCASE": strings.map_characters(F.lower),
    "STRSTARTS": strings.string_predicate(F.startswith),
    "STRENDS": strings.string_predicate(F.endswith),
    "CONTAINS": strings.string_predicate(F.contains),
    "STRBEFORE": strings.substring_before,
    "STRAFTER": strings.substring_after,
    "ENCODE_FOR_URI": strings.encode_for_uri,
    "CONCAT": strings.concat,
    "langMatches": strings.lang_matches,
    "YEAR": casts.date_part("year"),
    "MONTH": casts.date_part("month"),
    "DAY": casts.date_part("day"),
    "HOURS": casts.date_part("hour"),
    "MINUTES": casts.date_part("minute"),
    "SECONDS": casts.seconds,
    "TIMEZONE": casts.zone_duration,
    "TZ": casts.zone_characters,
    "MD5": strings.digest(F.md5),
    "SHA1": strings.digest(F.sha1),
    "SHA256": strings.digest(lambda text: F.sha2(text, 256)),
    "SHA384": strings.digest(lambda text: F.sha2(text, 384)),
    "SHA512": strings.digest(lambda text: F.sha2(text, 512)),
    **casts.CASTS,
}
"""Lowerings by function name."""
