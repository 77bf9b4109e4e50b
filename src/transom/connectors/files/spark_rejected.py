"""The rows of CSV files that Spark rejects: the reason, and in a replay where each one is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.connectors.files.spark_scan import FILE, ROW, FilePart, FileScan
from transom.model.reject_reason import RejectReason
from transom.spark.columns import ORIGIN_ORDER, REJECT_REASON, TICK_NUMBER
from transom.spark.printable import escape_column as escaped_text


def invalid_reason(scan: FileScan, part: FilePart, frame_columns: Sequence[str]) -> Column:
    """Build the column with the reason to reject a row of a frame with `frame_columns`; NULL for a valid row.

    `frame_columns` are the columns of the frame.
    """
    earlier = F.when(F.lit(False), F.lit(""))
    return reduce(
        lambda case, item: case.when(item[0], F.lit(item[1].value)), _problems(scan, part, frame_columns), earlier
    )


def rejected_columns(scan: FileScan, part: FilePart, frame_columns: Sequence[str]) -> list[Column]:
    """Build the columns of rejected rows: reason and, unless the run is live, origin (file and line), detail, order.

    These are `origin` and `detail` for messages, and `origin_order`, which sorts rejected rows by file and line.
    `frame_columns` are the columns of the frame.
    """
    reason = F.col(REJECT_REASON)
    if scan.live:
        return [reason]
    detail = F.when(F.lit(False), F.lit(""))
    for condition, _, text in _problems(scan, part, frame_columns):
        detail = detail.when(condition, text)
    path = F.regexp_replace(FILE, "^file:(//)?", "")
    path = F.when(path.startswith(prefix := f"{os.getcwd()}{os.sep}"), F.substring(path, len(prefix) + 1, 1 << 16))
    path = path.otherwise(F.regexp_replace(FILE, "^file:(//)?", ""))
    origin = F.concat(path, F.lit(":"), (F.col(ROW) + 1).cast("string"))
    order = F.struct(F.lit(part.pattern_index).alias("part"), F.col(FILE), F.col(ROW))
    return [
        reason,
        F.when(reason.isNotNull(), origin).alias("origin"),
        F.when(reason.isNotNull(), detail).alias("detail"),
        F.when(reason.isNotNull(), order).alias(ORIGIN_ORDER),
    ]


def quoted_text(text: Column) -> Column:
    """Build the text of an invalid cell for a message, in quotes and shortened; `nothing` if it is NULL."""
    return F.coalesce(F.concat(F.lit("'"), escaped_text(F.substring(text, 1, 80)), F.lit("'")), F.lit("nothing"))


def cell_problem(frame_columns: Sequence[str], cell: str, usual: str) -> Column:
    """Build the message for an unreadable cell: the frame's column of messages for it, else the text `usual`.

    `cell` is the number of an attribute, or `t` for the time; `frame_columns` are the columns of the frame.
    """
    column = problem_column(cell)
    return F.coalesce(F.col(column), F.lit(usual)) if column in frame_columns else F.lit(usual)


def problem_column(cell: str) -> str:
    """Return the name of the column for the problem of a cell's local time: `p` and the cell's index, or `pt`."""
    return f"p{cell}"


def _problems(
    scan: FileScan, part: FilePart, frame_columns: Sequence[str]
) -> list[tuple[Column, RejectReason, Column]]:
    """List (condition, reason, message) for each way a row of `frame_columns` can be invalid, in order of precedence.

    `frame_columns` are the columns of the frame.
    """
    tick, width, cells = F.col(TICK_NUMBER), F.col("width"), len(part.columns)
    time = F.concat(F.lit(f"{scan.time or 'tick'}: "), quoted_text(F.col("nt")))
    count = F.concat(width.cast("string"), F.lit(f" cells, the header has {cells}"))
    problems = [
        (width.isNull() | (width < 0), RejectReason.CSV, quoted_text(F.col("line"))),
        (width != cells, RejectReason.CELLS, count),
        (
            tick.isNull(),
            RejectReason.TIME,
            F.concat(time, F.lit(" "), cell_problem(frame_columns, "t", scan.time_problem)),
        ),
        (tick < 0, RejectReason.EPOCH, F.concat(time, F.lit(" lies before tick 0"))),
    ]
    for i, attribute in enumerate(scan.extent.schema):
        value, text = F.col(f"v{i}"), F.col(f"s{i}")
        problem = cell_problem(frame_columns, str(i), f"is not of type {attribute.type}")
        message = F.concat(F.lit(f"{attribute.name}: "), quoted_text(text), F.lit(" "), problem)
        problems.append((value.isNull() & text.isNotNull(), RejectReason.TYPE, message))
    return problems
