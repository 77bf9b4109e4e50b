"""The files that Spark reads for an extent, grouped by the reader that their columns need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.sources import Files, FileVersions, Format
from transom.catalog.time_formats import TimeFormat
from transom.connectors.files.csv_files import read_csv
from transom.connectors.files.parquet import parquet_columns
from transom.connectors.files.paths import escape_glob, files_for_spark, spark_glob
from transom.connectors.files.read import column_index
from transom.errors import DataError
from transom.model.time import Calendar
from transom.spark.input.balance import RowCounter, uncounted

_TIME_HINT = "name the column with the tick: files: {path: ..., time: COLUMN}"
_BINARY = "path string, modificationTime timestamp, length bigint, content binary"
_FOREVER = "36500d"  # by default, Spark ignores files older than a week

FILE = "file"
"""Column: the path of the file that a row is in."""

ROW = "row"
"""Column: the number of a row in its file."""


@dataclass(frozen=True, slots=True)
class FilePart:
    """Files that share a Spark reader: the index of their pattern, their columns, and for CSV the header line.

    `since` is the tick at which the table version in these files begins, if the catalog dates it.
    """

    pattern_index: int
    paths: tuple[str, ...]
    columns: tuple[str, ...] = ()
    header: str = ""
    since: int | None = None


@dataclass(frozen=True, slots=True)
class FileScan:
    """How Spark reads the files of an extent: format, time column, and whether it adds the order of rows."""

    spark: SparkSession
    extent: Extent
    calendar: Calendar
    source: Files | FileVersions
    time: str | None
    time_required: bool
    live: bool = False
    with_order: bool = False
    files_per_batch: int | None = None
    count: RowCounter = uncounted

    @property
    def form(self) -> Format:
        """The format of the files, such as CSV or Parquet."""
        return self.source.format

    @property
    def columns(self) -> dict[str, str]:
        """The name of the column in the files for each attribute, by the attribute's name."""
        return dict(zip(self.extent.names, self.source.columns(self.extent.names), strict=True))

    @property
    def time_format(self) -> TimeFormat | None:
        """The declared format of times in the files; None if they are ticks or ISO 8601."""
        return self.source.time_format if isinstance(self.source, Files) else None

    @property
    def time_problem(self) -> str:
        """What is wrong with a time that cannot be read, as the end of an error message's sentence."""
        if self.time_format is None:
            return "is neither a tick nor an instant"
        return f"is not written as {self.time_format.text}"

    @property
    def rejects(self) -> bool:
        """Whether invalid rows are rejected and counted; otherwise the first one fails the query."""
        return isinstance(self.source, Files) and self.source.rejects_invalid

    @property
    def numbered(self) -> bool:
        """Whether file and line number of each row are read, because nothing else orders the rows of one tick.

        Rejected rows are also named by file and line.
        """
        return self.rejects or (self.with_order and not self.extent.order and not has_site_order(self.extent))


def file_parts(
    scan: FileScan, patterns: Sequence[tuple[str, int | None]], catalog_folder: Path | None
) -> list[FilePart]:
    """Group files by Spark reader; `patterns` are (glob, first tick of its rows, or None if rows have ticks).

    Patterns are (glob, tick from which the files' rows are valid); None if the rows have ticks themselves.
    """
    parts: list[FilePart] = []
    seen_paths: set[str] = set()
    for pattern_index, (pattern, since) in enumerate(patterns):
        if "://" in pattern:
            parts.append(_remote_part(scan, pattern_index, pattern, since))
            continue
        local_files = _local_files(scan, pattern, catalog_folder)
        if scan.live and seen_paths.intersection(local_files):
            message = f"{pattern} for {scan.extent.name} covers a file that another path covers"
            raise DataError(message, hint="write paths that share no file")
        groups: dict[tuple[tuple[str, ...], str], list[str]] = {}
        for path in local_files:
            if since is not None or path not in seen_paths:
                groups.setdefault(_columns(scan, path), []).append(path)
        seen_paths.update(local_files)
        if scan.live and len(groups) > 1:
            message = f"the files {pattern} for {scan.extent.name} have different columns"
            raise DataError(message, hint="a live run reads files with the same header")
        for (columns, header), paths in groups.items():
            spark_paths = (
                (spark_glob(pattern, catalog_folder),) if scan.live else tuple(escape_glob(path) for path in paths)
            )
            parts.append(FilePart(pattern_index, spark_paths, columns, header, since))
        if scan.live and not groups:
            parts.append(FilePart(pattern_index, (spark_glob(pattern, catalog_folder),)))
    return parts


