"""Equality, order and effective boolean value of terms, as the model defines them; a NULL result is an error."""

from __future__ import annotations

from transom.model.rdf.terms import BOOLEAN
from transom.model.rdf.times import MAX_ZONE_OFFSET
from transom.model.rdf.values import NUMERIC
from transom.spark.expressions.sql import F, Sql, let, let_interpreted
from transom.spark.rdf.terms import arithmetic as numbers
from transom.spark.rdf.terms.spelling import (
    LiteralSuffix,
    TermText,
    has_datatype,
    is_literal,
    is_string,
    literal_suffix,
)
from transom.spark.rdf.terms.values import NANO, ValueClass, ValueStruct, exact, term_number, trimmed_lexical


def equal(left_term: TermText, right_term: TermText, left: ValueStruct, right: ValueStruct) -> Sql:
    """Compare two terms by SPARQL `=`, from their N-Triples texts and parsed values; NULL (an error) if undecidable."""

    def is_class(value: ValueStruct, *classes: ValueClass) -> Sql:
        """Whether a parsed value is of one of the classes, such as NUMBER or TEXT."""
        return value["c"].isin([int(value_class) for value_class in classes])

    def tagged(value: ValueStruct) -> Sql:
        """Whether a parsed value is a string with a language tag; false for NULL."""
        return F.coalesce(value["l"] != F.lit(""), F.lit(False))

    def of_class(value_class: ValueClass) -> Sql:
        """Whether the parsed value of the left operand is of a class such as NUMBER or TEXT."""
        return left["c"] == F.lit(int(value_class))

    return (
        F.when(is_class(left, ValueClass.NO_LITERAL) | is_class(right, ValueClass.NO_LITERAL), left_term == right_term)
        .when(tagged(left) != tagged(right), F.lit(False))
        .when(
            is_class(left, ValueClass.UNKNOWN) | is_class(right, ValueClass.UNKNOWN),
            F.when(left_term == right_term, F.lit(True)),
        )
        .when(left["c"] != right["c"], F.lit(False))
        .when(of_class(ValueClass.NUMBER), numbers.equal(left, right))
        .when(of_class(ValueClass.TEXT), (left["s"] == right["s"]) & (left["l"] == right["l"]))
        .when(of_class(ValueClass.TRUTH), left["n"] == right["n"])
        .when(of_class(ValueClass.SPAN), (left["n"] == right["n"]) & (left["k"] == right["k"]))
        .when(_is_ordered(left, right), left["n"] == right["n"])
    )


def less(left: ValueStruct, right: ValueStruct) -> Sql:
    """Compare two parsed values by SPARQL `<`; NULL if the values have no order."""

    def both(value_class: ValueClass) -> Sql:
        """Whether both operands of `<` are parsed values of this class, such as NUMBER or TEXT."""
        return (left["c"] == F.lit(int(value_class))) & (right["c"] == F.lit(int(value_class)))

    instants = (left["c"] == right["c"]) & left["c"].between(int(ValueClass.DATE), int(ValueClass.TIME))
    zero = exact(0)
    spans = F.when((left["k"] == 0) & (right["k"] == 0), left["n"] < right["n"]).when(
        (left["n"] == zero) & (right["n"] == zero), left["k"] < right["k"]
    )
    return (
        F.when(both(ValueClass.NUMBER), numbers.less(left, right))
        .when(both(ValueClass.TEXT), F.when((left["l"] == "") & (right["l"] == ""), left["s"] < right["s"]))
        .when(both(ValueClass.TRUTH), left["n"] < right["n"])
        .when(instants, F.when(_is_ordered(left, right), left["n"] < right["n"]))
        .when(both(ValueClass.SPAN), spans)
    )


def _is_ordered(left: ValueStruct, right: ValueStruct) -> Sql:
    """Whether two instants have a definite order: if only one has a time zone, they must be over 14 hours apart."""
    near = F.abs(right["n"] - left["n"]) <= exact(MAX_ZONE_OFFSET * NANO)
    return ~((left["k"].isNull() != right["k"].isNull()) & near)


def effective_boolean(term: TermText) -> Sql:
    """The effective boolean value, as SPARQL defines it, of a term (N-Triples text); NULL (an error) if it has none."""

    def of_literal(suffix: LiteralSuffix) -> Sql:
        """The effective boolean value of the outer `term`, a literal, by `suffix`, its datatype or language tag."""
        return (
            F.when(is_string(suffix), F.length(term) > F.length(suffix) + F.lit(2))
            .when(has_datatype(suffix, [BOOLEAN]), trimmed_lexical(term, suffix).isin("true", "1"))
            .when(
                has_datatype(suffix, NUMERIC),
                F.coalesce(let_interpreted([term_number(term)], numbers.is_true), F.lit(False)),
            )
        )

    return F.when(is_literal(term), let([literal_suffix(term)], of_literal))
