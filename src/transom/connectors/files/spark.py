"""Files as Spark frames: the same ticks and values as the plain readers give.

A frame has `t`, the tick (for a table `v`, the tick from which its version holds), `c0`, `c1`, ... the attributes, and
on request `o`, which orders rows of one tick. What is not a value of its type fails the query; a column that nothing
reads is not looked at. Limits, all of them loud unless said otherwise:

- A CSV cell holds no line break.
- Files of tracks and of AIS are read as a whole each, by Python.
- `o` of CSV and JSON lines makes Spark read each file whole, unless the extent orders ties itself (sites, `order`).
- A live run takes the columns from the first file there is; the files to come have the same. A Parquet file that
  lacks a column reads as NULL there, without a word. Files are read in the order in which they were changed.
- Two readings of one site at one tick, and more rows of a table than it declares, are not looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transom.catalog.extents import Extent, Kind
from transom.catalog.sources import Files, FileVersions, Format
from transom.catalog.time_formats import TimeFormat
from transom.connectors.files.parquet import parquet_columns
from transom.connectors.files.paths import escaped, files_for_spark, spark_glob
from transom.connectors.files.read import place_in_file
from transom.connectors.files.text import read_csv
from transom.connectors.files.tracks import as_lines
from transom.errors import DataError, UsageError
from transom.model.time import Calendar
from transom.model.types import Type
from transom.spark.balance import CountRead, uncounted
from transom.spark.cells import forms, shown, text_cell, typed_cell
from transom.spark.cells import tick as tick_of
from transom.spark.columns import quoted, reserved, told_apart
from transom.spark.printable import escaped as escaped_text
from transom.spark.time_formats import iso_text
from transom.spark.types import spark_type

_NEED = "name the column with the tick: files: {path: ..., time: COLUMN}"
_OBJECT = r"^\s*\{[\s\S]*\}\s*$"
_BAD = reserved("unreadable")
_CSV = {"columnNameOfCorruptRecord": _BAD, "escape": '"', "ignoreLeadingWhiteSpace": "true", "mode": "PERMISSIVE"}
_BINARY = "path string, modificationTime timestamp, length bigint, content binary"
_FOREVER = "36500d"  # Spark would pass over files older than a week


@dataclass(frozen=True, slots=True)
class FilePart:
    """Files that one reader reads: the place of their pattern, their columns, and for CSV the text of the header."""

    place: int
    paths: tuple[str, ...]
    columns: tuple[str, ...] = ()
    header: str = ""
    since: int | None = None


@dataclass(frozen=True, slots=True)
class FileJob:
    """The settings with which the files of an extent are read."""

    spark: SparkSession
    extent: Extent
    calendar: Calendar
    source: Files | FileVersions
    time: str | None
    needed: bool
    live: bool = False
    position: bool = False
    files_per_batch: int | None = None
    count: CountRead = uncounted

    @property
    def form(self) -> Format:
        """How the files are written."""
        return self.source.format

    @property
    def columns(self) -> dict[str, str]:
        """The attributes, each with the name of its column."""
        return dict(zip(self.extent.names, self.source.columns(self.extent.names), strict=True))

    @property
    def written(self) -> TimeFormat | None:
        """How the time is written, where the catalog says so."""
        return self.source.time_format if isinstance(self.source, Files) else None

    @property
    def numbered(self) -> bool:
        """Whether the file and the number of a row put it in order."""
        return self.position and not self.extent.order and not _ranked(self.extent)


def stream(
    spark: SparkSession,
    extent: Extent,
    calendar: Calendar,
    folder: Path | None,
    *,
    live: bool,
    position: bool,
    files_per_batch: int | None = None,
    count: CountRead = uncounted,
) -> DataFrame:
    """The rows of a sensed or pushed extent from its files: `t`, `c0`, ..., perhaps `o`; `count` counts them."""
    source = extent.source
    if not isinstance(source, Files):
        raise UsageError(f"{extent.name} is not read from files")
    time = source.time or source.format.clock
    job = FileJob(spark, extent, calendar, source, time, True, live, position, files_per_batch, count)
    parts = file_parts(job, [(pattern, None) for pattern in source.paths], folder)
    return _union(_frame(job, part, "t") for part in parts)


def table(spark: SparkSession, extent: Extent, calendar: Calendar, folder: Path | None, *, position: bool) -> DataFrame:
    """The rows of a stored extent from its files: `v`, the tick from which a row's version holds, `c0`, ... and `o`."""
    source = extent.source
    if isinstance(source, FileVersions):
        job = FileJob(spark, extent, calendar, source, None, False, position=position)
        parts = file_parts(job, [(pattern, tick) for tick, pattern in source.versions], folder)
    elif isinstance(source, Files):
        time = source.time or (None if "tick" in source.columns(extent.names) else "tick")
        job = FileJob(spark, extent, calendar, source, time, source.time is not None, position=position)
        parts = file_parts(job, [(pattern, None) for pattern in source.paths], folder)
    else:
        raise UsageError(f"{extent.name} is not read from files")
    return _union(_frame(job, part, "v") for part in parts)


