"""Casts of SPARQL 1.1 on Spark, and the accessors of dateTime parts; a NULL result is an error."""

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
from transom.model.rdf.values import PLACES, NumericKind
from transom.spark.expressions.sql import F, Sql, let, let_interpreted
from transom.spark.rdf.terms import arithmetic as numbers
from transom.spark.rdf.terms.numerals import cast_float_text, decimal_text, shortest_digits
from transom.spark.rdf.terms.shapes import ShapedTerm, TermShape, truth_term
from transom.spark.rdf.terms.spelling import (
    LANG_STRING_SUFFIX,
    LiteralSuffix,
    TermText,
    datatype_suffix,
    has_datatype,
    iri_text,
    is_iri,
    is_literal,
    literal_suffix,
    literal_term,
)
from transom.spark.rdf.terms.strings import integer_of
from transom.spark.rdf.terms.times import DURATIONS, duration_text, instant_text, read_duration, read_instant, zone_text
from transom.spark.rdf.terms.values import (
    EXACT,
    INSTANTS,
    UNIT,
    NumberStruct,
    ScaledDecimal,
    ValueClass,
    ValueStruct,
    boolean_value,
    exact,
    exact_number,
    number_value,
    opposite,
    trimmed_lexical,
    value_struct,
)

_KINDS = {
    INTEGER: NumericKind.INTEGER,
    DECIMAL: NumericKind.DECIMAL,
    FLOAT: NumericKind.FLOAT,
    DOUBLE: NumericKind.DOUBLE,
}
_SHORTEST_PLACES = 38

CastLowering = Callable[[ShapedTerm], ShapedTerm]


def _is_of_class(value: ValueStruct, value_class: ValueClass) -> Sql:
    """Whether a parsed value is of a class, such as NUMBER or TEXT."""
    return value["c"] == F.lit(int(value_class))


def _is_plain(suffix: LiteralSuffix) -> Sql:
    """Whether a literal is a string without language tag; `suffix` is the text after its closing quote."""
    return (suffix == F.lit("")) | (suffix == F.lit(LANG_STRING_SUFFIX))


def _read_literal(
    argument: ShapedTerm, datatype: str, reader: Callable[[Sql, Sql], Sql], accepted: tuple[str, ...]
) -> Sql:
    """Apply `reader(text, suffix)` to a literal of an `accepted` datatype, or a plain string read as `datatype`."""

    def of_literal(term: TermText, suffix: LiteralSuffix) -> Sql:
        """Apply the outer `reader(text, suffix)` to a plain string or a literal of an accepted datatype; else NULL."""
        read_suffix = F.when(_is_plain(suffix), F.lit(datatype_suffix(datatype))).when(
            has_datatype(suffix, accepted), suffix
        )
        return let(
            [trimmed_lexical(term, suffix), read_suffix],
            lambda text, kind_suffix: F.when(kind_suffix.isNotNull(), reader(text, kind_suffix)),
        )

    def of_term(term: TermText) -> Sql:
        """Parse an N-Triples term by the `reader` of `_read_literal`; NULL if its datatype is not accepted."""
        return F.when(is_literal(term), let([term, literal_suffix(term)], of_literal))

    return let_interpreted([argument.term()], of_term)


def to_boolean(argument: ShapedTerm) -> ShapedTerm:
    """Cast a value to xsd:boolean; NULL (an error) if it has no boolean value."""

    def cast(value: ValueStruct) -> Sql:
        """Return the boolean value of a number, a boolean or a plain string; NULL for any other parsed value."""
        parsed = F.when(
            _is_of_class(value, ValueClass.TEXT) & (value["l"] == ""),
            boolean_value(F.btrim(value["s"], F.lit(" \t\r\n")))["n"],
        )
        return (
            F.when(_is_of_class(value, ValueClass.NUMBER), numbers.is_true(value))
            .when(_is_of_class(value, ValueClass.TRUTH), value["n"] == exact(1))
            .when(parsed.isNotNull(), parsed == exact(1))
        )

    return truth_term(let_interpreted([argument.value()], cast))


