"""What a literal stands for, on Spark: one struct for values of all kinds, compared and computed with natively.

`c` is the class of the value. A number has its kind in `k` and its value in `n`, whole for an integer and times 10^18
for a decimal, or in `f`. Text is in `s`, its language in `l`. A truth value is 0 or 1 in `n`. An instant has
nanoseconds in `n` and its zone in minutes in `k`; a duration has nanoseconds in `n` and months in `k`.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

from transom.model.rdf.terms import BOOLEAN, DATE, DATE_TIME, DECIMAL, DOUBLE, FLOAT, INTEGER, TIME, Literal, Term
from transom.model.rdf.times import Instant, Span
from transom.model.rdf.values import (
    FLOATING,
    PLACES,
    POINT,
    RANGES,
    WHOLE,
    Kind,
    Number,
    Text,
    value_of,
)
from transom.spark.sql import F, Sql, let
from transom.spark.term_spelling import end, ending, is_literal, is_text, lexical, one_of, tag
from transom.spark.term_times import SPANS, instant, span

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


def exact(value: int) -> Sql:
    """A whole number of up to 38 digits."""
    return F.lit(str(value)).cast(EXACT)


def opposite(number: Sql) -> Sql:
    """An exact number with the other sign; Spark's own keeps 34 digits only."""
    return F.try_subtract(exact(0), number).try_cast(EXACT)


def size_of(number: Sql) -> Sql:
    """An exact number without its sign; Spark's own keeps 34 digits only."""
    return F.when(number < exact(0), opposite(number)).otherwise(number)


def packed(
    of: Class | Sql,
    *,
    k: Sql | int | None = None,
    n: Sql | int | None = None,
    f: Sql | float | None = None,
    s: Sql | str | None = None,
    l: Sql | str | None = None,  # noqa: E741 - the language
) -> Sql:
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


def constant(term: Term) -> Sql:
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


def constant_number(kind: Kind, number: int | Decimal | float) -> Sql:
    """A number that the query says."""
    match number:
        case float():
            return packed(Class.NUMBER, k=int(kind), f=number)
        case int():
            return packed(Class.NUMBER, k=int(kind), n=number)
        case Decimal():
            return packed(Class.NUMBER, k=int(kind), n=int(Fraction(number) * UNIT))


def parsed(term: Sql) -> Sql:
    """The value of any term; its class says what could be read."""
    return F.when(is_literal(term), let([end(term)], lambda ended: _of_literal(term, ended))).when(
        term.isNotNull(), packed(Class.NO_LITERAL)
    )


def _of_literal(term: Sql, ended: Sql) -> Sql:
    text = packed(Class.TEXT, s=lexical(term, ended), l=tag(ended))
    read = let([words(term, ended)], lambda said: _of_words(said, ended))
    return F.when(is_text(ended), text).otherwise(F.coalesce(read, packed(Class.UNKNOWN)))


def _of_words(said: Sql, ended: Sql) -> Sql:
    return (
        F.when(kind_of_end(ended).isNotNull(), of_number(said, ended))
        .when(one_of(ended, [BOOLEAN]), of_truth(said))
        .when(one_of(ended, INSTANTS), of_instant(said, ended))
        .when(one_of(ended, SPANS), of_span(said, ended))
    )


def words(term: Sql, ended: Sql) -> Sql:
    """The characters of a literal without blanks around them."""
    return F.btrim(lexical(term, ended), F.lit(_BLANKS))


def of_truth(said: Sql) -> Sql:
    """A truth value, NULL where the characters say none."""
    yes, no = said.isin("true", "1"), said.isin("false", "0")
    return F.when(yes, packed(Class.TRUTH, n=1)).when(no, packed(Class.TRUTH, n=0))


def of_instant(said: Sql, ended: Sql) -> Sql:
    """An instant, NULL where the characters say none."""
    of = F.when(ended == ending(DATE), int(Class.DATE)).when(ended == ending(TIME), int(Class.TIME))
    kind = of.otherwise(int(Class.DATE_TIME))
    return let(
        [instant(said, ended), kind],
        lambda found, own: F.when(found.isNotNull(), packed(own, k=found["zone"], n=found["nanos"])),
    )


def of_span(said: Sql, ended: Sql) -> Sql:
    """A duration, NULL where the characters say none."""
    return let(
        [span(said, ended)],
        lambda found: F.when(found.isNotNull(), packed(Class.SPAN, k=found["months"], n=found["nanos"])),
    )