def _union(frames: Iterable[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, frames)


def file_parts(job: FileJob, patterns: Sequence[tuple[str, int | None]], folder: Path | None) -> list[FilePart]:
    """The readers of some patterns: files of one pattern with the same columns share a reader, no file has two."""
    parts: list[FilePart] = []
    seen: set[str] = set()
    for place, (pattern, since) in enumerate(patterns):
        if "://" in pattern:
            parts.append(_far(job, place, pattern, since))
            continue
        found = _near(job, pattern, folder)
        if job.live and seen.intersection(found):
            message = f"{pattern} for {job.extent.name} covers a file that another path covers"
            raise DataError(message, hint="write paths that share no file")
        groups: dict[tuple[tuple[str, ...], str], list[str]] = {}
        for path in found:
            if since is not None or path not in seen:
                groups.setdefault(_columns(job, path), []).append(path)
        seen.update(found)
        if job.live and len(groups) > 1:
            message = f"the files {pattern} for {job.extent.name} have different columns"
            raise DataError(message, hint="a live run reads files with the same header")
        for (columns, header), paths in groups.items():
            whole = (spark_glob(pattern, folder),) if job.live else tuple(escaped(path) for path in paths)
            parts.append(FilePart(place, whole, columns, header, since))
        if job.live and not groups:
            parts.append(FilePart(place, (spark_glob(pattern, folder),)))
    return parts


def _near(job: FileJob, pattern: str, folder: Path | None) -> list[str]:
    """Files that Python sees; a live run over JSON lines may begin without any."""
    may_come = job.live and (job.form is Format.JSONL or job.form.whole)
    return files_for_spark(pattern, folder, job.extent.name, may_come=may_come)


def _columns(job: FileJob, path: str) -> tuple[tuple[str, ...], str]:
    """The columns of a file, and what else must be the same in files that one reader reads."""
    if job.form is Format.JSONL or job.form.whole:
        return (), ""
    if job.form is Format.CSV:
        columns = tuple(str(name) for name in next(read_csv(path)).values)
        with open(path, encoding="utf-8-sig") as file:
            alike = file.readline().rstrip("\n")
    else:
        columns, alike = parquet_columns(path)
    for name, column in job.columns.items():
        place_in_file(column, list(columns), path, job.extent, name=name)
    if job.time is not None and (job.needed or job.time in columns):
        place_in_file(job.time, list(columns), path, job.extent, _NEED)
    return columns, alike


def _far(job: FileJob, place: int, pattern: str, since: int | None) -> FilePart:
    """Files that only Spark sees, such as s3://...; all of them have the columns of the first."""
    columns: tuple[str, ...] = ()
    header = ""
    if job.form is Format.PARQUET:
        columns = tuple(job.spark.read.parquet(pattern).columns)
    elif job.form is Format.CSV:
        read = job.spark.read.options(header=True, escape='"').csv(pattern)
        columns = tuple(name.strip() for name in read.columns)
        header = job.spark.read.options(header=True, sep="\u0001", quote="").csv(pattern).columns[0]
    for name, column in job.columns.items() if columns else ():
        place_in_file(column, list(columns), pattern, job.extent, name=name)
    if columns and job.needed and job.time is not None:
        place_in_file(job.time, list(columns), pattern, job.extent, _NEED)
    return FilePart(place, (pattern,), columns, header, since)


def _raw(job: FileJob, part: FilePart) -> tuple[DataFrame, T.DataType, list[T.DataType]]:
    """Rows with raw cells: `rt` of the tick, `r0`, ..., `bad` with what is wrong with the row, and `f` and `r`."""
    names = list(job.columns.values())
    time = job.time if part.since is None else None
    if job.form is Format.PARQUET:
        return _parquet(job, part, time)
    lines = _lines(job, part)
    where = [F.col("f"), F.col("r")] if job.numbered else []
    text = T.StringType()
    if job.form is Format.CSV:
        shape = ", ".join([*(f"x{i} string" for i in range(len(part.columns))), f"{quoted(_BAD)} string"])
        kept = lines.where(_is_row(job, part, F.col("line")))
        read = kept.select("line", *where, F.from_csv("line", F.lit(shape), _CSV).alias("x"))
        at = {name: F.nullif(F.col(f"x.x{i}"), F.lit("")) for i, name in enumerate(part.columns)}
        quotes = F.length("line") - F.length(F.replace("line", F.lit('"'), F.lit("")))
        bad = F.when(quotes % 2 != 0, F.lit("a quote is not closed, or a cell holds a line break or a single quote"))
        bad = bad.when(
            F.col(f"x.{quoted(_BAD)}").isNotNull(), F.lit(f"not the {len(part.columns)} cells of the header")
        )
        kind: T.DataType = text
    else:
        kind = T.VariantType()
        keys = list(dict.fromkeys([*names, *([time] if time is not None else [])]))
        (unread,) = told_apart([_BAD], keys)  # `time` may be any text
        options = {"columnNameOfCorruptRecord": unread, "mode": "PERMISSIVE"}
        keyed = T.StructType([T.StructField(key, kind) for key in keys]).add(unread, text)
        numbered = T.StructType([T.StructField(f"x{i}", kind) for i in range(len(keys))]).add(_BAD, text)
        kept = lines.where(_is_row(job, part, F.col("line")))
        read = kept.select("line", *where, F.from_json("line", keyed, options).cast(numbered).alias("x"))
        at = {key: F.col(f"x.x{i}") for i, key in enumerate(keys)}
        broken = ~F.col("line").rlike(_OBJECT) | F.col(f"x.{quoted(_BAD)}").isNotNull()
        bad = F.when(broken, F.lit("the line is no JSON object"))
        for key in (key for key in keys if key != time or job.needed):
            bad = bad.when(at[key].isNull(), F.lit(f"no value for {key}; write null where there is none"))
    if job.form is Format.CSV and job.numbered:
        bad = F.when(F.col("r") == 0, F.lit("the header is not that of the first file")).otherwise(bad)
    told = F.when(bad.isNotNull(), F.concat(bad, F.lit(": "), escaped_text(F.substring("line", 1, 80))))
    timed = time in at
    tick = at[str(time)] if timed else F.lit(None).cast("string")
    cells = [at[name].alias(f"r{i}") for i, name in enumerate(names)]
    frame = read.select(tick.alias("rt"), *cells, told.alias("bad"), *where)
    return frame, kind if timed else T.NullType(), [kind] * len(names)


def _lines(job: FileJob, part: FilePart) -> DataFrame:
    """The lines of text files in `line`; numbered ones with their file `f` and place `r`."""
    if job.form.tracks:
        files = load_files(job, part, "text", wholetext="true").select(file_path(), F.col("value").alias("x"))
        lines = files.select("f", _told(job.form.value)(F.col("x"), F.col("f")).alias("x"))
        return job.count(lines, F.size("x")).select("f", F.posexplode("x").alias("r", "line"))
    if not job.numbered:
        lines = load_files(job, part, "text").select(F.col("value").alias("line"))
        return job.count(lines, _is_row(job, part, F.col("line")).cast("long"))
    files = load_files(job, part, "text", wholetext="true").select(
        file_path(), F.regexp_replace("value", "^\ufeff", "").alias("x")
    )
    split = files.select("f", F.split("x", r"\r\n|\r|\n", -1).alias("x"))
    counted = job.count(split, F.size(F.filter("x", lambda line: _is_row(job, part, line))))
    return counted.select("f", F.posexplode("x").alias("r", "line"))


def _is_row(job: FileJob, part: FilePart, line: Column) -> Column:
    """Whether a line holds a row: it is neither empty nor the header."""
    if job.form is Format.CSV:
        return (line != "") & (line != part.header)
    return F.trim(line, F.lit(" \t\n\x0b\f\r")) != ""


def _told(form: str) -> Callable[[Column, Column], Column]:
    """The rows of a file of tracks or of AIS as JSON lines, from its text and its path."""
    return F.udf(lambda text, path: as_lines(form, text.removeprefix("\ufeff"), path), T.ArrayType(T.StringType()))


def _parquet(job: FileJob, part: FilePart, time: str | None) -> tuple[DataFrame, T.DataType, list[T.DataType]]:
    frame = job.count(load_files(job, part, "parquet"), F.lit(1))
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    where = [file_path(), F.col("_metadata.row_index").alias("r")] if job.numbered else []
    cells = [F.col(quoted(name)).alias(f"r{i}") for i, name in enumerate(job.columns.values())]
    timed = time is not None and time in part.columns
    tick = F.col(quoted(str(time))) if timed else F.lit(None)
    raw = frame.select(tick.alias("rt"), *cells, F.lit(None).cast("string").alias("bad"), *where)
    return raw, kinds[str(time)] if timed else T.NullType(), [kinds[name] for name in job.columns.values()]


def load_files(job: FileJob, part: FilePart, form: str, **options: str) -> DataFrame:
    """The files of one reader, in a format of Spark's own."""
    if not job.live:
        reader = job.spark.read.format(form).options(recursiveFileLookup="true", **options)
        return reader.load(list(part.paths))
    streaming = job.spark.readStream.format(form).options(recursiveFileLookup="true", maxFileAge=_FOREVER, **options)
    if job.files_per_batch is not None:
        streaming = streaming.option("maxFilesPerTrigger", job.files_per_batch)
    if form == "parquet":
        streaming = streaming.schema(job.spark.read.parquet(part.paths[0]).schema)
    if form == "binaryFile":
        streaming = streaming.schema(_BINARY)
    return streaming.load(part.paths[0])


def file_path() -> Column:
    """The path of a row's file as it is called, not as a URL writes it."""
    path = F.replace(F.col("_metadata.file_path"), F.lit("+"), F.lit("%2B"))
    return F.url_decode(path).alias("f")


# From raw cells to values.


def _frame(job: FileJob, part: FilePart, tick: str) -> DataFrame:
    """Rows as the contract has them; every expression that is used often has a projection of its own."""
    raw, time_kind, kinds = _raw(job, part)
    where = ["f", "r"] if job.numbered else []
    timed = not isinstance(time_kind, T.NullType)
    given = dict(enumerate(kinds)) | ({"t": time_kind} if timed else {})
    formed = {i: forms(F.col(f"r{i}"), kind) for i, kind in given.items()}
    if timed and job.written is not None:
        formed["t"] = {"text": iso_text(formed["t"]["text"], job.written)}
    raw = raw.select("*", *(c.alias(f"r{i}_{name}") for i, found in formed.items() for name, c in found.items()))
    named = {i: {name: F.col(f"r{i}_{name}") for name in found} for i, found in formed.items()}
    cells = [
        text_cell(F.col(f"r{i}"), attribute.type)
        if job.form is Format.CSV
        else typed_cell(F.col(f"r{i}"), named[i], attribute.type, given[i])
        for i, attribute in enumerate(job.extent.schema)
    ]
    clock = F.lit(part.since or 0).cast("long")
    if timed:
        clock = tick_of(F.col("rt"), named["t"], time_kind, job.calendar)
    if isinstance(time_kind, T.VariantType) and not job.needed:
        clock = F.when(F.col("rt").isNull(), F.lit(0)).otherwise(clock)
    read = raw.select(
        clock.alias("n"),
        (shown(F.col("rt"), time_kind) if timed else F.lit("")).alias("nt"),
        *(cell.value.alias(f"v{i}") for i, cell in enumerate(cells)),
        *(F.when(cell.present, cell.shown).alias(f"s{i}") for i, cell in enumerate(cells)),
        "bad",
        *where,
    )
    values = []
    for i, attribute in enumerate(job.extent.schema):
        value, text = F.col(f"v{i}"), F.col(f"s{i}")
        wrong = _fail(job, attribute.name, text, f"is not of type {attribute.type}")
        checked = F.when(value.isNull() & text.isNotNull(), wrong)
        if _ranked(job.extent) and attribute.name == job.extent.site:
            known = value.isin([_literal(site, attribute.type) for site in job.extent.sites])
            checked = checked.when(value.isNull() | ~known, _fail(job, attribute.name, text, "is not a site"))
        values.append(checked.otherwise(value).alias(f"c{i}"))
    done = read.select(_checked_tick(job).alias(tick), *values, *where)
    if not job.position:
        return done
    return done.select(tick, *(f"c{i}" for i in range(len(values))), _order(job, part).alias("o"))


def _checked_tick(job: FileJob) -> Column:
    number, text = F.col("n"), F.col("nt")
    name = job.time or "tick"
    bad = F.when(F.col("bad").isNotNull(), F.raise_error(F.concat(F.lit(f"{job.extent.name}: "), F.col("bad"))))
    other = "is neither a tick nor an instant" if job.written is None else f"is not written as {job.written.text}"
    bad = bad.when(number.isNull(), _fail(job, name, text, other))
    bad = bad.when(number < 0, _fail(job, name, text, "lies before tick 0"))
    if job.extent.kind is Kind.SENSED and (job.extent.every or 1) > 1:
        every = job.extent.every
        bad = bad.when(number % F.lit(every) != 0, _fail(job, name, text, f"is no multiple of {every} ticks"))
    return bad.otherwise(number)


def _fail(job: FileJob, name: str, text: Column, problem: str) -> Column:
    """Fail the query with a message that names extent, column and text."""
    words = F.coalesce(F.concat(F.lit("'"), escaped_text(F.substring(text, 1, 80)), F.lit("'")), F.lit("nothing"))
    return F.raise_error(F.concat(F.lit(f"{job.extent.name}: {name}: "), words, F.lit(f" {problem}")))


def _ranked(extent: Extent) -> bool:
    return extent.kind is Kind.SENSED and extent.site is not None and bool(extent.sites)


def _order(job: FileJob, part: FilePart) -> Column:
    """What orders rows of one tick: the list of sites (S37), the declared columns and all values (E1), or the file."""
    extent = job.extent
    if _ranked(extent):
        place = extent.names.index(str(extent.site))
        kind = extent.schema.attributes[place].type
        return F.array_position(F.array(*(_literal(site, kind) for site in extent.sites)), F.col(f"c{place}"))
    if extent.order:
        columns = [F.col(f"c{extent.names.index(name)}") for name in extent.order]
        everything = [F.col(f"c{i}") for i in range(len(extent.schema))]
        return F.struct(*(c.alias(f"k{i}") for i, c in enumerate([*columns, *everything])))
    return F.struct(F.lit(part.place).alias("p"), F.col("f").alias("f"), F.col("r").cast("long").alias("r"))


def _literal(value: object, kind: Type) -> Column:
    return F.lit(value).cast(spark_type(kind))
