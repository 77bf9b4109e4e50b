"""Windows on Spark: validity intervals of time windows, one row per window, row windows, window markers."""

from __future__ import annotations

import json
from dataclasses import asdict

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.physical.nodes.windows import CollectWindows, ExpandWindows, PeriodWindow, RowWindow, TimeWindow
from transom.physical.schedule import Schedule
from transom.spark import periods
from transom.spark.columns import COUNT, INDEX, IS_ROW, ORDER, TICK_NUMBER, VALID_FROM, VALID_TO, WINDOW
from transom.spark.event_time import ceil_to, div, join_table
from transom.spark.frames import LoweringContext, carried_columns, value_columns, value_names
from transom.spark.stateful.operator import machine_columns, machine_input, run_machine


def time_window(node: TimeWindow, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Give stream rows `tick`, the first tick whose time window has them, and `valid_to`, the first later one without.

    `FROM NOW-a TO NOW-b SLIDE s` holds a tuple of tick c from ceil((c+b)/s)*s until (floor((c+a)/s)+1)*s.
    """
    tick = run.time.tick_number()
    enters = ceil_to(tick + F.lit(node.until), node.slide)
    leaves = (div(tick + F.lit(node.past), node.slide) + F.lit(1)) * F.lit(node.slide)
    return _with_validity(node, frame, run, (enters, leaves))


def period_window(node: PeriodWindow, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Give stream rows `tick`, the first tick whose calendar window has them, and `valid_to`, the first one after."""
    return _with_validity(node, frame, run, periods.validity(node.slide, node.range, run.time.tick_number()))


def _with_validity(
    node: TimeWindow | PeriodWindow, frame: DataFrame, run: LoweringContext, interval: tuple[Column, Column]
) -> DataFrame:
    """Give stream rows the validity `interval` (first tick, end tick), and drop rows that no window holds."""
    (enters, leaves), tick = interval, run.time.tick_number()
    tags = [tick if tag.name == "tick" else F.col(INDEX) for tag in node.tags]
    count = len(node.schema) - len(tags)
    columns = [enters.alias(VALID_FROM), leaves.alias(VALID_TO)]
    columns += [F.col(f"c{n}") for n in range(count)]
    columns += [tag.alias(f"c{count + n}") for n, tag in enumerate(tags)]
    if node.ordered:
        columns.append(
            F.struct(tick.alias(TICK_NUMBER), F.col(INDEX if INDEX in frame.columns else ORDER).alias(ORDER)).alias(
                ORDER
            )
        )
    nonempty = frame.select(*columns).where(F.col(VALID_FROM) < F.col(VALID_TO))
    return nonempty.select(
        run.time.as_event_time(F.col(VALID_FROM)), *(F.col(n) for n in nonempty.columns if n != VALID_FROM)
    )


def expand_windows(node: ExpandWindows, frame: DataFrame, clock: DataFrame | None, run: LoweringContext) -> DataFrame:
    """Repeat each row once per window that holds it; `clock`: ticks of a table's windows, None for streams.

    `clock` gives the ticks of a table's windows; without it, they follow from the schedule of a stream.
    """
    names = [*([ORDER] if node.ordered else []), *value_names(node.schema)]
    if clock is not None:
        tick = run.time.tick_number(F.col("at.tick"))
        inside = (F.col(f"table.{VALID_FROM}") <= tick) & (tick < F.col(f"table.{VALID_TO}"))
        at, table = clock.alias("at"), frame.alias("table")
        name = f"transom_table_{next(run.metric_numbers)}"
        pairs = join_table(at, table, inside, f"table.{VALID_FROM}", name) if run.live else at.join(table, inside)
        return pairs.select(F.col("at.tick").alias("tick"), *(F.col(f"table.{n}").alias(n) for n in names))
    ticks = ticks_in_range(run.time.tick_number(), run.end_within_run(F.col(VALID_TO)), node.schedule)
    rows = frame.select(F.explode(ticks).alias(TICK_NUMBER), *(F.col(n) for n in names))
    return rows.select(run.time.as_event_time(F.col(TICK_NUMBER)), *(F.col(n) for n in names))


def ticks_in_range(first: Column, end: Column, schedule: Schedule) -> Column:
    """Build an array of the ticks of a schedule from `first` to before `end`."""
    lists = []
    for period in schedule.periods:
        low = ceil_to(first, period)
        lists.append(F.when(low < end, F.sequence(low, end - F.lit(1), F.lit(period))).otherwise(_no_ticks()))
    lists += [periods.boundaries_in_range(slide, first, end) for slide in schedule.calendars]
    if len(lists) == 1:
        return lists[0]
    return F.array_distinct(F.concat(*lists))


def _no_ticks() -> Column:
    """Build an empty array of ticks."""
    return F.array().cast("array<bigint>")


def next_tick(tick: Column, schedule: Schedule) -> Column | None:
    """The first tick of a schedule after `tick`; None if the schedule has only one tick, that is, no periods."""
    ends = [(div(tick, period) + F.lit(1)) * F.lit(period) for period in schedule.periods]
    ends += [periods.at_or_after(slide, tick + F.lit(1)) for slide in schedule.calendars]
    if not ends:
        return None
    return ends[0] if len(ends) == 1 else F.least(*ends)


def inserts_and_deletes(frame: DataFrame, end: Column | None, run: LoweringContext, names: list[str]) -> DataFrame:
    """Convert rows to insertions (`count` 1) at their tick and retractions (-1) at tick `end` (None: never) (E7).

    If `end` is None, rows are never retracted. The result keeps the columns `names`.
    """
    first = run.time.tick_number()
    events = [F.struct(first.alias(TICK_NUMBER), F.lit(1).alias(COUNT))]
    if end is not None:
        events.append(F.struct(end.alias(TICK_NUMBER), F.lit(-1).alias(COUNT)))
    columns = [F.col(n) for n in names]
    rows = frame.select(F.explode(F.array(*events)).alias("event"), *columns)
    if run.until is not None:
        rows = rows.where(F.col(f"event.{TICK_NUMBER}") <= F.lit(run.until))
    return rows.select(
        run.time.as_event_time(F.col(f"event.{TICK_NUMBER}")), F.col(f"event.{COUNT}").alias(COUNT), *columns
    )


def window_markers(frame: DataFrame, clock: DataFrame, run: LoweringContext) -> DataFrame:
    """Add a window marker (`is_row` is false) at every tick of the clock, to rows with one window per tick."""
    rows = frame.select("*", F.lit(1).alias(WINDOW), F.lit(True).alias(IS_ROW))
    markers = clock.select(*carried_columns(clock), F.lit(1).alias(WINDOW), F.lit(False).alias(IS_ROW))
    return rows.unionByName(markers, allowMissingColumns=True)


def row_window(node: RowWindow, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Build count-based windows of rows in the stateful `window` machine, with a marker row per window.

    `window` is the number of the window in its tick.
    """
    order = INDEX if INDEX in frame.columns else ORDER
    width = len(node.schema) - len(node.spec.tags)
    specification = json.dumps({"machine": "window", "window": asdict(node.spec)})
    cells = machine_columns(frame, value_names(node.schema)[:width])
    input_rows = machine_input(frame, run, values=cells, order=F.col(order))
    rows = run_machine([input_rows], specification, run, values_per_side=[width], output_columns=node.schema)
    return rows.select(*carried_columns(rows, WINDOW, IS_ROW), F.col(COUNT).alias(ORDER), *value_columns(node.schema))


def collect_windows(node: CollectWindows, frame: DataFrame, clock: DataFrame | None, run: LoweringContext) -> DataFrame:
    """Collect the rows of each window; an empty one is a row with `empty` true; `clock`, if any, adds empty windows.

    `window` is the number of the window in its tick; `clock` adds windows without rows.
    """
    if clock is not None:
        frame = window_markers(frame, clock, run)
    row = F.struct(F.lit(0).alias("_"), *value_columns(node.schema))
    rows = frame.groupBy(*carried_columns(frame, WINDOW)).agg(F.collect_list(F.when(F.col(IS_ROW), row)).alias("rows"))
    exploded = rows.select(
        *carried_columns(rows, WINDOW), (F.size("rows") == 0).alias("empty"), F.explode_outer("rows").alias("row")
    )
    return exploded.select(
        *carried_columns(exploded, WINDOW, "empty"), *(F.col(f"row.{n}").alias(n) for n in value_names(node.schema))
    )
