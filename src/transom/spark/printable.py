"""Data that Spark prints, in tables on the console and in messages of errors, without control characters."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from transom.printable import CONTROL, SHORT, escape
from transom.spark.columns import quoted

_CONTROL = f"[{CONTROL}]"


def escaped(text: Column) -> Column:
    """A column of strings as `transom.printable.escape` writes them."""
    signs = F.transform(F.split(text, ""), _sign)
    return F.when(text.rlike(_CONTROL), F.array_join(signs, "")).otherwise(text)


def _sign(sign: Column) -> Column:
    code = F.ascii(sign)
    short = F.lit(None).cast("string")
    for control, written in SHORT.items():
        short = F.when(sign == F.lit(control), F.lit(written)).otherwise(short)
    hexadecimal = F.lower(F.hex(code))
    long = F.when(code < 256, F.concat(F.lit("\\x"), F.lpad(hexadecimal, 2, "0"))).otherwise(
        F.concat(F.lit("\\u"), F.lpad(hexadecimal, 4, "0"))
    )
    return F.when(sign.rlike(_CONTROL), F.coalesce(short, long)).otherwise(sign)


def printable(frame: DataFrame) -> DataFrame:
    """A frame whose strings and column names can be shown on a terminal."""
    shown = []
    for field in frame.schema.fields:
        column = F.col(quoted(field.name))
        is_text = isinstance(field.dataType, StringType)
        shown.append((escaped(column) if is_text else column).alias(escape(field.name)))
    return frame.select(*shown)
