"""Escape control characters in data that Spark prints on the console or in error messages."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from transom.printable import CONTROL_CHARACTERS, SHORT_ESCAPES, escape
from transom.spark.columns import quoted

_CONTROL = f"[{CONTROL_CHARACTERS}]"


def escape_column(text: Column) -> Column:
    """Escape control characters in a string column, as `transom.printable.escape` does."""
    signs = F.transform(F.split(text, ""), _escape_character)
    return F.when(text.rlike(_CONTROL), F.array_join(signs, "")).otherwise(text)


def _escape_character(sign: Column) -> Column:
    """Replace one character, if it is a control character, by its short or hexadecimal escape."""
    code = F.ascii(sign)
    short = F.lit(None).cast("string")
    for control, written in SHORT_ESCAPES.items():
        short = F.when(sign == F.lit(control), F.lit(written)).otherwise(short)
    hexadecimal = F.lower(F.hex(code))
    long = F.when(code < 256, F.concat(F.lit("\\x"), F.lpad(hexadecimal, 2, "0"))).otherwise(
        F.concat(F.lit("\\u"), F.lpad(hexadecimal, 4, "0"))
    )
    return F.when(sign.rlike(_CONTROL), F.coalesce(short, long)).otherwise(sign)


def printable(frame: DataFrame) -> DataFrame:
    """Escape control characters in the string columns and the column names of a frame."""
    columns = []
    for field in frame.schema.fields:
        column = F.col(quoted(field.name))
        is_text = isinstance(field.dataType, StringType)
        columns.append((escape_column(column) if is_text else column).alias(escape(field.name)))
    return frame.select(*columns)
