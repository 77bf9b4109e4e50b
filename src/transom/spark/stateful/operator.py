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
    bucket_by: Sequence[Column] = (),
    broadcast_if: Column | None = None,
) -> DataFrame:
    """Build a state machine's input `side`; a hash spreads rows over `buckets`; `broadcast_if` rows go to all buckets.

    Each value of `group_by` has its own machine. With `buckets` above 1, the rows of a group are spread over that many
    machines by the hash of `bucket_by`. Rows for which `broadcast_if` is true go to all of them; so do window markers.
    Rows pair only if their `pair_keys` are equal. If `side` is a column, the frame holds the rows of all sides from
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
        if broadcast_if is None and windowed:
            broadcast_if = ~is_row
        columns.append(_bucket_column(buckets, bucket_by, broadcast_if).alias(BUCKET))
    return frame.select(*columns)


def _bucket_column(bucket_count: int, bucket_by: Sequence[Column], broadcast_if: Column | None) -> Column:
    """Choose a row's machine, from 0 to `bucket_count` - 1, by a hash; rows with `broadcast_if` go to all."""
    bucket = F.pmod(F.hash(*bucket_by), F.lit(bucket_count))
    if broadcast_if is None:
        return bucket
    all_buckets = F.array(*map(F.lit, range(bucket_count)))
    return F.explode(F.when(broadcast_if, all_buckets).otherwise(F.array(bucket)))


def run_machine(
    sides: Sequence[DataFrame],
    specification: str,
    run: LoweringContext,
    *,
    values_per_side: Sequence[int],
    output_columns: Schema | EmittedColumns,
    pair_key_count: int = 0,
    buckets: int = 1,
) -> DataFrame:
    """Run a state machine (`specification` in JSON); return tick, window number, is-row flag, count, `output_columns`.

    `values_per_side` is the number of values of each side. If many keys share the state of a machine, the values of the
    key come first in `output_columns`.
    """
    rows = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), sides)
    emitted = (
        list(zip(value_names(output_columns), (a.type for a in output_columns)))
        if isinstance(output_columns, Schema)
        else list(output_columns)
    )
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
    shape = MachineShape(pair_key_count, tuple(values_per_side), len(emitted), buckets, window_keys=len(key))
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
    group_columns: Sequence[str],
    output_type: StructType,
) -> DataFrame:
    """Run a state machine (JSON, sizes in `shape`) for each group of rows, in the Java kernel or in Python.

    `shape` has its sizes, `group_columns` the columns that identify a group, `output_type` the type of the result.
    """
    if run.kernel:
        return kernel.run_in_kernel(
            rows,
            specification,
            run.calendar,
            shape,
            group_columns=group_columns,
            output_type=output_type,
            live=run.live,
        )
    runner = BucketRunner if is_shared(specification) else MachineRunner
    return rows.groupBy(*group_columns).transformWithState(
        statefulProcessor=runner(specification, run.calendar, tuple(output_type.names), shape, run.live),
        outputStructType=output_type,
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
