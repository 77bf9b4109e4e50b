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
    """Insertions and retractions of rows with validity intervals, plus a marker at each tick that has a window."""
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
    """Convert versions of a stored table to changes at `clock` ticks; one equal to the previous gives none."""
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
    """The Spark SQL type, as text, of the elements of the array column `rows` of a frame."""
    kind = frame.schema["rows"].dataType
    return str(kind.elementType.simpleString())


def _change_event(sign: int, row: Column) -> Column:
    """A change of +1 or -1 (`sign`) as a struct: `count`, `is_row` (true: not a window marker), and the row `row`."""
    return F.struct(F.lit(sign).alias(COUNT), F.lit(True).alias(IS_ROW), row.alias("row"))


def windows_to_changes(node: WindowsToChanges, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Insertions and retractions from each window to the next, with window markers; by the `change` machine."""
    rows = _compare_windows(frame, "both", node.schema, run)
    return rows.select(
        *carried_columns(rows, IS_ROW), F.col(COUNT).cast("int").alias(COUNT), *value_columns(node.schema)
    )


def suppress_unchanged(node: SuppressUnchangedExec, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Keep only the windows with a row that the previous window lacks; the stateful `change` machine compares them."""
    rows = _compare_windows(frame, "extended", node.schema, run)
    order = [F.col(COUNT).alias(ORDER)] if node.ordered else []
    return rows.select(*carried_columns(rows, WINDOW, IS_ROW), *order, *value_columns(node.schema))


def _compare_windows(frame: DataFrame, report: str, schema: Schema, run: LoweringContext) -> DataFrame:
    """Run the `change` machine on windows; `report`: `both` for all changes, `extended` for windows that gain rows."""
    order = F.col(ORDER) if ORDER in frame.columns else None
    input_rows = machine_input(frame, run, values=machine_columns(frame, value_names(schema)), order=order)
    specification = json.dumps({"machine": "change", "report": report})
    return run_machine([input_rows], specification, run, widths=[len(schema)], out=schema)


def combine_relations(
    node: CombineRelations, left: DataFrame, right: DataFrame | None, run: LoweringContext
) -> DataFrame:
    """Windows of a join or set operation of two relations of changes; `right` None: merge the window keys of `left`."""
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
        machine_inputs, specification, run, widths=widths, out=out, pair_keys=len(node.equal), buckets=node.buckets
    )
    result = _relation_result(node, rows, out, widths[0], run)
    return result.select(*carried_columns(result), F.lit(1).alias(WINDOW), IS_ROW, *value_columns(node.schema))


def _relation_result(
    node: CombineRelations, rows: DataFrame, out: Schema, width: int, run: LoweringContext
) -> DataFrame:
    """Final rows of a combination from the `product` machine's `rows` of schema `out`: first `width` left values."""
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
    """The left (0) or right (1) relation as `product` machine input, without rows whose NULL key cannot match."""
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
        hash_on=keys or value_columns(relation.schema),
    )


def changes_to_stream(node: ChangesToStream, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Stream of rows inserted, or retracted (`node.report`), per tick and key: counts are summed, one row per copy."""
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
    """The `node.count` rows with the smallest `node.by` per window (and group `node.per`), without NULLs in `by`."""
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
