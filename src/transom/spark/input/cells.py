"""Convert raw cells of files to values: from a typed column, a variant from JSON, or text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transom.model.time import MICROSECOND, Calendar
from transom.model.types import Type
from transom.spark.expressions.floats import LIMIT, printed_digits
from transom.spark.expressions.types import (
    DECIMAL,
    FIRST_INSTANT,
    LAST_INSTANT,
    read_common_instant,
    read_text,
    spark_type,
)

_TICK = r"^\s*([-+]?[0-9]{1,25})\s*$"
_WHOLE_FLOAT = r"^(\s*[+-]?[0-9]{1,40})\.0*\s*$"


@dataclass(frozen=True, slots=True)
class Cell:
    """A converted field of a file's row: `value` (NULL although `is_given` if invalid); raw `text` for messages."""

    value: Column
    is_given: Column
    text: Column


def tick_cell(raw: Column, forms: Mapping[str, Column], raw_type: T.DataType, calendar: Calendar) -> Column:
    """Convert a raw file field to a tick number, from its `forms` by type (`cell_forms`); NULL if it is invalid.

    `forms` are the columns of `cell_forms`.
    """
    candidates: list[Column] = []
    if raw_type == T.DecimalType(20, 0):  # Spark's type for unsigned 64-bit integers
        candidates.append(raw.try_cast("long"))
    if "long" in forms:
        candidates.append(forms["long"])
    if "whole" in forms:
        candidates.append(forms["whole"].try_cast("long"))
    if "real" in forms:
        candidates.append(_integer_or_null(forms["real"]))
    if "text" in forms:
        candidates.append(_tick_of_text(read_common_instant(forms["text"]), calendar))
        candidates.append(F.regexp_extract(forms["text"], _TICK, 1).try_cast("long"))
        candidates.append(_tick_of_text(read_text(forms["text"], Type.TIMESTAMP), calendar))
    if "instant" in forms:
        candidates.append(_tick_of(forms["instant"], calendar))
    return F.coalesce(*candidates, F.lit(None).cast("long"))


def tick_text(text: Column) -> Column:
    """Return a text unchanged if it is a whole number, as a tick (unit of event time) must be, else NULL."""
    return F.when(F.rlike(text, F.lit(_TICK)), text)


def typed_cell(raw: Column, forms: Mapping[str, Column], kind: Type, raw_type: T.DataType) -> Cell:
    """Convert a raw file field to `kind`, from its `forms` by type (`cell_forms`); the value is NULL if invalid.

    `forms` are the columns of `cell_forms`, `raw_type` is the field's Spark type.
    """
    present = forms.get("present", raw.isNotNull())
    if "real" in forms:
        present = present & ~F.coalesce(F.isnan(forms["real"]), F.lit(False))
    if "text" in forms and kind is Type.DECIMAL:
        present = present & ~_is_nan_text(forms["text"])
    candidates = [_CONVERSIONS[kind][name](column) for name, column in forms.items() if name in _CONVERSIONS[kind]]
    return Cell(F.coalesce(*candidates, F.lit(None).cast(spark_type(kind))), present, cell_text(raw, raw_type))


def text_cell(raw: Column, kind: Type, decimal_point: str = ".") -> Cell:
    """Convert a CSV field to type `kind`, exactly as `read_cell` does in Python; `decimal_point` may be a comma.

    With the `decimal_point` mark `,`, a number with a point is invalid.
    """
    present, text = raw.isNotNull(), raw
    if kind in (Type.FLOAT, Type.DECIMAL):
        present = present & ~_is_nan_text(raw)
    if decimal_point == "," and kind in (Type.FLOAT, Type.DECIMAL, Type.INTEGER, Type.TIME):
        text = F.when(~F.contains(raw, F.lit(".")), F.translate(raw, ",", "."))
    if kind in (Type.INTEGER, Type.TIME):
        text = F.regexp_replace(text, _WHOLE_FLOAT, "$1")
    return Cell(read_text(text, kind), present, raw)


def cell_text(raw: Column, raw_type: T.DataType) -> Column:
    """Convert a raw field of a file to text, for messages about invalid fields."""
    return F.try_variant_get(raw, "$", "string") if isinstance(raw_type, T.VariantType) else raw.cast("string")


def _is_nan_text(text: Column) -> Column:
    """Whether a string is NaN, in upper or lower case, which means NULL for numbers; false if the string is NULL."""
    return F.lower(F.trim(F.coalesce(text, F.lit("")))) == "nan"


def _tick_of(instant: Column, calendar: Calendar) -> Column:
    """The tick that contains a timestamp, by the calendar; -1 for all timestamps before tick 0."""
    since = F.unix_micros(instant) - F.lit(_epoch_micros(calendar))
    return F.when(since < 0, F.lit(-1)).otherwise(F.call_function("div", since, F.lit(calendar.length)))


