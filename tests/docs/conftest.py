"""The one Spark session that all pages share, in the folder of the page that runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.spark.conftest import spark  # noqa: F401 - a fixture

ZONE = "spark.sql.session.timeZone"


@pytest.fixture
def spark_here(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # noqa: F811 - that fixture
    """Paths that a page writes are relative to its folder, for Spark too, and instants are shown in UTC.

    A JVM has the folder in which it was started, and here it serves many pages.
    """
    from transom.runtime import start
    from transom.runtime.sinks.sink import Sink

    jvm = spark._jvm
    files = jvm.org.apache.hadoop.fs.FileSystem.getLocal(spark._jsc.hadoopConfiguration())
    before, zone = files.getWorkingDirectory(), spark.conf.get(ZONE)
    files.setWorkingDirectory(jvm.org.apache.hadoop.fs.Path(str(tmp_path)))
    spark.conf.set(ZONE, "UTC")
    read, begin = Sink.read, start.start_query

    def read_here(text: str) -> Sink:
        sink = read(text)
        return sink if sink.folder is None else replace(sink, folder=str(tmp_path / sink.folder))

    def begin_here(job: Any, session: Any, sources: Any = None) -> Any:
        options = replace(job.options, checkpoint=tmp_path / job.options.checkpoint)
        return begin(replace(job, options=options), session, sources)

    monkeypatch.setattr(Sink, "read", staticmethod(read_here))
    monkeypatch.setattr(start, "start_query", begin_here)
    yield
    spark.conf.set(ZONE, zone)
    files.setWorkingDirectory(before)
