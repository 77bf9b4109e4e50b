"""Trigger.AvailableNow for data sources in Python.

A query with this trigger reads the available data in as many micro-batches as it takes, then runs micro-batches without
data until its watermark closes no further tick. If one source does not support the trigger, Spark runs a single
micro-batch instead: only the next run then emits the results of the ticks that this micro-batch closes.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource

__all__ = ["SupportsTriggerAvailableNow", "register"]

WRAPPER = "spark.sql.streaming.triggerAvailableNowWrapper.enabled"
"""Spark's setting that wraps sources without support for the trigger, and pins their end offset."""

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

    SUPPORTED = True
else:
    try:
        from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

        SUPPORTED = True
    except ImportError:  # Spark 4.1 has no such interface for sources in Python

        class SupportsTriggerAvailableNow:
            """Placeholder for the interface of Spark 4.2."""

        SUPPORTED = False

_LOCK = Lock()
_REGISTERED: WeakKeyDictionary[SparkSession, set[type[DataSource]]] = WeakKeyDictionary()


def register(spark: SparkSession, source: type[DataSource]) -> None:
    """Register a Python data source in a session, unless it is registered, and enable Trigger.AvailableNow.

    Spark sometimes fails with DATA_SOURCE_ALREADY_EXISTS if several threads register the same source. On Spark 4.1 the
    session is set to wrap sources. The wrapper asks for the latest offset once, when the query starts; on later
    versions the readers do so themselves.
    """
    with _LOCK:
        registered = _REGISTERED.setdefault(spark, set())
        if source not in registered:
            spark.dataSource.register(source)
            registered.add(source)
    if not SUPPORTED:
        spark.conf.set(WRAPPER, "true")