def _local_files(scan: FileScan, pattern: str, catalog_folder: Path | None) -> list[str]:
    """List local files that match `pattern`; DataError if none, except live with JSONL or Python parsing.

    A live run over JSON lines, or over a format that Python parses, may begin without files.
    """
    may_be_empty = scan.live and (scan.form is Format.JSONL or scan.form.parsed_in_python)
    return files_for_spark(pattern, catalog_folder, scan.extent.name, may_be_empty=may_be_empty)


def _columns(scan: FileScan, path: str) -> tuple[tuple[str, ...], str]:
    """Return a file's column names and its header or schema as text; both empty for JSON Lines and the like.

    Files with the same text can be read by one Spark reader. Both are empty for formats whose files need not have equal
    columns.
    """
    if scan.form is Format.JSONL or scan.form.parsed_in_python:
        return (), ""
    if scan.form is Format.CSV:
        columns = tuple(str(name) for name in next(read_csv(path, scan.source.delimiter)).values)
        with open(path, encoding="utf-8-sig") as file:
            header_text = file.readline().rstrip("\n")
    else:
        columns, header_text = parquet_columns(path)
    for name, column in scan.columns.items():
        column_index(column, list(columns), path, scan.extent, attribute_name=name)
    if scan.time is not None and (scan.time_required or scan.time in columns):
        column_index(scan.time, list(columns), path, scan.extent, _TIME_HINT)
    return columns, header_text


def _remote_part(scan: FileScan, pattern_index: int, pattern: str, since: int | None) -> FilePart:
    """Build the FilePart of remote `pattern`, number `pattern_index`; `since`: first tick of its rows (None: in rows).

    `since` is the tick from which their rows are valid; None if the rows have ticks themselves.
    """
    columns: tuple[str, ...] = ()
    header = ""
    if scan.form is Format.PARQUET:
        columns = tuple(scan.spark.read.parquet(pattern).columns)
    elif scan.form is Format.CSV:
        frame = scan.spark.read.options(header=True, escape='"', sep=scan.source.delimiter).csv(pattern)
        columns = tuple(name.strip() for name in frame.columns)
        header = scan.spark.read.options(header=True, sep="\u0001", quote="").csv(pattern).columns[0]
    for name, column in scan.columns.items() if columns else ():
        column_index(column, list(columns), pattern, scan.extent, attribute_name=name)
    if columns and scan.time_required and scan.time is not None:
        column_index(scan.time, list(columns), pattern, scan.extent, _TIME_HINT)
    return FilePart(pattern_index, (pattern,), columns, header, since)


def load_files(scan: FileScan, part: FilePart, form: str, **options: str) -> DataFrame:
    """Load a group of files with Spark's data source `form`, such as text; as a stream if the scan is live."""
    if not scan.live:
        reader = scan.spark.read.format(form).options(recursiveFileLookup="true", **options)
        return reader.load(list(part.paths))
    streaming = scan.spark.readStream.format(form).options(recursiveFileLookup="true", maxFileAge=_FOREVER, **options)
    if scan.files_per_batch is not None:
        streaming = streaming.option("maxFilesPerTrigger", scan.files_per_batch)
    if form == "parquet":
        streaming = streaming.schema(scan.spark.read.parquet(part.paths[0]).schema)
    if form == "binaryFile":
        streaming = streaming.schema(_BINARY)
    return streaming.load(part.paths[0])


def file_path() -> Column:
    """Build the column `file`, the URL-decoded path of the file that a row comes from."""
    path = F.replace(F.col("_metadata.file_path"), F.lit("+"), F.lit("%2B"))
    return F.url_decode(path).alias(FILE)


def has_site_order(extent: Extent) -> bool:
    """Whether a source is sensed (polled at listed sites, that is places), so that site orders a tick's rows."""
    return extent.kind is ExtentKind.SENSED and extent.site is not None and bool(extent.sites)