def to_number(datatype: str) -> CastLowering:
    """Return a function that casts terms to a numeric datatype, such as xsd:integer; its result is NULL on error."""
    kind = _KINDS[datatype]

    def cast(value: ValueStruct) -> NumberStruct:
        """Convert a number, boolean or plain string to the enclosing function's numeric kind; NULL for others."""
        parsed = number_value(F.btrim(value["s"], F.lit(" \t\r\n")), F.lit(datatype_suffix(datatype)))
        number = (
            F.when(_is_of_class(value, ValueClass.NUMBER), value)
            .when(
                _is_of_class(value, ValueClass.TRUTH),
                value_struct(ValueClass.NUMBER, kind=int(NumericKind.INTEGER), number=value["n"]),
            )
            .when(_is_of_class(value, ValueClass.TEXT) & (value["l"] == ""), parsed)
        )
        return let([number], lambda value: _as_kind(value, kind))

    return lambda argument: ShapedTerm(TermShape.NUMBER, let_interpreted([argument.value()], cast))


def _as_kind(value: NumberStruct, kind: NumericKind) -> NumberStruct:
    """Convert a number struct (kind, exact value, float value) to another kind of number; NULL if it does not fit."""
    is_number = value["k"].isNotNull()
    match kind:
        case NumericKind.INTEGER:
            integer = F.when(value["k"] == int(NumericKind.DECIMAL), _truncate(value["n"])).otherwise(value["n"])
            scaled = F.when(numbers.is_exact(value), integer).otherwise(_scaled_by_digits(value, 0))
        case NumericKind.DECIMAL:
            scaled = F.when(numbers.is_exact(value), numbers.scaled_decimal(value)).otherwise(
                _scaled_by_digits(value, PLACES)
            )
        case NumericKind.FLOAT:
            single = numbers.double(value).cast("float").cast("double")
            return F.when(is_number, value_struct(ValueClass.NUMBER, kind=int(kind), float_number=single))
        case NumericKind.DOUBLE:
            return F.when(
                is_number, value_struct(ValueClass.NUMBER, kind=int(kind), float_number=numbers.double(value))
            )
    return let([scaled.try_cast(EXACT)], lambda number: exact_number(kind, number))


def _truncate(units: ScaledDecimal) -> Sql:
    """Truncate a decimal, given in units of 10^-18, to its integer part."""
    return F.try_divide(units - F.try_mod(units, exact(UNIT)), exact(UNIT)).try_cast(EXACT)


def _scaled_by_digits(value: Sql, scale: int) -> Sql:
    """Multiply a float by 10^scale and truncate it to an integer; NULL if it is not finite or too large."""
    size = F.abs(value["f"])

    def shift(shortest: Sql) -> Sql:
        """Return abs(float) * 10^scale, truncated, from `shortest`: the float's digits and power of ten."""
        count = shortest["power"] + F.lit(scale + 1)
        leading_digits = F.rpad(F.substring(shortest["figures"], F.lit(1), count), count, F.lit("0")).try_cast(EXACT)
        return F.when(count <= 0, exact(0)).when(count <= _SHORTEST_PLACES, leading_digits)

    is_finite = ~F.isnan(value["f"]) & (size < F.lit(float("inf")))
    scaled = F.when(is_finite, let([shortest_digits(value["f"], value["k"] == int(NumericKind.FLOAT))], shift))
    return let([scaled], lambda number: F.when(value["f"] < 0, opposite(number)).otherwise(number))


def to_instant(datatype: str) -> CastLowering:
    """Return a function that casts terms to xsd:date, xsd:time or xsd:dateTime; its result is NULL on error."""

    def reader(text: Sql, suffix: LiteralSuffix) -> Sql:
        """Convert a date, time or dateTime (`suffix`: which) to text of `to_instant`'s datatype; NULL if impossible."""
        # a time has no day for a date or dateTime, and a date has no time of day
        allowed = suffix != F.lit(datatype_suffix(DATE if datatype == TIME else TIME))
        return F.when(allowed, let([read_instant(text, suffix)], lambda instant: instant_text(instant, datatype)))

    def lowered(argument: ShapedTerm) -> ShapedTerm:
        """Cast a term to the enclosing call's `datatype` (date, time or dateTime); return it as a literal."""
        text = _read_literal(argument, datatype, reader, tuple(INSTANTS))
        return ShapedTerm(TermShape.TERM, literal_term(text, datatype_suffix(datatype), needs_escape=False))

    return lowered


