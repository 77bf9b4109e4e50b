"""Keyed windows, speed limits and trajectory aggregates on Spark."""

from __future__ import annotations

import json
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions.tracks import TrackAggregate
from transom.model.schema import Attribute, Schema
from transom.model.types import Type
from transom.physical.nodes.keyed_windows import KeyedWindow, SpeedLimitExec, TrajectoryAggregate
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import Form, ReadStream
from transom.spark.columns import COUNT, INDEX, IS_ROW, ORDER, TICK, TICK_NUMBER, WINDOW, WINDOW_KEY
from transom.spark.expressions import aggregates
from transom.spark.expressions.tracks import lower_track
from transom.spark.frames import LoweringContext, carried_columns, lower_expression, value_columns, value_names
from transom.spark.input.balance import CountingPoint, Metric
from transom.spark.input.rejected import speed_limit_count
from transom.spark.relations import markers_and_rows
from transom.spark.stateful.operator import machine_columns, machine_input, run_machine, to_machine

KEY_BUCKETS = 512
"""Number of state buckets that keys share: enough to spread over a cluster, few enough to read each whole."""


def keyed_window(node: KeyedWindow, frame: DataFrame, clock: DataFrame | None, run: LoweringContext) -> DataFrame:
    """Build each key's windows in a state machine, as rows or changes; `clock` (if any) adds ticks without rows.

    `clock` adds ticks at which no row arrives.
    """
    schema = node.schema
    cells = value_names(node.input.schema)
    tags = [run.time.tick_number() if tag.name == "tick" else F.col(INDEX) for tag in node.tags]
    columns = [*map(F.col, cells), *(tag.alias(f"c{len(cells) + n}") for n, tag in enumerate(tags))]
    out = schema
    if node.flag is not None:
        columns.append(
            F.coalesce(lower_expression(node.flag, node.input.schema, run), F.lit(False)).alias(f"c{len(schema)}")
        )
        out = schema + Schema((Attribute("inside", Type.BOOLEAN, "."),))
    order = INDEX if INDEX in frame.columns else ORDER
    rows = frame.select(*carried_columns(frame), F.col(order).alias(ORDER), *columns)
    if clock is not None:
        markers = clock.select(*carried_columns(clock), F.lit(1).alias(WINDOW), F.lit(False).alias(IS_ROW))
        rows = (
            rows.withColumn(WINDOW, F.lit(1))
            .withColumn(IS_ROW, F.lit(True))
            .unionByName(markers, allowMissingColumns=True)
        )
    emitted = _run_by_key(rows, node.key, schema, out, replace(node.spec, until=run.until).to_json(), run)
    if node.form is Form.CHANGES:
        return emitted.select(
            *carried_columns(emitted, IS_ROW), F.col(COUNT).cast("int").alias(COUNT), *value_columns(schema)
        )
    sort_key = [F.col(COUNT).alias(ORDER)] if node.ordered else []
    return emitted.select(*carried_columns(emitted, WINDOW, IS_ROW), *sort_key, *value_columns(schema))


