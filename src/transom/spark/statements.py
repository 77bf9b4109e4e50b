"""Frames of statements: given ones as the connectors give them, messages as their statements, stored graphs.

A term is one text, in the canonical spelling of N-Triples; NULL is unbound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.extents import Extent
from transom.catalog.rdf import TERMS
from transom.errors import UsageError
from transom.model.rdf.spelling import statement_row
from transom.model.rdf.terms import Triple
from transom.model.time import Calendar
from transom.spark.given import position_of, refuse_watermark, tick_of, with_ties
from transom.spark.sources import ROWS

DEAD = "dead"
"""A column that a frame may have besides: why a message gave no statements."""
MESSAGES = "statements"
"""A column that a frame may have instead of terms: the statements of a message, as a list of s, p and o."""
PLACE = ("place", "file", "row")
"""What puts statements of one tick in order: the place of their file's path, or the partition; the file or the topic;
and the number of a statement there."""


def given_statements(extent: Extent, frame: DataFrame, calendar: Calendar) -> DataFrame:
    """A DataFrame that somebody gave for a stream of statements as a source frame: terms in columns, or messages."""
    refuse_watermark(extent, frame)
    tick = tick_of(extent, frame, calendar)
    dead = [F.col(DEAD)] if DEAD in frame.columns else []
    tick = F.when(F.col(DEAD).isNull(), tick) if dead else tick
    found = position_of(extent, frame)
    row = F.lit(None).cast("long") if found is None else found.cast("long")
    parts = zip((F.lit(0), F.lit(""), row), PLACE, strict=True)
    held = [F.col(MESSAGES)] if MESSAGES in frame.columns else _cells(extent, frame)
    return frame.select(tick.alias("t"), *held, F.struct(*(c.alias(name) for c, name in parts)).alias("o"), *dead)


def statement_count(frame: DataFrame) -> Column:
    """How many statements a row of a given frame holds; a message that was rejected counts as one."""
    if MESSAGES not in frame.columns:
        return F.lit(1)
    rejected = F.col(DEAD).isNotNull() if DEAD in frame.columns else F.lit(False)
    return F.when(rejected, F.lit(1)).otherwise(F.coalesce(F.size(MESSAGES), F.lit(0)))


def each_statement(extent: Extent, frame: DataFrame) -> DataFrame:
    """A source frame with a row for each statement; `o` puts those of one tick in order (E1)."""
    dead = [DEAD] if DEAD in frame.columns else []
    rows = _exploded(frame, dead) if MESSAGES in frame.columns else frame
    return with_ties(rows.select("t", *(f"c{place}" for place in range(len(TERMS))), "o", *dead), extent)


def _exploded(frame: DataFrame, dead: Sequence[str]) -> DataFrame:
    """Messages as their statements; one that was rejected stays a row, as does one of ours that only has a tick."""
    numbered = "row" in frame.schema[MESSAGES].dataType.elementType.names
    explode = F.posexplode_outer if dead or numbered else F.posexplode
    each = frame.select("t", F.col("o").alias("at"), *dead, explode(MESSAGES).alias("number", "one"))
    if dead:
        each = each.where(F.col("one").isNotNull() | F.col(DEAD).isNotNull())
    row = F.col("one.row") if numbered else F.col("number").cast("long")
    order = F.struct(F.col("at.place").alias("place"), F.col("at.file").alias("file"), row.alias("row"))
    cells = [F.col(f"one.{name}").alias(f"c{place}") for place, name in enumerate(TERMS)]
    return each.select("t", *cells, order.alias("o"), *dead)


def each_message(extent: Extent, frame: DataFrame, *, live: bool) -> DataFrame:
    """A source frame with a row for each message: `c0` is the list of its statements, of `s`, `p` and `o` each."""
    if MESSAGES in frame.columns:
        dead = [DEAD] if live and DEAD in frame.columns else []
        rows = [F.coalesce(F.size(MESSAGES), F.lit(0)).alias(ROWS)] if live else []
        return frame.select("t", F.col(MESSAGES).alias("c0"), *dead, *rows)
    if live:
        raise UsageError(
            f"the DataFrame for {extent.name} has no column {MESSAGES}, and its subjects are local",
            hint="give messages: a list of s, p and o in each row; or leave out `subjects` in the catalog",
        )
    one = F.struct(*(F.col(f"c{place}").alias(name) for place, name in enumerate(TERMS)))
    by_subject = frame.groupBy("t", F.col("c0").alias("subject"))
    return by_subject.agg(F.collect_list(one).alias("c0")).drop("subject")


def given_graph(extent: Extent, frame: DataFrame) -> DataFrame:
    """A DataFrame that somebody gave for a stored graph."""
    if frame.isStreaming:
        raise UsageError(f"the DataFrame for {extent.name} is a stream, and a graph is stored")
    return frame.select(*_cells(extent, frame))


def _cells(extent: Extent, frame: DataFrame) -> list[Column]:
    for name in TERMS:
        if name not in frame.columns or frame.schema[name].dataType.typeName() != "string":
            raise UsageError(
                f"the DataFrame for {extent.name} has no column {name} of text",
                hint="give subject, predicate and object as s, p and o, spelled as in N-Triples",
            )
    return [F.col(name).alias(f"c{place}") for place, name in enumerate(TERMS)]


def statement_table(spark: SparkSession, rows: Iterable[Sequence[object]], names: Sequence[str] = ()) -> DataFrame:
    """Rows of terms as a DataFrame, by default with the columns of a source frame."""
    columns = list(zip(*rows, strict=True)) or [()] * len(TERMS)
    called = names or [f"c{place}" for place in range(len(TERMS))]
    table = {name: pa.array(column, pa.string()) for name, column in zip(called, columns, strict=True)}
    return spark.createDataFrame(pa.table(table))


def statements(spark: SparkSession, triples: Iterable[Triple]) -> DataFrame:
    """Statements as a DataFrame of s, p and o."""
    return statement_table(spark, map(statement_row, triples), TERMS)
