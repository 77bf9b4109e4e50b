"""Numbers written down as XML Schema does, on Spark: plain decimals, and floats with the fewest figures."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.model.rdf.terms import DECIMAL, DOUBLE, FLOAT, INTEGER
from transom.model.rdf.values import PLACES, Kind
from transom.spark.term_spelling import ending, literal
from transom.spark.types import aside, let

_SURE = 15
"""So many figures name one float at most, so that Java cannot have written one too many."""

_SINGLE = 9
"""So many figures tell any two floats of 32 bits apart."""

_SMALL = 2.3e-308
"""Below this, floats have fewer figures."""


def number_term(value: Column) -> Column:
    """A number as a term in canonical form."""
    kind = value["k"]
    floating = aside([value["f"], kind == int(Kind.FLOAT)], canonical)
    return (
        F.when(kind == int(Kind.INTEGER), literal(value["n"].cast("string"), ending(INTEGER), escape=False))
        .when(kind == int(Kind.DECIMAL), literal(pointed(value["n"]), ending(DECIMAL), escape=False))
        .when(kind == int(Kind.FLOAT), literal(floating, ending(FLOAT), escape=False))
        .when(kind == int(Kind.DOUBLE), literal(floating, ending(DOUBLE), escape=False))
    )


def pointed(units: Column, places: int = PLACES) -> Column:
    """A decimal, given as a whole number of its last places, without needless zeros: 2.5, 2, 0."""
    size = F.abs(units).cast("string")
    filled = F.when(F.length(size) <= places, F.lpad(size, places + 1, "0")).otherwise(size)

    def written(figures: Column) -> Column:
        behind = F.rtrim(F.substring(figures, F.length(figures) - F.lit(places - 1), F.lit(places)), F.lit("0"))
        whole = F.substring(figures, F.lit(1), F.length(figures) - F.lit(places))
        point = F.when(behind == "", F.lit("")).otherwise(F.lit("."))
        return F.concat(F.when(units < F.lit(0), F.lit("-")).otherwise(F.lit("")), whole, point, behind)

    return let([filled], written)


def canonical(value: Column, single: Column) -> Column:
    """A float in canonical form, as 1.5E2; `single` says whether it has 32 bits."""

    def written(sign: Column, found: Column) -> Column:
        figures, power = found["figures"], found["power"]
        rest = F.substring(figures, F.lit(2), F.length(figures))
        behind = F.when(rest == "", F.lit("0")).otherwise(rest)
        return F.concat(sign, F.substring(figures, 1, 1), F.lit("."), behind, F.lit("E"), power.cast("string"))

    return _special(value).otherwise(let([_sign(value), shortest(value, single)], written))


def as_text(value: Column, single: Column) -> Column:
    """A float as a cast to a string writes it: without an exponent where it is not too far from 1."""
    size = F.abs(value)

    def written(sign: Column, found: Column) -> Column:
        figures, power = found["figures"], found["power"].cast("int")
        small = F.concat(F.lit("0."), F.repeat(F.lit("0"), -power - F.lit(1)), figures)
        length = F.length(figures)
        large = F.rpad(figures, 7, "0")
        whole = F.substring(large, F.lit(1), power + F.lit(1))
        rest = F.when(
            length > power + F.lit(1), F.concat(F.lit("."), F.substring(figures, power + F.lit(2), length))
        ).otherwise(F.lit(""))
        return F.concat(sign, F.when(power < 0, small).otherwise(F.concat(whole, rest)))

    near = (size >= F.lit(1e-6)) & (size < F.lit(1e6))
    plain = let([_sign(value), shortest(value, single)], written)
    return F.when(value == 0, F.concat(_sign(value), F.lit("0"))).when(near, plain).otherwise(canonical(value, single))


def _special(value: Column) -> Column:
    endless = F.lit(float("inf"))
    return (
        F.when(F.isnan(value), F.lit("NaN"))
        .when(value == endless, F.lit("INF"))
        .when(value == -endless, F.lit("-INF"))
        .when(value.isNull(), F.lit(None).cast("string"))
    )


def _sign(value: Column) -> Column:
    return F.when(F.startswith(value.cast("string"), F.lit("-")), F.lit("-")).otherwise(F.lit(""))


def shortest(value: Column, single: Column) -> Column:
    """The fewest figures that are read as the same float again, and the power of ten of the first."""
    size = F.abs(value)

    def better(found: Column) -> Column:
        long = F.length(found["figures"]) > F.when(single, F.lit(6)).otherwise(F.lit(_SURE))
        doubtful = (size > F.lit(0.0)) & (single | long | (size < F.lit(_SMALL)))
        return F.when(doubtful, _fewest(size, single, found)).otherwise(found)

    return let([_java(size)], better)


def _java(size: Column) -> Column:
    """The figures that Java writes, without zeros around them, and the power of ten of the first."""
    text = size.cast("string")
    mantissa = F.substring_index(text, "E", 1)
    power = F.when(F.contains(text, F.lit("E")), F.substring_index(text, "E", -1).try_cast("int")).otherwise(F.lit(0))
    whole = F.substring_index(mantissa, ".", 1)
    figures = F.replace(mantissa, F.lit("."), F.lit(""))

    def cut(digits: Column, before: Column, given: Column) -> Column:
        leading = F.length(digits) - F.length(F.ltrim(digits, F.lit("0")))
        kept = F.btrim(digits, F.lit("0"))
        return _figures(
            F.when(kept == "", F.lit("0")).otherwise(kept),
            F.when(kept == "", F.lit(0)).otherwise(given + F.length(before) - F.lit(1) - leading),
        )

    return let([figures, whole, power], cut)


def _figures(figures: Column, power: Column) -> Column:
    return F.struct(figures.alias("figures"), power.cast("int").alias("power"))


def _fewest(size: Column, single: Column, found: Column) -> Column:
    """The first of ever longer figures that is read as the same float."""
    figures, power = found["figures"], found["power"]
    length = F.length(figures)
    few = F.when(single | (size < F.lit(_SMALL)), F.lit(1)).otherwise(F.lit(_SURE))
    most = F.when(single, F.least(F.lit(_SINGLE), length)).otherwise(length)

    def candidates(count: Column) -> Column:
        def both(kept: Column, unit: Column, rest: Column) -> Column:
            up = (rest * F.lit(2) > unit) | ((rest * F.lit(2) == unit) & (kept % F.lit(2) == F.lit(1)))
            near = F.when(up, kept + F.lit(1)).otherwise(kept)
            other = F.when(up, kept).otherwise(kept + F.lit(1))
            spell = [F.concat(n.cast("string"), F.lit("E"), (power - count + 1).cast("string")) for n in (near, other)]
            return F.when(single, F.array(spell[0])).otherwise(F.array(*spell))

        unit = F.rpad(F.lit("1"), length - count + F.lit(1), F.lit("0")).cast("bigint")
        return let(
            [unit],
            lambda own: let(
                [F.call_function("div", figures.cast("bigint"), own), own, figures.cast("bigint") % own], both
            ),
        )

    def same(text: Column) -> Column:
        read = text.try_cast("double")
        return F.when(single, read.cast("float").cast("double")).otherwise(read) == size

    spelled = F.flatten(F.transform(F.sequence(few, F.greatest(few, most)), candidates))
    first = F.get(F.filter(F.when(length >= few, spelled), same), F.lit(0))

    def cut(text: Column) -> Column:
        number, exponent = F.substring_index(text, "E", 1), F.substring_index(text, "E", -1).cast("int")
        return _figures(F.rtrim(number, F.lit("0")), exponent + F.length(number) - F.lit(1))

    return let([first], lambda text: F.when(text.isNotNull(), cut(text)).otherwise(found))
