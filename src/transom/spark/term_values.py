"""What a literal stands for, on Spark: one struct for values of all kinds, compared and computed with natively.

`c` is the class of the value. A number has its kind in `k` and its value in `n`, whole for an integer and times 10^18
for a decimal, or in `f`. Text is in `s`, its language in `l`. A truth value is 0 or 1 in `n`. An instant has
nanoseconds in `n` and its zone in minutes in `k`; a duration has nanoseconds in `n` and months in `k`.
"""

from __future__ import annotations

import math
from enum import IntEnum

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.model.rdf.terms import BOOLEAN, DATE, DATE_TIME, DECIMAL, FLOAT, INTEGER, TIME, Literal, Term
from transom.model.rdf.times import Instant, Span
from transom.model.rdf.values import (
    FLOATING,
    NUMERIC,
    PLACES,
    POINT,
    RANGES,
    WHOLE,
    Kind,
    Number,
    Text,
    value_of,
)
from transom.spark.term_spelling import end, ending, is_literal, is_text, lexical, one_of, tag
from transom.spark.term_times import SPANS, instant, span
from transom.spark.types import let

EXACT = "decimal(38,0)"
UNIT = 10**PLACES
NANO = 10**9
_FARTHEST = 10**38 - 1
_BLANKS = " \t\r\n"


class Class(IntEnum):
    """What a term stands for; instants are in the order of the names of their datatypes."""

    NO_LITERAL = 0
    NUMBER = 1
    TEXT = 2
    TRUTH = 3
    DATE = 4
    DATE_TIME = 5
    TIME = 6
    SPAN = 7
    UNKNOWN = 8


INSTANTS = {DATE: Class.DATE, DATE_TIME: Class.DATE_TIME, TIME: Class.TIME}


def exact(value: int) -> Column:
    """A whole number of up to 38 digits."""
    return F.lit(str(value)).cast(EXACT)


def packed(
    of: Class | Column,
    *,
    k: Column | int | None = None,
    n: Column | int | None = None,
    f: Column | float | None = None,
    s: Column | str | None = None,
    l: Column | str | None = None,  # noqa: E741 - the language
) -> Column:
    """A value of a class."""
    whole = exact(n) if isinstance(n, int) else F.lit(n).cast(EXACT)
    return F.struct(
        F.lit(int(of) if isinstance(of, Class) else of).cast("int").alias("c"),
        F.lit(k).cast("bigint").alias("k"),
        whole.alias("n"),
        F.lit(f).cast("double").alias("f"),
        F.lit(s).cast("string").alias("s"),
        F.lit(l).cast("string").alias("l"),
    )


def constant(term: Term) -> Column:
    """The value of a term that the query says."""
    value = value_of(term) if isinstance(term, Literal) else None
    match value:
        case Number(kind=kind, value=number):
            return constant_number(kind, number)
        case Text(text=text, language=language):
            return packed(Class.TEXT, s=text, l=language)
        case bool():
            return packed(Class.TRUTH, n=int(value))
        case Instant(datatype=datatype, zone=zone):
            return packed(INSTANTS[datatype], k=zone, n=int(value.seconds * NANO))
        case Span(months=months, seconds=seconds):
            return packed(Class.SPAN, k=months, n=int(seconds * NANO))
        case None:
            return packed(Class.UNKNOWN if isinstance(term, Literal) else Class.NO_LITERAL)


def constant_number(kind: Kind, number: object) -> Column:
    """A number that the query says."""
    match number:
        case float():
            return packed(Class.NUMBER, k=int(kind), f=number)
        case int():
            return packed(Class.NUMBER, k=int(kind), n=number)
        case _:
            return packed(Class.NUMBER, k=int(kind), n=int(number * UNIT))


def parsed(term: Column) -> Column:
    """The value of any term; its class says what could be read."""
    return F.when(is_literal(term), let([end(term)], lambda ended: _of_literal(term, ended))).when(
        term.isNotNull(), packed(Class.NO_LITERAL)
    )


def _of_literal(term: Column, ended: Column) -> Column:
    text = packed(Class.TEXT, s=lexical(term, ended), l=tag(ended))
    known = one_of(ended, [*NUMERIC, BOOLEAN, *INSTANTS, *SPANS])
    read = F.when(known, let([words(term, ended)], lambda said: _of_words(said, ended)))
    return F.when(is_text(ended), text).otherwise(F.coalesce(read, packed(Class.UNKNOWN)))


def _of_words(said: Column, ended: Column) -> Column:
    return (
        F.when(one_of(ended, NUMERIC), of_number(said, ended))
        .when(one_of(ended, [BOOLEAN]), of_truth(said))
        .when(one_of(ended, INSTANTS), of_instant(said, ended))
        .otherwise(of_span(said, ended))
    )