def number(term: Sql) -> Sql:
    """The number that a term stands for, NULL where it stands for none."""
    ended = end(term)
    return F.when(is_literal(term), let([words(term, ended), ended, kind_of_end(ended)], _of_kind))


def kind_of_end(ended: Sql) -> Sql:
    """The kind of the numbers of a datatype, by the end of their literals; NULL where it has none."""
    kinds = dict.fromkeys(RANGES, Kind.INTEGER) | {DECIMAL: Kind.DECIMAL, FLOAT: Kind.FLOAT, DOUBLE: Kind.DOUBLE}
    return F.try_element_at(_table({name: int(kind) for name, kind in kinds.items()}), ended).try_cast("int")


def _table(entries: Mapping[str, int]) -> Sql:
    """Constants by the ends of literals of datatypes; written as one text, which costs Spark less than many."""
    text = " ".join(f"{ending(name)}={value}" for name, value in entries.items())
    return F.str_to_map(F.lit(text), F.lit(" "), F.lit("="))


def of_number(said: Sql, ended: Sql) -> Sql:
    """A number, NULL where the characters are not those of the datatype."""
    return let([said, ended, kind_of_end(ended)], _of_kind)


def _of_kind(said: Sql, ended: Sql, kind: Sql) -> Sql:
    exactly = F.when(kind == int(Kind.INTEGER), whole_of(said, ended)).when(kind == int(Kind.DECIMAL), read_point(said))
    single = kind == int(Kind.FLOAT)
    about = F.when(kind >= int(Kind.FLOAT), let([read_float(said)], lambda own: _as_wide(own, single)))
    return let([exactly, about], lambda n, f: F.when(n.isNotNull() | f.isNotNull(), _number(kind, n, f)))


def _number(kind: Sql, n: Sql, f: Sql) -> Sql:
    return packed(Class.NUMBER, k=kind, n=n, f=f)


def _as_wide(value: Sql, single: Sql) -> Sql:
    """A float as it is, or as the nearest one of 32 bits."""
    return F.when(single, value.cast("float").cast("double")).otherwise(value)


def known(kind: Kind, n: Sql) -> Sql:
    """An exact number of a kind, NULL where its value is."""
    return F.when(n.isNotNull(), packed(Class.NUMBER, k=int(kind), n=n))


def whole_of(said: Sql, ended: Sql) -> Sql:
    """An integer of integer or a datatype derived from it, NULL where the datatype has none such."""

    def inside(whole: Sql) -> Sql:
        derived = {name: bounds for name, bounds in RANGES.items() if name != INTEGER}
        lows, highs = (_table({name: _bound(own, side) for name, own in derived.items()}) for side in (0, 1))
        low, high = (F.try_element_at(table, ended).try_cast(EXACT) for table in (lows, highs))
        return F.when((ended == F.lit(ending(INTEGER))) | ((whole >= low) & (whole <= high)), whole)

    return let([read_whole(said)], inside)


def _bound(bounds: tuple[int | None, int | None], side: int) -> int:
    """The least or the greatest value of a datatype; where it has none, of all integers."""
    own = bounds[side]
    return own if own is not None else (-_FARTHEST, _FARTHEST)[side]


def read_whole(said: Sql) -> Sql:
    """An integer from its characters, NULL where they say none."""
    return F.when(F.rlike(said, F.lit(rf"\A{WHOLE}\z")), said.try_cast(EXACT))


def read_point(said: Sql) -> Sql:
    """A decimal from its characters, times 10^18; NULL where they say none."""
    behind = F.when(F.contains(said, F.lit(".")), F.substring_index(said, ".", -1)).otherwise(F.lit(""))
    figures = F.concat(F.substring_index(said, ".", 1), F.rpad(F.substring(behind, 1, PLACES), PLACES, "0"))
    return F.when(F.rlike(said, F.lit(rf"\A(?:{POINT})\z")), figures.try_cast(EXACT))


def read_float(said: Sql) -> Sql:
    """A float from its characters, NULL where they say none."""
    return F.when(
        F.rlike(said, F.lit(rf"\A(?:{FLOATING})\z")),
        F.replace(said, F.lit("INF"), F.lit("Infinity")).try_cast("double"),
    )
