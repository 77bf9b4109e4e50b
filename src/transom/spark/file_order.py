"""The order in which Spark takes the files of a stream that a user gives.

Spark orders files by the time of their last change, and files of one instant (a folder that was copied at once) not at
all. With a limit on files per micro-batch, a later micro-batch then has rows that are late. Streams of the catalog
have no such limit: all files that are found together are one micro-batch, in which no row is late.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Mapping
from glob import glob
from typing import Any
from urllib.parse import unquote

from transom.errors import QueryWarning

LIMITS = ("maxfilespertrigger", "maxbytespertrigger")


def warn_of_file_order(given: Mapping[str, Any]) -> None:
    """Warn of streams of files that come in micro-batches in no order of time."""
    for name, frame in given.items():
        for options in _file_sources(frame):
            limit = next((option for option in options if option.lower() in LIMITS), None)
            lowered = {option.lower(): value for option, value in options.items()}
            if lowered.get("latestfirst", "").lower() == "true":
                words = f"{name} reads its newest files first (latestFirst), so the rows of older files are late"
                warnings.warn(QueryWarning(f"{words}; leave latestFirst out"), stacklevel=4)
            elif limit is not None and (shared := shared_instants(lowered.get("path", ""))):
                words = (
                    f"{shared} files of {name} have the same modification time as another, so with {limit} Spark takes "
                    "them in any order, and rows become late"
                )
                remedy = f"leave {limit} out, or give the files modification times in the order of their rows"
                warnings.warn(QueryWarning(f"{words}; {remedy}"), stacklevel=4)


def shared_instants(path: str) -> int:
    """How many local files below a path or a pattern share the millisecond of their last change with another."""
    plain = unquote(path.removeprefix("file://").removeprefix("file:"))
    if "://" in plain or not plain:
        return 0
    instants: Counter[int] = Counter()
    for found in glob(plain):
        files = [os.path.join(folder, name) for folder, _, names in os.walk(found) for name in names]
        for file in files if os.path.isdir(found) else [found]:
            if not os.path.basename(file).startswith((".", "_")):
                instants[os.stat(file).st_mtime_ns // 1_000_000] += 1
    return sum(count for count in instants.values() if count > 1)


def _file_sources(frame: Any) -> list[dict[str, str]]:
    """The options of the streams of files in a frame; none where no JVM is at hand."""
    if getattr(frame, "_jdf", None) is None:
        return []
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    found = []
    for place in range(leaves.size()):
        leaf = leaves.apply(place)
        if leaf.getClass().getSimpleName() == "StreamingRelation":
            options = leaf.dataSource().options()
            pairs = options.toSeq()
            found.append({pairs.apply(n)._1(): str(pairs.apply(n)._2()) for n in range(pairs.size())})
    return found
