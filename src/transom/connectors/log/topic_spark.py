"""A log that is a topic of Kafka, on Spark: by Spark's own connector and its own reader of JSON."""

from __future__ import annotations

import json

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transom.catalog.extents import Extent
from transom.catalog.servers import Topic
from transom.connectors.kafka.client import check_access
from transom.connectors.kafka.settings import java_settings
from transom.connectors.kafka.spark import loaded
from transom.connectors.log.topic import PARTITION
from transom.model.types import Type
from transom.spark.types import spark_type

_MOST = 250_000  # messages that one task reads


def entries(spark: SparkSession, extent: Extent, place: Topic, *, live: bool) -> DataFrame:
    """The entries that are committed, with the columns that the segments of a folder have."""
    check_access(place, str(place), place.topic)
    options = {f"kafka.{name}": value for name, value in java_settings(place).items()}
    options |= {
        "kafka.isolation.level": "read_committed",
        "assign": json.dumps({place.topic: [PARTITION]}),
        "startingOffsets": "earliest",
        "maxRecordsPerPartition": str(_MOST),
    }
    raw = loaded((spark.readStream if live else spark.read).format("kafka").options(**options))
    shape = T.StructType().add("_seq", "long").add("_kind", "string").add("_tick", "long").add("_reason", "string")
    for attribute in extent.schema:
        instant = attribute.type is Type.TIMESTAMP
        shape = shape.add(attribute.name, T.StringType() if instant else spark_type(attribute.type))
    entry = F.from_json(F.col("value").cast("string"), shape, {"mode": "FAILFAST"})
    own = [F.col(f"e.{name}") for name in ("_seq", "_kind", "_tick", "_reason")]
    cells = [F.col(f"e.`{a.name}`").cast(spark_type(a.type)).alias(a.name) for a in extent.schema]
    return raw.select(entry.alias("e")).select(*own, *cells)
