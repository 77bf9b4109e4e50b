"""Aggregates of the windows of keys on Spark, as the machine that makes the windows tells them."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions import Aggregate, Expression
from transom.algebra.expressions import Column as Named
from transom.algebra.tracks import Track, TrackFunction
from transom.model.schema import Attribute, Schema
from transom.model.types import Type
from transom.physical.lines import Tally
from transom.physical.tally import places
from transom.spark.frames import LoweringContext, carried, names, select_new, value
from transom.spark.lines import KEYS_TOGETHER
from transom.spark.places import kilometres_per_hour, ticks_between
from transom.spark.stateful import crossing, crossing_columns, machine_input, run_machine


def tally(node: Tally, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """One row per window that holds one: what its machine tells, as the aggregates of its key."""
    schema = node.input.schema + Schema(node.tags)
    tags = [run.time.number() if tag.name == "tick" else F.col("i") for tag in node.tags]
    order = "i" if "i" in frame.columns else "o"
    tagged = frame.select(
        *carried(frame),
        F.col(order).alias("o"),
        *map(F.col, names(node.input.schema)),
        *(tag.alias(f"c{len(node.input.schema) + place}") for place, tag in enumerate(tags)),
    )
    cells = [value(cell, schema, run) for cell in node.cells]
    if node.spec.flag is not None:
        cells[node.spec.flag] = F.coalesce(cells[node.spec.flag], F.lit(False))
    keys = [crossing(value(Named(a), schema, run), a.type) for a in node.key]
    made = {f"key{place}": key for place, key in enumerate(keys)}
    made |= {f"c{place}": cell for place, cell in enumerate(cells)}
    rows = select_new(tagged, [*carried(tagged), F.col("o")], made)
    named = [F.col(f"key{place}") for place in range(len(keys))]
    values = [f"c{place}" for place in range(len(cells))]
    given = machine_input(
        rows,
        run,
        values=crossing_columns(rows, values),
        order=F.col("o"),
        pair_keys=named,
        buckets=KEYS_TOGETHER,
        hash_on=named,
    )
    told = run_machine(
        [given],
        replace(node.spec, until=run.until).to_json(),
        run,
        widths=[len(cells)],
        out=_told(node),
        pair_keys=len(keys),
        buckets=KEYS_TOGETHER,
    )
    return _answer(node, told)


def _told(node: Tally) -> Schema:
    """The columns that come out of a machine: the key, then what it tells."""
    out = [Attribute(f"k{place}", a.type, ".") for place, a in enumerate(node.key)]
    types = [Type.INTEGER] * len(node.spec.aggregates)
    for aggregate in node.aggregates:
        if isinstance(aggregate, Aggregate):
            types[places(node, aggregate)[0]] = aggregate.attribute.type
    return Schema((*out, *(Attribute(f"v{place}", kind, ".") for place, kind in enumerate(types))))


def _answer(node: Tally, told: DataFrame) -> DataFrame:
    keys = [F.col(f"c{place}") for place in range(len(node.key))]
    values = [F.col(f"c{len(keys) + place}") for place in range(len(node.spec.aggregates))]
    known: list[Expression] = [Named(a) for a in node.key]
    groups = [keys[known.index(item.expression)] for item in node.groups]
    made = [_made(a, [values[place] for place in places(node, a)]) for a in node.aggregates]
    order = [F.struct(*groups, F.lit(0).alias("_")).alias("o")] if node.ordered else []
    line = F.struct(*(key.alias(f"k{place}") for place, key in enumerate(keys))).alias("line")
    cells = {f"c{place}": cell for place, cell in enumerate((*groups, *made))}
    return select_new(told.where(F.col("p") & (values[0] > 0)), [*carried(told, "w", "p"), line, *order], cells)


def _made(aggregate: Aggregate | Track, told: list[Column]) -> Column:
    """An aggregate from what is told of a window with a row."""
    if isinstance(aggregate, Aggregate):
        return told[0]
    way = F.coalesce(told[0], F.lit(0))
    if aggregate.function is TrackFunction.PATHLENGTH:
        return way.cast("double") / F.lit(1e6)
    passed = ticks_between(told[1], told[2]) if aggregate.span is None else F.lit(aggregate.span).cast("decimal(19,0)")
    return kilometres_per_hour(way, passed, aggregate.tick_length)
