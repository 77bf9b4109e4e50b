"""Read files as Spark DataFrames, with the same ticks and values as the plain readers.

A frame has the tick in `tick_number` (a table has `version` instead), the attributes in `c0`, `c1`, ... and, on
request, `row_order`, which orders the rows of one tick.

A value that does not fit its type fails the query, unless the source rejects invalid rows; columns that nothing
reads are not checked. Limits, all of which raise errors unless noted:

- A CSV cell cannot contain a line break.
- Python reads track and AIS files; one task reads all of a file.
- `row_order` of CSV and JSON lines makes Spark read each file in one task, unless the extent orders ties itself (by
  sites or `order`). So does a source that rejects invalid rows.
- A live run takes the columns from the first file; later files must have the same. A Parquet file that lacks a column
  silently reads as NULL there. Files are read in the order of their modification times.
- Duplicate readings of a site at one tick, and more rows of a table than it declares, are not detected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.sources import Files, FileVersions, Format
from transom.connectors.csv_lines_spark import with_cells
from transom.connectors.files.read import reject_hint
from transom.connectors.files.spark_rejected import (
    cell_problem,
    invalid_reason,
    problem_column,
    quoted_text,
    rejected_columns,
)
from transom.connectors.files.spark_scan import (
    FILE,
    ROW,
    FilePart,
    FileScan,
    file_parts,
    file_path,
    has_site_order,
    load_files,
)
from transom.connectors.files.tracks import track_json_lines
from transom.errors import UsageError
from transom.model.schema import unique_names
from transom.model.time import Calendar
from transom.model.types import Type
from transom.spark.columns import ORDER, REJECT_REASON, TICK_NUMBER, VERSION, quoted, reserved
from transom.spark.expressions.types import spark_type
from transom.spark.input.balance import RowCounter, uncounted
from transom.spark.input.cells import Cell, cell_forms, cell_text, text_cell, tick_text, typed_cell
from transom.spark.input.cells import tick_cell as tick_of
from transom.spark.input.local_times import zoned_instant
from transom.spark.input.time_formats import iso_text
from transom.spark.printable import escape_column as escaped_text

_OBJECT = r"^\s*\{[\s\S]*\}\s*$"
_UNREADABLE = reserved("unreadable")
_CSV = {
    "columnNameOfCorruptRecord": _UNREADABLE,
    "escape": '"',
    "ignoreLeadingWhiteSpace": "true",
    "mode": "PERMISSIVE",
}


def stream(
    spark: SparkSession,
    extent: Extent,
    calendar: Calendar,
    catalog_folder: Path | None,
    *,
    live: bool,
    with_order: bool,
    files_per_batch: int | None = None,
    count_rows: RowCounter = uncounted,
) -> DataFrame:
    """Read a stream's files as DataFrame (`tick_number`, `c0`, ..., `row_order` if `with_order`), streaming if `live`.

    Its columns are `tick_number`, `c0`, ... and, if `with_order`, `row_order`, which orders the rows of one tick. The
    frame is streaming if `live`. `count_rows` counts the rows that are read. If the source rejects invalid rows, the
    frame also has `reject_reason` and, in a replay, the columns of `rejected_columns`.
    """
    source = extent.source
    if not isinstance(source, Files):
        raise UsageError(f"{extent.name} is not read from files")
    time = source.time or source.format.default_time_column
    scan = FileScan(spark, extent, calendar, source, time, True, live, with_order, files_per_batch, count_rows)
    parts = file_parts(scan, [(pattern, None) for pattern in source.paths], catalog_folder)
    return _union(_frame(scan, part, TICK_NUMBER) for part in parts)


def table(
    spark: SparkSession, extent: Extent, calendar: Calendar, catalog_folder: Path | None, *, with_order: bool
) -> DataFrame:
    """Read a table's files: its rows, the tick from which each is valid and, if `with_order`, the row order.

    Its columns are the tick `version`, attributes `c0`, ... and, if `with_order`, `row_order`. `version` is the tick
    from which a row is valid; `row_order` orders the rows of a version.
    """
    source = extent.source
    if isinstance(source, FileVersions):
        scan = FileScan(spark, extent, calendar, source, None, False, with_order=with_order)
        parts = file_parts(scan, [(pattern, tick) for tick, pattern in source.versions], catalog_folder)
    elif isinstance(source, Files):
        time = source.time or (None if "tick" in source.columns(extent.names) else "tick")
        scan = FileScan(spark, extent, calendar, source, time, source.time is not None, with_order=with_order)
        parts = file_parts(scan, [(pattern, None) for pattern in source.paths], catalog_folder)
    else:
        raise UsageError(f"{extent.name} is not read from files")
    return _union(_frame(scan, part, VERSION) for part in parts)


def _union(frames: Iterable[DataFrame]) -> DataFrame:
    """Unite, by column names, the DataFrames of a source whose files need several Spark readers."""
    return reduce(DataFrame.unionByName, frames)


def _raw(scan: FileScan, part: FilePart) -> tuple[DataFrame, T.DataType, list[T.DataType]]:
    """Read files without converting values; return the frame and the Spark types of the tick and the attributes.

    The columns are `rt` for the tick, `r0`, ... for the values, `bad` for the error of a row that cannot be split, and
    `file` and `row` for its file and number if rows are numbered. If the source rejects invalid rows, they are followed
    by the `line` and the number of its cells, `width`, which is NULL if the line is not CSV.
    """
    names = list(scan.columns.values())
    time = scan.time if part.since is None else None
    kind: T.DataType
    if scan.form is Format.PARQUET:
        return _parquet(scan, part, time)
    lines = _lines(scan, part)
    number_columns = [F.col(FILE), F.col(ROW)] if scan.numbered else []
    text = T.StringType()
    if scan.rejects:
        parsed = with_cells(lines.where(_is_row(scan, part, F.col("line"), F.col(ROW))), scan.source.delimiter)
        cell_by_name = {name: F.nullif(F.get("cells", F.lit(i)), F.lit("")) for i, name in enumerate(part.columns)}
        number_columns += [F.col("line"), F.size("cells").alias("width")]
        bad, kind = F.when(F.lit(False), F.lit("")), text
    elif scan.form is Format.CSV:
        csv_schema = ", ".join([*(f"x{i} string" for i in range(len(part.columns))), f"{quoted(_UNREADABLE)} string"])
        options = _CSV | {"sep": scan.source.delimiter}
        row_lines = lines.where(_is_row(scan, part, F.col("line")))
        parsed = row_lines.select(
            "line", *number_columns, F.from_csv("line", F.lit(csv_schema), options).alias("content")
        )
        cell_by_name = {name: F.nullif(F.col(f"content.x{i}"), F.lit("")) for i, name in enumerate(part.columns)}
        quotes = F.length("line") - F.length(F.replace("line", F.lit('"'), F.lit("")))
        bad = F.when(quotes % 2 != 0, F.lit("a quote is not closed, or a cell holds a line break or a single quote"))
        bad = bad.when(
            F.col(f"content.{quoted(_UNREADABLE)}").isNotNull(),
            F.lit(f"not the {len(part.columns)} cells of the header"),
        )
        kind = text
    else:
        kind = T.VariantType()
        keys = list(dict.fromkeys([*names, *([time] if time is not None else [])]))
        (unreadable,) = unique_names([_UNREADABLE], keys)  # `time` may be any text
        options = {"columnNameOfCorruptRecord": unreadable, "mode": "PERMISSIVE"}
        by_key = T.StructType([T.StructField(key, kind) for key in keys]).add(unreadable, text)
        by_number = T.StructType([T.StructField(f"x{i}", kind) for i in range(len(keys))]).add(_UNREADABLE, text)
        row_lines = lines.where(_is_row(scan, part, F.col("line")))
        parsed = row_lines.select(
            "line", *number_columns, F.from_json("line", by_key, options).cast(by_number).alias("content")
        )
        cell_by_name = {key: F.col(f"content.x{i}") for i, key in enumerate(keys)}
        broken = ~F.col("line").rlike(_OBJECT) | F.col(f"content.{quoted(_UNREADABLE)}").isNotNull()
        bad = F.when(broken, F.lit("the line is no JSON object"))
        for key in (key for key in keys if key != time or scan.time_required):
            bad = bad.when(cell_by_name[key].isNull(), F.lit(f"no value for {key}; write null where there is none"))
    if scan.form is Format.CSV and scan.numbered:
        bad = F.when(F.col(ROW) == 0, F.lit("the header is not that of the first file")).otherwise(bad)
    error_text = F.when(bad.isNotNull(), F.concat(bad, F.lit(": "), escaped_text(F.substring("line", 1, 80))))
    timed = time in cell_by_name
    tick = cell_by_name[str(time)] if timed else F.lit(None).cast("string")
    cells = [cell_by_name[name].alias(f"r{i}") for i, name in enumerate(names)]
    frame = parsed.select(tick.alias("rt"), *cells, error_text.alias("bad"), *number_columns)
    return frame, kind if timed else T.NullType(), [kind] * len(names)


def _lines(scan: FileScan, part: FilePart) -> DataFrame:
    """Read text files into rows of one `line` each; if rows must be ordered, with `file` and line number `row`.

    Track and AIS files are first converted to JSON lines.
    """
    if scan.form.has_tracks:
        files = load_files(scan, part, "text", wholetext="true").select(file_path(), F.col("value").alias("content"))
        lines = files.select(FILE, _rows_as_json(scan.form.value)(F.col("content"), F.col(FILE)).alias("content"))
        return scan.count(lines, F.size("content")).select(FILE, F.posexplode("content").alias(ROW, "line"))
    if not scan.numbered:
        lines = load_files(scan, part, "text").select(F.col("value").alias("line"))
        return scan.count(lines, _is_row(scan, part, F.col("line")).cast("long"))
    files = load_files(scan, part, "text", wholetext="true").select(
        file_path(), F.regexp_replace("value", "^\ufeff", "").alias("content")
    )
    lines_by_file = files.select(FILE, F.split("content", r"\r\n|\r|\n", -1).alias("content"))
    counted_lines = scan.count(lines_by_file, F.size(F.filter("content", lambda x, i: _is_row(scan, part, x, i))))
    return counted_lines.select(FILE, F.posexplode("content").alias(ROW, "line"))


def _is_row(scan: FileScan, part: FilePart, line: Column, number: Column | None = None) -> Column:
    """Build the condition that line `number` (from 0; None: unknown) is a row, so neither empty nor the CSV header.

    `number` is that of the line, from 0. A header that is repeated further down is a row, and an invalid one.
    """
    if scan.rejects and number is not None:
        return (line != "") & ((number > 0) | (line != part.header))
    if scan.form is Format.CSV:
        return (line != "") & (line != part.header)
    return F.trim(line, F.lit(" \t\n\x0b\f\r")) != ""


def _rows_as_json(track_format: str) -> Callable[[Column, Column], Column]:
    """Create the Spark UDF that converts the text of a track file (gpx, geojson or ais) to rows of JSON."""
    strings = T.ArrayType(T.StringType())
    return F.udf(lambda text, path: track_json_lines(track_format, text.removeprefix("\ufeff"), path), strings)


def _parquet(scan: FileScan, part: FilePart, time_column: str | None) -> tuple[DataFrame, T.DataType, list[T.DataType]]:
    """Read Parquet unconverted; return the frame, and the Spark types of `time_column` (if any) and the attributes."""
    frame = scan.count(load_files(scan, part, "parquet"), F.lit(1))
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    number_columns = [file_path(), F.col("_metadata.row_index").alias(ROW)] if scan.numbered else []
    cells = [F.col(quoted(name)).alias(f"r{i}") for i, name in enumerate(scan.columns.values())]
    timed = time_column is not None and time_column in part.columns
    tick = F.col(quoted(str(time_column))) if timed else F.lit(None)
    raw = frame.select(tick.alias("rt"), *cells, F.lit(None).cast("string").alias("bad"), *number_columns)
    return raw, kinds[str(time_column)] if timed else T.NullType(), [kinds[name] for name in scan.columns.values()]


# From raw cells to values.


def _frame(scan: FileScan, part: FilePart, tick: str) -> DataFrame:
    """Read files into a frame with attributes `c0`, ... and ticks in a column named `tick`; bad values fail the query.

    Expressions that are used repeatedly get their own projection.
    """
    raw, time_kind, kinds = _raw(scan, part)
    number_columns = [F.col(name) for name in (FILE, ROW) if scan.numbered]
    number_columns += [F.col(name) for name in ("line", "width") if scan.rejects]
    has_time = not isinstance(time_kind, T.NullType)
    kind_by_cell = dict(enumerate(kinds)) | ({"t": time_kind} if has_time else {})
    forms_by_cell = {i: cell_forms(F.col(f"r{i}"), kind) for i, kind in kind_by_cell.items()}
    if has_time and scan.time_format is not None:
        forms_by_cell["t"] = {"text": iso_text(forms_by_cell["t"]["text"], scan.time_format)}
    zone = scan.source.zone
    if zone is not None:
        zoned_texts = {str(i): F.col(f"r{i}") for i, a in enumerate(scan.extent.schema) if a.type is Type.TIMESTAMP}
        zoned_texts |= {"t": forms_by_cell["t"]["text"]} if has_time else {}
        raw = raw.select("*", *(zoned_instant(text, zone).alias(f"z{i}") for i, text in zoned_texts.items()))
        number_columns += [F.col(f"z{i}.problem").alias(problem_column(i)) for i in zoned_texts]
    if zone is not None and has_time:
        forms_by_cell["t"] = {"text": tick_text(forms_by_cell["t"]["text"]), "instant": F.col("zt.instant")}
    raw = raw.select("*", *(c.alias(f"r{i}_{name}") for i, forms in forms_by_cell.items() for name, c in forms.items()))
    form_columns = {i: {name: F.col(f"r{i}_{name}") for name in forms} for i, forms in forms_by_cell.items()}
    cells = [
        Cell(F.col(f"z{i}.instant"), F.col(f"r{i}").isNotNull(), F.col(f"r{i}"))
        if zone is not None and attribute.type is Type.TIMESTAMP
        else text_cell(F.col(f"r{i}"), attribute.type, scan.source.decimal)
        if scan.form is Format.CSV
        else typed_cell(F.col(f"r{i}"), form_columns[i], attribute.type, kind_by_cell[i])
        for i, attribute in enumerate(scan.extent.schema)
    ]
    clock = F.lit(part.since or 0).cast("long")
    if has_time:
        clock = tick_of(F.col("rt"), form_columns["t"], time_kind, scan.calendar)
    if isinstance(time_kind, T.VariantType) and not scan.time_required:
        clock = F.when(F.col("rt").isNull(), F.lit(0)).otherwise(clock)
    read = raw.select(
        clock.alias(TICK_NUMBER),
        (cell_text(F.col("rt"), time_kind) if has_time else F.lit("")).alias("nt"),
        *(cell.value.alias(f"v{i}") for i, cell in enumerate(cells)),
        *(F.when(cell.is_given, cell.text).alias(f"s{i}") for i, cell in enumerate(cells)),
        "bad",
        *number_columns,
    )
    if scan.rejects:
        read = read.select("*", invalid_reason(scan, part, read.columns).alias(REJECT_REASON))
    number_columns = [F.col(name) for name in (FILE, ROW) if scan.numbered]
    values = []
    for i, attribute in enumerate(scan.extent.schema):
        value, text, is_valid = F.col(f"v{i}"), F.col(f"s{i}"), F.col(REJECT_REASON).isNull()
        problem = cell_problem(read.columns, str(i), f"is not of type {attribute.type}")
        type_error = _fail(scan, attribute.name, text, problem)
        checked = F.when(value.isNull() & text.isNotNull(), type_error)
        if has_site_order(scan.extent) and attribute.name == scan.extent.site:
            not_a_site = _fail(scan, attribute.name, text, F.lit("is not a site"), hint_suffix="")
            is_site = value.isin([F.lit(site).cast(spark_type(attribute.type)) for site in scan.extent.sites])
            checked = checked.when(value.isNull() | ~is_site, not_a_site)
        checked_value = checked.otherwise(value)
        values.append((F.when(is_valid, checked_value) if scan.rejects else checked_value).alias(f"c{i}"))
    rejected = rejected_columns(scan, part, read.columns) if scan.rejects else []
    checked_tick = _checked_tick(scan, read.columns).alias(tick)
    converted = read.select(checked_tick, *values, *number_columns, *rejected)
    order_columns = [_order(scan, part).alias(ORDER)] if scan.with_order else []
    names = [name for name in converted.columns if name not in (FILE, ROW)]
    return converted.select(*names, *order_columns)


def _checked_tick(scan: FileScan, frame_columns: Sequence[str]) -> Column:
    """Build the tick column of a frame with `frame_columns`; it fails the query if the line or the tick is invalid.

    A tick is impossible if it is negative, or off the schedule of a sensed extent. `frame_columns` are the frame's
    columns.
    """
    tick, text = F.col(TICK_NUMBER), F.col("nt")
    name = scan.time or "tick"
    remedy = F.lit("" if scan.rejects else reject_hint(scan.extent, scan.source))
    malformed = F.raise_error(F.concat(F.lit(f"{scan.extent.name}: "), F.col("bad"), remedy))
    checks = F.when(F.col("bad").isNotNull(), malformed)
    if scan.rejects:
        checks = checks.when(F.col(REJECT_REASON).isNotNull(), F.lit(None))
    checks = checks.when(tick.isNull(), _fail(scan, name, text, cell_problem(frame_columns, "t", scan.time_problem)))
    checks = checks.when(tick < 0, _fail(scan, name, text, F.lit("lies before tick 0")))
    if scan.extent.kind is ExtentKind.SENSED and (scan.extent.every or 1) > 1:
        every = scan.extent.every
        off_schedule = _fail(scan, name, text, F.lit(f"is no multiple of {every} ticks"), hint_suffix="")
        checks = checks.when(tick % F.lit(every) != 0, off_schedule)
    return checks.otherwise(tick)


def _fail(scan: FileScan, name: str, text: Column, problem: Column, hint_suffix: str | None = None) -> Column:
    """Build a column that fails the query: `text` in file column `name` has this `problem`; `hint_suffix` ends it.

    The message says that `text` in the column `name` has this `problem`. It ends in the `hint_suffix`, by default that
    of an invalid row.
    """
    hint_suffix = reject_hint(scan.extent, scan.source) if hint_suffix is None else hint_suffix
    message = F.concat(
        F.lit(f"{scan.extent.name}: {name}: "), quoted_text(text), F.lit(" "), problem, F.lit(hint_suffix)
    )
    return F.raise_error(message)


def _order(scan: FileScan, part: FilePart) -> Column:
    """Build the column that orders the rows of a tick: by site (sensor place), else declared `order`, or file and line.

    Rows of a sensed source with sites are sorted by site; others by the declared `order`, or else by file and line.
    Declared columns are followed by all values.
    """
    extent = scan.extent
    if has_site_order(extent):
        site_index = extent.names.index(str(extent.site))
        kind = spark_type(extent.schema.attributes[site_index].type)
        return F.array_position(F.array(*(F.lit(site).cast(kind) for site in extent.sites)), F.col(f"c{site_index}"))
    if extent.order:
        columns = [F.col(f"c{extent.names.index(name)}") for name in extent.order]
        everything = [F.col(f"c{i}") for i in range(len(extent.schema))]
        return F.struct(*(c.alias(f"k{i}") for i, c in enumerate([*columns, *everything])))
    return F.struct(
        F.lit(part.pattern_index).alias("part"), F.col(FILE).alias(FILE), F.col(ROW).cast("long").alias(ROW)
    )
