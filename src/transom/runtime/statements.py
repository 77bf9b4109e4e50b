"""Streams and graphs of RDF as source frames, taken as given or opened as the catalog says.

A term is one text, in the canonical spelling of N-Triples; NULL is unbound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.extents import Extent
from transom.catalog.rdf import TERMS, RdfExtent
from transom.connectors.rdf_spark_files import WHERE, open_stream
from transom.connectors.statements import open_graph
from transom.errors import UsageError
from transom.model.rdf.terms import Triple
from transom.model.time import Calendar
from transom.physical.node import Physical
from transom.physical.plan import Read
from transom.physical.rdf_plan import messages
from transom.physical.walk import walk
from transom.runtime.job import Job
from transom.spark.balance import CountRead, RowCounts, uncounted
from transom.spark.columns import quoted
from transom.spark.given import POSITION, position_of, refuse_watermark, tick_of
from transom.spark.rejected import Rejected
from transom.spark.session import allow_depth
from transom.spark.sources import ROWS

_WORDS = ("place", "file", "row")
DEAD = "dead"
"""A column that a DataFrame may have besides: why a row gave no statements."""
MESSAGES = "statements"
"""A column that a DataFrame may have instead of terms: the statements of a message, as a list of s, p and o."""


@dataclass(frozen=True)
class Opening:
    """What it takes to open the sources of a job; `given` are DataFrames of the caller."""

    job: Job
    spark: SparkSession
    given: Mapping[str, DataFrame]
    counts: RowCounts
    rejected: Rejected | None
    live: bool

    def count(self, extent: Extent) -> CountRead:
        """What counts the rows that a scan of a source gives; a batch counts none."""
        return self.counts.scan(extent.name) if self.live else uncounted

    def own(self, extent: Extent) -> DataFrame | None:
        """The DataFrame that the caller gave for a stream."""
        own = self.given.get(extent.name)
        if own is not None and own.isStreaming != self.live:
            raise UsageError(f"the source of {extent.name} is not a stream, while others are")
        return own


def open_statements(
    opening: Opening, extents: Sequence[RdfExtent]
) -> tuple[dict[str, DataFrame], dict[str, DataFrame]]:
    """The streams and the graphs of some extents as source frames.

    A stream that the plan matches by messages is there as messages, too.
    """
    live, calendar = opening.live, opening.job.catalog.calendar
    by_message = {node.extent for node in walk(opening.job.plan) if isinstance(node, Read)}
    arriving = [(extent, _arriving(opening, extent)) for extent in extents if extent.is_stream]
    filed = any(_of_files(frame) for _, frame in arriving)
    streams: dict[str, DataFrame] = {}
    for extent, arrived in arriving:
        own = arrived.where(F.col(DEAD).isNull()) if DEAD in arrived.columns and not live else arrived
        each = _statements(own) if MESSAGES in own.columns else own
        streams[extent.name] = _stream(extent, each, calendar, live=live, filed=filed)
        if messages(extent.name) in by_message:
            streams[messages(extent.name)] = _messages(extent, own, calendar, live=live)
    if extents:
        allow_depth(opening.spark)
    return streams, {extent.name: _graph(opening, extent) for extent in extents if not extent.is_stream}


def _arriving(opening: Opening, extent: RdfExtent) -> DataFrame:
    """A stream as it was given, or as the catalog has it; of a batch, `rejected` keeps what could not be read."""
    count, rejected, job = opening.count(extent), opening.rejected, opening.job
    own = opening.own(extent)
    if own is not None:
        return count(own, _statement_count(own))
    lose, kept = job.options.may_lose, job.options.checkpoint
    found = open_stream(
        opening.spark, extent, job.catalog, live=opening.live, may_lose=lose, checkpoint=kept, count=count
    )
    return found if opening.live or rejected is None else rejected.keep(found, extent.name)


def several(plan: Physical, names: Collection[str]) -> list[str]:
    """Which of some streams are read by several nodes."""
    found = Counter(node.extent for node in walk(plan) if isinstance(node, Read) and node.extent in names)
    return [name for name, count in found.items() if count > 1]


def _statement_count(frame: DataFrame) -> Column:
    """How many statements a row of a given frame holds; a message that was rejected counts as one."""
    if MESSAGES not in frame.columns:
        return F.lit(1)
    rejected = F.col(DEAD).isNotNull() if DEAD in frame.columns else F.lit(False)
    return F.when(rejected, F.lit(1)).otherwise(F.coalesce(F.size(MESSAGES), F.lit(0)))


def _columns(extent: RdfExtent, frame: DataFrame) -> list[Column]:
    for name in TERMS:
        if name not in frame.columns or frame.schema[name].dataType.typeName() != "string":
            raise UsageError(
                f"the DataFrame for {extent.name} has no column {name} of text",
                hint="give subject, predicate and object as s, p and o, spelled as in N-Triples",
            )
    return [F.col(name).alias(f"c{place}") for place, name in enumerate(TERMS)]


def _stream(extent: RdfExtent, frame: DataFrame, calendar: Calendar, *, live: bool, filed: bool) -> DataFrame:
    """The statements of a stream with their ticks; `o` is what puts those of one tick in order (E1).

    Where one stream comes from files, `o` of all is of its type, so that they can be merged.
    """
    refuse_watermark(extent, frame)
    cells = _columns(extent, frame)
    if _of_files(frame):
        position = F.struct(*(F.col(name).alias(word) for name, word in zip(WHERE, _WORDS)))
    else:
        found = position_of(extent, frame)
        position = F.lit(None).cast("long") if found is None else found.cast("long")
        cells_of = (F.lit(0), F.lit(""), position)
        position = F.struct(*(c.alias(word) for c, word in zip(cells_of, _WORDS))) if filed else position
    order = F.struct(position.alias("at"), *cells).alias("o")
    told = _told(frame) if live else []
    return frame.select(_tick(extent, frame, calendar).alias("t"), *cells, order, *told)


def _of_files(frame: DataFrame) -> bool:
    """Whether a frame says where in which file its statements stand."""
    return set(WHERE) <= set(frame.columns)


def _told(frame: DataFrame) -> list[Column]:
    """What a live frame says besides statements: why a message gave none."""
    return [F.col(DEAD), F.lit(False).alias("beat")] if DEAD in frame.columns else []


def _statements(frame: DataFrame) -> DataFrame:
    """Messages as their statements, in their order."""
    if _of_files(frame):
        row = WHERE[-1]
        told = [quoted(name) for name in frame.columns if name not in (MESSAGES, row)]
        each = frame.select(*told, F.explode_outer(MESSAGES).alias("one"))
        return each.select(*told, F.col("one.row").alias(row), *(F.col(f"one.{name}").alias(name) for name in TERMS))
    others = [name for name in frame.columns if name != MESSAGES]
    rows = frame.select(*others, F.posexplode(MESSAGES).alias("at", "one"))
    return rows.select(
        *(name for name in others if name != POSITION),
        F.col("at").cast("long").alias(POSITION),
        *(F.col(f"one.{name}").alias(name) for name in TERMS),
    )


def _messages(extent: RdfExtent, frame: DataFrame, calendar: Calendar, *, live: bool) -> DataFrame:
    """The messages of a stream with their ticks: `c0` is the list of their statements, of `s`, `p` and `o` each."""
    tick = _tick(extent, frame, calendar).alias("t")
    if MESSAGES in frame.columns:
        told = [*_told(frame), F.coalesce(F.size(MESSAGES), F.lit(0)).alias(ROWS)] if live else []
        return frame.select(tick, F.col(MESSAGES).alias("c0"), *told)
    if live:
        raise UsageError(
            f"the DataFrame for {extent.name} has no column {MESSAGES}, and its subjects are local",
            hint="give messages: a list of s, p and o in each row; or leave out `subjects` in the catalog",
        )
    _columns(extent, frame)
    each = frame.select(tick, *TERMS).groupBy("t", "s")
    return each.agg(F.collect_list(F.struct(*TERMS)).alias("c0")).drop("s")


def _tick(extent: RdfExtent, frame: DataFrame, calendar: Calendar) -> Column:
    """The tick of a statement; a message that was rejected has none."""
    tick = tick_of(extent, frame, calendar)
    return F.when(F.col(DEAD).isNull(), tick) if DEAD in frame.columns else tick


def _graph(opening: Opening, extent: RdfExtent) -> DataFrame:
    """The statements of a stored graph."""
    frame = opening.given.get(extent.name)
    if frame is None:
        frame = statements(opening.spark, open_graph(extent, opening.job.catalog.folder))
    elif frame.isStreaming:
        raise UsageError(f"the DataFrame for {extent.name} is a stream, and a graph is stored")
    return frame.select(*_columns(extent, frame))


def statements(spark: SparkSession, triples: Iterable[Triple]) -> DataFrame:
    """Statements as a DataFrame of s, p and o."""
    rows = [(str(one.subject), str(one.predicate), str(one.object)) for one in triples]
    columns = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(TERMS)}
    return spark.createDataFrame(pa.table(columns))
