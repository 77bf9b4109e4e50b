"""Spark types of values, parsing of text, and `let` bindings in column expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DecimalType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from transom.errors import TypeProblem
from transom.model.types import Type

PRECISION, SCALE = 38, 18
"""Decimals on Spark: 38 digits, 18 of them after the point."""

DECIMAL = f"decimal({PRECISION},{SCALE})"

FIRST_INSTANT = -62_135_596_800_000_000
LAST_INSTANT = 253_402_300_799_999_999
"""The years 1 to 9999 in microseconds since 1970."""

_DAY, _HOUR, _MINUTE, _SECOND = 86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000

_BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
_WHOLE = r"\A[+-]?[0-9]{1,40}\z"
_NUMBER = r"\A[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?\z"
_INSTANT = (
    r"\A([0-9]{4})(?:-([0-9]{2})-([0-9]{2})|([0-9]{2})([0-9]{2}))"
    r"(?:[Tt ]([0-9]{2})(?:(:?)([0-9]{2})(?:\7([0-9]{2})(?:[.,]([0-9]+))?)?)?"
    r"(?:Z|([+-])([0-9]{2})(?:(:?)([0-9]{2})(?:\13([0-9]{2})(?:[.,]([0-9]+))?)?)?)?)?\z"
)
_GROUPS = 16
_COMMON_INSTANT = r"\A(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z\z"


def spark_type(kind: Type) -> DataType:
    """Return the Spark type for values of a Transom type; raise TypeProblem for Type.NULL."""
    match kind:
        case Type.INTEGER | Type.TIME:
            return LongType()
        case Type.FLOAT:
            return DoubleType()
        case Type.DECIMAL:
            return DecimalType(PRECISION, SCALE)
        case Type.STRING | Type.TERM:
            return StringType()
        case Type.BOOLEAN:
            return BooleanType()
        case Type.TIMESTAMP:
            return TimestampType()
        case Type.POINT:
            return StructType([StructField("x", DoubleType()), StructField("y", DoubleType())])
        case Type.LINE:
            return ArrayType(spark_type(Type.POINT))
        case Type.NULL:
            raise TypeProblem("a column needs a type; NULL alone has none")
        case _:
            assert_never(kind)


def null_of(kind: Type) -> Column:
    """Build a NULL column of the Spark type for a Transom type."""
    return F.lit(None) if kind is Type.NULL else F.lit(None).cast(spark_type(kind))


def finite_or_null(number: Column) -> Column:
    """Normalise a float result: NaN and infinite values become NULL, -0.0 becomes 0.0.

    Infinity modulo infinity is NaN, and a finite number modulo infinity is unchanged, so the operand is used only once.
    """
    return F.nanvl(number % F.lit(float("inf")), F.lit(None).cast("double")) + F.lit(0.0)


def clean_source_value(column: Column, kind: Type) -> Column:
    """Normalise a source column: NaN becomes NULL, -0.0 becomes 0.0; the query fails on an infinite float."""
    if kind is not Type.FLOAT:
        return column
    refused = F.raise_error(F.concat(F.lit("TRANSOM_INFINITE_FLOAT: "), column.cast("string"), F.lit(" is no value")))
    return (
        F.when(F.isnan(column), null_of(kind))
        .when(F.abs(column) == F.lit(float("inf")), refused)
        .otherwise(column + F.lit(0.0))
    )


def read_text(column: Column, kind: Type) -> Column:
    """Parse a string column as values of type `kind`; NULL for invalid strings."""
    text = F.btrim(column, F.lit(_BLANKS))
    match kind:
        case Type.STRING | Type.TERM:
            return column
        case Type.INTEGER | Type.TIME:
            return F.when(F.rlike(text, F.lit(_WHOLE)), text.try_cast("bigint"))
        case Type.FLOAT:
            return finite_or_null(F.when(F.rlike(text, F.lit(_NUMBER)), text.try_cast("double")))
        case Type.DECIMAL:
            return F.when(F.rlike(text, F.lit(_NUMBER)), text.try_cast(DECIMAL))
        case Type.BOOLEAN:
            lower = F.lower(text)
            return F.when(lower == "true", F.lit(True)).when(lower == "false", F.lit(False))
        case Type.TIMESTAMP:
            return _read_instant(text)
        case Type.NULL | Type.POINT | Type.LINE:
            return null_of(kind)
        case _:
            assert_never(kind)


def read_common_instant(column: Column) -> Column:
    """Parse a timestamp in the most common ISO 8601 form, with Spark's fast cast; NULL for all other forms.

    If the result is not NULL, `read_text` gives the same one.
    """
    return F.when(F.rlike(column, F.lit(_COMMON_INSTANT)), column.try_cast("timestamp"))


def timestamp_from_micros(micros: Column) -> Column:
    """The timestamp for a number of microseconds since 1970; NULL outside the years 1 to 9999."""
    return F.when(micros.between(F.lit(FIRST_INSTANT), F.lit(LAST_INSTANT)), F.timestamp_micros(micros))


def let(columns: list[Column], body: Callable[..., Column]) -> Column:
    """Bind each column to a lambda variable, computed once however often `body` uses it, and apply `body`.

    Without the binding, Spark copies a column to each use, and nested expressions grow without bound.
    """
    array, element_body = _bind_struct(columns, body)
    return F.get(F.transform(array, element_body), F.lit(0))


def let_interpreted(columns: list[Column], body: Callable[..., Column]) -> Column:
    """Bind columns to lambda variables and apply `body`, in a form that Spark interprets, not compiles.

    Compiled with the rest, it would result in methods that the JVM does not optimise. ZIP_WITH is one of Spark's
    higher-order functions that no version compiles.
    """
    array, element_body = _bind_struct(columns, body)
    return F.get(F.zip_with(array, F.array(F.lit(0)), lambda values, _: element_body(values)), F.lit(0))


def _bind_struct(columns: list[Column], body: Callable[..., Column]) -> tuple[Column, Callable[[Column], Column]]:
    """Return an array holding one struct of the columns, and `body` wrapped to take such a struct."""
    names = [f"v{n}" for n in range(len(columns))]
    struct = F.struct(*(column.alias(name) for column, name in zip(columns, names, strict=True)))
    return F.array(struct), lambda values: body(*(values[name] for name in names))


def _read_instant(text: Column) -> Column:
    """Parse text as an ISO 8601 date, or date and time, in UTC unless it has an offset; NULL if invalid."""
    spelled = F.regexp_replace(text, _INSTANT, "|".join(f"${n}" for n in range(1, _GROUPS + 1)))
    groups = F.when(F.rlike(text, F.lit(_INSTANT)), F.split(spelled, r"\|", -1))
    return let_interpreted([groups], _instant_of_groups)


def _instant_of_groups(groups: Column) -> Column:
    """The timestamp from the 16 groups (year, month, ...) of an ISO 8601 match; NULL if a part is out of range."""
    (
        year, month, day, plain_month, plain_day, hour, _, minute, second, fraction,
        sign, off_hour, _, off_minute, off_second, off_fraction,
    ) = (F.get(groups, F.lit(n)) for n in range(_GROUPS))  # fmt: skip

    def number(text: Column) -> Column:
        """Convert the digits that a regex group matched to a number; 0 if the group is empty."""
        return F.coalesce(text.try_cast("bigint"), F.lit(0))

    def length(hours: Column, minutes: Column, seconds: Column, fraction: Column) -> Column:
        """Convert digits of hours, minutes, seconds and fraction (time of day or UTC offset) to microseconds."""
        micros = number(F.rpad(F.substring(fraction, 1, 6), 6, "0"))
        return number(hours) * _HOUR + number(minutes) * _MINUTE + number(seconds) * _SECOND + micros

    date = F.concat(year, F.lit("-"), month, plain_month, F.lit("-"), day, plain_day).try_cast("date")
    offset = length(off_hour, off_minute, off_second, off_fraction)
    clock = (number(hour) < 24) & (number(minute) < 60) & (number(second) < 60)
    signed = F.when(sign == "-", -offset).otherwise(offset)
    total = F.unix_date(date).cast("bigint") * _DAY + length(hour, minute, second, fraction) - signed
    return F.when((year != "0000") & clock & (offset < _DAY), let([total], timestamp_from_micros))
