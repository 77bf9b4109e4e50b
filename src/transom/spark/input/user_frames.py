"""Convert users' DataFrames to source frames: `tick_number`, `c0`, `c1`, ... and `row_order` (E1)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.catalog.extent import Extent, ExtentKind
from transom.errors import UsageError
from transom.model.time import Calendar
from transom.model.types import Type
from transom.spark.columns import IS_VERSION, ORDER, TICK_NUMBER, VERSION, quoted, reserved
from transom.spark.event_time import DELAY_KEY, TickTime, div
from transom.spark.expressions.types import clean_source_value, spark_type

POSITION = "position"
"""Optional column of a user's DataFrame: the position of a row among those of its tick."""

EMPTY = "empty"
"""Optional column of a table's DataFrame: true in a row that only marks that a version exists."""

OWN_TICK, OWN_POSITION, OWN_EMPTY = reserved("tick"), reserved("position"), reserved("empty")
"""Internal names for tick, position and empty marker, in frames that Transom builds; attributes cannot have them."""

_INTEGER_TYPES = ("byte", "short", "integer", "long")
_ACCEPTED_TYPES = {
    Type.INTEGER: _INTEGER_TYPES,
    Type.TIME: _INTEGER_TYPES,
    Type.FLOAT: ("float", "double", *_INTEGER_TYPES),
    Type.DECIMAL: ("decimal", *_INTEGER_TYPES),
    Type.STRING: ("string",),
    Type.BOOLEAN: ("boolean",),
    Type.TIMESTAMP: ("timestamp",),
}


def stream_frame(extent: Extent, frame: DataFrame, calendar: Calendar) -> DataFrame:
    """Convert a user's stream frame to the columns `tick_number`, `c0`, ..., `row_order`; UsageError if unfit.

    The columns are `tick_number`, `c0`, `c1`, ... and `row_order`.
    """
    refuse_watermark(extent, frame)
    tick = tick_of(extent, frame, calendar)
    position = position_of(extent, frame)
    cells = _value_columns(extent, frame)
    rows = frame.select(tick.alias(TICK_NUMBER), *cells, *([position.alias(ORDER)] if position is not None else []))
    return with_order(rows, extent)


def refuse_watermark(extent: Extent, frame: DataFrame) -> None:
    """Raise UsageError if a user's DataFrame for a source has a watermark, since Transom sets it."""
    if any(DELAY_KEY in (field.metadata or {}) for field in frame.schema):
        raise UsageError(
            f"the DataFrame for {extent.name} has a watermark already",
            hint="give it without withWatermark; the catalog's `lateness` says how late rows may be",
        )


def tick_of(extent: Extent, frame: DataFrame, calendar: Calendar) -> Column:
    """Return the tick of each row of a user's DataFrame; raise UsageError if it has no usable time column."""
    return validated_tick(_tick_column(frame, _time_column(extent, frame), calendar), extent.name)


def table_frame(extent: Extent, frame: DataFrame, calendar: Calendar) -> DataFrame:
    """Convert a user's table to columns `version` (tick), `c0`, ..., `row_order`, `is_version`; refuse a stream.

    The columns are `version`, `c0`, `c1`, ..., `row_order` and `is_version`, which is true in a row that only marks
    that a version exists.
    """
    if frame.isStreaming:
        raise UsageError(
            f"the DataFrame for {extent.name} is a stream, and a stored extent is a table",
            hint="give a batch DataFrame, or declare the extent as pushed",
        )
    name = _time_column(extent, frame, required=False)
    tick = F.lit(0).cast("long") if name is None else validated_tick(_tick_column(frame, name, calendar), extent.name)
    position = position_of(extent, frame)
    cells = _value_columns(extent, frame)
    is_marker = _is_version_marker(extent, frame)
    extra = [is_marker.alias(IS_VERSION), *([position.alias(ORDER)] if position is not None else [])]
    rows = frame.select(tick.alias(VERSION), *cells, *extra)
    return with_order(rows, extent)