def speed_limit(node: SpeedLimitExec, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Drop, and count, rows whose position is too far from the key's last accepted row for the time between them."""
    out = Schema((*node.schema, Attribute("index", Type.INTEGER, ".")))
    last = f"c{len(node.schema)}"
    rows = frame.select(
        *carried_columns(frame), F.col(INDEX).alias(ORDER), *value_columns(node.schema), F.col(INDEX).alias(last)
    )
    position = node.position.to_entries()
    entries = {"machine": "distance", "place": position, "until": run.until, "forget_after": node.forget_after}
    emitted = _run_by_key(rows, node.key, node.schema, out, json.dumps(entries), run)
    extent = next((below.extent for below in walk(node) if isinstance(below, ReadStream)), "a subquery")
    if run.live:
        emitted = run.counts.observe(
            emitted, Metric(extent, CountingPoint.SPEED_LIMIT), speed_limit_count().alias("rows")
        )
    else:
        emitted = run.rejected.observe(emitted, extent, next(run.metric_numbers))
    return emitted.where(IS_ROW).select(
        TICK, F.col(last).alias(INDEX), F.col(last).alias(ORDER), *value_columns(node.schema)
    )


def _run_by_key(
    rows: DataFrame,
    key: tuple[Attribute, ...],
    schema: Schema,
    output_schema: Schema,
    specification: str,
    run: LoweringContext,
) -> DataFrame:
    """Run the machine of a JSON `specification` per key; return tick, key, window, `is_row`, `count` and values.

    `key` has attributes of `schema`; the values have the schema `output_schema`.
    """
    keys = [to_machine(F.col(f"c{schema.position(a)}"), a.type) for a in key]
    buckets = KEY_BUCKETS if keys else 1
    cells = machine_columns(rows, value_names(output_schema))
    input_rows = machine_input(
        rows, run, values=cells, order=F.col(ORDER), pair_keys=keys, buckets=buckets, bucket_by=keys
    )
    key_schema = Schema(tuple(Attribute(f"k{n}", a.type, ".") for n, a in enumerate(key)))
    shared = json.dumps(json.loads(specification) | {"shared": True})
    emitted = run_machine(
        [input_rows],
        shared,
        run,
        values_per_side=[len(output_schema)],
        output_columns=key_schema + output_schema,
        pair_key_count=len(keys),
        buckets=buckets,
    )
    key_struct = [F.struct(*(F.col(f"c{n}").alias(f"k{n}") for n in range(len(keys)))).alias(WINDOW_KEY)]
    values = [F.col(f"c{len(keys) + n}").alias(f"c{n}") for n in range(len(output_schema))]
    return emitted.select(*carried_columns(emitted, WINDOW, IS_ROW, COUNT), *(key_struct if keys else []), *values)


def trajectory_aggregate(
    node: TrajectoryAggregate, frame: DataFrame, clock: DataFrame | None, run: LoweringContext
) -> DataFrame:
    """Aggregate rows per window and group, also tracks (path length); `clock` (if any) adds empty windows.

    Ticks of `clock` add empty windows.
    """
    schema = node.input.schema
    keys = [f"k{n}" for n in range(len(node.groups))]
    windowed = node.form is Form.WINDOWS
    if clock is not None:
        frame = frame.withColumn(IS_ROW, F.lit(True)).unionByName(
            clock.withColumn(IS_ROW, F.lit(False)), allowMissingColumns=True
        )
    present = F.col(IS_ROW) if IS_ROW in frame.columns else F.lit(True)
    inputs = [
        lower_expression(item.expression, schema, run).alias(key) for item, key in zip(node.groups, keys, strict=True)
    ]
    partials = []
    order = F.col(ORDER) if ORDER in frame.columns else F.lit(0)
    for n, aggregate in enumerate(node.aggregates):
        if isinstance(aggregate, TrackAggregate):
            point, tick = lower_expression(aggregate.point, schema, run), lower_expression(aggregate.tick, schema, run)
            inputs.append(F.struct(tick.alias(TICK_NUMBER), order.alias(ORDER), point.alias("place")).alias(f"a{n}"))
            partials.append(F.collect_list(F.when(present, F.col(f"a{n}"))).alias(f"s{n}"))
        else:
            if aggregate.argument is not None:
                inputs.append(lower_expression(aggregate.argument, schema, run).alias(f"a{n}"))
            argument = F.col(f"a{n}") if aggregate.argument is not None else None
            partials += aggregates.partial(aggregate, argument, f"s{n}", present, run.approximate)
    rows = frame.select(*carried_columns(frame, WINDOW, IS_ROW), *inputs)
    window = [WINDOW, *([IS_ROW] if node.groups else [])] if windowed else []
    sums = rows.groupBy(*carried_columns(rows, *window), *keys).agg(*partials)
    out = [F.col(key).alias(f"c{n}") for n, key in enumerate(keys)]
    for n, aggregate in enumerate(node.aggregates):
        final = (
            lower_track(aggregate, F.col(f"s{n}"))
            if isinstance(aggregate, TrackAggregate)
            else aggregates.final(aggregate, f"s{n}", run.approximate)
        )
        out.append(final.alias(f"c{len(keys) + n}"))
    if node.ordered:
        out.append(F.struct(*(F.col(k) for k in keys), F.lit(0).alias("_")).alias(ORDER))
    if windowed and not node.groups:
        return markers_and_rows(sums, out)
    return sums.select(*carried_columns(sums, WINDOW, IS_ROW), *out)
