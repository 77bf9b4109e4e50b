"""Trigger.AvailableNow for our Python sources.

A query with this trigger reads what is there in as many micro-batches as it takes, then runs micro-batches without data
until its watermark closes no further tick. If one source does not support the trigger, Spark runs a single micro-batch
instead: the ticks that this micro-batch closes are answered by the next run only.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource

__all__ = ["SupportsTriggerAvailableNow", "register"]

WRAPPER = "spark.sql.streaming.triggerAvailableNowWrapper.enabled"
"""Spark's switch that lets it pin the end of sources which do not support the trigger themselves."""

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

    SUPPORTED = True
else:
    try:
        from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

        SUPPORTED = True
    except ImportError:  # Spark 4.1 has no such interface for sources in Python

        class SupportsTriggerAvailableNow:
            """Stands in for the interface of Spark 4.2."""

        SUPPORTED = False

_LOCK = Lock()
_REGISTERED: WeakKeyDictionary[SparkSession, set[type[DataSource]]] = WeakKeyDictionary()


def register(spark: SparkSession, source: type[DataSource]) -> None:
    """Register a source whose stream reader supports the trigger.

    Each session registers it once: Spark fails with DATA_SOURCE_ALREADY_EXISTS now and then if several threads do so.
    On Spark 4.1 the session is told to wrap it. The wrapper asks for the latest offset once, when the query starts,
    which is what the readers do themselves on later versions.
    """
    with _LOCK:
        known = _REGISTERED.setdefault(spark, set())
        if source not in known:
            spark.dataSource.register(source)
            known.add(source)
    if not SUPPORTED:
        spark.conf.set(WRAPPER, "true")
