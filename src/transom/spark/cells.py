"""Raw cells of files as values: a typed column, a variant from JSON, or text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transom.model.time import MICROSECOND, Calendar
from transom.model.types import Type
from transom.spark.floats import LIMIT, digits
from transom.spark.types import DECIMAL, FIRST_INSTANT, LAST_INSTANT, plain_instant, read_text, spark_type

_TICK = r"^\s*([-+]?[0-9]{1,25})\s*$"
_WHOLE_FLOAT = r"^(\s*[+-]?[0-9]{1,40})\.0*\s*$"


@dataclass(frozen=True, slots=True)
class Cell:
    """A raw cell as a value of a type: NULL with `present` where it says none, and what to show in a message."""

    value: Column
    present: Column
    shown: Column


def tick(raw: Column, formed: Mapping[str, Column], given: T.DataType, calendar: Calendar) -> Column:
    """The tick in a raw cell: a whole number or its text, or an instant; NULL for neither, below 0 before tick 0."""
    found: list[Column] = []
    if given == T.DecimalType(20, 0):  # what Spark makes of unsigned 64 bits
        found.append(raw.try_cast("long"))
    if "long" in formed:
        found.append(formed["long"])
    if "whole" in formed:
        found.append(formed["whole"].try_cast("long"))
    if "real" in formed:
        found.append(_whole(formed["real"]))
    if "text" in formed:
        found.append(_tick_of_text(plain_instant(formed["text"]), calendar))
        found.append(F.regexp_extract(formed["text"], _TICK, 1).try_cast("long"))
        found.append(_tick_of_text(read_text(formed["text"], Type.TIMESTAMP), calendar))
    if "instant" in formed:
        found.append(_tick_of(formed["instant"], calendar))
    return F.coalesce(*found, F.lit(None).cast("long"))


def typed_cell(raw: Column, formed: Mapping[str, Column], kind: Type, given: T.DataType) -> Cell:
    """A cell of a typed column or of JSON, as `catalog.ticks.read_value` has it."""
    present = formed.get("there", raw.isNotNull())
    if "real" in formed:
        present = present & ~F.coalesce(F.isnan(formed["real"]), F.lit(False))
    if "text" in formed and kind is Type.DECIMAL:
        present = present & ~_says_nan(formed["text"])
    found = [_MADE[kind][name](column) for name, column in formed.items() if name in _MADE[kind]]
    return Cell(F.coalesce(*found, F.lit(None).cast(spark_type(kind))), present, shown(raw, given))


def text_cell(raw: Column, kind: Type) -> Cell:
    """A cell of a CSV file, as `connectors.files.text.read_cell` has it."""
    present = raw.isNotNull()
    if kind in (Type.FLOAT, Type.DECIMAL):
        present = present & ~_says_nan(raw)
    whole = F.regexp_replace(raw, _WHOLE_FLOAT, "$1") if kind in (Type.INTEGER, Type.TIME) else raw
    return Cell(read_text(whole, kind), present, raw)


def shown(raw: Column, given: T.DataType) -> Column:
    """A raw cell as text, for messages."""
    return F.try_variant_get(raw, "$", "string") if isinstance(given, T.VariantType) else raw.cast("string")


def _says_nan(text: Column) -> Column:
    return F.lower(F.trim(F.coalesce(text, F.lit("")))) == "nan"


def _tick_of(instant: Column, calendar: Calendar) -> Column:
    """The tick of an instant (E2); -1 for all that lie before tick 0."""
    since = F.unix_micros(instant) - F.lit(_begin(calendar))
    return F.when(since < 0, F.lit(-1)).otherwise(F.call_function("div", since, F.lit(calendar.length)))


def _tick_of_text(instant: Column, calendar: Calendar) -> Column:
    """The same for an instant of the years 1 to 9999 that is dear to find and so is named once; below 0 before tick 0.

    The quotient is that of a number from 0 on, where it is the floor.
    """
    ahead = -(-(LAST_INSTANT - FIRST_INSTANT) // calendar.length)
    since = F.unix_micros(instant) + F.lit(ahead * calendar.length - _begin(calendar))
    return F.call_function("div", since, F.lit(calendar.length)) - F.lit(ahead)


def _begin(calendar: Calendar) -> int:
    """Where tick 0 begins, in microseconds since 1970."""
    return (calendar.epoch - datetime(1970, 1, 1, tzinfo=UTC)) // MICROSECOND


def forms(raw: Column, given: T.DataType) -> dict[str, Column]:
    """What a raw cell may be: the forms that its type allows, each NULL where the cell has another.

    They are named many times later on, so they want a projection of their own.
    """
    match given:
        case T.VariantType():
            found = F.schema_of_variant(raw)
            exact = found.startswith("DECIMAL(")
            whole = exact & found.endswith(",0)")
            real = (exact & ~whole) | (found == "DOUBLE")
            return {
                "there": raw.isNotNull() & ~F.is_variant_null(raw),
                "long": F.when(found == "BIGINT", F.try_variant_get(raw, "$", "bigint")),
                "whole": F.when(whole, F.try_variant_get(raw, "$", "decimal(38,0)")),
                "real": F.when(real, F.try_variant_get(raw, "$", "double")),
                "text": F.when(found == "STRING", F.try_variant_get(raw, "$", "string")),
                "truth": F.when(found == "BOOLEAN", F.try_variant_get(raw, "$", "boolean")),
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


def _whole(number: Column) -> Column:
    """A number without a fraction as a whole number of 64 bits, NULL otherwise."""
    return F.when(number % 1 == 0, number.try_cast("long"))


def _finite(number: Column) -> Column:
    """A finite number, 0.0 for -0.0; NULL otherwise."""
    return F.when(F.abs(number) < float("inf"), number + 0.0)


def _printed(number: Column) -> Column:
    """The decimal that a float prints as."""
    return F.when(F.abs(number) < LIMIT, digits(number).try_cast(DECIMAL))


_WHOLES: dict[str, Callable[[Column], Column]] = {
    "long": lambda c: c,
    "whole": lambda c: c.try_cast("long"),
    "exact": _whole,
    "real": _whole,
}
_MADE: dict[Type, dict[str, Callable[[Column], Column]]] = {
    Type.INTEGER: _WHOLES,
    Type.TIME: _WHOLES,
    Type.FLOAT: {
        "long": lambda c: c.cast("double"),
        "whole": lambda c: c.cast("double"),
        "exact": lambda c: c.cast("double"),
        "real": _finite,
    },
    Type.DECIMAL: {
        "long": lambda c: c.try_cast(DECIMAL),
        "whole": lambda c: c.try_cast(DECIMAL),
        "exact": lambda c: c.try_cast(DECIMAL),
        "real": _printed,
        "text": lambda c: read_text(c, Type.DECIMAL),
    },
    Type.STRING: {"text": lambda c: c},
    Type.BOOLEAN: {"truth": lambda c: c},
    Type.TIMESTAMP: {
        "instant": lambda c: c,
        "text": lambda c: F.coalesce(plain_instant(c), read_text(c, Type.TIMESTAMP)),
    },
}
"""How a form becomes a value of a type; what is not here is none."""
