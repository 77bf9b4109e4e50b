"""The result DataFrame: declared columns, `tick` as event time, `seq` and `empty` or `index` (E4, E5)."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.model.schema import Schema, unique_names
from transom.model.types import Type
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.windows import CollectWindows, RowNumber
from transom.spark.columns import INDEX, WINDOW
from transom.spark.expressions.spatial import wkt

RESULT_COLUMNS = ("tick", "seq", "empty", "index")


def column_names(schema: Schema, taken: Sequence[str] = RESULT_COLUMNS) -> list[str]:
    """Choose the column names of a result: as declared, prefixed with the source if ambiguous or in `taken`."""
    plain = [attribute.name.lower() for attribute in schema]
    names = [
        f"{attribute.qualifier}_{attribute.name}"
        if attribute.qualifier and (plain.count(name) > 1 or name in taken)
        else attribute.name
        for attribute, name in zip(schema, plain)
    ]
    return unique_names(names, taken)


def result(node: PhysicalNode, frame: DataFrame) -> DataFrame:
    """Build the DataFrame for the user, with columns named as in the answer; `tick` remains event time (E14)."""
    columns = [F.col("tick")]
    if isinstance(node, CollectWindows):
        columns += [F.col(WINDOW).alias("seq"), F.col("empty")]
    elif isinstance(node, RowNumber) or INDEX in frame.columns:
        columns += [F.col(INDEX).alias("index")]
    for n, (attribute, name) in enumerate(zip(node.schema, column_names(node.schema))):
        columns.append(_user_value(F.col(f"c{n}"), attribute.type).alias(name))
    return frame.select(*columns)


def _user_value(column: Column, kind: Type) -> Column:
    """Convert a value to what users see: points and lines become well-known text (WKT)."""
    return wkt(column, kind) if kind in (Type.POINT, Type.LINE) else column
