"""The DataFrame of a query over RDF: statements taken as given or read from files, the plan lowered onto them.

A term is one text, in the canonical spelling of N-Triples; NULL is unbound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.catalog import Catalog
from transom.catalog.rdf import RdfExtent
from transom.connectors.rdf_spark_files import WHERE, open_stream
from transom.connectors.statements import open_graph
from transom.errors import UsageError
from transom.model.rdf.terms import Triple
from transom.model.time import Calendar
from transom.physical.node import Physical
from transom.physical.plan import Form, Read
from transom.physical.rdf_plan import Sequence as Ordered
from transom.physical.rdf_plan import messages
from transom.physical.walk import walk
from transom.runtime.heartbeats import delay_ms, heartbeats
from transom.runtime.job import Job, lateness_of
from transom.runtime.row_sources import Opened, last_tick, open_rows
from transom.spark.balance import RowCounts, uncounted
from transom.spark.columns import quoted, told_apart
from transom.spark.frames import LoweringContext
from transom.spark.given import POSITION, refused
from transom.spark.lower import lower
from transom.spark.marks import DELAY_KEY, TICK, TickTime, div
from transom.spark.session import allow_depth, check_session
from transom.spark.sources import ROWS

Value = TypeVar("Value")
OWN = ("tick", "change", "place", "empty", "start", "end", "n")
_WHOLE = ("byte", "short", "integer", "long")
_WORDS = ("place", "file", "row")
TERMS = ("s", "p", "o")
DEAD = "dead"
"""A column that a DataFrame may have besides: why a row gave no statements."""
MESSAGES = "statements"
"""A column that a DataFrame may have instead of terms: the statements of a message, as a list of s, p and o."""


def rdf_dataframe(
    job: Job, spark: SparkSession, given: Mapping[str, Any] | None, *, live: bool, counts: RowCounts
) -> DataFrame:
    """One DataFrame with the answer, as changes, as sequences, or as what follows from stored graphs alone."""
    plan, catalog, options = job.plan, job.catalog, job.options
    frames = dict(given or {})
    known = catalog.rdf.extents
    for name in frames:
        if name not in known and name not in catalog.extents:
            raise UsageError(f"a source for {name}, which is no stream or graph", hint=f"there is {', '.join(known)}")
    facts = open_statements(job, spark, frames, live=live, counts=counts)
    rows = open_rows(job, spark, frames, live=live, counts=counts)
    end = options.until
    if end is None and not live and job.extents:
        end = max(last_tick(0, rows), last_tick(0, Opened(facts.streams)))
    run = LoweringContext(
        spark,
        catalog.calendar,
        {**rows.streams, **facts.streams},
        {**rows.tables, **facts.tables},
        live,
        0,
        options.until if live else None,  # a replay gives intervals, which are not cut
        {**rows.delays, **facts.delays},
        beats_of(job, spark, rows, facts, frames) if live else {},
        kernel=job.kernel.used,
        shared=shared_in(job, live=live),
        counts=counts,
        lateness=lateness_of(job, live=live),
        settled=rows.settled,
        source_of=messages_of(job),
        rows_until=end,
    )
    check_session(spark, plan, catalog.calendar, live)
    allow_depth(spark)
    return _result(plan, lower(plan, run))


def open_statements(
    job: Job, spark: SparkSession, frames: Mapping[str, Any], *, live: bool, counts: RowCounts
) -> Opened:
    """All streams and graphs of RDF that a job reads."""
    catalog = job.catalog
    streams: dict[str, DataFrame] = {}
    tables: dict[str, DataFrame] = {}
    counter = counts.scan if live else lambda _: uncounted
    arriving = {
        e.name: counter(e.name)(frames[e.name], _statement_count(frames[e.name]))
        if e.name in frames
        else open_stream(spark, e, catalog, live=live, may_lose=job.options.may_lose, count=counter(e.name))
        for e in job.rdf_extents
        if e.is_stream
    }
    filed = any(map(_of_files, arriving.values()))
    for extent in job.rdf_extents:
        if not extent.is_stream:
            tables[extent.name] = _graph(extent, frames.get(extent.name), spark, catalog)
            continue
        own = arriving[extent.name]
        if own.isStreaming != live:
            raise UsageError(f"the source of {extent.name} is not a stream, while others are")
        if DEAD in own.columns and not live:
            own = own.where(F.col(DEAD).isNull())
        each = _statements(own) if MESSAGES in own.columns else own
        streams[extent.name] = _stream(extent, each, catalog.calendar, live=live, filed=filed)
        if any(isinstance(node, Read) and node.extent == messages(extent.name) for node in walk(job.plan)):
            streams[messages(extent.name)] = _messages(extent, own, catalog.calendar, live=live)
    streamed = tuple(extent for extent in job.rdf_extents if extent.is_stream)
    return Opened(streams, tables, streamed, _of_both({e.name: delay_ms(e, catalog.calendar) for e in streamed}))


def beats_of(
    job: Job, spark: SparkSession, rows: Opened, facts: Opened, frames: Mapping[str, Any]
) -> dict[str, DataFrame]:
    """The heartbeats of all sources of a job."""
    own = heartbeats(job, spark, rows.streamed, frames)
    return {**own, **_of_both(heartbeats(job, spark, facts.streamed, frames))}


def shared_in(job: Job, *, live: bool) -> dict[str, DataFrame | None]:
    """The streams of statements that several nodes of a live plan read: each is scanned once."""
    own = {name for extent in job.rdf_extents for name in (extent.name, messages(extent.name))}
    return dict.fromkeys(name for name in _several(job.plan) if name in own) if live else {}


def messages_of(job: Job) -> dict[str, str]:
    """The stream whose messages go by another name."""
    return {messages(extent.name): extent.name for extent in job.rdf_extents}


def _statement_count(frame: DataFrame) -> Column:
    """How many statements a row of a given frame holds; a message that was rejected counts as one."""
    if MESSAGES not in frame.columns:
        return F.lit(1)
    rejected = F.col(DEAD).isNotNull() if DEAD in frame.columns else F.lit(False)
    return F.when(rejected, F.lit(1)).otherwise(F.coalesce(F.size(MESSAGES), F.lit(0)))


def _of_both(found: Mapping[str, Value]) -> dict[str, Value]:
    """What is known of streams, also by the names of their messages."""
    return {**found, **{messages(name): value for name, value in found.items()}}


def _several(plan: Physical) -> list[str]:
    """The streams that are read once for several nodes."""
    found = Counter(node.extent for node in walk(plan) if isinstance(node, Read))
    return [name for name, count in found.items() if count > 1]


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
    if any(DELAY_KEY in (field.metadata or {}) for field in frame.schema):
        raise UsageError(f"the DataFrame for {extent.name} has a watermark already", hint="give it without one")
    cells = _columns(extent, frame)
    if _of_files(frame):
        position = F.struct(*(F.col(name).alias(word) for name, word in zip(WHERE, _WORDS)))
    else:
        position = F.col(POSITION).cast("long") if POSITION in frame.columns else F.lit(None).cast("long")
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
    """The tick of a statement: a whole number as it is, an instant by the calendar (E2)."""
    instants = [field.name for field in frame.schema if field.dataType.typeName() == "timestamp"]
    name = TICK if TICK in frame.columns else instants[0] if len(instants) == 1 else None
    if name is None:
        raise UsageError(
            f"the DataFrame for {extent.name} has no time column", hint="add a column `tick` of numbers or instants"
        )
    kind = frame.schema[name].dataType.typeName()
    if kind in _WHOLE:
        tick = F.col(quoted(name)).cast("long")
    elif kind == "timestamp":
        since = F.unix_micros(F.col(quoted(name))) - F.lit(TickTime(calendar).zero - calendar.length)
        tick = div(since - F.pmod(since, F.lit(calendar.length)), calendar.length)
    else:
        raise UsageError(f"the time column {name} is of type {kind}", hint="use whole numbers or timestamps")
    checked = refused(tick, extent.name)
    return F.when(F.col(DEAD).isNull(), checked) if DEAD in frame.columns else checked


def _graph(extent: RdfExtent, frame: DataFrame | None, spark: SparkSession, catalog: Catalog) -> DataFrame:
    """The statements of a stored graph."""
    if frame is None:
        frame = statements(spark, open_graph(extent, catalog.folder))
    elif frame.isStreaming:
        raise UsageError(f"the DataFrame for {extent.name} is a stream, and a graph is stored")
    return frame.select(*_columns(extent, frame))


def statements(spark: SparkSession, triples: Iterable[Triple]) -> DataFrame:
    """Statements as a DataFrame of s, p and o."""
    rows = [(str(one.subject), str(one.predicate), str(one.object)) for one in triples]
    columns = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(TERMS)}
    return spark.createDataFrame(pa.table(columns))


def names_of(plan: Physical) -> list[str]:
    """The columns of the answer: the variables, and an underscore more where one is called like a column before it.

    Columns of ours come first.
    """
    return told_apart((attribute.name for attribute in plan.schema), OWN)


def _result(plan: Physical, frame: DataFrame) -> DataFrame:
    cells = [F.col(f"c{place}").alias(name) for place, name in enumerate(names_of(plan))]
    if isinstance(plan, Ordered):
        place = [F.col("o").alias("place")]
        if plan.form is Form.TABLE:
            return frame.select(*place, *cells)
        return frame.select(F.col(TICK), (~F.col("p")).alias("empty"), *place, *cells)
    if plan.form is Form.TABLE:
        return frame.select(*cells)
    if "p" in frame.columns:
        frame = frame.where("p")
    return frame.select(F.col(TICK), F.col("n").alias("change"), *cells)