def _tick_of_text(instant: Column, calendar: Calendar) -> Column:
    """The tick that contains a timestamp parsed from text; negative before tick 0.

    The instant is expensive to compute, so the expression uses it once. It is shifted to be at least 0, where `div` is
    floor division.
    """
    ahead = -(-(LAST_INSTANT - FIRST_INSTANT) // calendar.length)
    since = F.unix_micros(instant) + F.lit(ahead * calendar.length - _epoch_micros(calendar))
    return F.call_function("div", since, F.lit(calendar.length)) - F.lit(ahead)


def _epoch_micros(calendar: Calendar) -> int:
    """The instant at which tick 0 of a calendar begins, in microseconds since 1970."""
    return (calendar.epoch - datetime(1970, 1, 1, tzinfo=UTC)) // MICROSECOND


def cell_forms(raw: Column, raw_type: T.DataType) -> dict[str, Column]:
    """Return a raw field of a file as one column per type of value, such as `long`; NULL for values of other types.

    Later expressions use them many times, so callers should compute them in a separate projection.
    """
    match raw_type:
        case T.VariantType():
            variant_type = F.schema_of_variant(raw)
            is_exact = variant_type.startswith("DECIMAL(")
            is_integer = is_exact & variant_type.endswith(",0)")
            is_real = (is_exact & ~is_integer) | (variant_type == "DOUBLE")
            return {
                "present": raw.isNotNull() & ~F.is_variant_null(raw),
                "long": F.when(variant_type == "BIGINT", F.try_variant_get(raw, "$", "bigint")),
                "whole": F.when(is_integer, F.try_variant_get(raw, "$", "decimal(38,0)")),
                "real": F.when(is_real, F.try_variant_get(raw, "$", "double")),
                "text": F.when(variant_type == "STRING", F.try_variant_get(raw, "$", "string")),
                "truth": F.when(variant_type == "BOOLEAN", F.try_variant_get(raw, "$", "boolean")),
            }
        case T.StringType():
            return {"text": raw}
        case T.IntegralType():
            return {"whole": raw}
        case T.DecimalType():
            return {"exact": raw}
        case T.FractionalType():
            return {"real": raw.cast("double")}
        case T.BooleanType():
            return {"truth": raw}
        case T.TimestampType():
            return {"instant": raw}
        case T.TimestampNTZType():
            return {"instant": F.concat(raw.cast("string"), F.lit("Z")).try_cast("timestamp")}
        case T.DateType():
            return {"instant": F.timestamp_seconds(F.unix_date(raw).cast("long") * 86_400)}
        case _:
            return {}


def _integer_or_null(number: Column) -> Column:
    """Convert a number to a 64-bit integer; NULL if it has a fraction or does not fit."""
    return F.when(number % 1 == 0, number.try_cast("long"))


def _finite_or_null(number: Column) -> Column:
    """Normalise a float: -0.0 becomes 0.0, NaN and infinite values become NULL."""
    return F.when(F.abs(number) < float("inf"), number + 0.0)


def _printed_decimal(number: Column) -> Column:
    """Convert a float to the decimal with its shortest digits; NULL if it is too large for a Spark decimal."""
    return F.when(F.abs(number) < LIMIT, printed_digits(number).try_cast(DECIMAL))


_INTEGER_CONVERSIONS: dict[str, Callable[[Column], Column]] = {
    "long": lambda c: c,
    "whole": lambda c: c.try_cast("long"),
    "exact": _integer_or_null,
    "real": _integer_or_null,
}
_CONVERSIONS: dict[Type, dict[str, Callable[[Column], Column]]] = {
    Type.INTEGER: _INTEGER_CONVERSIONS,
    Type.TIME: _INTEGER_CONVERSIONS,
    Type.FLOAT: {
        "long": lambda c: c.cast("double"),
        "whole": lambda c: c.cast("double"),
        "exact": lambda c: c.cast("double"),
        "real": _finite_or_null,
    },
    Type.DECIMAL: {
        "long": lambda c: c.try_cast(DECIMAL),
        "whole": lambda c: c.try_cast(DECIMAL),
        "exact": lambda c: c.try_cast(DECIMAL),
        "real": _printed_decimal,
        "text": lambda c: read_text(c, Type.DECIMAL),
    },
    Type.STRING: {"text": lambda c: c},
    Type.BOOLEAN: {"truth": lambda c: c},
    Type.TIMESTAMP: {
        "instant": lambda c: c,
        "text": lambda c: F.coalesce(read_common_instant(c), read_text(c, Type.TIMESTAMP)),
    },
}
"""Conversions from a form to a type; all other combinations are invalid."""
