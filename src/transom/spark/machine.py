"""Putting frames into machines and taking frames out of them."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, DataType, IntegerType, LongType, StructField, StructType

from transom.machines.buckets import is_shared
from transom.model.schema import Schema
from transom.model.types import Type
from transom.spark import kernel
from transom.spark.frames import Run
from transom.spark.marks import TICK
from transom.spark.runner import BucketRunner, MachineRunner, Shape
from transom.spark.types import spark_type


def arrivals(
    frame: DataFrame,
    run: Run,
    *,
    values: Sequence[str],
    order: Column | None = None,
    side: int = 0,
    keys: Sequence[Column] = (),
    count: Column | None = None,
    buckets: int = 1,
    spread_on: Sequence[Column] = (),
) -> DataFrame:
    """A frame as a machine takes it; rows that only say that a window exists go to every bucket."""
    windowed = "w" in frame.columns
    present = F.col("p") if windowed else F.lit(True)
    cells = [*(key.alias(f"k{place}") for place, key in enumerate(keys)), *(_plain(frame, name) for name in values)]
    columns = [
        F.col(TICK),
        run.time.number().alias("t"),
        *_line(frame),
        F.lit(side).alias("side"),
        (F.col("w") if windowed else F.lit(1)).alias("w"),
        present.alias("p"),
        (F.lit(1) if count is None else F.coalesce(count, F.lit(1))).cast("int").alias("n"),
        (F.lit(None).cast("int") if order is None else order).alias(f"o{side}"),
        F.struct(*cells, F.lit(0).alias("_")).alias(f"cells{side}"),
    ]
    if buckets > 1 and not windowed:
        return frame.select(*columns, F.pmod(F.hash(*spread_on), F.lit(buckets)).alias("b"))
    if buckets > 1:
        own = F.array(F.pmod(F.hash(*spread_on), F.lit(buckets)))
        every = F.array(*map(F.lit, range(buckets)))
        return frame.select(*columns, F.explode(F.when(present, own).otherwise(every)).alias("b"))
    return frame.select(*columns, F.lit(0).alias("b"))


def run(
    frame: DataFrame,
    specification: str,
    run: Run,
    *,
    out: Schema,
    values: tuple[int, ...],
    keys: int = 0,
    buckets: int = 1,
) -> DataFrame:
    """What a machine makes of its arrivals: tick, `line`, `w`, `p`, `n` (the place), and values.

    Where many keys share the state of a machine, the values of the key come first, and `out` says their types too.
    """
    line = _line(frame)
    fields = [frame.schema[name] for name in line] + _told(out)
    names = tuple(field.name for field in fields)
    shape = Shape(keys, values, len(out), buckets, lines=len(line))
    by = [*line, "b"]
    if run.kernel:
        made = kernel.machine(frame, specification, run.calendar, shape, by=by, out=StructType(fields), live=run.live)
    else:
        runner = BucketRunner if is_shared(specification) else MachineRunner
        made = frame.groupBy(*by).transformWithState(
            statefulProcessor=runner(specification, run.calendar, names, shape, run.live),
            outputStructType=StructType(fields),
            outputMode="append",
            timeMode="EventTime" if run.live else "None",
        )
    cells = [crossed(F.col(f"c{place}"), a.type).alias(f"c{place}") for place, a in enumerate(out)]
    return made.select(run.time.marked(F.col("t")), *line, "w", "p", "n", *cells)


def _line(frame: DataFrame) -> list[str]:
    """The column that keeps the windows of keys apart, if the frame has it."""
    return ["line"] if "line" in frame.columns else []


def _told(out: Schema) -> list[StructField]:
    fields = [StructField("t", LongType()), StructField("w", IntegerType()), StructField("p", BooleanType())]
    fields += [StructField("n", LongType())]
    return fields + [StructField(f"c{place}", crossing_type(a.type)) for place, a in enumerate(out)]


def crossing(value: Column, kind: Type) -> Column:
    """A value as it crosses into a machine: an instant as microseconds, which no time zone can bend."""
    return F.unix_micros(value) if kind is Type.TIMESTAMP else value


def crossing_type(kind: Type) -> DataType:
    """The type of such a value."""
    return LongType() if kind is Type.TIMESTAMP else spark_type(kind)


def crossed(value: Column, kind: Type) -> Column:
    """A value as it was before it crossed."""
    return F.timestamp_micros(value) if kind is Type.TIMESTAMP else value


def _plain(frame: DataFrame, name: str) -> Column:
    instant = frame.schema[name].dataType.typeName() == "timestamp"
    return (F.unix_micros(F.col(name)) if instant else F.col(name)).alias(name)
