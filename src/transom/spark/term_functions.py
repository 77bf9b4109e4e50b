"""What every strict function of SPARQL 1.1 is on Spark, by its name; NULL is an error."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.spark import term_numbers as numbers
from transom.spark.term_forms import at_most, equal, less
from transom.spark.term_shapes import Shape, Shaped, truths
from transom.spark.term_spelling import datatype, end, is_literal, is_name, is_node, lexical, name_of, tag
from transom.spark.types import let

Lowering = Callable[..., Shaped]


def _on_term(shape: Shape, body: Callable[[Column], Column]) -> Lowering:
    """A function of a spelled term."""

    def lowered(one: Shaped) -> Shaped:
        column = body(one.column) if one.shape is Shape.TERM else let([one.term()], body)
        return Shaped(shape, column)

    return lowered


def _literals(body: Callable[[Column], Column]) -> Callable[[Column], Column]:
    """A function of how a literal ends."""
    return lambda term: F.when(is_literal(term), body(end(term)))


def _characters(term: Column) -> Column:
    return F.when(is_name(term), name_of(term)).when(is_literal(term), lexical(term, end(term)))


def _two(operation: Callable[[Column, Column], Column]) -> Lowering:
    return lambda one, other: Shaped(Shape.NUMBER, let([one.number(), other.number()], operation))


def _one(operation: Callable[[Column], Column]) -> Lowering:
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
    "STR": _on_term(Shape.CHARACTERS, _characters),
    "LANG": _on_term(Shape.CHARACTERS, _literals(tag)),
    "DATATYPE": _on_term(Shape.TERM, _literals(datatype)),
}
"""By the name of the function."""
