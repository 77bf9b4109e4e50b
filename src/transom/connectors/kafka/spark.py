"""A topic on Spark, by Spark's own connector: the same ticks and values as the plain reader gives.

A message that is no row stops the query, unless the source names a folder for such messages: then it is counted by
reason and passed over, and a run puts it aside, with the rows that are late.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.streaming import DataStreamReader

from transom.catalog.extents import Extent
from transom.catalog.references import resolved
from transom.catalog.servers import BATCHES, Kafka
from transom.connectors.kafka.aside import Aside
from transom.connectors.payloads import LARGEST
from transom.errors import UsageError
from transom.model.reasons import Reason
from transom.model.time import Calendar
from transom.spark.cells import forms, typed_cell
from transom.spark.cells import tick as tick_of

_VARIANT = T.VariantType()


def stream(
    spark: SparkSession,
    extent: Extent,
    source: Kafka,
    calendar: Calendar,
    *,
    live: bool,
    position: bool,
    aside: Aside | None = None,
) -> DataFrame:
    """The rows of a topic: `t`, `c0`, ..., with `position` also `o`; a live one with `beat` and `dead` where needed."""
    read = _read(spark, extent, source, calendar, live=live)
    if aside is not None:
        read = aside.sifted(read)
    cells = [F.col(f"v{place}").alias(f"c{place}") for place in range(len(extent.schema))]
    more = [F.struct(F.col("partition").alias("p"), F.col("offset").alias("r")).alias("o")] if position else []
    if source.dead is None:
        words = F.concat(
            F.lit(f"{extent.name}: offset "), F.col("offset"), F.lit(" of partition "), F.col("partition"), F.lit(": ")
        )
        failed = F.raise_error(F.concat(words, F.col("reason"))).cast("long")
        return read.select(F.when(F.col("reason").isNotNull(), failed).otherwise(F.col("n")).alias("t"), *cells, *more)
    if not live:
        return read.where(F.col("reason").isNull()).select(F.col("n").alias("t"), *cells, *more)
    return read.select(F.col("n").alias("t"), *cells, *more, F.lit(False).alias("beat"), F.col("reason").alias("dead"))


def _read(spark: SparkSession, extent: Extent, source: Kafka, calendar: Calendar, *, live: bool) -> DataFrame:
    """Messages with their tick `n`, values `v0`, ... and `reason`, NULL where all is well.

    What is named later is small: Spark copies whatever goes from one step to the next.
    """
    raw = _messages(spark, source, live)
    text = F.col("value").cast("string")
    fits = (F.length("value") <= F.lit(LARGEST)) & F.is_valid_utf8(text)
    raw = raw.select("*", F.when(fits, text).alias("text"))
    raw = raw.select("*", _json(F.col("text")).alias("json"))
    cells = [_at(F.col("json"), path).alias(f"r{place}") for place, (_, path) in enumerate(source.fields)]
    timed = source.time is not None
    moment = _at(F.col("json"), source.time).alias("rt") if source.time is not None else F.col("timestamp").alias("rt")
    raw = raw.select("*", *cells, moment, _no_object().alias("why"))
    kinds: dict[str, T.DataType] = {str(place): _VARIANT for place in range(len(source.fields))}
    kinds["t"] = _VARIANT if timed else T.TimestampType()
    formed = {name: forms(F.col(f"r{name}"), kind) for name, kind in kinds.items()}
    missing = [F.col(f"r{place}").isNull().alias(f"m{place}") for place in range(len(source.fields))]
    forms_of = (c.alias(f"r{i}_{name}") for i, found in formed.items() for name, c in found.items())
    raw = raw.select("*", *forms_of, *missing)
    named = {i: {name: F.col(f"r{i}_{name}") for name in found} for i, found in formed.items()}
    values = [typed_cell(F.col(f"r{i}"), named[str(i)], a.type, _VARIANT) for i, a in enumerate(extent.schema)]
    read = raw.select(
        "*",
        tick_of(F.col("rt"), named["t"], kinds["t"], calendar).alias("n"),
        *(cell.value.alias(f"v{i}") for i, cell in enumerate(values)),
        *(cell.present.alias(f"s{i}") for i, cell in enumerate(values)),
    )
    return read.select("*", _reason(len(values)).alias("reason"))


def _no_object() -> Column:
    """Why a message is no JSON object, NULL if it is one, in the order in which the plain reader looks."""
    found = F.when(F.length("value") > F.lit(LARGEST), _said(Reason.SIZE))
    found = found.when(F.col("value").isNotNull() & F.col("text").isNull(), _said(Reason.BYTES))
    found = found.when(F.col("json").isNull(), _said(Reason.TEXT))
    return found.when(~_is_object(F.col("text")), _said(Reason.SHAPE))


def _reason(width: int) -> Column:
    """Why a message is no row, in the same order."""
    found = F.when(F.col("why").isNotNull(), F.col("why"))
    found = found.when(F.col("n").isNull(), _said(Reason.TIME)).when(F.col("n") < 0, _said(Reason.EPOCH))
    for place in range(width):
        found = found.when(F.col(f"m{place}"), _said(Reason.MISSING))
    for place in range(width):
        found = found.when(F.col(f"v{place}").isNull() & F.col(f"s{place}"), _said(Reason.TYPE))
    return found


def _json(text: Column) -> Column:
    """A text as JSON, NULL where it is none.

    Spark would pass over what stands behind it. Behind an object without others in it there is nothing if its first
    brace that closes is the last character; anything else is read as the first of two entries of a list.
    """
    flat = text.startswith("{") & (F.instr(text, "}") == F.length(text))
    both = F.try_parse_json(F.concat(F.lit("["), text, F.lit(",null]")))
    first, second, third = (F.try_variant_get(both, f"$[{place}]", "variant") for place in range(3))
    alone = second.isNotNull() & F.is_variant_null(second) & third.isNull()
    return F.when(flat, F.try_parse_json(text)).otherwise(F.when(alone, first))


def _is_object(text: Column) -> Column:
    """Whether what is known to be JSON is an object; the variant would tell only with all that is in it."""
    return text.startswith("{") | F.ltrim(text, F.lit(" \t\r\n")).startswith("{")


def _said(reason: Reason) -> Column:
    return F.lit(reason.value)


def _at(json: Column, path: str) -> Column:
    """What stands at a path such as `body.temp` or `readings.0`; a key that is there as it is comes first."""

    def found(parts: list[str]) -> Column:
        steps = "".join(f"[{part}]" if part.isdecimal() else f"['{part}']" for part in parts)
        return F.try_variant_get(json, f"${steps}", "variant")

    if "'" in path:
        raise UsageError(f"the field {path} has a quote in its name", hint="read such a topic with to_df")
    whole = F.try_variant_get(json, f"$['{path}']", "variant")
    return F.coalesce(whole, found(path.split("."))) if "." in path else whole


def _messages(spark: SparkSession, source: Kafka, live: bool) -> DataFrame:
    options = {f"kafka.{name}": resolved(value) for name, value in source.options if name not in BATCHES}
    if live:
        options |= {name: value for name, value in source.options if name in BATCHES}
    options |= {"kafka.bootstrap.servers": source.servers, "subscribe": source.topic, "startingOffsets": "earliest"}
    return loaded((spark.readStream if live else spark.read).format("kafka").options(**options))


def loaded(reader: DataFrameReader | DataStreamReader) -> DataFrame:
    """What a reader reads; UsageError says which jar is missing."""
    try:
        return reader.load()
    except Exception as error:
        if "kafka" not in str(error).lower() or "find" not in str(error).lower():
            raise
        from pyspark import __version__

        jar = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{__version__}"
        raise UsageError("Spark has no connector for Kafka", hint=f"start it with --packages {jar}") from error
