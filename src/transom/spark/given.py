"""Source frames: `t` the tick, `c0`, `c1`, ... the values, `o` what puts rows of one tick in order (E1)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.catalog.extents import Extent, Kind
from transom.catalog.sources import Files
from transom.errors import UsageError
from transom.model.time import Calendar
from transom.model.types import Type
from transom.spark.columns import quoted, reserved
from transom.spark.marks import DELAY_KEY, TickTime, div
from transom.spark.types import spark_type, tidy

POSITION = "position"
"""A column that a DataFrame may have beside the attributes: where its rows stand among those of one tick."""

EMPTY = "empty"
"""A column that the DataFrame of a table may have: true in a row that only says that a version exists."""

OWN_TICK, OWN_POSITION, OWN_EMPTY = reserved("tick"), reserved("position"), reserved("empty")
"""The same, and the tick of a row, in frames that we make: no attribute can have these names."""

_WHOLE = ("byte", "short", "integer", "long")
_FITTING = {
    Type.INTEGER: _WHOLE,
    Type.TIME: _WHOLE,
    Type.FLOAT: ("float", "double", *_WHOLE),
    Type.DECIMAL: ("decimal", *_WHOLE),
    Type.STRING: ("string",),
    Type.BOOLEAN: ("boolean",),
    Type.TIMESTAMP: ("timestamp",),
}


def stream_frame(extent: Extent, frame: DataFrame, calendar: Calendar) -> DataFrame:
    """A DataFrame that somebody gave for a streamed extent as a source frame."""
    refuse_watermark(extent, frame)
    tick = tick_of(extent, frame, calendar)
    position = position_of(extent, frame)
    cells = _cells(extent, frame)
    rows = frame.select(tick.alias("t"), *cells, *([position.alias("o")] if position is not None else []))
    return with_ties(rows, extent)


def refuse_watermark(extent: Extent, frame: DataFrame) -> None:
    """Refuse a DataFrame with a watermark."""
    if any(DELAY_KEY in (field.metadata or {}) for field in frame.schema):
        raise UsageError(
            f"the DataFrame for {extent.name} has a watermark already",
            hint="give it without withWatermark; the catalog's `lateness` says how late rows may be",
        )


def tick_of(extent: Extent, frame: DataFrame, calendar: Calendar) -> Column:
    """The tick of a row of a DataFrame that somebody gave."""
    return refused(_tick(frame, _time_column(extent, frame), calendar), extent.name)


def table_frame(extent: Extent, frame: DataFrame, calendar: Calendar) -> DataFrame:
    """A DataFrame that somebody gave for a stored extent: constant, or with a time column one version per time.

    In a source frame `e` is true in a row that only says that a version exists.
    """
    if frame.isStreaming:
        raise UsageError(
            f"the DataFrame for {extent.name} is a stream, and a stored extent is a table",
            hint="give a batch DataFrame, or declare the extent as pushed",
        )
    name = _time_column(extent, frame, needed=False)
    tick = F.lit(0).cast("long") if name is None else refused(_tick(frame, name, calendar), extent.name)
    position = position_of(extent, frame)
    cells = _cells(extent, frame)
    word = _word(extent, frame)
    more = [word.alias("e"), *([position.alias("o")] if position is not None else [])]
    rows = frame.select(tick.alias("v"), *cells, *more)
    return with_ties(rows, extent)


def with_ties(frame: DataFrame, extent: Extent) -> DataFrame:
    """The frame with `o`: by the list of sites (S37), by the declared columns, by position, and then by all values."""
    names = [f"c{place}" for place in range(len(extent.schema))]
    keys: list[Column] = []
    if extent.kind is Kind.SENSED and extent.site is not None and extent.sites:
        site = F.col(names[extent.names.index(extent.site)])
        keys = [F.array_position(F.array(*map(F.lit, extent.sites)), site)]
    elif extent.order:
        keys = [F.col(names[extent.names.index(name)]) for name in extent.order]
    elif "o" in frame.columns:
        keys = [F.col("o")]
    order = F.struct(*(k.alias(f"k{n}") for n, k in enumerate(keys)), *(_comparable(extent, n) for n in names))
    return frame.select(*(n for n in frame.columns if n != "o"), order.alias("o"))


def _comparable(extent: Extent, name: str) -> Column:
    """A value as it may cross into Python; instants as microseconds."""
    instant = extent.schema.attributes[int(name[1:])].type is Type.TIMESTAMP
    return F.unix_micros(F.col(name)).alias(name) if instant else F.col(name)


def _word(extent: Extent, frame: DataFrame) -> Column:
    """Whether a row of a table only says that a version exists."""
    if OWN_EMPTY in frame.columns:
        return F.col(OWN_EMPTY)
    return F.col(EMPTY) if EMPTY in frame.columns and EMPTY not in extent.names else F.lit(False)


def position_of(extent: Extent, frame: DataFrame) -> Column | None:
    """Where a row is among those of one tick, if the frame says so."""
    if OWN_POSITION in frame.columns:
        return F.col(OWN_POSITION)
    return F.col(POSITION) if POSITION in frame.columns and POSITION not in extent.names else None


def _time_column(extent: Extent, frame: DataFrame, *, needed: bool = True) -> str | None:
    """The column that says when: the one that the catalog names, else `tick`, else the only spare instant."""
    if OWN_TICK in frame.columns:
        return OWN_TICK
    declared = extent.source.time if isinstance(extent.source, Files) else None
    spare = [f.name for f in frame.schema if f.dataType.typeName() == "timestamp" and f.name not in extent.names]
    for name in (declared, "tick", *(spare if len(spare) == 1 else ())):
        if name is not None and name in frame.columns and (needed or name not in extent.names):
            return name
    if not needed:
        return None
    raise UsageError(
        f"the DataFrame for {extent.name} has no time column",
        hint="add a column `tick` with whole numbers or timestamps, or name yours in the catalog (source: time)",
    )


def _tick(frame: DataFrame, name: str | None, calendar: Calendar) -> Column:
    """The tick of a row: a whole number as it is, an instant by the calendar (E2)."""
    assert name is not None  # noqa: S101 - the caller looked for it
    column, kind = F.col(quoted(name)), frame.schema[name].dataType.typeName()
    if kind in _WHOLE:
        return column.cast("long")
    if kind != "timestamp":
        raise UsageError(f"the time column {name} is of type {kind}", hint="use whole numbers or timestamps")
    since = F.unix_micros(column) - F.lit(TickTime(calendar).zero - calendar.length)
    return div(since - F.pmod(since, F.lit(calendar.length)), calendar.length)


def refused(tick: Column, extent: str) -> Column:
    """A tick that stops the query where it is NULL or lies before tick 0, as the plain readers do."""
    words = F.concat(F.lit(f"{extent}: tick "), tick.cast("string"), F.lit(" lies before tick 0"))
    return (
        F.when(tick >= 0, tick)
        .when(tick < 0, F.raise_error(words).cast("long"))
        .otherwise(F.raise_error(F.lit(f"{extent}: a row has no tick")).cast("long"))
    )


def _cells(extent: Extent, frame: DataFrame) -> list[Column]:
    """The attributes of the extent, by name and of its types."""
    cells = []
    for place, attribute in enumerate(extent.schema):
        if attribute.name not in frame.columns:
            raise UsageError(
                f"the DataFrame for {extent.name} has no column {attribute.name}",
                hint=f"it has {', '.join(frame.columns)}",
            )
        kind = frame.schema[attribute.name].dataType.typeName()
        if kind not in _FITTING[attribute.type]:
            raise UsageError(f"column {attribute.name} of {extent.name} is of type {kind}, not {attribute.type}")
        column = F.col(quoted(attribute.name)).cast(spark_type(attribute.type))
        cells.append(tidy(column, attribute.type).alias(f"c{place}"))
    return cells
