"""The stateful operator: feed rows to a machine inside transformWithState, and return what it emits as a frame.

Only this module calls transformWithState, from Python or through the kernel. `machine_input` builds the input rows,
one frame for each side of the machine. `run_machine` unites the sides, groups their rows and runs the machine.
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
from transom.spark.columns import BUCKET, COUNT, IS_ROW, SIDE, TICK, TICK_NUMBER, WINDOW, WINDOW_KEY
from transom.spark.expressions.types import spark_type
from transom.spark.frames import LoweringContext, value_names
from transom.spark.stateful import kernel
from transom.spark.stateful.plan_labels import label_machine
from transom.spark.stateful.runner import BucketRunner, MachineRunner, MachineShape

EmittedColumns = Sequence[tuple[str, Type]]
"""Names and types of the value columns that a machine emits."""


def machine_input(
    frame: DataFrame,
    run: LoweringContext,
    *,
    values: Sequence[Column],
    side: int | Column = 0,
    first_side: int = 0,
    order: Column | None = None,
    count: Column | None = None,
    group_by: Sequence[Column] = (),
    pair_keys: Sequence[Column] = (),
    buckets: int = 1,
    hash_on: Sequence[Column] = (),
    to_all: Column | None = None,
) -> DataFrame:
    """Build the rows of input number `side` of a stateful machine, from the columns `values`, with a sort key `order`.

    Each value of `group_by` has its own machine. With `buckets` above 1, the rows of a group are spread over that many
    machines by the hash of `hash_on`. Rows for which `to_all` is true go to all of them; so do window markers. Rows
    pair only if their `pair_keys` are equal. If `side` is a column, the frame holds the rows of all sides from
    `first_side` on.
    """
    windowed = WINDOW in frame.columns
    is_row = F.col(IS_ROW) if windowed else F.lit(True)
    number = side if isinstance(side, int) else first_side
    cells = [*(key.alias(f"k{n}") for n, key in enumerate(pair_keys))]
    cells += [value.alias(f"c{n}") for n, value in enumerate(values)]
    columns = [
        F.col(TICK),
        run.time.tick_number().alias(TICK_NUMBER),
        *(F.col(name) for name in frame.columns if name == WINDOW_KEY),
        *(key.alias(f"k{n}") for n, key in enumerate(group_by)),
        (F.lit(side) if isinstance(side, int) else side).alias(SIDE),
        (F.col(WINDOW) if windowed else F.lit(1)).alias(WINDOW),
        is_row.alias(IS_ROW),
        (F.lit(1) if count is None else F.coalesce(count, F.lit(1))).cast("int").alias(COUNT),
        (F.lit(None).cast("int") if order is None else order).alias(f"order{number}"),
        F.struct(*cells, F.lit(0).alias("_")).alias(f"cells{number}"),  # never a struct without fields
    ]
    if buckets > 1:
        if to_all is None and windowed:
            to_all = ~is_row
        columns.append(_bucket_column(buckets, hash_on, to_all).alias(BUCKET))
    return frame.select(*columns)


def _bucket_column(buckets: int, hash_on: Sequence[Column], to_all: Column | None) -> Column:
    """Choose the machine of a row, from 0 to `buckets` - 1, by a hash; rows with `to_all` go to all machines."""
    bucket = F.pmod(F.hash(*hash_on), F.lit(buckets))
    if to_all is None:
        return bucket
    all_buckets = F.array(*map(F.lit, range(buckets)))
    return F.explode(F.when(to_all, all_buckets).otherwise(F.array(bucket)))


def run_machine(
    sides: Sequence[DataFrame],
    specification: str,
    run: LoweringContext,
    *,
    widths: Sequence[int],
    out: Schema | EmittedColumns,
    pair_keys: int = 0,
    buckets: int = 1,
) -> DataFrame:
    """Run the machine of a JSON `specification`; return tick, window, is-row flag, count, and columns of `out`.

    `widths` is the number of values of each side. If many keys share the state of a machine, the values of the key
    come first in `out`.
    """
    rows = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), sides)
    emitted = list(zip(value_names(out), (a.type for a in out))) if isinstance(out, Schema) else list(out)
    key = [name for name in rows.columns if name == WINDOW_KEY]
    group_by = [*key, *(name for name in rows.columns if name[0] == "k"), *(n for n in rows.columns if n == BUCKET)]
    if not group_by:
        rows, group_by = rows.withColumn(BUCKET, F.lit(0)), [BUCKET]
    fields = [rows.schema[name] for name in key]
    fields += [
        StructField(TICK_NUMBER, LongType()),
        StructField(WINDOW, IntegerType()),
        StructField(IS_ROW, BooleanType()),
    ]
    fields += [StructField(COUNT, LongType())]
    fields += [StructField(name, machine_type(kind)) for name, kind in emitted]
    shape = MachineShape(pair_keys, tuple(widths), len(emitted), buckets, window_keys=len(key))
    emitted_rows = _transform(rows, specification, run, shape, group_by, StructType(fields))
    if run.live:
        emitted_rows = label_machine(emitted_rows, specification)
    cells = [from_machine(F.col(name), kind).alias(name) for name, kind in emitted]
    return emitted_rows.select(run.time.as_event_time(F.col(TICK_NUMBER)), *key, WINDOW, IS_ROW, COUNT, *cells)


def _transform(
    rows: DataFrame,
    specification: str,
    run: LoweringContext,
    shape: MachineShape,
    group_by: Sequence[str],
    out: StructType,
) -> DataFrame:
    """Run the state machine in `specification` (JSON) for each `group_by` group, in the Java kernel or Python.

    `shape` has its sizes, `group_by` the columns that identify a group, `out` the type of the result.
    """
    if run.kernel:
        return kernel.run_in_kernel(rows, specification, run.calendar, shape, by=group_by, out=out, live=run.live)
    runner = BucketRunner if is_shared(specification) else MachineRunner
    return rows.groupBy(*group_by).transformWithState(
        statefulProcessor=runner(specification, run.calendar, tuple(out.names), shape, run.live),
        outputStructType=out,
        outputMode="append",
        timeMode="EventTime" if run.live else "None",
    )


def machine_columns(frame: DataFrame, columns: Sequence[str]) -> list[Column]:
    """Return columns of a frame by name, as stateful machines take them: timestamps become microseconds."""
    instants = {field.name for field in frame.schema if field.dataType.typeName() == "timestamp"}
    return [F.unix_micros(name) if name in instants else F.col(name) for name in columns]


def to_machine(value: Column, kind: Type) -> Column:
    """Convert a value to what stateful machines take: a timestamp becomes microseconds, independent of time zones."""
    return F.unix_micros(value) if kind is Type.TIMESTAMP else value


def machine_type(kind: Type) -> DataType:
    """The Spark type of a value of type `kind` that `to_machine` has converted."""
    return LongType() if kind is Type.TIMESTAMP else spark_type(kind)


def from_machine(value: Column, kind: Type) -> Column:
    """Convert a value that a stateful machine emits to its declared type; the inverse of `to_machine`."""
    return F.timestamp_micros(value) if kind is Type.TIMESTAMP else value
