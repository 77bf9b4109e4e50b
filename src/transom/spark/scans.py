"""Joins with tables that are scanned while a query runs, from the log of their scans.

The content of a table at a scan is known once the log has reached it, but when a row will leave is unknown. So validity
intervals are split at the scans. Each piece joins the table as of one scan, and its end is known when it begins. The
`join` machine keeps the table, by key, and the pieces that wait for their scan.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import TRUE
from transom.model.schema import Schema
from transom.model.types import Type
from transom.physical.decisions import BUCKETS
from transom.physical.nodes.keyed_windows import IntervalsToChanges
from transom.physical.nodes.windows import ExpandWindows, Form, IntervalJoin
from transom.physical.planner.scans import scan_schedule
from transom.physical.schedule import Schedule
from transom.spark.columns import COUNT, IS_ROW, TICK, TICK_NUMBER, VALID_FROM, VALID_TO
from transom.spark.event_time import floor_to
from transom.spark.frames import FOREVER, LoweringContext, holds, lower_expression, value_columns, value_names
from transom.spark.stateful.operator import machine_columns, machine_input, run_machine, to_machine
from transom.spark.windows import next_tick


class _JoinSide(NamedTuple):
    """One input side of the `join` machine, as changes; `ends` if its rows have `valid_to`, which tables lack."""

    frame: DataFrame
    schema: Schema
    keys: Sequence[Column]
    ends: bool

    @property
    def width(self) -> int:
        """The number of values in a row of this input of a join: its columns, plus `valid_to` if rows have an end."""
        return len(self.schema) + (1 if self.ends else 0)


def interval_join(node: IntervalJoin, left: DataFrame, right: DataFrame, run: LoweringContext) -> DataFrame:
    """Join rows that have validity intervals with each scan (read) of a table; a pair ends at the next scan."""
    sides = []
    for side, (relation, frame) in enumerate(((node.left, left), (node.right, right))):
        keys = [to_machine(lower_expression(pair[side], relation.schema, run), pair[side].type) for pair in node.equal]
        for key in keys:
            frame = frame.where(key.isNotNull())
        table = relation.form is Form.SCANS
        if not table:
            other = node.right if side == 0 else node.left
            frame = _split_at_scans(frame, scan_schedule(other), run)
        sides.append(_JoinSide(frame, relation.schema, keys, not table))
    pairs = _join_sides(sides, node.schema, run)
    return pairs if node.residual == TRUE else pairs.where(holds(node.residual, node.schema, run))


def expand_windows(node: ExpandWindows, frame: DataFrame, clock: DataFrame, run: LoweringContext) -> DataFrame:
    """Emit, at each tick of `clock`, the rows that a changing table holds at this tick: one window of the table.

    As intervals, they end at the schedule's next tick.
    """
    end = next_tick(run.time.tick_number(), node.schedule)
    ticks = clock.select(TICK, (F.lit(FOREVER) if end is None else end).alias(VALID_TO))
    rows = _join_sides(
        [_JoinSide(_interval_changes(ticks, run), Schema(()), [], True), _JoinSide(frame, node.schema, [], False)],
        node.schema,
        run,
    )
    return rows if node.form is Form.INTERVALS else rows.drop(VALID_TO)


def intervals_to_changes(
    node: IntervalsToChanges, frame: DataFrame, clock: DataFrame, run: LoweringContext
) -> DataFrame:
    """Emit a table's row changes, and marker rows (a window exists) at the first tick and ticks with changes."""
    cells = value_names(node.schema)
    first = clock.where(run.time.tick_number() == F.lit(node.schedule.first)).select(TICK)
    ticks = frame.select(TICK).unionByName(first).dropDuplicates([TICK])
    markers = ticks.select(TICK, F.lit(1).alias(COUNT), F.lit(False).alias(IS_ROW))
    if run.start > 0:  # cancel rows that came and left before the start; the first tick has its marker anyway
        sums = frame.groupBy(TICK, *cells).agg(F.sum(COUNT).alias(COUNT))
        copies = F.explode(F.array_repeat(F.signum(COUNT).cast("int"), F.abs(COUNT).cast("int"))).alias(COUNT)
        frame = sums.select(TICK, copies, F.lit(True).alias(IS_ROW), *cells)
    return frame.unionByName(markers, allowMissingColumns=True)


