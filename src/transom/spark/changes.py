"""Relations on Spark: conversion to and from changes, combinations of two relations, DISTINCT and top-n."""

from __future__ import annotations

import json
from typing import assert_never

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import TRUE
from transom.model.schema import Schema
from transom.physical.nodes.keyed_windows import (
    ChangesToStream,
    CombineKind,
    CombineRelations,
    Distinct,
    IntervalsToChanges,
    SuppressUnchangedExec,
    TopN,
    WindowsToChanges,
)
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.windows import Form
from transom.spark import scans
from transom.spark.columns import COUNT, IS_ROW, ORDER, TICK, VALID_FROM, VALID_TO, WINDOW, WINDOW_KEY
from transom.spark.event_time import join_table
from transom.spark.frames import (
    FOREVER,
    LoweringContext,
    carried_columns,
    holds,
    lower_expression,
    value_columns,
    value_names,
    without_markers,
)
from transom.spark.stateful.operator import machine_columns, machine_input, run_machine, to_machine
from transom.spark.windows import inserts_and_deletes, next_tick

_PRODUCT_MODES = {
    CombineKind.JOIN: "pairs",
    CombineKind.LEFT: "partners",
    CombineKind.SEMI: "partners",
    CombineKind.ANTI: "partners",
    CombineKind.UNION: "both",
    CombineKind.EXCEPT: "both",
    CombineKind.INTERSECT: "both",
    CombineKind.MERGE: "both",
}


def intervals_to_changes(
    node: IntervalsToChanges, frame: DataFrame, clock: DataFrame, run: LoweringContext
) -> DataFrame:
    """Convert validity intervals to insertions and retractions, with a marker row per window (a tick of `clock`)."""
    cells = value_names(node.schema)
    if node.input.form is Form.SCANS:
        return scans.intervals_to_changes(node, frame, clock, run)
    if node.input.form is Form.TABLE:
        return _version_changes(node, frame, clock, run)
    end = F.col(VALID_TO) if node.input.form is Form.INTERVALS else next_tick(run.time.tick_number(), node.schedule)
    rows = inserts_and_deletes(frame, end, run, cells).withColumn(IS_ROW, F.lit(True))
    markers = clock.select(*carried_columns(clock), F.lit(1).alias(COUNT), F.lit(False).alias(IS_ROW))
    return rows.unionByName(markers, allowMissingColumns=True)


def _version_changes(node: IntervalsToChanges, frame: DataFrame, clock: DataFrame, run: LoweringContext) -> DataFrame:
    """Convert the successive snapshots of a stored table to insertions and retractions at the ticks of `clock`.

    A version that equals the previous one gives no changes.
    """
    cells = value_names(node.schema)
    row = F.struct(*value_columns(node.schema), F.lit(0).alias("_"))
    contents = frame.groupBy(VALID_FROM).agg(F.sort_array(F.collect_list(row)).alias("rows"))
    starts = frame.select(VALID_FROM).union(frame.where(F.col(VALID_TO) < F.lit(FOREVER)).select(VALID_TO))
    starts = starts.union(run.spark.range(1).select(F.lit(run.start).alias(VALID_FROM)))
    states = starts.distinct().join(contents, [VALID_FROM], "left")
    by_start = Window.partitionBy(F.lit(0)).orderBy(VALID_FROM)
    empty = F.array().cast(contents.schema["rows"].dataType)
    now = F.coalesce(F.col("rows"), empty)
    successive = states.select(VALID_FROM, now.alias("now"), F.lag(now).over(by_start).alias("was"))
    changed = successive.where(F.col("was").isNull() | (F.col("was") != F.col("now")))
    marker = F.array(
        F.struct(F.lit(1).alias(COUNT), F.lit(False).alias(IS_ROW), F.lit(None).cast(_row_type(contents)).alias("row"))
    )
    retractions = F.transform(F.coalesce(F.col("was"), empty), lambda row: _change_event(-1, row))
    insertions = F.transform(F.col("now"), lambda row: _change_event(1, row))
    events = changed.select(VALID_FROM, F.explode(F.concat(marker, retractions, insertions)).alias("event"))
    table = events.select(
        VALID_FROM, f"event.{COUNT}", f"event.{IS_ROW}", *(F.col(f"event.row.{name}").alias(name) for name in cells)
    )
    at, versions = clock.alias("at"), table.alias("table")
    is_start = F.col(f"table.{VALID_FROM}") == run.time.tick_number(F.col("at.tick"))
    name = f"transom_table_{next(run.metric_numbers)}"
    pairs = join_table(at, versions, is_start, f"table.{VALID_FROM}", name) if run.live else at.join(versions, is_start)
    carried = [COUNT, IS_ROW, *cells]
    return pairs.select(F.col("at.tick").alias(TICK), *(F.col(f"table.{name}").alias(name) for name in carried))


