"""Tables that are scanned while a query runs, on Spark: stays meet the scans that a log tells of.

What a table holds at a scan is known once the log has reached it, but nobody knows when a row will leave. So a stay is
cut at the scans, each piece meets what the table holds at one of them, and its end is known when it begins. The machine
that brings changes together keeps the table, by key, and the pieces that wait for their scan.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions import TRUE
from transom.model.schema import Schema
from transom.model.types import Type
from transom.physical.choices import BUCKETS
from transom.physical.lines import Come
from transom.physical.plan import Form, Meet, Spread
from transom.physical.scans import schedule_of
from transom.physical.schedule import Schedule
from transom.spark.frames import FOREVER, LoweringContext, holds, names, value, values
from transom.spark.marks import TICK, floor_to
from transom.spark.stateful import crossing, crossing_columns, machine_input, run_machine
from transom.spark.windows import following


class _Side(NamedTuple):
    """One side as the machine takes it: changes, with the end `g` of a piece if it is no table."""

    frame: DataFrame
    schema: Schema
    keys: Sequence[Column]
    ends: bool

    @property
    def width(self) -> int:
        return len(self.schema) + (1 if self.ends else 0)


def meet(node: Meet, left: DataFrame, right: DataFrame, run: LoweringContext) -> DataFrame:
    """Pairs of stays with the rows of the scans that they last through: a pair ends at the next scan at the latest."""
    sides = []
    for place, (side, frame) in enumerate(((node.left, left), (node.right, right))):
        keys = [crossing(value(pair[place], side.schema, run), pair[place].type) for pair in node.equal]
        for key in keys:
            frame = frame.where(key.isNotNull())
        table = side.form is Form.SCANS
        if not table:
            other = node.right if place == 0 else node.left
            frame = _pieces(frame, schedule_of(other), run)
        sides.append(_Side(frame, side.schema, keys, not table))
    found = _together(sides, node.schema, run)
    return found if node.rest == TRUE else found.where(holds(node.rest, node.schema, run))


def spread(node: Spread, frame: DataFrame, clock: DataFrame, run: LoweringContext) -> DataFrame:
    """All rows of a table at every scan; as stays they last until the next."""
    end = following(run.time.number(), node.schedule)
    begun = clock.select(TICK, (F.lit(FOREVER) if end is None else end).alias("g"))
    found = _together(
        [_Side(_coming(begun, run), Schema(()), [], True), _Side(frame, node.schema, [], False)], node.schema, run
    )
    return found if node.form is Form.STAYS else found.drop("g")


def come(node: Come, frame: DataFrame, clock: DataFrame, run: LoweringContext) -> DataFrame:
    """The changes of a table, and a word for every tick at which there are some, and for the first."""
    cells = names(node.schema)
    first = clock.where(run.time.number() == F.lit(node.schedule.first)).select(TICK)
    ticks = frame.select(TICK).unionByName(first).dropDuplicates([TICK])
    words = ticks.select(TICK, F.lit(1).alias("n"), F.lit(False).alias("p"))
    if run.start > 0:  # what came and left before the start was never there; only rows need it, the start has a word
        sums = frame.groupBy(TICK, *cells).agg(F.sum("n").alias("n"))
        copies = F.explode(F.array_repeat(F.signum("n").cast("int"), F.abs("n").cast("int"))).alias("n")
        frame = sums.select(TICK, copies, F.lit(True).alias("p"), *cells)
    return frame.unionByName(words, allowMissingColumns=True)


def _pieces(frame: DataFrame, schedule: Schedule, run: LoweringContext) -> DataFrame:
    """Stays cut at scans, as what comes and goes; before the first scan there is nothing to meet (S8)."""
    first, end = F.greatest(run.time.number(), F.lit(schedule.first)), F.col("g")
    kept = [n for n in frame.columns if n not in (TICK, "g")]
    if not schedule.periods:
        cut = frame.select(first.alias("f"), end, *kept).where(F.col("f") < F.col("g"))
    else:
        period = schedule.periods[0]
        last = run.at_most(end)
        spans = F.sequence(floor_to(first, period), last - F.lit(1), F.lit(period))
        nothing = F.array().cast("array<bigint>")
        each = frame.select(
            F.explode(F.when(first < last, spans).otherwise(nothing)).alias("s"), first.alias("f"), end, *kept
        )
        later = F.least(F.col("g"), F.col("s") + F.lit(period))
        cut = each.select(F.greatest("s", "f").alias("f"), later.alias("g"), *kept)
    if run.until is not None:
        cut = cut.where(F.col("f") <= F.lit(run.until))
    return _coming(cut.select(run.time.marked(F.col("f")), "g", *kept), run)


def _coming(frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Stays as changes that know their end; what stays for ever does not go."""
    kept = [n for n in frame.columns if n != TICK]
    last = F.lit(FOREVER - 1 if run.until is None else run.until)
    comes = F.struct(run.time.number().alias("t"), F.lit(1).alias("n"))
    goes = F.struct(F.col("g").alias("t"), F.lit(-1).alias("n"))
    moments = F.when(F.col("g") <= last, F.array(comes, goes)).otherwise(F.array(comes))
    rows = frame.select(F.explode(moments).alias("e"), *kept)
    return rows.select(run.time.marked(F.col("e.t")), F.col("e.n").alias("n"), *kept)


def _together(sides: Sequence[_Side], schema: Schema, run: LoweringContext) -> DataFrame:
    """What both sides make together, from the machine that keeps them: pairs that come, each with its end."""
    buckets = 1 if sides[0].keys else BUCKETS
    out: list[tuple[str, Type]] = []
    cells = iter(zip(names(schema), (a.type for a in schema)))
    for side in sides:
        out += [("g", Type.INTEGER)] if side.ends else []
        out += islice(cells, len(side.schema))
    made = run_machine(
        [_input(place, side, buckets, run) for place, side in enumerate(sides)],
        json.dumps({"machine": "join", "emit": "inner", "widths": [side.width for side in sides]}),
        run,
        widths=[side.width for side in sides],
        out=out,
    )
    copies = F.explode(F.array_repeat(F.lit(0), F.col("n").cast("int"))).alias("_")
    return made.where(F.col("n") > 0).select(TICK, "g", *values(schema), copies).drop("_")


def _input(place: int, side: _Side, buckets: int, run: LoweringContext) -> DataFrame:
    """One side; without a key the rows of the table are in buckets, and whatever meets them goes to all of these."""
    cells = crossing_columns(side.frame, names(side.schema))
    return machine_input(
        side.frame,
        run,
        values=[F.col("g"), *cells] if side.ends else cells,
        side=place,
        count=F.col("n"),
        group_by=side.keys,
        buckets=buckets,
        hash_on=[*values(side.schema), F.lit(0)],
        to_all=F.lit(True) if side.ends else None,
    )