def to_duration(datatype: str) -> CastLowering:
    """Return a function that casts terms to a duration datatype; its result is NULL on error."""

    def reader(text: Sql, suffix: LiteralSuffix) -> Sql:
        """Reformat a duration's text (datatype in `suffix`) as the cast's target datatype; NULL if invalid."""

        def cast(duration: Sql) -> Sql:
            """Format a duration struct (months, nanos) in the target datatype, which may lack one of the two."""
            months = duration["months"] if datatype != DAY_TIME else F.lit(0).cast("bigint")
            nanos = duration["nanos"] if datatype != YEAR_MONTH else exact(0)
            return F.when(duration.isNotNull(), duration_text(months, nanos, datatype))

        return let([read_duration(text, suffix)], cast)

    def lowered(argument: ShapedTerm) -> ShapedTerm:
        """Cast a term to the duration datatype that `to_duration` was called with; return a literal."""
        text = _read_literal(argument, datatype, reader, DURATIONS)
        return ShapedTerm(TermShape.TERM, literal_term(text, datatype_suffix(datatype), needs_escape=False))

    return lowered


def to_string(argument: ShapedTerm) -> ShapedTerm:
    """Cast a term to xsd:string: an IRI is unchanged, other values are written in canonical form.

    Numbers are written without an exponent if possible.
    """
    if argument.shape is TermShape.CHARACTERS:
        return argument

    def format_value(value: ValueStruct) -> Sql:
        """Return the text of a plain string, a boolean or a number as xsd:string() does, else NULL."""
        kind = value["k"]
        float_text = cast_float_text(value["f"], kind == int(NumericKind.FLOAT))
        exact_text = F.when(kind == int(NumericKind.DECIMAL), decimal_text(value["n"])).otherwise(
            value["n"].cast("string")
        )
        is_true = value["n"] == exact(1)
        return (
            F.when(_is_of_class(value, ValueClass.TEXT), F.when(value["l"] == "", value["s"]))
            .when(_is_of_class(value, ValueClass.TRUTH), F.when(is_true, F.lit("true")).otherwise(F.lit("false")))
            .when(
                _is_of_class(value, ValueClass.NUMBER),
                F.when(numbers.is_exact(value), exact_text).otherwise(float_text),
            )
        )

    if argument.shape is not TermShape.TERM:
        return ShapedTerm(TermShape.CHARACTERS, let_interpreted([argument.value()], format_value))

    def of_term(term: TermText) -> Sql:
        """Convert a term, an IRI or a literal with a known value, to a string; NULL for a blank node."""

        def time_text(text: Sql, suffix: LiteralSuffix) -> Sql:
            """Return canonical text of an instant or duration; `suffix` (`^^<...>`) is its literal's datatype."""
            instant = let(
                [read_instant(text, suffix)], lambda value: _text_by_datatype(suffix, INSTANTS, _instant_texts(value))
            )
            duration = let(
                [read_duration(text, suffix)],
                lambda value: _text_by_datatype(suffix, DURATIONS, _duration_texts(value)),
            )
            return F.when(has_datatype(suffix, INSTANTS), instant).otherwise(duration)

        suffix = literal_suffix(term)
        timed = let([trimmed_lexical(term, suffix), suffix], time_text)
        return (
            F.when(is_iri(term), iri_text(term))
            .when(is_literal(term) & has_datatype(literal_suffix(term), [*INSTANTS, *DURATIONS]), timed)
            .otherwise(let([ShapedTerm(TermShape.TERM, term, is_short=True).value()], format_value))
        )

    return ShapedTerm(TermShape.CHARACTERS, let_interpreted([argument.column], of_term))


