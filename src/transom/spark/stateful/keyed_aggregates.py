"""Aggregates of keyed windows on Spark, computed by the machine that maintains the windows."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import Aggregate, Expression
from transom.algebra.expressions.expression import Column as Named
from transom.algebra.expressions.tracks import TrackAggregate, TrackFunction
from transom.model.schema import Attribute, Schema
from transom.model.types import Type
from transom.physical.nodes.keyed_windows import KeyedWindowAggregate
from transom.physical.planner.keyed_aggregates import aggregate_positions
from transom.spark.columns import INDEX, IS_ROW, ORDER, WINDOW, WINDOW_KEY
from transom.spark.expressions.spatial import kilometres_per_hour, ticks_between
from transom.spark.frames import LoweringContext, carried_columns, lower_expression, select_computed, value_names
from transom.spark.stateful.keyed_windows import KEY_BUCKETS
from transom.spark.stateful.operator import machine_columns, machine_input, run_machine, to_machine


def keyed_window_aggregate(node: KeyedWindowAggregate, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Aggregate the windows of each key in the stateful machine that maintains them; one row per nonempty window."""
    schema = node.input.schema + Schema(node.tags)
    tags = [run.time.tick_number() if tag.name == "tick" else F.col(INDEX) for tag in node.tags]
    order = INDEX if INDEX in frame.columns else ORDER
    tagged = frame.select(
        *carried_columns(frame),
        F.col(order).alias(ORDER),
        *map(F.col, value_names(node.input.schema)),
        *(tag.alias(f"c{len(node.input.schema) + n}") for n, tag in enumerate(tags)),
    )
    cells = [lower_expression(cell, schema, run) for cell in node.cells]
    if node.spec.flag is not None:
        cells[node.spec.flag] = F.coalesce(cells[node.spec.flag], F.lit(False))
    keys = [to_machine(lower_expression(Named(a), schema, run), a.type) for a in node.key]
    computed = {f"key{n}": key for n, key in enumerate(keys)}
    computed |= {f"c{n}": cell for n, cell in enumerate(cells)}
    rows = select_computed(tagged, [*carried_columns(tagged), F.col(ORDER)], computed)
    key_columns = [F.col(f"key{n}") for n in range(len(keys))]
    values = [f"c{n}" for n in range(len(cells))]
    input_rows = machine_input(
        rows,
        run,
        values=machine_columns(rows, values),
        order=F.col(ORDER),
        pair_keys=key_columns,
        buckets=KEY_BUCKETS,
        bucket_by=key_columns,
    )
    emitted = run_machine(
        [input_rows],
        replace(node.spec, until=run.until).to_json(),
        run,
        values_per_side=[len(cells)],
        output_columns=_machine_output(node),
        pair_key_count=len(keys),
        buckets=KEY_BUCKETS,
    )
    return _aggregate_rows(node, emitted)


def _machine_output(node: KeyedWindowAggregate) -> Schema:
    """The columns that the stateful machine emits: the key, then the values from which aggregates are computed."""
    out = [Attribute(f"k{n}", a.type, ".") for n, a in enumerate(node.key)]
    types = [Type.INTEGER] * len(node.spec.aggregates)
    for aggregate in node.aggregates:
        if isinstance(aggregate, Aggregate):
            types[aggregate_positions(node, aggregate)[0]] = aggregate.attribute.type
    return Schema((*out, *(Attribute(f"v{n}", kind, ".") for n, kind in enumerate(types))))


def _aggregate_rows(node: KeyedWindowAggregate, emitted: DataFrame) -> DataFrame:
    """Build the result rows of a keyed-window aggregate from the rows that its stateful operator emits."""
    keys = [F.col(f"c{n}") for n in range(len(node.key))]
    values = [F.col(f"c{len(keys) + n}") for n in range(len(node.spec.aggregates))]
    key_expressions: list[Expression] = [Named(a) for a in node.key]
    groups = [keys[key_expressions.index(item.expression)] for item in node.groups]
    results = [_aggregate_value(a, [values[n] for n in aggregate_positions(node, a)]) for a in node.aggregates]
    order = [F.struct(*groups, F.lit(0).alias("_")).alias(ORDER)] if node.ordered else []
    key_struct = F.struct(*(key.alias(f"k{n}") for n, key in enumerate(keys))).alias(WINDOW_KEY)
    cells = {f"c{n}": cell for n, cell in enumerate((*groups, *results))}
    return select_computed(
        emitted.where(F.col(IS_ROW) & (values[0] > 0)),
        [*carried_columns(emitted, WINDOW, IS_ROW), key_struct, *order],
        cells,
    )


def _aggregate_value(aggregate: Aggregate | TrackAggregate, emitted: list[Column]) -> Column:
    """An aggregate's value from its machine columns: the value, or path length in micrometres, first and last tick."""
    if isinstance(aggregate, Aggregate):
        return emitted[0]
    length = F.coalesce(emitted[0], F.lit(0))
    if aggregate.function is TrackFunction.PATHLENGTH:
        return length.cast("double") / F.lit(1e6)
    duration = (
        ticks_between(emitted[1], emitted[2]) if aggregate.span is None else F.lit(aggregate.span).cast("decimal(19,0)")
    )
    return kilometres_per_hour(length, duration, aggregate.tick_length)
