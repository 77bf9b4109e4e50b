"""Read a log that is a Kafka topic on Spark, with Spark's Kafka connector and JSON parser."""

from __future__ import annotations

import json

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transom.catalog.extent import Extent
from transom.catalog.servers import KafkaTopic
from transom.connectors.kafka.client import check_access
from transom.connectors.kafka.settings import java_settings
from transom.connectors.kafka.spark import load_kafka
from transom.connectors.log.topic import PARTITION
from transom.model.types import Type
from transom.spark.expressions.types import spark_type

_MOST = 250_000  # maximum messages per task


def topic_records_frame(spark: SparkSession, extent: Extent, location: KafkaTopic, *, live: bool) -> DataFrame:
    """Read a Kafka log's committed entries (number, kind, tick, reject reason, attributes), streaming if `live`.

    It has the columns of a log's segments.
    """
    check_access(location, str(location), location.topic)
    options = {f"kafka.{name}": value for name, value in java_settings(location).items()}
    options |= {
        "kafka.isolation.level": "read_committed",
        "assign": json.dumps({location.topic: [PARTITION]}),
        "startingOffsets": "earliest",
        "maxRecordsPerPartition": str(_MOST),
    }
    raw = load_kafka((spark.readStream if live else spark.read).format("kafka").options(**options))
    schema = T.StructType().add("_seq", "long").add("_kind", "string").add("_tick", "long").add("_reason", "string")
    for attribute in extent.schema:
        instant = attribute.type is Type.TIMESTAMP
        schema = schema.add(attribute.name, T.StringType() if instant else spark_type(attribute.type))
    entry = F.from_json(F.col("value").cast("string"), schema, {"mode": "FAILFAST"})
    log_columns = [F.col(f"entry.{name}") for name in ("_seq", "_kind", "_tick", "_reason")]
    cells = [F.col(f"entry.`{a.name}`").cast(spark_type(a.type)).alias(a.name) for a in extent.schema]
    return raw.select(entry.alias("entry")).select(*log_columns, *cells)
