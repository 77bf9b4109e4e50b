"""Relations on Spark: filters, projections, aggregates, interval joins, window products."""

from __future__ import annotations

import json

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructType

from transom.algebra.expressions.expression import TRUE, Constant, Expression
from transom.algebra.expressions.expression import Column as AlgebraColumn
from transom.model.schema import Schema
from transom.model.types import Type
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.windows import (
    Filter,
    Form,
    IntervalJoin,
    JoinStrategy,
    Project,
    SlidingWindowAggregate,
    WindowAggregate,
    WindowProduct,
)
from transom.spark.columns import COUNT, INDEX, IS_ROW, ORDER, TICK, TICK_NUMBER, VALID_FROM, VALID_TO, WINDOW
from transom.spark.event_time import div, join_table
from transom.spark.expressions import aggregates, lower
from transom.spark.frames import (
    LoweringContext,
    carried_columns,
    column_reader,
    holds,
    lower_expression,
    select_computed,
    value_columns,
    value_names,
)
from transom.spark.stateful import kernel
from transom.spark.stateful.operator import (
    from_machine,
    machine_columns,
    machine_input,
    machine_type,
    run_machine,
    to_machine,
)
from transom.spark.windows import inserts_and_deletes, ticks_in_range, window_markers

CARRIED = (VALID_FROM, VALID_TO, WINDOW, IS_ROW, COUNT, ORDER, INDEX)
"""Columns other than values that a projection passes on, if the frame has them."""