def with_order(frame: DataFrame, extent: Extent) -> DataFrame:
    """Add the column `row_order`, which sorts the rows of each tick: by site or declared order, then by all values.

    Rows of a sensed extent are sorted by site, others by the declared order or as read, and then by all values.
    """
    names = [f"c{n}" for n in range(len(extent.schema))]
    keys: list[Column] = []
    if extent.kind is ExtentKind.SENSED and extent.site is not None and extent.sites:
        site = F.col(names[extent.names.index(extent.site)])
        keys = [F.array_position(F.array(*map(F.lit, extent.sites)), site)]
    elif extent.order:
        keys = [F.col(names[extent.names.index(name)]) for name in extent.order]
    elif ORDER in frame.columns:
        keys = [F.col(ORDER)]
    order = F.struct(*(k.alias(f"k{n}") for n, k in enumerate(keys)), *(_comparable(extent, n) for n in names))
    return frame.select(*(n for n in frame.columns if n != ORDER), order.alias(ORDER))


def _comparable(extent: Extent, name: str) -> Column:
    """Return a value column by which rows can be sorted; timestamps become microseconds, which Python can receive."""
    instant = extent.schema.attributes[int(name[1:])].type is Type.TIMESTAMP
    return F.unix_micros(F.col(name)).alias(name) if instant else F.col(name)


def _is_version_marker(extent: Extent, frame: DataFrame) -> Column:
    """Whether a row of a table holds no data and only marks that a version exists, even an empty one."""
    if OWN_EMPTY in frame.columns:
        return F.col(OWN_EMPTY)
    return F.col(EMPTY) if EMPTY in frame.columns and EMPTY not in extent.names else F.lit(False)


def position_of(extent: Extent, frame: DataFrame) -> Column | None:
    """Return the column of a user's DataFrame that numbers the rows of each tick; None if it has no such column."""
    if OWN_POSITION in frame.columns:
        return F.col(OWN_POSITION)
    return F.col(POSITION) if POSITION in frame.columns and POSITION not in extent.names else None


def _time_column(extent: Extent, frame: DataFrame, *, required: bool = True) -> str | None:
    """Choose the time column: declared, `tick`, or the only timestamp left; else None, or UsageError if `required`.

    Without such a column, raises UsageError if `required`, otherwise returns None.
    """
    if OWN_TICK in frame.columns:
        return OWN_TICK
    timestamps = [field.name for field in frame.schema if field.dataType.typeName() == "timestamp"]
    name = extent.frame_time_column(frame.columns, timestamps)
    if name is not None or not required:
        return name
    raise UsageError(
        f"the DataFrame for {extent.name} has no time column",
        hint="add a column `tick` with whole numbers or timestamps, or name yours in the catalog (source: time)",
    )


def _tick_column(frame: DataFrame, name: str | None, calendar: Calendar) -> Column:
    """Read the tick from the time column `name` (never None), an integer or timestamp; UsageError for others (E2)."""
    assert name is not None  # noqa: S101 - the caller looked for it
    column, kind = F.col(quoted(name)), frame.schema[name].dataType.typeName()
    if kind in _INTEGER_TYPES:
        return column.cast("long")
    if kind != "timestamp":
        raise UsageError(f"the time column {name} is of type {kind}", hint="use whole numbers or timestamps")
    since = F.unix_micros(column) - F.lit(TickTime(calendar).origin_micros - calendar.length)
    return div(since - F.pmod(since, F.lit(calendar.length)), calendar.length)


def validated_tick(tick: Column, extent: str) -> Column:
    """Return the column `tick`; the query fails, and names the source, if a tick is NULL or before tick 0."""
    message = F.concat(F.lit(f"{extent}: tick "), tick.cast("string"), F.lit(" lies before tick 0"))
    return (
        F.when(tick >= 0, tick)
        .when(tick < 0, F.raise_error(message).cast("long"))
        .otherwise(F.raise_error(F.lit(f"{extent}: a row has no tick")).cast("long"))
    )


def _value_columns(extent: Extent, frame: DataFrame) -> list[Column]:
    """Cast a user's columns to the declared types, as `c0`, `c1`, ...; raise UsageError if one does not fit."""
    cells = []
    for n, attribute in enumerate(extent.schema):
        if attribute.name not in frame.columns:
            raise UsageError(
                f"the DataFrame for {extent.name} has no column {attribute.name}",
                hint=f"it has {', '.join(frame.columns)}",
            )
        kind = frame.schema[attribute.name].dataType.typeName()
        if kind not in _ACCEPTED_TYPES[attribute.type]:
            raise UsageError(f"column {attribute.name} of {extent.name} is of type {kind}, not {attribute.type}")
        column = F.col(quoted(attribute.name)).cast(spark_type(attribute.type))
        cells.append(clean_source_value(column, attribute.type).alias(f"c{n}"))
    return cells