def _row_type(frame: DataFrame) -> str:
    """Return the Spark SQL type of the elements in the array column `rows` of a frame, as text."""
    kind = frame.schema["rows"].dataType
    return str(kind.elementType.simpleString())


def _change_event(sign: int, row: Column) -> Column:
    """Build a change as a struct: its count `sign` (+1 or -1), the flag `is_row`, which is true, and its row."""
    return F.struct(F.lit(sign).alias(COUNT), F.lit(True).alias(IS_ROW), row.alias("row"))


def windows_to_changes(node: WindowsToChanges, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Derive insertions and retractions by comparing each window with the previous one, in a stateful machine.

    Window markers are kept.
    """
    rows = _compare_windows(frame, "both", node.schema, run)
    return rows.select(
        *carried_columns(rows, IS_ROW), F.col(COUNT).cast("int").alias(COUNT), *value_columns(node.schema)
    )


def suppress_unchanged(node: SuppressUnchangedExec, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Keep only the windows that gained a row since the previous window; a stateful machine compares them."""
    rows = _compare_windows(frame, "extended", node.schema, run)
    order = [F.col(COUNT).alias(ORDER)] if node.ordered else []
    return rows.select(*carried_columns(rows, WINDOW, IS_ROW), *order, *value_columns(node.schema))


def _compare_windows(frame: DataFrame, report: str, schema: Schema, run: LoweringContext) -> DataFrame:
    """Compare each window with the one before; `report`: `both` emits all changes, `extended` windows with new rows.

    `report` is `both` for all changes, or `extended` for the windows that gained a row.
    """
    order = F.col(ORDER) if ORDER in frame.columns else None
    input_rows = machine_input(frame, run, values=machine_columns(frame, value_names(schema)), order=order)
    specification = json.dumps({"machine": "change", "report": report})
    return run_machine([input_rows], specification, run, values_per_side=[len(schema)], output_columns=schema)


def combine_relations(
    node: CombineRelations, left: DataFrame, right: DataFrame | None, run: LoweringContext
) -> DataFrame:
    """Compute the windows of a join or set operation on changes; without `right`, merge the windows of all keys.

    If `right` is None, the windows of all keys of `left` are merged.
    """
    inputs = [node.left] if node.right is None else [node.left, node.right]
    frames = [left] if right is None else [left, right]
    machine_inputs = [
        _relation_input(node, side, relation, frame, run)
        for side, (relation, frame) in enumerate(zip(inputs, frames, strict=True))
    ]
    widths = [len(relation.schema) for relation in inputs]
    widths = widths * 2 if len(widths) == 1 else widths
    mode = _PRODUCT_MODES[node.how]
    out = node.left.schema if mode == "both" or node.right is None else node.left.schema + node.right.schema
    specification = json.dumps(
        {"machine": "product", "left": "intervals", "right": "intervals", "how": mode, "widths": widths}
    )
    rows = run_machine(
        machine_inputs,
        specification,
        run,
        values_per_side=widths,
        output_columns=out,
        pair_key_count=len(node.equal),
        buckets=node.buckets,
    )
    result = _relation_result(node, rows, out, widths[0], run)
    return result.select(*carried_columns(result), F.lit(1).alias(WINDOW), IS_ROW, *value_columns(node.schema))


def _relation_result(
    node: CombineRelations, rows: DataFrame, out: Schema, width: int, run: LoweringContext
) -> DataFrame:
    """Compute a join or set operation from the machine's `rows`, of schema `out`; `width`: number of left columns.

    `out` is the schema of `rows`; their first `width` values are those of the left relation.
    """
    residual = F.lit(True) if node.residual == TRUE else holds(node.residual, out, run)
    cells = value_names(out)
    is_marker = ~F.col(IS_ROW)
    match node.how:
        case CombineKind.JOIN:
            return rows.where(is_marker | residual)
        case CombineKind.UNION | CombineKind.MERGE:
            return rows
        case CombineKind.EXCEPT | CombineKind.INTERSECT:
            left, right = (F.count_if(F.col(WINDOW) == F.lit(side)) for side in (0, 1))
            counts = rows.groupBy(*carried_columns(rows, IS_ROW), *cells).agg(left.alias("left"), right.alias("right"))
            difference = F.col("left") - F.col("right") if node.how is CombineKind.EXCEPT else F.least("left", "right")
            count = F.when(is_marker, F.lit(1)).otherwise(F.greatest(difference, F.lit(0))).cast("int")
            copies = F.explode(F.array_repeat(F.lit(0), count)).alias("_")
            return counts.select(*carried_columns(counts, IS_ROW), *cells, copies)
        case CombineKind.LEFT | CombineKind.SEMI | CombineKind.ANTI:
            left_cells, right_cells = cells[:width], cells[width:]
            partner = F.struct(F.lit(0).alias("_"), *(F.col(name) for name in right_cells))
            is_match = F.col(IS_ROW) & (F.col(WINDOW) == 1) & residual
            partners = F.collect_list(F.when(is_match, partner)).alias("partners")
            left_row = F.first(F.struct(F.lit(0).alias("_"), *(F.col(name) for name in left_cells))).alias("left_row")
            keys = [F.col(name).alias(f"k{n}") for n, name in enumerate(left_cells)]
            groups = rows.groupBy(*carried_columns(rows, IS_ROW, COUNT), *keys).agg(partners, left_row)
            left_columns = [F.col(f"left_row.{name}").alias(name) for name in left_cells]
            if node.how is CombineKind.LEFT:
                partner_row = F.explode_outer("partners").alias("row")
                pairs = groups.select(*carried_columns(groups, IS_ROW), *left_columns, partner_row)
                right_columns = [F.col(f"row.{name}").alias(name) for name in right_cells]
                return pairs.select(*carried_columns(pairs, IS_ROW), *left_cells, *right_columns)
            has_partner = F.size("partners") > 0
            is_result = has_partner if node.how is CombineKind.SEMI else ~has_partner
            return groups.where(is_marker | is_result).select(*carried_columns(groups, IS_ROW), *left_columns)
        case _:
            assert_never(node.how)


def _relation_input(
    node: CombineRelations, side: int, relation: PhysicalNode, frame: DataFrame, run: LoweringContext
) -> DataFrame:
    """Build the left (0) or right (1) input of the stateful `product` operator, which combines two relations.

    Rows whose NULL key cannot match are left out.
    """
    keys = [to_machine(lower_expression(pair[side], relation.schema, run), pair[side].type) for pair in node.equal]
    frame = frame.drop(WINDOW_KEY)
    if side == 1 or node.how in (CombineKind.JOIN, CombineKind.SEMI):
        for key in keys:
            frame = frame.where(~F.col(IS_ROW) | key.isNotNull())
    return machine_input(
        frame.withColumn(WINDOW, F.lit(1)),
        run,
        values=machine_columns(frame, value_names(relation.schema)),
        side=side,
        count=F.col(COUNT),
        pair_keys=keys,
        buckets=node.buckets,
        bucket_by=keys or value_columns(relation.schema),
    )


def changes_to_stream(node: ChangesToStream, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Sum the changes of equal rows per tick; emit those inserted, or those retracted, as `node.report` says.

    Each copy of a row is a row of its own.
    """
    rows = without_markers(frame)
    sums = rows.groupBy(*carried_columns(rows), *value_names(node.schema)).agg(F.sum(COUNT).alias(COUNT))
    count = F.col(COUNT) if node.report == "inserted" else -F.col(COUNT)
    copies = F.explode(F.array_repeat(F.lit(0), count.cast("int"))).alias("_")
    return sums.where(count > 0).select(TICK, *value_columns(node.schema), copies).drop("_")


def distinct(node: Distinct, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Remove duplicate rows within each window; window markers are kept."""
    return (
        frame.groupBy(*carried_columns(frame, WINDOW, IS_ROW), *value_columns(node.schema))
        .agg(F.first(F.lit(0)).alias("_"))
        .drop("_")
    )


def top_n(node: TopN, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Keep, in each window and group, the `node.count` rows with the smallest values of `node.by`.

    Rows in which this value is NULL are left out. Groups have equal values of `node.per`.
    """
    schema = node.input.schema
    by, cells = lower_expression(node.by, schema, run), value_names(schema)
    per = [lower_expression(e, schema, run).alias(f"k{n}") for n, e in enumerate(node.per)]
    if IS_ROW in frame.columns:
        frame = frame.where(~F.col(IS_ROW) | by.isNotNull())
    else:
        frame = frame.where(by.isNotNull())
    ranked = F.sort_array(F.collect_list(F.struct(by.alias("by"), *(F.col(name) for name in cells))))
    groups = frame.groupBy(*carried_columns(frame, WINDOW, IS_ROW), *per).agg(
        F.slice(ranked, 1, node.count).alias("rows")
    )
    rows = groups.select(*carried_columns(groups, WINDOW, IS_ROW), F.explode("rows").alias("row"))
    return rows.select(*carried_columns(rows, WINDOW, IS_ROW), *(F.col(f"row.{name}").alias(name) for name in cells))