def _text_by_datatype(suffix: LiteralSuffix, datatypes: Iterable[str], format_as: Callable[[str], Sql]) -> Sql:
    """Apply `format_as` to the datatype that a literal's suffix `^^<...>` names; NULL if it is not in `datatypes`."""
    return F.coalesce(
        *(F.when(suffix == F.lit(datatype_suffix(datatype)), format_as(datatype)) for datatype in datatypes)
    )


def _instant_texts(instant: Sql) -> Callable[[str], Sql]:
    """Return a function that formats a parsed instant as the datatype passed to it: date, time or dateTime."""
    return lambda datatype: instant_text(instant, datatype)


def _duration_texts(duration: Sql) -> Callable[[str], Sql]:
    """Return a function that formats a parsed duration as the duration datatype passed to it."""
    return lambda datatype: F.when(duration.isNotNull(), duration_text(duration["months"], duration["nanos"], datatype))


def _date_time_parts(argument: ShapedTerm) -> Sql:
    """Parse a dateTime literal to a struct of its parts (year, month, ..., zone); NULL for all other terms."""

    def of_literal(term: TermText, suffix: LiteralSuffix) -> Sql:
        """Parse a literal to a struct of year, month, ..., zone; NULL unless `suffix` (`^^<...>`) is xsd:dateTime."""
        return F.when(suffix == F.lit(datatype_suffix(DATE_TIME)), read_instant(trimmed_lexical(term, suffix), suffix))

    return let_interpreted(
        [argument.term()], lambda term: F.when(is_literal(term), let([term, literal_suffix(term)], of_literal))
    )


def date_part(name: str) -> CastLowering:
    """Return a function that extracts the part `name` (such as year) of a dateTime as integer; NULL on error."""
    return lambda argument: integer_of(_date_time_parts(argument)[name].cast(EXACT))


def seconds(argument: ShapedTerm) -> ShapedTerm:
    """Compute SECONDS: the seconds of a dateTime, with fraction, as a decimal; NULL for other terms."""

    def to_decimal(parts: Sql) -> Sql:
        """Combine the seconds and nanoseconds of a dateTime into one parsed decimal."""
        units = parts["second"].cast(EXACT) * exact(UNIT) + parts["nano"].cast(EXACT) * exact(10**9)
        return let([units.try_cast(EXACT)], lambda number: exact_number(NumericKind.DECIMAL, number))

    return ShapedTerm(TermShape.NUMBER, let([_date_time_parts(argument)], to_decimal))


def zone_duration(argument: ShapedTerm) -> ShapedTerm:
    """Compute TIMEZONE: the time zone of a dateTime as a dayTimeDuration literal; NULL if it has none."""

    def format_zone(minutes: Sql) -> Sql:
        """Write a time zone offset in minutes as a dayTimeDuration literal."""
        nanos = (minutes.cast(EXACT) * exact(60 * 10**9)).try_cast(EXACT)
        return literal_term(
            duration_text(F.lit(0).cast("bigint"), nanos, DAY_TIME), datatype_suffix(DAY_TIME), needs_escape=False
        )

    return ShapedTerm(
        TermShape.TERM,
        let_interpreted(
            [_date_time_parts(argument)["zone"]], lambda minutes: F.when(minutes.isNotNull(), format_zone(minutes))
        ),
    )


def zone_characters(argument: ShapedTerm) -> ShapedTerm:
    """Compute TZ: the text of a dateTime's time zone, such as +02:00; empty if it has none, NULL for other terms."""
    text = let([_date_time_parts(argument)], lambda parts: F.when(parts.isNotNull(), zone_text(parts["zone"])))
    return ShapedTerm(TermShape.CHARACTERS, text)


CASTS: dict[str, CastLowering] = {
    "xsd:string": to_string,
    "xsd:boolean": to_boolean,
    **{f"xsd:{datatype.rpartition('#')[2]}": to_number(datatype) for datatype in _KINDS},
    **{f"xsd:{datatype.rpartition('#')[2]}": to_instant(datatype) for datatype in INSTANTS},
    **{f"xsd:{datatype.rpartition('#')[2]}": to_duration(datatype) for datatype in DURATIONS},
}
"""Lowerings by the name of the cast."""
