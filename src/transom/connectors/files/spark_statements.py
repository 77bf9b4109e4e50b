"""Files of statements on Spark: each is read whole, by one task and by the plain reader.

Wherever Spark works, the files must be there under the same paths.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial, reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.extents import Extent
from transom.catalog.sources import Files
from transom.connectors.files.paths import find_files
from transom.connectors.files.spark import FileJob, file_parts, file_path, load_files
from transom.connectors.files.statements import read_graph, statements_of_file
from transom.connectors.rdf_spark import Part, decoded
from transom.model.rdf.answer import Aside
from transom.model.time import Calendar
from transom.spark.balance import CountRead, uncounted
from transom.spark.statements import statement_table


def stream(
    spark: SparkSession,
    extent: Extent,
    source: Files,
    calendar: Calendar,
    folder: Path | None,
    *,
    live: bool,
    files_per_batch: int | None = None,
    count: CountRead = uncounted,
) -> DataFrame:
    """The statements of a stream from its files, as `decoded` gives them."""
    far = [pattern for pattern in source.paths if "://" in pattern]
    found = find_files(far or source.paths, folder, extent.name) if far or not live else ()
    called = {os.path.abspath(path): path for path in found}
    job = FileJob(spark, extent, calendar, source, None, False, live, files_per_batch=files_per_batch)
    frames = [
        load_files(job, part, "binaryFile").select(F.lit(part.place).alias("place"), file_path())
        for part in file_parts(job, [(pattern, None) for pattern in source.paths], folder)
    ]
    paths = reduce(DataFrame.union, frames)
    return decoded(paths, extent, partial(_read, extent, source, calendar, called), count=count)


def table(spark: SparkSession, extent: Extent, source: Files, folder: Path | None) -> DataFrame:
    """The statements of a stored graph: `c0`, `c1` and `c2`."""
    [version] = read_graph(extent, source, folder)
    return statement_table(spark, version.rows)


def _read(extent: Extent, source: Files, calendar: Calendar, called: Mapping[str, str], entry: dict[str, Any]) -> Part:
    """What one file gives; messages that gave nothing are called as people call their file."""
    path = str(entry["f"]).removeprefix("file:")
    path = f"/{path.lstrip('/')}"
    rejected: list[Aside] = []
    source_rows = statements_of_file(extent, source, path, calendar, rejected)
    statements = [(given.tick, given.row) for given in source_rows]
    own = called.get(path, path)
    named = [Aside(own + one.place.removeprefix(path), one.reason, one.words, one.payload) for one in rejected]
    return Part(entry["place"], path, 0, statements, named)  # type: ignore[arg-type]
