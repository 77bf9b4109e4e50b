"""Equality, order and truth of terms on Spark, as the model defines them; NULL is an error."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.model.rdf.terms import BOOLEAN
from transom.model.rdf.times import FARTHEST
from transom.model.rdf.values import NUMERIC
from transom.spark import term_numbers as numbers
from transom.spark.term_spelling import datatype, end, is_literal, is_name, is_text, lexical, name_of, one_of
from transom.spark.term_values import NANO, Class, exact, number, parsed, words
from transom.spark.types import aside, let


def equal(one: Column, other: Column, left: Column, right: Column) -> Column:
    """`=` of two terms that are not the same, given their values; an error where it is not known."""

    def has(value: Column, *classes: Class) -> Column:
        return value["c"].isin([int(own) for own in classes])

    def tagged(value: Column) -> Column:
        return F.coalesce(value["l"] != F.lit(""), F.lit(False))

    def of_class(own: Class) -> Column:
        return left["c"] == F.lit(int(own))

    return (
        F.when(has(left, Class.NO_LITERAL) | has(right, Class.NO_LITERAL), one == other)
        .when(tagged(left) != tagged(right), F.lit(False))
        .when(has(left, Class.UNKNOWN) | has(right, Class.UNKNOWN), F.when(one == other, F.lit(True)))
        .when(left["c"] != right["c"], F.lit(False))
        .when(of_class(Class.NUMBER), numbers.same(left, right))
        .when(of_class(Class.TEXT), (left["s"] == right["s"]) & (left["l"] == right["l"]))
        .when(of_class(Class.TRUTH), left["n"] == right["n"])
        .when(of_class(Class.SPAN), (left["n"] == right["n"]) & (left["k"] == right["k"]))
        .when(_certain(left, right), left["n"] == right["n"])
    )


def less(left: Column, right: Column) -> Column:
    """`<` of two values; an error for what has no order."""

    def both(own: Class) -> Column:
        return (left["c"] == F.lit(int(own))) & (right["c"] == F.lit(int(own)))

    instants = (left["c"] == right["c"]) & left["c"].between(int(Class.DATE), int(Class.TIME))
    nothing = exact(0)
    spans = F.when((left["k"] == 0) & (right["k"] == 0), left["n"] < right["n"]).when(
        (left["n"] == nothing) & (right["n"] == nothing), left["k"] < right["k"]
    )
    return (
        F.when(both(Class.NUMBER), numbers.less(left, right))
        .when(both(Class.TEXT), F.when((left["l"] == "") & (right["l"] == ""), left["s"] < right["s"]))
        .when(both(Class.TRUTH), left["n"] < right["n"])
        .when(instants, F.when(_certain(left, right), left["n"] < right["n"]))
        .when(both(Class.SPAN), spans)
    )


def _certain(left: Column, right: Column) -> Column:
    """Whether the order of two instants does not hang on a time zone not given."""
    near = F.abs(right["n"] - left["n"]) <= exact(FARTHEST * NANO)
    return ~((left["k"].isNull() != right["k"].isNull()) & near)


def truth(term: Column) -> Column:
    """The effective boolean value of a term."""

    def of_end(ended: Column) -> Column:
        return (
            F.when(is_text(ended), F.length(term) > F.length(ended) + F.lit(2))
            .when(one_of(ended, [BOOLEAN]), words(term, ended).isin("true", "1"))
            .when(one_of(ended, NUMERIC), F.coalesce(aside([number(term)], numbers.is_true), F.lit(False)))
        )

    return F.when(is_literal(term), let([end(term)], of_end))


def sort_key(term: Column) -> Column:
    """A struct whose order, NULL first, is that of ORDER BY: unbound, blank nodes, names, literals by their values."""
    return F.when(term.isNotNull(), aside([term, parsed(term)], _sort_key))


def _sort_key(term: Column, value: Column) -> Column:
    def of(*classes: Class) -> Column:
        return value["c"].isin([int(own) for own in classes])

    nan = of(Class.NUMBER) & F.coalesce(F.isnan(value["f"]), F.lit(False))
    tagged = of(Class.TEXT) & (value["l"] != "")
    instants = F.when(of(Class.DATE), 351).when(of(Class.DATE_TIME), 352).when(of(Class.TIME), 353)
    place = (
        F.when(of(Class.NO_LITERAL), F.when(is_name(term), 200).otherwise(100))
        .when(nan, 300)
        .when(of(Class.NUMBER), 310)
        .when(tagged, 330)
        .when(of(Class.TEXT), 320)
        .when(of(Class.TRUTH), 340)
        .when(of(Class.DATE, Class.DATE_TIME, Class.TIME), instants)
        .when(of(Class.SPAN), 360)
        .otherwise(370)
    )
    is_number = of(Class.NUMBER) & ~nan
    months = F.when(of(Class.SPAN), value["k"].cast("double"))
    unknown = of(Class.UNKNOWN)
    text = (
        F.when(of(Class.NO_LITERAL), F.when(is_name(term), name_of(term)).otherwise(term))
        .when(of(Class.TEXT), value["s"])
        .when(unknown, datatype(end(term)))
    )
    return F.struct(
        place.cast("int").alias("place"),
        F.coalesce(months, F.when(is_number, numbers.double(value) + F.lit(0.0))).alias("about"),
        F.when(is_number, aside([value], numbers.exactly)).otherwise(_in_order(value["n"])).alias("exactly"),
        text.alias("text"),
        F.coalesce(value["l"], F.when(unknown, lexical(term, end(term)))).alias("rest"),
    )


def _in_order(whole: Column) -> Column:
    return F.struct(whole.alias("whole"), exact(0).alias("part"), F.lit(0).alias("beyond"))
