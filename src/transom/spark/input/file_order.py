"""Warnings about the order in which Spark reads the files of a user's stream.

Spark orders files by modification time, and does not order files with the same one (a folder that was copied at once).
With a limit on files per micro-batch, rows of a later micro-batch can then be late. Streams of the catalog have no such
limit: all files that are listed together form one micro-batch, in which no row is late.
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


def warn_of_file_order(frames: Mapping[str, Any]) -> None:
    """Warn if file streams may be read out of time order, which makes rows late; `frames` are by source name."""
    for name, frame in frames.items():
        for options in _file_sources(frame):
            limit = next((option for option in options if option.lower() in LIMITS), None)
            lowered = {option.lower(): value for option, value in options.items()}
            if lowered.get("latestfirst", "").lower() == "true":
                problem = f"{name} reads its newest files first (latestFirst), so the rows of older files are late"
                warnings.warn(QueryWarning(f"{problem}; leave latestFirst out"), stacklevel=4)
            elif limit is not None and (shared := count_shared_mtimes(lowered.get("path", ""))):
                problem = (
                    f"{shared} files of {name} have the same modification time as another, so with {limit} Spark takes "
                    "them in any order, and rows become late"
                )
                remedy = f"leave {limit} out, or give the files modification times in the order of their rows"
                warnings.warn(QueryWarning(f"{problem}; {remedy}"), stacklevel=4)


def count_shared_mtimes(path: str) -> int:
    """Count the local files below a path or glob that share their modification time, in ms, with another file."""
    plain = unquote(path.removeprefix("file://").removeprefix("file:"))
    if "://" in plain or not plain:
        return 0
    instants: Counter[int] = Counter()
    for path_match in glob(plain):
        files = [os.path.join(folder, name) for folder, _, names in os.walk(path_match) for name in names]
        for file in files if os.path.isdir(path_match) else [path_match]:
            if not os.path.basename(file).startswith((".", "_")):
                instants[os.stat(file).st_mtime_ns // 1_000_000] += 1
    return sum(count for count in instants.values() if count > 1)


def _file_sources(frame: Any) -> list[dict[str, str]]:
    """Return the options of each streaming file source in a frame; an empty list without access to the JVM."""
    if getattr(frame, "_jdf", None) is None:
        return []
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    sources = []
    for n in range(leaves.size()):
        leaf = leaves.apply(n)
        if leaf.getClass().getSimpleName() == "StreamingRelation":
            options = leaf.dataSource().options()
            pairs = options.toSeq()
            sources.append({pairs.apply(m)._1(): str(pairs.apply(m)._2()) for m in range(pairs.size())})
    return sources
