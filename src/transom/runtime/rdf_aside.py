"""The messages of a replay that could not be read: each file is read once, and what it held is kept for the answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.catalog import Catalog
from transom.catalog.rdf import RdfExtent
from transom.connectors.rdf_spark_files import open_stream, with_reason


@dataclass(frozen=True)
class Broken:
    """Messages of one stream that were set aside: how many by reason, and where the first stands and why."""

    counts: dict[str, int]
    first: str


class SetAside:
    """What was set aside, by stream."""

    def __init__(self) -> None:
        self._frames: dict[str, DataFrame] = {}
        self.seen: dict[str, Broken] = {}
        """What `broken` found last."""

    def open(
        self, spark: SparkSession, catalog: Catalog, reads: Iterable[RdfExtent], given: Iterable[str]
    ) -> dict[str, DataFrame]:
        """The streams that nobody gave, read from the files of the catalog and kept."""
        taken = set(given)
        for extent in reads:
            if extent.is_stream and extent.name not in taken:
                self._frames[extent.name] = open_stream(spark, extent, catalog, live=False).persist()
        return dict(self._frames)

    def broken(self) -> dict[str, Broken]:
        """What was set aside of each stream that has any."""
        found: dict[str, Broken] = {}
        for name, frame in self._frames.items():
            dead = frame.where(F.col("dead").isNotNull())
            counts = {row["dead"]: row["count"] for row in dead.groupBy("dead").count().collect()}
            if counts:
                first = with_reason(frame).first()
                found[name] = Broken(dict(sorted(counts.items())), f"{first['at']}: {first['words']}")
        self.seen = found
        return found

    def forget(self) -> None:
        """Let go of what was kept; the answer must have been computed."""
        for frame in self._frames.values():
            frame.unpersist()
        self._frames = {}
