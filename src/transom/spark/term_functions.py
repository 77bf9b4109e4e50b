"""What every strict function of SPARQL 1.1 is on Spark, by its name; NULL is an error."""

from __future__ import annotations

from collections.abc import Callable

from transom.spark import term_casts as casts
from transom.spark import term_numbers as numbers
from transom.spark import term_strings as strings
from transom.spark.sql import F, Sql, let
from transom.spark.term_forms import at_most, equal, less
from transom.spark.term_shapes import Shape, Shaped, truths
from transom.spark.term_spelling import datatype, end, is_literal, is_name, is_node, lexical, name_of, tag

Lowering = Callable[..., Shaped]


def _on_term(shape: Shape, body: Callable[[Sql], Sql]) -> Lowering:
    """A function of a spelled term."""

    def lowered(one: Shaped) -> Shaped:
        column = body(one.column) if one.shape is Shape.TERM else let([one.term()], body)
        return Shaped(shape, column)

    return lowered


def _literals(body: Callable[[Sql], Sql]) -> Callable[[Sql], Sql]:
    """A function of how a literal ends."""
    return lambda term: F.when(is_literal(term), body(end(term)))


def characters(term: Sql) -> Sql:
    """The characters of an IRI or a literal; NULL for a blank node."""
    return F.when(is_name(term), name_of(term)).when(is_literal(term), lexical(term, end(term)))


def _two(operation: Callable[[Sql, Sql], Sql]) -> Lowering:
    return lambda one, other: Shaped(Shape.NUMBER, let([one.number(), other.number()], operation))


def _one(operation: Callable[[Sql], Sql]) -> Lowering:
    return lambda one: Shaped(Shape.NUMBER, let([one.number()], operation))


def _numeric(one: Shaped) -> Shaped:
    return truths(F.when(one.column.isNotNull(), one.number().isNotNull()))


LOWERINGS: dict[str, Lowering] = {
    "=": lambda one, other: truths(equal(one, other)),
    "!=": lambda one, other: truths(~equal(one, other)),
    "<": lambda one, other: truths(less(one, other)),
    ">": lambda one, other: truths(less(other, one)),
    "<=": lambda one, other: truths(at_most(one, other)),
    ">=": lambda one, other: truths(at_most(other, one)),
    "sameTerm": lambda one, other: truths(one.term() == other.term()),
    "+": _two(numbers.add),
    "-": _two(numbers.subtract),
    "*": _two(numbers.multiply),
    "/": _two(numbers.divide),
    "unary +": _one(lambda value: value),
    "unary -": _one(numbers.negated),
    "ABS": _one(numbers.absolute),
    "ROUND": _one(numbers.rounded),
    "CEIL": _one(numbers.ceiling),
    "FLOOR": _one(numbers.floor),
    "isIRI": _on_term(Shape.TRUTH, is_name),
    "isURI": _on_term(Shape.TRUTH, is_name),
    "isBLANK": _on_term(Shape.TRUTH, is_node),
    "isLITERAL": _on_term(Shape.TRUTH, is_literal),
    "isNUMERIC": _numeric,
    "STR": _on_term(Shape.CHARACTERS, characters),
    "LANG": _on_term(Shape.CHARACTERS, _literals(tag)),
    "DATATYPE": _on_term(Shape.TERM, _literals(datatype)),
    "IRI": strings.name,
    "URI": strings.name,
    "STRDT": strings.typed,
    "STRLANG": strings.in_language,
    "STRLEN": strings.length,
    "SUBSTR": strings.part,
    "UCASE": strings.changed(F.upper),
    "LCASE": strings.changed(F.lower),
    "STRSTARTS": strings.tested(F.startswith),
    "STRENDS": strings.tested(F.endswith),
    "CONTAINS": strings.tested(F.contains),
    "STRBEFORE": strings.before,
    "STRAFTER": strings.after,
    "ENCODE_FOR_URI": strings.encoded,
    "CONCAT": strings.concatenated,
    "langMatches": strings.lang_matches,
    "YEAR": casts.date_part("year"),
    "MONTH": casts.date_part("month"),
    "DAY": casts.date_part("day"),
    "HOURS": casts.date_part("hour"),
    "MINUTES": casts.date_part("minute"),
    "SECONDS": casts.seconds,
    "TIMEZONE": casts.zone,
    "TZ": casts.zone_characters,
    "MD5": strings.digest(F.md5),
    "SHA1": strings.digest(F.sha1),
    "SHA256": strings.digest(lambda text: F.sha2(text, 256)),
    "SHA384": strings.digest(lambda text: F.sha2(text, 384)),
    "SHA512": strings.digest(lambda text: F.sha2(text, 512)),
    **casts.CASTS,
}
"""By the name of the function."""
