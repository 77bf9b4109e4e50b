"""The one writer of a log, wherever the log is."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from transom.catalog.extents import Extent
from transom.catalog.servers import Place, Topic
from transom.connectors.log.read import log_folder
from transom.connectors.log.segments import Log
from transom.connectors.log.topic_writer import TopicLog

Writer: TypeAlias = Log | TopicLog


def open_log(place: Place, folder: Path | None, extent: Extent, *, apart: float) -> Writer:
    """The writer of an extent's log; `apart` are the seconds between two segments of a folder."""
    if isinstance(place, Topic):
        return TopicLog(place, extent)
    return Log(log_folder(place, folder), extent, apart=apart)
