"""Streams on Spark: row numbers, rows of windows as a stream, differences between successive windows."""

from __future__ import annotations

import json

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.physical.nodes.windows import Form, IntervalDiff, RowNumber, WindowDiff, WindowsToStream
from transom.spark.columns import COUNT, INDEX, IS_ROW, ORDER, TICK, VALID_TO, WINDOW, WINDOW_KEY
from transom.spark.frames import LoweringContext, carried_columns, value_columns, value_names
from transom.spark.stateful.operator import machine_columns, machine_input, run_machine
from transom.spark.windows import inserts_and_deletes, next_tick


def row_number(node: RowNumber, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Number the rows of a stream, in order, in the columns `row_index` and `row_order`, by a stateful machine."""
    cells = machine_columns(frame, value_names(node.schema))
    input_rows = machine_input(frame, run, values=cells, order=F.col(ORDER))
    specification = json.dumps({"machine": "order"})
    rows = run_machine([input_rows], specification, run, values_per_side=[len(cells)], output_columns=node.schema)
    return rows.select(
        *carried_columns(rows), F.col(COUNT).alias(INDEX), F.col(COUNT).alias(ORDER), *value_columns(node.schema)
    )


def windows_to_stream(node: WindowsToStream, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Emit the rows of all windows as a stream; if ordered, the column `row_order` sorts by window, then by row.

    Windows of one tick follow one another.
    """
    if node.input.form is not Form.WINDOWS:
        return frame
    key = [F.col(WINDOW_KEY)] if WINDOW_KEY in frame.columns else []
    order = [F.struct(F.col(WINDOW), *key, F.col(ORDER)).alias(ORDER)] if node.ordered else []
    return frame.where(IS_ROW).select(TICK, *order, *value_columns(node.schema))


def interval_diff(node: IntervalDiff, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Emit, per tick, the rows that become valid or, if `node.report` is deleted, that cease to be valid.

    Each copy of a row is a row of its own.
    """
    cells = value_names(node.schema)
    end = F.col(VALID_TO) if node.input.form is Form.INTERVALS else next_tick(run.time.tick_number(), node.schedule)
    rows = inserts_and_deletes(frame, end, run, cells)
    sums = rows.groupBy(TICK, *cells).agg(F.sum(COUNT).alias(COUNT))
    count = F.col(COUNT) if node.report == "inserted" else -F.col(COUNT)
    copies = F.explode(F.array_repeat(F.lit(0), count.cast("int"))).alias("_")
    return sums.where(count > 0).select(*carried_columns(sums), *value_columns(node.schema), copies).drop("_")


def window_diff(node: WindowDiff, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Emit the rows that each window gains or, by `node.report`, loses compared with the previous window.

    The stateful `change` machine compares the windows.
    """
    order = F.col(ORDER) if node.ordered else None
    specification = json.dumps({"machine": "change", "report": node.report})
    cells = machine_columns(frame, value_names(node.schema))
    input_rows = machine_input(
        frame, run, values=cells, order=order, buckets=node.buckets, bucket_by=value_columns(node.schema)
    )
    rows = run_machine(
        [input_rows], specification, run, values_per_side=[len(cells)], output_columns=node.schema, buckets=node.buckets
    )
    key = [F.col(WINDOW_KEY)] if WINDOW_KEY in rows.columns else []
    sort_key = [F.struct(*key, F.col(COUNT)).alias(ORDER) if key else F.col(COUNT).alias(ORDER)] if node.ordered else []
    return rows.select(TICK, *sort_key, *value_columns(node.schema))
