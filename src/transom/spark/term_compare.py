"""Equality, order and truth of terms on Spark, as the model defines them; NULL is an error."""

from __future__ import annotations

from transom.model.rdf.terms import BOOLEAN
from transom.model.rdf.times import FARTHEST
from transom.model.rdf.values import NUMERIC
from transom.spark import term_numbers as numbers
from transom.spark.sql import F, Sql, aside, let
from transom.spark.term_spelling import end, is_literal, is_text, one_of
from transom.spark.term_values import NANO, Class, exact, number, words


def equal(one: Sql, other: Sql, left: Sql, right: Sql) -> Sql:
    """`=` of two terms that are not the same, given their values; an error where it is not known."""

    def has(value: Sql, *classes: Class) -> Sql:
        return value["c"].isin([int(own) for own in classes])

    def tagged(value: Sql) -> Sql:
        return F.coalesce(value["l"] != F.lit(""), F.lit(False))

    def of_class(own: Class) -> Sql:
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


def less(left: Sql, right: Sql) -> Sql:
    """`<` of two values; an error for what has no order."""

    def both(own: Class) -> Sql:
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


def _certain(left: Sql, right: Sql) -> Sql:
    """Whether the order of two instants does not hang on a time zone not given."""
    near = F.abs(right["n"] - left["n"]) <= exact(FARTHEST * NANO)
    return ~((left["k"].isNull() != right["k"].isNull()) & near)


def truth(term: Sql) -> Sql:
    """The effective boolean value of a term."""

    def of_end(ended: Sql) -> Sql:
        return (
            F.when(is_text(ended), F.length(term) > F.length(ended) + F.lit(2))
            .when(one_of(ended, [BOOLEAN]), words(term, ended).isin("true", "1"))
            .when(one_of(ended, NUMERIC), F.coalesce(aside([number(term)], numbers.is_true), F.lit(False)))
        )

    return F.when(is_literal(term), let([end(term)], of_end))
