"""Open the writer of a log, which is either a folder or a Kafka topic."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from transom.catalog.extent import Extent
from transom.catalog.servers import KafkaTopic, LogLocation
from transom.connectors.log.read import log_folder
from transom.connectors.log.segments import SegmentLog
from transom.connectors.log.topic_writer import TopicLog

LogWriter: TypeAlias = SegmentLog | TopicLog


def open_log(
    location: LogLocation, catalog_folder: Path | None, extent: Extent, *, segment_interval_seconds: float
) -> LogWriter:
    """Open a source's log for writing, with pauses between segments of a folder; UsageError if another writer has it.

    `segment_interval_seconds` is the minimum number of seconds between two segments of a folder.
    """
    if isinstance(location, KafkaTopic):
        return TopicLog(location, extent)
    return SegmentLog(log_folder(location, catalog_folder), extent, segment_interval_seconds=segment_interval_seconds)
