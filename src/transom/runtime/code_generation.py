"""Spark's code generation: off while a run has few rows to read, on as soon as a micro-batch has many.

Spark writes, compiles and loads a Java class for each stage of a plan. Over ten triples, this took a third of the time
from the start of a query to its last answer.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from glob import glob
from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from transom.spark.input.clock import ClockSource
from transom.spark.stateful.kernel import KERNEL_CLOCK, has_jvm

WITHOUT_GENERATED_CODE = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""The settings of a query that runs without generated code."""
MAX_BYTES_AT_START = 1 << 20
"""The most bytes that the sources of a run may hold, so that it starts without generated code."""
MAX_ROWS = 10_000
"""A micro-batch with more rows turns code generation on."""
CLOCKS = (KERNEL_CLOCK, ClockSource.name())
"""The names by which Spark knows the clocks of a plan, which read nothing."""


class CodeGeneration:
    """Whether a run starts without generated code, and the switch that turns code generation on for it."""

    def __init__(self, spark: SparkSession, frame: DataFrame) -> None:
        """Decide to run `frame` without generated code if sources hold few bytes and the session has no own setting.

        A session in which one of the settings is set keeps its choice.
        """
        chosen = [name for name in WITHOUT_GENERATED_CODE if _is_set(spark, name)]
        self._is_off = has_jvm(spark) and not chosen and reads_few_bytes(frame)
        self._defaults = {name: spark.conf.get(name) for name in WITHOUT_GENERATED_CODE} if self._is_off else {}

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of Spark with which the run starts."""
        return WITHOUT_GENERATED_CODE if self._is_off else {}

    def adapt(self, stream: Any, report: Mapping[str, Any]) -> None:
        """Turn code generation on for the next micro-batches of `stream` if this one, by its report, had many rows."""
        if self._is_off and report["numInputRows"] > MAX_ROWS:
            session = stream._jsq.streamingQuery().lastExecution().sparkSession()
            for name, value in self._defaults.items():
                session.conf().set(name, value)
            self._is_off = False


def _is_set(spark: SparkSession, name: str) -> bool:
    """Whether a session has its own value for the setting `name`, instead of Spark's default."""
    return has_jvm(spark) and bool(spark._jsparkSession.sessionState().conf().contains(name))


def reads_few_bytes(frame: DataFrame) -> bool:
    """Whether all sources of a frame are local files or tables in memory that together hold few bytes.

    The clock of a query counts as empty. Of brokers, databases and other sources, the size is not known.
    """
    total = 0
    for size in _source_sizes(frame):
        total += MAX_BYTES_AT_START + 1 if size is None else size
        if total > MAX_BYTES_AT_START:
            return False
    return True


def _source_sizes(frame: DataFrame) -> Iterator[int | None]:
    """Yield the size in bytes of each distinct source that a frame reads; None if it is not known."""
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    paths: set[str] = set()
    for index in range(leaves.size()):
        leaf = leaves.apply(index)
        kind = leaf.getClass().getSimpleName()
        if kind == "StreamingRelation":
            options = leaf.dataSource().options()
            path = options.get("path")
            paths.add(str(path.get()) if path.isDefined() else "")
        elif kind == "StreamingRelationV2":
            yield 0 if leaf.sourceName() in CLOCKS else None
        else:
            yield int(str(leaf.stats().sizeInBytes()))
    for path in paths:
        yield local_bytes(path)


def local_bytes(path: str) -> int | None:
    """Return the bytes of the local files below a path or glob, without hidden files; None if it is not local."""
    plain = unquote(path.removeprefix("file://").removeprefix("file:"))
    if "://" in plain or not plain:
        return None
    total = 0
    for match in glob(plain):
        below = [os.path.join(folder, name) for folder, _, names in os.walk(match) for name in names]
        for file in below if os.path.isdir(match) else [match]:
            if not os.path.basename(file).startswith((".", "_")):
                with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                    total += os.stat(file).st_size
    return total
