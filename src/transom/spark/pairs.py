"""Joins of stays in the kernel: rows of one key meet in order."""

from __future__ import annotations

import json

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, IntegerType, LongType, StructType

from transom.algebra.expressions import TRUE
from transom.model.schema import Attribute
from transom.physical.plan import Meet, Physical
from transom.spark import kernel, machine
from transom.spark.frames import Run, holds, value, values
from transom.spark.marks import TICK
from transom.spark.runner import Shape


def pairs(node: Meet, left: DataFrame, right: DataFrame, run: Run) -> DataFrame:
    """Pairs of rows whose stays overlap: one row each, from the tick of the later one until the first is gone."""
    rows = _side(node, 0, node.left, left, run).unionByName(_side(node, 1, node.right, right, run), True)
    by = [f"k{place}" for place in range(len(node.equal))]
    out = StructType()
    out = out.add("t", LongType()).add("w", IntegerType()).add("p", BooleanType()).add("n", LongType())
    out = out.add("g", LongType())
    for place, attribute in enumerate(node.schema):
        out = out.add(f"c{place}", machine.crossing_type(attribute.type))
    widths = (len(node.left.schema) + 1, len(node.right.schema) + 1)
    shape = Shape(0, widths, len(node.schema) + 1, 1)
    specification = json.dumps({"machine": "pairs"})
    made = kernel.machine(rows, specification, run.calendar, shape, by=by, out=out, live=run.live)
    cells = [machine.crossed(F.col(f"c{n}"), a.type).alias(f"c{n}") for n, a in enumerate(node.schema)]
    found = made.select(run.time.marked(F.col("t")), "g", *cells)
    return found if node.rest == TRUE else found.where(holds(node.rest, node.schema, run))


def _side(node: Meet, place: int, side: Physical, frame: DataFrame, run: Run) -> DataFrame:
    """One side as the machine takes it; a row whose key is NULL meets none."""
    keys = [machine.crossing(value(pair[place], side.schema, run), pair[place].type) for pair in node.equal]
    for key in keys:
        frame = frame.where(key.isNotNull())
    cells = [machine.crossing(column, a.type).alias(f"c{n}") for n, (column, a) in enumerate(_cells(side))]
    return frame.select(
        TICK,
        run.time.number().alias("t"),
        *(key.alias(f"k{n}") for n, key in enumerate(keys)),
        F.lit(place).alias("side"),
        F.lit(1).alias("w"),
        F.lit(True).alias("p"),
        F.lit(1).alias("n"),
        F.lit(None).cast("int").alias(f"o{place}"),
        F.struct(F.col("g"), *cells).alias(f"cells{place}"),
    )


def _cells(side: Physical) -> list[tuple[Column, Attribute]]:
    return list(zip(values(side.schema), side.schema))
