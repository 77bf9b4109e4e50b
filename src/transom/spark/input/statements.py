"""Source frames of RDF statements, from users' DataFrames, messages and stored graphs.

A term is one text, in the canonical spelling of N-Triples; NULL is unbound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.extent import Extent
from transom.catalog.rdf import TERM_COLUMNS
from transom.errors import UsageError
from transom.model.rdf.ntriples import statement_row
from transom.model.rdf.terms import Triple
from transom.model.time import Calendar
from transom.spark.columns import ORDER, REJECT_REASON, TICK_NUMBER
from transom.spark.input.user_frames import position_of, refuse_watermark, tick_of, with_order
from transom.spark.sources import ROW_COUNT

MESSAGE_STATEMENTS = "statements"
"""Column that a frame may have instead of terms: the statements of a message, as an array of s, p and o."""
STATEMENT_ORDER = ("part", "file", "row")
"""Sort key of statements of one tick: the position of their file's path, or the partition; the file or the topic;
the number of the statement there."""


def statement_frame(extent: Extent, frame: DataFrame, calendar: Calendar) -> DataFrame:
    """Convert a user's DataFrame of RDF statements, or arrays of them (messages), to tick, terms and order."""
    refuse_watermark(extent, frame)
    tick = tick_of(extent, frame, calendar)
    reason = [F.col(REJECT_REASON)] if REJECT_REASON in frame.columns else []
    tick = F.when(F.col(REJECT_REASON).isNull(), tick) if reason else tick
    position = position_of(extent, frame)
    row = F.lit(None).cast("long") if position is None else position.cast("long")
    parts = zip((F.lit(0), F.lit(""), row), STATEMENT_ORDER, strict=True)
    cells = [F.col(MESSAGE_STATEMENTS)] if MESSAGE_STATEMENTS in frame.columns else _term_cells(extent, frame)
    return frame.select(
        tick.alias(TICK_NUMBER), *cells, F.struct(*(c.alias(name) for c, name in parts)).alias(ORDER), *reason
    )


def statement_count(frame: DataFrame) -> Column:
    """The number of statements in each row of a user's DataFrame; a rejected message counts as one."""
    if MESSAGE_STATEMENTS not in frame.columns:
        return F.lit(1)
    rejected = F.col(REJECT_REASON).isNotNull() if REJECT_REASON in frame.columns else F.lit(False)
    return F.when(rejected, F.lit(1)).otherwise(F.coalesce(F.size(MESSAGE_STATEMENTS), F.lit(0)))


def explode_statements(extent: Extent, frame: DataFrame) -> DataFrame:
    """Return one row per RDF statement, from statements or messages; `row_order` sorts the rows of a tick (E1)."""
    reason = [REJECT_REASON] if REJECT_REASON in frame.columns else []
    rows = _explode_messages(frame, reason) if MESSAGE_STATEMENTS in frame.columns else frame
    return with_order(rows.select(TICK_NUMBER, *(f"c{n}" for n in range(len(TERM_COLUMNS))), ORDER, *reason), extent)


def _explode_messages(frame: DataFrame, reason: Sequence[str]) -> DataFrame:
    """Expand messages to a row per statement; a rejected one stays a row; `reason`: name of the reason column, if any.

    `reason` names the column of reject reasons, if there is one.

    Without reject reasons, an empty message with row numbers also remains one row, which only has a tick.
    """
    numbered = "row" in frame.schema[MESSAGE_STATEMENTS].dataType.elementType.names
    explode = F.posexplode_outer if reason or numbered else F.posexplode
    each = frame.select(
        TICK_NUMBER, F.col(ORDER).alias("at"), *reason, explode(MESSAGE_STATEMENTS).alias("number", "one")
    )
    if reason:
        each = each.where(F.col("one").isNotNull() | F.col(REJECT_REASON).isNotNull())
    row = F.col("one.row") if numbered else F.col("number").cast("long")
    order = F.struct(F.col("at.part").alias("part"), F.col("at.file").alias("file"), row.alias("row"))
    cells = [F.col(f"one.{name}").alias(f"c{n}") for n, name in enumerate(TERM_COLUMNS)]
    return each.select(TICK_NUMBER, *cells, order.alias(ORDER), *reason)


def message_frame(extent: Extent, frame: DataFrame, *, live: bool) -> DataFrame:
    """Return one row per RDF message, its statements in `c0`; group bare statements, refuse them if `live`.

    Bare statements become one message per tick and subject; if `live`, they are an error.
    """
    if MESSAGE_STATEMENTS in frame.columns:
        reason = [REJECT_REASON] if live and REJECT_REASON in frame.columns else []
        rows = [F.coalesce(F.size(MESSAGE_STATEMENTS), F.lit(0)).alias(ROW_COUNT)] if live else []
        return frame.select(TICK_NUMBER, F.col(MESSAGE_STATEMENTS).alias("c0"), *reason, *rows)
    if live:
        raise UsageError(
            f"the DataFrame for {extent.name} has no column {MESSAGE_STATEMENTS}, and its subjects are local",
            hint="give messages: a list of s, p and o in each row; or leave out `subjects` in the catalog",
        )
    statement = F.struct(*(F.col(f"c{n}").alias(name) for n, name in enumerate(TERM_COLUMNS)))
    by_subject = frame.groupBy(TICK_NUMBER, F.col("c0").alias("subject"))
    return by_subject.agg(F.collect_list(statement).alias("c0")).drop("subject")


def graph_frame(extent: Extent, frame: DataFrame) -> DataFrame:
    """Return the statements of a user's DataFrame for a stored graph; raise UsageError if it does not fit.

    The columns are `c0`, `c1` and `c2`.
    """
    if frame.isStreaming:
        raise UsageError(f"the DataFrame for {extent.name} is a stream, and a graph is stored")
    return frame.select(*_term_cells(extent, frame))


def _term_cells(extent: Extent, frame: DataFrame) -> list[Column]:
    """Return the columns s, p and o of a user's DataFrame; raise UsageError if one is missing or not a string.

    They are renamed to `c0`, `c1` and `c2`.
    """
    for name in TERM_COLUMNS:
        if name not in frame.columns or frame.schema[name].dataType.typeName() != "string":
            raise UsageError(
                f"the DataFrame for {extent.name} has no column {name} of text",
                hint="give subject, predicate and object as s, p and o, spelled as in N-Triples",
            )
    return [F.col(name).alias(f"c{n}") for n, name in enumerate(TERM_COLUMNS)]


def statement_table(spark: SparkSession, rows: Iterable[Sequence[object]], names: Sequence[str] = ()) -> DataFrame:
    """Create a DataFrame from rows of terms as text; its columns are `names`, by default `c0`, `c1` and `c2`."""
    columns = list(zip(*rows, strict=True)) or [()] * len(TERM_COLUMNS)
    column_names = names or [f"c{n}" for n in range(len(TERM_COLUMNS))]
    table = {name: pa.array(column, pa.string()) for name, column in zip(column_names, columns, strict=True)}
    return spark.createDataFrame(pa.table(table))


def statement_dataframe(spark: SparkSession, triples: Iterable[Triple]) -> DataFrame:
    """Create a DataFrame with columns s, p and o from triples."""
    return statement_table(spark, map(statement_row, triples), TERM_COLUMNS)