def filter_rows(node: Filter, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Keep the rows for which a predicate is true, and the marker rows of windows (`is_row` is false)."""
    true = holds(node.predicate, node.input.schema, run)
    return frame.where(~F.col(IS_ROW) | true) if IS_ROW in frame.columns else frame.where(true)


def project(node: Project, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Compute the output columns of each row; columns such as tick, window and `is_row` pass through."""
    computed = {f"c{n}": lower_expression(item.expression, node.input.schema, run) for n, item in enumerate(node.items)}
    carried = carried_columns(frame, *CARRIED)
    if all(isinstance(item.expression, AlgebraColumn | Constant) for item in node.items):
        return frame.select(*carried, *(column.alias(name) for name, column in computed.items()))
    return select_computed(frame, carried, computed)


def window_aggregate(
    node: WindowAggregate, frame: DataFrame, clock: DataFrame | None, run: LoweringContext
) -> DataFrame:
    """Aggregate rows per window and group, directly or in panes; ticks of `clock` (None: none) add empty windows.

    Ticks of `clock` add empty windows.
    """
    keys = [f"k{n}" for n in range(len(node.groups))]
    schema = node.input.schema
    window = [WINDOW, *([IS_ROW] if node.groups else [])] if node.form is Form.WINDOWS else []
    present = F.col(IS_ROW) if node.form is Form.WINDOWS else None
    inputs = [lower_expression(item.expression, schema, run).alias(key) for item, key in zip(node.groups, keys)]
    inputs += [
        lower_expression(a.argument, schema, run).alias(f"a{n}") for n, a in enumerate(node.aggregates) if a.argument
    ]
    rows = frame.select(*carried_columns(frame, VALID_TO, WINDOW, IS_ROW), *inputs)
    approximate = run.approximate
    if node.panes:
        assert node.schedule is not None  # noqa: S101 - panes need a schedule
        ends = [VALID_TO] if node.length is None else []
        panes = rows.groupBy(TICK, *ends, *keys).agg(*_partials(node, None, approximate))
        parts = [name for name in panes.columns if name.startswith("s")]
        first = run.time.tick_number()
        end = F.col(VALID_TO) if node.length is None else first + F.lit(node.length)
        ticks = ticks_in_range(first, run.end_within_run(end), node.schedule)
        rows = panes.select(F.explode(ticks).alias(TICK_NUMBER), *(F.col(n) for n in [*keys, *parts]))
        rows = rows.select(run.time.as_event_time(F.col(TICK_NUMBER)), *(F.col(n) for n in [*keys, *parts]))
        if clock is not None:
            rows = rows.unionByName(clock, allowMissingColumns=True)
        sums = rows.groupBy(TICK, *keys).agg(*_merges(node, approximate))
    else:
        if node.input.form is Form.INTERVALS and run.until is not None:
            rows = rows.where(run.time.tick_number() <= F.lit(run.until))
        if clock is not None:
            rows = rows.withColumn(IS_ROW, F.lit(True)).unionByName(
                clock.withColumn(IS_ROW, F.lit(False)), allowMissingColumns=True
            )
            present = F.col(IS_ROW)
        sums = rows.groupBy(*carried_columns(rows, *window), *keys).agg(*_partials(node, present, approximate))
    cells = [F.col(key).alias(f"c{n}") for n, key in enumerate(keys)]
    cells += [
        aggregates.final(a, f"s{n}", approximate).alias(f"c{len(keys) + n}") for n, a in enumerate(node.aggregates)
    ]
    order = [F.struct(*(F.col(k) for k in keys), F.lit(0).alias("_")).alias(ORDER)] if node.ordered else []
    if node.form is Form.WINDOWS and not node.groups:
        return markers_and_rows(sums, [*order, *cells])
    return sums.select(*carried_columns(sums, WINDOW, IS_ROW), *order, *cells)


def markers_and_rows(sums: DataFrame, cells: list[Column]) -> DataFrame:
    """Emit, per window of an aggregate without GROUP BY, a marker row (the window exists) and a row with `cells`.

    Window 0, which means that the key has ended, has only a marker.
    """
    is_row = F.explode(F.when(F.col(WINDOW) > 0, F.array(F.lit(False), F.lit(True))).otherwise(F.array(F.lit(False))))
    return sums.select(*carried_columns(sums, WINDOW), is_row.alias(IS_ROW), *cells)


def sliding_window_aggregate(node: SlidingWindowAggregate, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Aggregate sliding windows per group in the Java kernel, which reads each row once instead of once per window."""
    schema = node.input.schema
    keys = [f"k{n}" for n in range(len(node.groups))]
    arguments = _aggregate_arguments(node)
    row_end = F.col(VALID_TO) if node.copies is None else None
    if not run.live and run.until is not None:  # a replay emits all windows of a row at once; limit them to the run
        period = node.period
        last = (run.until // period + 1) * period
        end = run.time.tick_number() + F.lit((node.copies or 0) * period) if row_end is None else row_end
        row_end = F.least(end, F.lit(last))
    offset = 0 if row_end is None else 1
    rows = frame.select(
        TICK,
        run.time.tick_number().alias(TICK_NUMBER),
        *(lower_expression(item.expression, schema, run).alias(key) for item, key in zip(node.groups, keys)),
        *([] if row_end is None else [row_end.alias("a0")]),
        *(
            to_machine(lower_expression(e, schema, run), e.type).alias(f"a{n + offset}")
            for n, e in enumerate(arguments)
        ),
    )
    if run.until is not None:
        rows = rows.where(F.col(TICK_NUMBER) <= F.lit(run.until))
    results = list(node.schema)[len(keys) :]
    types = [machine_type(attribute.type) for attribute in results]
    out = StructType([rows.schema[name] for name in keys])
    out = out.add(TICK_NUMBER, LongType())
    for n, kind in enumerate(types):
        out = out.add(f"v{n}", kind)
    specification, count = (
        sliding_window_specification(node, rows_carry_end=row_end is not None),
        len(arguments) + offset,
    )
    sums = _up_to_until(
        kernel.run_slide(
            rows, specification, run.calendar, group_columns=keys, output_type=out, argument_count=count, live=run.live
        ),
        run,
    )
    cells = [F.col(key).alias(f"c{n}") for n, key in enumerate(keys)]
    for n, attribute in enumerate(results):
        cells.append(from_machine(F.col(f"v{n}"), attribute.type).alias(f"c{len(keys) + n}"))
    order = [F.struct(*(F.col(k) for k in keys), F.lit(0).alias("_")).alias(ORDER)] if node.ordered else []
    return sums.select(run.time.as_event_time(F.col(TICK_NUMBER)), *order, *cells)


def sliding_window_specification(node: SlidingWindowAggregate, *, rows_carry_end: bool = False) -> str:
    """Write the JSON specification of a sliding aggregation in Java; `rows_carry_end`: rows state when they expire.

    `rows_carry_end` is True if each row carries the tick at which it ends.
    """
    arguments = _aggregate_arguments(node)
    entries = [
        {
            "function": a.function.value.lower(),
            "type": _argument_type(a.argument.type) if a.argument else "integer",
            "argument": arguments.index(a.argument) if a.argument else None,
        }
        for a in node.aggregates
    ]
    copies = None if rows_carry_end else node.copies
    return json.dumps({"machine": "slide", "copies": copies, "period": node.period, "aggregates": entries})


def _aggregate_arguments(node: SlidingWindowAggregate) -> list[Expression]:
    """Return the argument expressions of the aggregates of a sliding window, without duplicates."""
    return list(dict.fromkeys(a.argument for a in node.aggregates if a.argument))


def _argument_type(kind: Type) -> str:
    """Return the name of an argument's type in the JSON of a sliding aggregation, where TIME is called integer."""
    return "integer" if kind is Type.TIME else kind.value


def _partials(node: WindowAggregate, present: Column | None, inexact_sums: bool) -> list[Column]:
    """Return mergeable partial aggregates of the columns `a0`, `a1`, ... over rows where `present` is true (None: all).

    Only rows in which `present` is true count; None means all rows. With `inexact_sums`, float sums vary with row
    order.
    """
    columns = [
        column
        for n, a in enumerate(node.aggregates)
        for column in aggregates.partial(a, F.col(f"a{n}") if a.argument else None, f"s{n}", present, inexact_sums)
    ]
    return columns or [F.count(F.lit(1)).alias("s_rows")]


def _merges(node: WindowAggregate, inexact_sums: bool) -> list[Column]:
    """Build the Spark aggregations that merge panes (window slices); `inexact_sums` allows inexact float sums.

    With `inexact_sums`, float sums vary with row order.
    """
    columns = [c for n, a in enumerate(node.aggregates) for c in aggregates.merge(a, f"s{n}", inexact_sums)]
    return columns or [F.count(F.lit(1)).alias("s_rows")]


def _up_to_until(frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Drop the rows whose tick `tick_number` is after the last tick of the run."""
    return frame if run.until is None else frame.where(F.col(TICK_NUMBER) <= F.lit(run.until))


def interval_join(node: IntervalJoin, left: DataFrame, right: DataFrame, run: LoweringContext) -> DataFrame:
    """Join rows with validity intervals (inner join): pairs that overlap in time and satisfy the join condition.

    With TIME_BUCKETS both sides are split into cells of `cell` ticks, which makes the join an equality on event time:
    Spark drops the state of a cell when it is over, and no row waits. A pair belongs to the cell in which the later of
    its rows starts.
    """
    left_side, right_side = (_prefixed_side(frame, run, side) for frame, side in ((left, "left_"), (right, "right_")))
    if node.how is JoinStrategy.TIME_BUCKETS:
        left_side, right_side = (
            _split_into_cells(frame, node.cell, run, side)
            for frame, side in ((left_side, "left_"), (right_side, "right_"))
        )
    early, late = (
        F.greatest(F.col(f"left_{VALID_FROM}"), F.col(f"right_{VALID_FROM}")),
        F.least(F.col(f"left_{VALID_TO}"), F.col(f"right_{VALID_TO}")),
    )
    condition = (F.col(f"left_{VALID_FROM}") < F.col(f"right_{VALID_TO}")) & (
        F.col(f"right_{VALID_FROM}") < F.col(f"left_{VALID_TO}")
    )
    if "left_cell" in left_side.columns:
        in_first_cell = div(early, node.cell) == div(run.time.tick_number(F.col("left_cell")), node.cell)
        condition = condition & (F.col("left_cell") == F.col("right_cell")) & in_first_cell
    if node.how is JoinStrategy.TIME_RANGES:
        condition = condition & _range_condition(node, run)
    condition = condition & _key_condition(node.equal, node.left, node.right)
    if node.residual != TRUE:
        condition = condition & _residual_condition(node.residual, node.left.schema, node.right.schema)
    if run.live and node.form is Form.INTERVALS and node.how is JoinStrategy.STATIC:
        stream, table, never_null = (
            (left_side, right_side, f"right_{VALID_FROM}")
            if node.right.form is Form.TABLE
            else (right_side, left_side, f"left_{VALID_FROM}")
        )
        pairs = join_table(stream, table, condition, never_null, f"transom_table_{next(run.metric_numbers)}")
    else:
        pairs = left_side.join(right_side, condition)
    start = run.time.as_event_time(early) if node.form is Form.INTERVALS else early.alias(VALID_FROM)
    order = [F.struct(f"left_{ORDER}", f"right_{ORDER}").alias(ORDER)] if node.ordered else []
    return pairs.select(start, late.alias(VALID_TO), *order, *_joined_columns(node.left.schema, node.right.schema))


def _prefixed_side(frame: DataFrame, run: LoweringContext, column_prefix: str) -> DataFrame:
    """Prefix a join input's columns with `column_prefix`; VALID_FROM (begin of validity) becomes a tick number."""
    start = run.time.tick_number() if TICK in frame.columns else F.col(VALID_FROM)
    names = [n for n in frame.columns if n not in (VALID_FROM, INDEX)]
    return frame.select(
        start.alias(f"{column_prefix}{VALID_FROM}"), *(F.col(n).alias(f"{column_prefix}{n}") for n in names)
    )


def _range_condition(node: IntervalJoin, run: LoweringContext) -> Column:
    """Build a condition on the event times of a join, from which Spark derives when it can drop state.

    That the intervals overlap is not enough for Spark.
    """
    longest = f"interval {node.cell * run.calendar.length} microseconds"
    return F.expr(f"right_{TICK} < left_{TICK} + {longest} and left_{TICK} < right_{TICK} + {longest}")


def _split_into_cells(frame: DataFrame, span_ticks: int, run: LoweringContext, column_prefix: str) -> DataFrame:
    """Copy each row to every span of `span_ticks` in which it is valid, with the span's end as event time.

    `column_prefix` is the prefix of the columns.
    """
    start, row_end = F.col(f"{column_prefix}{VALID_FROM}"), run.end_within_run(F.col(f"{column_prefix}{VALID_TO}"))
    spans = F.when(start < row_end, F.sequence(div(start, span_ticks), div(row_end - F.lit(1), span_ticks)))
    names = [n for n in frame.columns if n != f"{column_prefix}{TICK}"]
    pieces = frame.select(F.explode(spans).alias("cell"), *names)
    end = run.time.as_event_time((F.col("cell") + F.lit(1)) * F.lit(span_ticks) - F.lit(1))
    return pieces.select(end, *names).withColumnRenamed(TICK, f"{column_prefix}cell")


def _key_condition(equal: tuple[tuple[Expression, Expression], ...], left: PhysicalNode, right: PhysicalNode) -> Column:
    """Build the condition that a left and a right row agree in all pairs of keys `equal`; NULL equals nothing.

    `equal` has pairs of a left and a right expression.
    """
    condition = F.lit(True)
    for left_key, right_key in equal:
        left_column = lower.lower(left_key, column_reader(left.schema, "left_c"), _no_tag)
        right_column = lower.lower(right_key, column_reader(right.schema, "right_c"), _no_tag)
        condition = condition & (left_column == right_column)
    return condition


def _residual_condition(predicate: Expression, left: Schema, right: Schema) -> Column:
    """Whether a pair satisfies the part of a join predicate beyond equal keys; NULL counts as false."""
    sides = {a: f"left_c{n}" for n, a in enumerate(left)} | {a: f"right_c{n}" for n, a in enumerate(right)}
    return lower.holds(predicate, lambda attribute: F.col(sides[attribute]), _no_tag)


def _no_tag(tag: str) -> Column:
    """Raise AssertionError: rows of relations, unlike stream elements, have no tag (tick or row number)."""
    raise AssertionError(f"a relation has no {tag}")


def _joined_columns(left: Schema, right: Schema) -> list[Column]:
    """The value columns of a pair: those of the left row, then those of the right row."""
    columns = [F.col(f"left_c{n}").alias(f"c{n}") for n in range(len(left))]
    return columns + [F.col(f"right_c{n}").alias(f"c{len(left) + n}") for n in range(len(right))]


def window_product(
    node: WindowProduct,
    sides: tuple[DataFrame, DataFrame],
    clocks: tuple[DataFrame | None, DataFrame | None],
    run: LoweringContext,
) -> DataFrame:
    """Pair the rows of two inputs' current windows in a state machine; `clocks` give ticks of empty windows.

    Ticks of `clocks` add empty windows.
    """
    inputs = (node.left, node.right)
    machine_inputs = [_product_input(node, side, inputs[side], sides[side], clocks[side], run) for side in (0, 1)]
    specification = json.dumps({"machine": "product", "left": _side_kind(node.left), "right": _side_kind(node.right)})
    rows = run_machine(
        machine_inputs,
        specification,
        run,
        values_per_side=[len(side.schema) for side in inputs],
        output_columns=node.schema,
        pair_key_count=len(node.equal),
        buckets=node.buckets,
    )
    if node.residual != TRUE:
        rows = rows.where(~F.col(IS_ROW) | holds(node.residual, node.schema, run))
    order = [F.col(COUNT).alias(ORDER)] if node.ordered else []
    return rows.select(*carried_columns(rows, WINDOW, IS_ROW), *order, *value_columns(node.schema))


def _side_kind(side: PhysicalNode) -> str:
    """Return the kind of an input for the `product` machine: `intervals` for validity intervals, else `windows`."""
    return "intervals" if side.form is Form.INTERVALS else "windows"


def _product_input(
    node: WindowProduct,
    side: int,
    relation: PhysicalNode,
    frame: DataFrame,
    clock: DataFrame | None,
    run: LoweringContext,
) -> DataFrame:
    """Build input `side` (0 left, 1 right) of the `product` machine; ticks of `clock` add windows without rows.

    Ticks of `clock` add empty windows.
    """
    count = F.col(COUNT) if relation.form is Form.INTERVALS else None
    if relation.form is Form.INTERVALS:
        frame = inserts_and_deletes(
            frame, F.col(VALID_TO), run, [*([ORDER] if relation.ordered else []), *value_names(relation.schema)]
        )
    if clock is not None:
        frame = window_markers(frame, clock, run)
    keys = [to_machine(lower_expression(pair[side], relation.schema, run), pair[side].type) for pair in node.equal]
    for key in keys:
        frame = frame.where(~F.col(IS_ROW) | key.isNotNull())
    order = F.col(ORDER) if relation.ordered else None
    return machine_input(
        frame,
        run,
        values=machine_columns(frame, value_names(relation.schema)),
        side=side,
        order=order,
        count=count,
        pair_keys=keys,
        buckets=node.buckets,
        bucket_by=keys,
    )
