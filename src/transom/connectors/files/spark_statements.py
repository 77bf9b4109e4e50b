"""Read RDF files on Spark: one task decodes all of a file with the plain reader.

The files must be available under the same paths on every worker.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial, reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.extent import Extent
from transom.catalog.sources import Files
from transom.connectors.files.paths import find_files
from transom.connectors.files.spark_scan import FILE, FileScan, file_parts, file_path, load_files
from transom.connectors.files.statements import read_graph, statements_of_file
from transom.connectors.rdf.spark import DecodedStatements, decode_statements
from transom.model.rdf.answer import RejectedMessage
from transom.model.time import Calendar
from transom.spark.input.balance import RowCounter, uncounted
from transom.spark.input.statements import statement_table


def stream(
    spark: SparkSession,
    extent: Extent,
    source: Files,
    calendar: Calendar,
    catalog_folder: Path | None,
    *,
    live: bool,
    files_per_batch: int | None = None,
    count_rows: RowCounter = uncounted,
) -> DataFrame:
    """Read the statements of RDF files as a Spark DataFrame, streaming if `live`; `count_rows` counts them.

    Its columns are `tick_number`, the terms `c0` to `c2`, and the `row_order`. `count_rows` counts the rows.
    """
    remote = [pattern for pattern in source.paths if "://" in pattern]
    paths_as_written = find_files(remote or source.paths, catalog_folder, extent.name) if remote or not live else ()
    names_by_path = {os.path.abspath(path): path for path in paths_as_written}
    scan = FileScan(spark, extent, calendar, source, None, False, live, files_per_batch=files_per_batch)
    frames = [
        load_files(scan, part, "binaryFile").select(F.lit(part.pattern_index).alias("part"), file_path())
        for part in file_parts(scan, [(pattern, None) for pattern in source.paths], catalog_folder)
    ]
    paths = reduce(DataFrame.union, frames)
    return decode_statements(
        paths, extent, partial(_read, extent, source, calendar, names_by_path), count_rows=count_rows
    )


def table(spark: SparkSession, extent: Extent, source: Files, catalog_folder: Path | None) -> DataFrame:
    """Read the RDF graph in the files of `source` as a Spark DataFrame of subject, predicate and object.

    Relative paths start from `catalog_folder`.
    """
    [version] = read_graph(extent, source, catalog_folder)
    return statement_table(spark, version.rows)


def _read(
    extent: Extent, source: Files, calendar: Calendar, names_by_path: Mapping[str, str], entry: dict[str, Any]
) -> DecodedStatements:
    """Decode the RDF file at the path in `entry`; rejections name its path as in the catalog, by `names_by_path`.

    Error messages name its path as the catalog has it (`names_by_path`).
    """
    path = str(entry[FILE]).removeprefix("file:")
    path = f"/{path.lstrip('/')}"
    rejected: list[RejectedMessage] = []
    source_rows = statements_of_file(extent, source, path, calendar, rejected)
    statements = [(source_row.tick, source_row.row) for source_row in source_rows]
    written_path = names_by_path.get(path, path)
    renamed = [
        RejectedMessage(
            written_path + message.origin.removeprefix(path), message.reason, message.detail, message.payload
        )
        for message in rejected
    ]
    return DecodedStatements(entry["part"], path, 0, statements, renamed)  # type: ignore[arg-type]
