"""What is no row of a topic, put aside while a query runs: streams of their own, exactly once into Parquet files.

Whether a message is a row depends on that message alone, so these streams see the same as the query, whatever their
micro-batches are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from transom.catalog.extents import Catalog, Extent
from transom.catalog.servers import Kafka
from transom.connectors.kafka.spark import dead


class Aside:
    """The streams of dead letters of one query."""

    def __init__(self, streams: Sequence[Any]) -> None:
        self.streams = streams

    @staticmethod
    def start(
        spark: SparkSession,
        catalog: Catalog,
        reads: Sequence[Extent],
        given: Mapping[str, Any],
        checkpoint: Path,
        *,
        once: bool,
    ) -> Aside:
        """Start one for each topic whose source names a folder for it."""
        streams = []
        for extent in reads:
            source = extent.source
            if not isinstance(source, Kafka) or source.dead is None or extent.name in given:
                continue
            place = ((catalog.folder or Path()) / source.dead).absolute()
            writer = dead(spark, extent, source, catalog.calendar).writeStream.format("parquet")
            writer = writer.option("path", str(place))
            writer = writer.option("checkpointLocation", str(checkpoint / f"dead-{extent.name}"))
            if once:
                writer = writer.trigger(availableNow=True)
            streams.append(writer.start())
        return Aside(streams)

    def finish(self) -> None:
        """Take all that is there."""
        for stream in self.streams:
            stream.processAllAvailable()

    def check(self) -> None:
        """Raise the error that one of them ended with, if any."""
        for stream in self.streams:
            if stream.exception() is not None:
                raise stream.exception()

    def stop(self) -> None:
        """End them between two micro-batches."""
        for stream in self.streams:
            stream.stop()