def words(term: Column, ended: Column) -> Column:
    """The characters of a literal without blanks around them."""
    return F.btrim(lexical(term, ended), F.lit(_BLANKS))


def of_truth(said: Column) -> Column:
    """A truth value, NULL where the characters say none."""
    yes, no = said.isin("true", "1"), said.isin("false", "0")
    return F.when(yes, packed(Class.TRUTH, n=1)).when(no, packed(Class.TRUTH, n=0))


def of_instant(said: Column, ended: Column) -> Column:
    """An instant, NULL where the characters say none."""
    of = F.when(ended == ending(DATE), int(Class.DATE)).when(ended == ending(TIME), int(Class.TIME))
    kind = of.otherwise(int(Class.DATE_TIME))
    return let(
        [instant(said, ended), kind],
        lambda found, own: F.when(found.isNotNull(), packed(own, k=found["zone"], n=found["nanos"])),
    )


def of_span(said: Column, ended: Column) -> Column:
    """A duration, NULL where the characters say none."""
    return let(
        [span(said, ended)],
        lambda found: F.when(found.isNotNull(), packed(Class.SPAN, k=found["months"], n=found["nanos"])),
    )


def number(term: Column) -> Column:
    """The number that a term stands for, NULL where it stands for none."""

    def read(ended: Column) -> Column:
        return F.when(one_of(ended, NUMERIC), let([words(term, ended)], lambda said: of_number(said, ended)))

    return F.when(is_literal(term), let([end(term)], read))


def of_number(said: Column, ended: Column) -> Column:
    """A number, NULL where the characters are not those of the datatype."""
    floating = F.when(F.rlike(said, F.lit(rf"\A(?:{FLOATING})\z")), read_float(said))
    is_float = ended == F.lit(ending(FLOAT))
    value = F.when(is_float, floating.cast("float").cast("double")).otherwise(floating)
    kind = F.when(is_float, F.lit(int(Kind.FLOAT))).otherwise(F.lit(int(Kind.DOUBLE)))
    return (
        F.when(one_of(ended, RANGES), let([read_whole(said)], lambda whole: _in_range(whole, ended)))
        .when(
            ended == F.lit(ending(DECIMAL)),
            let([read_point(said)], lambda point: known(Kind.DECIMAL, point)),
        )
        .otherwise(let([value, kind], lambda own, of: F.when(own.isNotNull(), packed(Class.NUMBER, k=of, f=own))))
    )


def known(kind: Kind, n: Column) -> Column:
    """An exact number of a kind, NULL where its value is."""
    return F.when(n.isNotNull(), packed(Class.NUMBER, k=int(kind), n=n))


def _in_range(whole: Column, ended: Column) -> Column:
    """An integer that its datatype, one of those derived from integer, has."""
    bounds = {ending(name): bound for name, bound in RANGES.items() if name != INTEGER}
    lows = F.create_map(*(c for name, (low, _) in bounds.items() for c in (F.lit(name), exact(_least(low)))))
    highs = F.create_map(*(c for name, (_, high) in bounds.items() for c in (F.lit(name), exact(_most(high)))))
    inside = (whole >= F.try_element_at(lows, ended)) & (whole <= F.try_element_at(highs, ended))
    return F.when((ended == F.lit(ending(INTEGER))) | inside, known(Kind.INTEGER, whole))


def _least(bound: int | None) -> int:
    return -_FARTHEST if bound is None else bound


def _most(bound: int | None) -> int:
    return _FARTHEST if bound is None else bound


def read_whole(said: Column) -> Column:
    """An integer from its characters, NULL where they say none."""
    return F.when(F.rlike(said, F.lit(rf"\A{WHOLE}\z")), said.try_cast(EXACT))


def read_point(said: Column) -> Column:
    """A decimal from its characters, times 10^18; NULL where they say none."""
    behind = F.when(F.contains(said, F.lit(".")), F.substring_index(said, ".", -1)).otherwise(F.lit(""))
    figures = F.concat(F.substring_index(said, ".", 1), F.rpad(F.substring(behind, 1, PLACES), PLACES, "0"))
    return F.when(F.rlike(said, F.lit(rf"\A(?:{POINT})\z")), figures.try_cast(EXACT))


def read_float(said: Column) -> Column:
    """A float from characters that are known to be those of one."""
    return F.when(said == "NaN", F.lit(math.nan)).otherwise(
        F.replace(said, F.lit("INF"), F.lit("Infinity")).try_cast("double")
    )
