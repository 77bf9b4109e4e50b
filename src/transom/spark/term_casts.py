"""Casts of SPARQL 1.1 on Spark, and what instants and durations are made of; NULL is an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from transom.model.rdf.terms import (
    DATE,
    DATE_TIME,
    DAY_TIME,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    TIME,
    YEAR_MONTH,
)
from transom.model.rdf.values import PLACES, Kind
from transom.spark import term_numbers as numbers
from transom.spark.sql import F, Sql, aside, let
from transom.spark.term_figures import as_text, pointed, shortest
from transom.spark.term_shapes import Shape, Shaped, truths
from transom.spark.term_spelling import TAGGED, end, ending, is_literal, is_name, literal, name_of, one_of
from transom.spark.term_strings import whole
from transom.spark.term_times import SPANS, instant, instant_text, span, span_text, zone_text
from transom.spark.term_values import (
    EXACT,
    INSTANTS,
    UNIT,
    Class,
    exact,
    known,
    of_number,
    of_truth,
    opposite,
    packed,
    words,
)

_KINDS = {INTEGER: Kind.INTEGER, DECIMAL: Kind.DECIMAL, FLOAT: Kind.FLOAT, DOUBLE: Kind.DOUBLE}
_SHORTEST_PLACES = 38

Lowering = Callable[[Shaped], Shaped]


def _is(value: Sql, of: Class) -> Sql:
    return value["c"] == F.lit(int(of))


def _is_plain(ended: Sql) -> Sql:
    """Whether a literal that ends so is a string without a language."""
    return (ended == F.lit("")) | (ended == F.lit(TAGGED))


def _read(one: Shaped, datatype: str, reader: Callable[[Sql, Sql], Sql], own: tuple[str, ...]) -> Sql:
    """What `reader` makes of a literal of its own datatypes, or of a string as if it were of `datatype`."""

    def of_end(term: Sql, ended: Sql) -> Sql:
        chosen = F.when(_is_plain(ended), F.lit(ending(datatype))).when(one_of(ended, own), ended)
        return let([words(term, ended), chosen], lambda said, kind: F.when(kind.isNotNull(), reader(said, kind)))

    def of_term(term: Sql) -> Sql:
        return F.when(is_literal(term), let([term, end(term)], of_end))

    return aside([one.term()], of_term)


def to_boolean(one: Shaped) -> Shaped:
    """The value as a truth value."""

    def cast(value: Sql) -> Sql:
        said = F.when(_is(value, Class.TEXT) & (value["l"] == ""), of_truth(F.btrim(value["s"], F.lit(" \t\r\n")))["n"])
        return (
            F.when(_is(value, Class.NUMBER), numbers.is_true(value))
            .when(_is(value, Class.TRUTH), value["n"] == exact(1))
            .when(said.isNotNull(), said == exact(1))
        )

    return truths(aside([one.value()], cast))


def to_number(datatype: str) -> Lowering:
    """The value as a number of a kind."""
    kind = _KINDS[datatype]

    def cast(value: Sql) -> Sql:
        said = of_number(F.btrim(value["s"], F.lit(" \t\r\n")), F.lit(ending(datatype)))
        number = (
            F.when(_is(value, Class.NUMBER), value)
            .when(_is(value, Class.TRUTH), packed(Class.NUMBER, k=int(Kind.INTEGER), n=value["n"]))
            .when(_is(value, Class.TEXT) & (value["l"] == ""), said)
        )
        return let([number], lambda own: _as_kind(own, kind))

    return lambda one: Shaped(Shape.NUMBER, aside([one.value()], cast))


def _as_kind(value: Sql, kind: Kind) -> Sql:
    """A number as one of another kind."""
    there = value["k"].isNotNull()
    match kind:
        case Kind.INTEGER:
            exactly = F.when(value["k"] == int(Kind.DECIMAL), _cut(value["n"])).otherwise(value["n"])
            found = F.when(numbers.is_exact(value), exactly).otherwise(_figured(value, 0))
        case Kind.DECIMAL:
            found = F.when(numbers.is_exact(value), numbers.scaled(value)).otherwise(_figured(value, PLACES))
        case Kind.FLOAT:
            single = numbers.double(value).cast("float").cast("double")
            return F.when(there, packed(Class.NUMBER, k=int(kind), f=single))
        case Kind.DOUBLE:
            return F.when(there, packed(Class.NUMBER, k=int(kind), f=numbers.double(value)))
    return let([found.try_cast(EXACT)], lambda own: known(kind, own))


def _cut(units: Sql) -> Sql:
    """The whole part of a decimal."""
    return F.try_divide(units - F.try_mod(units, exact(UNIT)), exact(UNIT)).try_cast(EXACT)


def _figured(value: Sql, places: int) -> Sql:
    """A float times a power of ten, cut to a whole number, by its fewest figures; NULL where it is none."""
    size = F.abs(value["f"])

    def shifted(found: Sql) -> Sql:
        count = found["power"] + F.lit(places + 1)
        kept = F.rpad(F.substring(found["figures"], F.lit(1), count), count, F.lit("0")).try_cast(EXACT)
        return F.when(count <= 0, exact(0)).when(count <= _SHORTEST_PLACES, kept)

    good = ~F.isnan(value["f"]) & (size < F.lit(float("inf")))
    found = F.when(good, let([shortest(value["f"], value["k"] == int(Kind.FLOAT))], shifted))
    return let([found], lambda own: F.when(value["f"] < 0, opposite(own)).otherwise(own))


def to_instant(datatype: str) -> Lowering:
    """The value as a date, a time or both."""

    def reader(said: Sql, kind: Sql) -> Sql:
        # a time has no day, and a day alone no time
        allowed = kind != F.lit(ending(DATE if datatype == TIME else TIME))
        return F.when(allowed, let([instant(said, kind)], lambda found: instant_text(found, datatype)))

    def lowered(one: Shaped) -> Shaped:
        text = _read(one, datatype, reader, tuple(INSTANTS))
        return Shaped(Shape.TERM, literal(text, ending(datatype), escape=False))

    return lowered


def to_span(datatype: str) -> Lowering:
    """The value as a duration."""

    def reader(said: Sql, kind: Sql) -> Sql:
        def cast(found: Sql) -> Sql:
            months = found["months"] if datatype != DAY_TIME else F.lit(0).cast("bigint")
            nanos = found["nanos"] if datatype != YEAR_MONTH else exact(0)
            return F.when(found.isNotNull(), span_text(months, nanos, datatype))

        return let([span(said, kind)], cast)

    def lowered(one: Shaped) -> Shaped:
        text = _read(one, datatype, reader, SPANS)
        return Shaped(Shape.TERM, literal(text, ending(datatype), escape=False))

    return lowered


def to_string(one: Shaped) -> Shaped:
    """The characters of a name, or of a value in its canonical form; a number without needless exponent."""
    if one.shape is Shape.CHARACTERS:
        return one

    def written(value: Sql) -> Sql:
        kind = value["k"]
        floating = as_text(value["f"], kind == int(Kind.FLOAT))
        exactly = F.when(kind == int(Kind.DECIMAL), pointed(value["n"])).otherwise(value["n"].cast("string"))
        yes = value["n"] == exact(1)
        return (
            F.when(_is(value, Class.TEXT), F.when(value["l"] == "", value["s"]))
            .when(_is(value, Class.TRUTH), F.when(yes, F.lit("true")).otherwise(F.lit("false")))
            .when(_is(value, Class.NUMBER), F.when(numbers.is_exact(value), exactly).otherwise(floating))
        )

    if one.shape is not Shape.TERM:
        return Shaped(Shape.CHARACTERS, aside([one.value()], written))

    def of_term(term: Sql) -> Sql:
        def of_end(said: Sql, ended: Sql) -> Sql:
            moment = let([instant(said, ended)], lambda found: _chosen(ended, INSTANTS, _instant_written(found)))
            length = let([span(said, ended)], lambda found: _chosen(ended, SPANS, _span_written(found)))
            return F.when(one_of(ended, INSTANTS), moment).otherwise(length)

        ended = end(term)
        timed = let([words(term, ended), ended], of_end)
        return (
            F.when(is_name(term), name_of(term))
            .when(is_literal(term) & one_of(end(term), [*INSTANTS, *SPANS]), timed)
            .otherwise(let([Shaped(Shape.TERM, term, short=True).value()], written))
        )

    return Shaped(Shape.CHARACTERS, aside([one.column], of_term))


def _chosen(ended: Sql, datatypes: Iterable[str], written: Callable[[str], Sql]) -> Sql:
    """What is written as the datatype of a literal that ends so."""
    return F.coalesce(*(F.when(ended == F.lit(ending(own)), written(own)) for own in datatypes))


def _instant_written(found: Sql) -> Callable[[str], Sql]:
    return lambda datatype: instant_text(found, datatype)


def _span_written(found: Sql) -> Callable[[str], Sql]:
    return lambda datatype: F.when(found.isNotNull(), span_text(found["months"], found["nanos"], datatype))


def _moment(one: Shaped) -> Sql:
    """The parts of a dateTime, NULL for all else."""

    def of_end(term: Sql, ended: Sql) -> Sql:
        return F.when(ended == F.lit(ending(DATE_TIME)), instant(words(term, ended), ended))

    return aside([one.term()], lambda term: F.when(is_literal(term), let([term, end(term)], of_end)))


def date_part(name: str) -> Lowering:
    """One part of a dateTime as an integer."""
    return lambda one: whole(_moment(one)[name].cast(EXACT))


def seconds(one: Shaped) -> Shaped:
    """The seconds of a dateTime as a decimal."""

    def counted(found: Sql) -> Sql:
        units = found["second"].cast(EXACT) * exact(UNIT) + found["nano"].cast(EXACT) * exact(10**9)
        return let([units.try_cast(EXACT)], lambda own: known(Kind.DECIMAL, own))

    return Shaped(Shape.NUMBER, let([_moment(one)], counted))


def zone(one: Shaped) -> Shaped:
    """The time zone of a dateTime as a duration."""

    def written(minutes: Sql) -> Sql:
        nanos = (minutes.cast(EXACT) * exact(60 * 10**9)).try_cast(EXACT)
        return literal(span_text(F.lit(0).cast("bigint"), nanos, DAY_TIME), ending(DAY_TIME), escape=False)

    return Shaped(Shape.TERM, aside([_moment(one)["zone"]], lambda own: F.when(own.isNotNull(), written(own))))


def zone_characters(one: Shaped) -> Shaped:
    """The time zone of a dateTime as it is written."""
    text = let([_moment(one)], lambda found: F.when(found.isNotNull(), zone_text(found["zone"])))
    return Shaped(Shape.CHARACTERS, text)


CASTS: dict[str, Lowering] = {
    "xsd:string": to_string,
    "xsd:boolean": to_boolean,
    **{f"xsd:{datatype.rpartition('#')[2]}": to_number(datatype) for datatype in _KINDS},
    **{f"xsd:{datatype.rpartition('#')[2]}": to_instant(datatype) for datatype in INSTANTS},
    **{f"xsd:{datatype.rpartition('#')[2]}": to_span(datatype) for datatype in SPANS},
}
"""By the name of the cast."""
