"""The stateful operator: rows enter a machine inside transformWithState, and what it emits comes back as a frame.

This module alone calls transformWithState, from Python or through the kernel. `machine_input` builds the rows that go
in, one frame for each side of the machine. `run_machine` unites the sides, groups their rows and runs the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, DataType, IntegerType, LongType, StructField, StructType

from transom.machines.buckets import is_shared
from transom.model.schema import Schema
from transom.model.types import Type
from transom.spark import kernel
from transom.spark.frames import LoweringContext, names
from transom.spark.marks import TICK
from transom.spark.runner import BucketRunner, MachineRunner, Shape
from transom.spark.types import spark_type

LINE = "line"
BUCKET = "b"

Emitted = Sequence[tuple[str, Type]]
"""The values that a machine emits, by column."""


def machine_input(
    frame: DataFrame,
    run: LoweringContext,
    *,
    values: Sequence[Column],
    side: int | Column = 0,
    order: Column | None = None,
    count: Column | None = None,
    group_by: Sequence[Column] = (),
    pair_keys: Sequence[Column] = (),
    buckets: int = 1,
    hash_on: Sequence[Column] = (),
    to_all: Column | None = None,
) -> DataFrame:
    """The rows of a frame as a machine takes them.

    Each value of `group_by` has its own machine. With `buckets` above 1, the rows of a group are spread over that many
    machines by the hash of `hash_on`. Rows for which `to_all` is true go to all of them; so do window markers. Rows
    pair only if their `pair_keys` are equal. If `side` is a column, the frame holds the rows of all sides.
    """
    windowed = "w" in frame.columns
    is_row = F.col("p") if windowed else F.lit(True)
    number = side if isinstance(side, int) else 0
    cells = [*(key.alias(f"k{n}") for n, key in enumerate(pair_keys))]
    cells += [value.alias(f"c{n}") for n, value in enumerate(values)]
    columns = [
        F.col(TICK),
        run.time.number().alias("t"),
        *(F.col(name) for name in frame.columns if name == LINE),
        *(key.alias(f"k{n}") for n, key in enumerate(group_by)),
        (F.lit(side) if isinstance(side, int) else side).alias("side"),
        (F.col("w") if windowed else F.lit(1)).alias("w"),
        is_row.alias("p"),
        (F.lit(1) if count is None else F.coalesce(count, F.lit(1))).cast("int").alias("n"),
        (F.lit(None).cast("int") if order is None else order).alias(f"o{number}"),
        F.struct(*cells, F.lit(0).alias("_")).alias(f"cells{number}"),  # never a struct without fields
    ]
    if buckets > 1:
        if to_all is None and windowed:
            to_all = ~is_row
        columns.append(_bucket(buckets, hash_on, to_all).alias(BUCKET))
    return frame.select(*columns)


def _bucket(buckets: int, hash_on: Sequence[Column], to_all: Column | None) -> Column:
    own = F.pmod(F.hash(*hash_on), F.lit(buckets))
    if to_all is None:
        return own
    every = F.array(*map(F.lit, range(buckets)))
    return F.explode(F.when(to_all, every).otherwise(F.array(own)))


def run_machine(
    sides: Sequence[DataFrame],
    specification: str,
    run: LoweringContext,
    *,
    widths: Sequence[int],
    out: Schema | Emitted,
    pair_keys: int = 0,
    buckets: int = 1,
) -> DataFrame:
    """What a machine emits: tick, `line` if the input has it, `w`, `p`, `n`, and values.

    `widths` says how many values each side has. Where many keys share the state of a machine, the values of the key
    come first in `out`.
    """
    rows = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), sides)
    emitted = list(zip(names(out), (a.type for a in out))) if isinstance(out, Schema) else list(out)
    line = [name for name in rows.columns if name == LINE]
    group_by = [*line, *(name for name in rows.columns if name[0] == "k"), *(n for n in rows.columns if n == BUCKET)]
    if not group_by:
        rows, group_by = rows.withColumn(BUCKET, F.lit(0)), [BUCKET]
    fields = [rows.schema[name] for name in line]
    fields += [StructField("t", LongType()), StructField("w", IntegerType()), StructField("p", BooleanType())]
    fields += [StructField("n", LongType())]
    fields += [StructField(name, crossing_type(kind)) for name, kind in emitted]
    shape = Shape(pair_keys, tuple(widths), len(emitted), buckets, lines=len(line))
    made = _transform(rows, specification, run, shape, group_by, StructType(fields))
    cells = [crossed(F.col(name), kind).alias(name) for name, kind in emitted]
    return made.select(run.time.marked(F.col("t")), *line, "w", "p", "n", *cells)


def _transform(
    rows: DataFrame, specification: str, run: LoweringContext, shape: Shape, group_by: Sequence[str], out: StructType
) -> DataFrame:
    if run.kernel:
        return kernel.machine(rows, specification, run.calendar, shape, by=group_by, out=out, live=run.live)
    runner = BucketRunner if is_shared(specification) else MachineRunner
    return rows.groupBy(*group_by).transformWithState(
        statefulProcessor=runner(specification, run.calendar, tuple(out.names), shape, run.live),
        outputStructType=out,
        outputMode="append",
        timeMode="EventTime" if run.live else "None",
    )


def crossing_columns(frame: DataFrame, columns: Sequence[str]) -> list[Column]:
    """Columns of a frame as they cross into a machine."""
    instants = {field.name for field in frame.schema if field.dataType.typeName() == "timestamp"}
    return [F.unix_micros(name) if name in instants else F.col(name) for name in columns]


def crossing(value: Column, kind: Type) -> Column:
    """A value as it crosses into a machine: a timestamp as microseconds, so that no time zone changes it."""
    return F.unix_micros(value) if kind is Type.TIMESTAMP else value


def crossing_type(kind: Type) -> DataType:
    """The type of such a value."""
    return LongType() if kind is Type.TIMESTAMP else spark_type(kind)


def crossed(value: Column, kind: Type) -> Column:
    """A value as it was before it crossed."""
    return F.timestamp_micros(value) if kind is Type.TIMESTAMP else value