def _split_at_scans(frame: DataFrame, schedule: Schedule, run: LoweringContext) -> DataFrame:
    """Split validity intervals at a table's scans (periodic reads); return insertions and retractions.

    Time before the first scan is dropped.
    """
    first, end = F.greatest(run.time.tick_number(), F.lit(schedule.first)), F.col(VALID_TO)
    names = [n for n in frame.columns if n not in (TICK, VALID_TO)]
    if not schedule.periods:
        pieces = frame.select(first.alias(VALID_FROM), end, *names).where(F.col(VALID_FROM) < F.col(VALID_TO))
    else:
        period = schedule.periods[0]
        last = run.end_within_run(end)
        spans = F.sequence(floor_to(first, period), last - F.lit(1), F.lit(period))
        no_scans = F.array().cast("array<bigint>")
        by_scan = frame.select(
            F.explode(F.when(first < last, spans).otherwise(no_scans)).alias("scan"),
            first.alias(VALID_FROM),
            end,
            *names,
        )
        piece_end = F.least(F.col(VALID_TO), F.col("scan") + F.lit(period))
        pieces = by_scan.select(F.greatest("scan", VALID_FROM).alias(VALID_FROM), piece_end.alias(VALID_TO), *names)
    if run.until is not None:
        pieces = pieces.where(F.col(VALID_FROM) <= F.lit(run.until))
    return _interval_changes(pieces.select(run.time.as_event_time(F.col(VALID_FROM)), VALID_TO, *names), run)


def _interval_changes(frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Convert validity intervals to insertions and retractions that keep the column `valid_to`.

    There is no retraction after the end of the run, or at FOREVER.
    """
    names = [n for n in frame.columns if n != TICK]
    last = F.lit(FOREVER - 1 if run.until is None else run.until)
    insertion = F.struct(run.time.tick_number().alias(TICK_NUMBER), F.lit(1).alias(COUNT))
    retraction = F.struct(F.col(VALID_TO).alias(TICK_NUMBER), F.lit(-1).alias(COUNT))
    events = F.when(F.col(VALID_TO) <= last, F.array(insertion, retraction)).otherwise(F.array(insertion))
    rows = frame.select(F.explode(events).alias("event"), *names)
    return rows.select(
        run.time.as_event_time(F.col(f"event.{TICK_NUMBER}")), F.col(f"event.{COUNT}").alias(COUNT), *names
    )


def _join_sides(sides: Sequence[_JoinSide], schema: Schema, run: LoweringContext) -> DataFrame:
    """Join two inputs of row changes in the `join` machine; emit each new pair with its end, the tick `valid_to`."""
    buckets = 1 if sides[0].keys else BUCKETS
    out: list[tuple[str, Type]] = []
    cells = iter(zip(value_names(schema), (a.type for a in schema)))
    for join_side in sides:
        out += [(VALID_TO, Type.INTEGER)] if join_side.ends else []
        out += islice(cells, len(join_side.schema))
    emitted = run_machine(
        [_side_input(side, join_side, buckets, run) for side, join_side in enumerate(sides)],
        json.dumps({"machine": "join", "emit": "inner", "widths": [join_side.width for join_side in sides]}),
        run,
        values_per_side=[join_side.width for join_side in sides],
        output_columns=out,
    )
    copies = F.explode(F.array_repeat(F.lit(0), F.col(COUNT).cast("int"))).alias("_")
    return emitted.where(F.col(COUNT) > 0).select(TICK, VALID_TO, *value_columns(schema), copies).drop("_")


def _side_input(side: int, join_side: _JoinSide, buckets: int, run: LoweringContext) -> DataFrame:
    """Build side 0 (left) or 1 of the join of rows with table scans; without keys, in `buckets` hash buckets.

    Without keys, the rows of the table are spread over `buckets` machines by hash, and other rows go to all of them.
    """
    cells = machine_columns(join_side.frame, value_names(join_side.schema))
    return machine_input(
        join_side.frame,
        run,
        values=[F.col(VALID_TO), *cells] if join_side.ends else cells,
        side=side,
        count=F.col(COUNT),
        group_by=join_side.keys,
        buckets=buckets,
        bucket_by=[*value_columns(join_side.schema), F.lit(0)],
        broadcast_if=F.lit(True) if join_side.ends else None,
    )
