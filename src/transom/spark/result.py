"""The DataFrame that a user gets: columns as declared, `tick` as event time, `seq` and `empty` or `index` (E4, E5)."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.model.schema import Schema
from transom.model.types import Type
from transom.physical.node import Physical
from transom.physical.plan import Collect, Number
from transom.spark.columns import told_apart
from transom.spark.places import wkt

OWN = ("tick", "seq", "empty", "index")


def column_names(schema: Schema, own: Sequence[str] = OWN) -> list[str]:
    """The names of the columns: as declared, with the extent before it where two would be alike; `own` come first."""
    plain = [attribute.name.lower() for attribute in schema]
    names = [
        f"{attribute.qualifier}_{attribute.name}"
        if attribute.qualifier and (plain.count(name) > 1 or name in own)
        else attribute.name
        for attribute, name in zip(schema, plain)
    ]
    return told_apart(names, own)


def result(node: Physical, frame: DataFrame) -> DataFrame:
    """The frame of a plan's top as a user sees it; `tick` keeps its mark, so it can go on into any operator (E14)."""
    columns = [F.col("tick")]
    if isinstance(node, Collect):
        columns += [F.col("w").alias("seq"), F.col("empty")]
    elif isinstance(node, Number) or "i" in frame.columns:
        columns += [F.col("i").alias("index")]
    for n, (attribute, name) in enumerate(zip(node.schema, column_names(node.schema))):
        columns.append(_shown(F.col(f"c{n}"), attribute.type).alias(name))
    return frame.select(*columns)


def _shown(column: Column, kind: Type) -> Column:
    """A value as users take it: places and lines as well-known text, which every tool for maps reads."""
    return wkt(column, kind) if kind in (Type.POINT, Type.LINE) else column
