"""Decode Avro records on Spark with its Avro reader, which needs a separate jar."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transom.catalog.avro import TIMESTAMP_UNITS, RecordField, RecordSchema
from transom.catalog.servers import Kafka
from transom.connectors.payloads import MAX_MESSAGE_BYTES
from transom.errors import UsageError
from transom.model.reject_reason import RejectReason
from transom.spark.expressions.types import timestamp_from_micros

_KINDS: dict[str, T.DataType] = {
    "boolean": T.BooleanType(),
    "int": T.IntegerType(),
    "long": T.LongType(),
    "float": T.FloatType(),
    "double": T.DoubleType(),
    "string": T.StringType(),
    "enum": T.StringType(),
}
"""The Spark type of each Avro type."""

RejectConditions: TypeAlias = list[tuple[Column, RejectReason]]
"""Conditions that reject a message, in the order of the plain reader."""


@dataclass(frozen=True)
class ParsedValues:
    """Messages with parsed payloads: reject conditions, and a function to a field's column and type.

    `unfit` are conditions under which a single value does not fit its type.
    """

    frame: DataFrame
    wrong: RejectConditions
    find: Callable[[str], tuple[Column, T.DataType]]
    unfit: list[Column] = field(default_factory=list)


def parse_avro(raw: DataFrame, source: Kafka) -> ParsedValues:
    """Decode the column `value` of Kafka messages as Avro; raise UsageError if Spark's Avro jar is missing.

    For an invalid record, Spark returns a record of NULLs. A wrapper record, which adds no bytes, distinguishes it from
    a valid record without values.
    """
    record = RecordSchema(source.schema or "")
    record_schema = json.loads(record.plain(decimals=True))
    schema = json.dumps({"type": "record", "name": "transom_one", "fields": [{"name": "r", "type": record_schema}]})
    payload = F.when(F.length("value") <= F.lit(MAX_MESSAGE_BYTES), F.col("value"))
    permissive = F.create_map(F.lit("mode"), F.lit("PERMISSIVE"))
    try:
        raw = raw.select("*", F.call_function("from_avro", payload, F.lit(schema), permissive).alias("avro"))
        conditions: RejectConditions = [(F.col("avro").isNull() | F.col("avro.r").isNull(), RejectReason.AVRO)]
        raw.schema  # noqa: B018 - Spark Connect resolves the function only here
    except Exception as error:
        if "AVRO_NOT_LOADED" not in str(error):
            raise
        from pyspark import __version__

        jar = f"org.apache.spark:spark-avro_2.13:{__version__}"
        raise UsageError("Spark has no reader for Avro", hint=f"start it with --packages {jar}") from error
    named = dict.fromkeys([path for _, path in source.fields] + ([] if source.time is None else [source.time]))
    leaves = {path: record.leaf(path) for path in named}
    conditions += [
        (~F.is_valid_utf8(_field_column(leaf)), RejectReason.BYTES) for leaf in leaves.values() if leaf.kind == "string"
    ]

    def find_field(path: str) -> tuple[Column, T.DataType]:
        """Return the Spark column and type of the field at a path such as `body.temp` in the Avro record."""
        leaf = leaves[path]
        if leaf.kind in TIMESTAMP_UNITS:
            return _instant(leaf), T.TimestampType()
        return _field_column(leaf), _KINDS.get(leaf.kind) or T.DecimalType(leaf.precision, leaf.scale)

    instants = [leaves[path] for _, path in source.fields if leaves[path].kind in TIMESTAMP_UNITS]
    unfit = [_field_column(leaf).isNotNull() & _instant(leaf).isNull() for leaf in instants]
    return ParsedValues(raw, conditions, find_field, unfit)


def _field_column(leaf: RecordField) -> Column:
    """Return the column of a (nested) field in an Avro record; NULL if a parent is NULL or an array too short."""
    column = F.col("avro.r")
    for step, name in leaf.steps:
        if step == "field":
            column = column[name]
        else:
            column = F.get(column, F.lit(int(name))) if step == "item" else F.try_element_at(column, F.lit(name))
    return column


def _instant(leaf: RecordField) -> Column:
    """Return the timestamp column of an Avro field with a logical timestamp type; NULL outside the years 1 to 9999."""
    return timestamp_from_micros(F.try_multiply(_field_column(leaf).cast("long"), F.lit(TIMESTAMP_UNITS[leaf.kind])))
