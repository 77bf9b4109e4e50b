"""Joins of changes on Spark, for all languages.

One machine per key joins the changes of the sides. The residual is checked on the changes of pairs. If the join type
needs to know which left rows have a match, a second machine then counts the matches of each left row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import TRUE
from transom.algebra.relations import JoinType
from transom.model.schema import Schema
from transom.model.types import Type
from transom.physical.nodes.change_join import ChangeJoin, Compatibility, JoinKey
from transom.physical.nodes.windows import Form
from transom.spark.columns import COUNT, IS_ROW, SIDE, TICK, WINDOW, WINDOW_KEY
from transom.spark.event_time import join_table
from transom.spark.frames import LoweringContext, holds, lower_expression, value_columns, value_names, without_markers
from transom.spark.rdf import expressions
from transom.spark.stateful.operator import machine_columns, machine_input, run_machine, to_machine

EMIT = {
    JoinType.INNER: "inner",
    JoinType.LEFT: "left",
    JoinType.SEMI: "semi",
    JoinType.ANTI: "anti",
    JoinType.MARK: "mark",
}
LEFT_ONLY = (JoinType.SEMI, JoinType.ANTI, JoinType.MARK)


def change_join(node: ChangeJoin, left: DataFrame, right: DataFrame | None, run: LoweringContext) -> DataFrame:
    """Join changes in a state machine, and emit the result's changes; without `right`, `left` has all inputs' rows.

    `right` is None if `left` holds all inputs.
    """
    if isinstance(node.residual, Compatibility):  # joins of solutions do not use window markers
        left, right = without_markers(left), None if right is None else without_markers(right)
    if right is not None and node.right is not None and node.right.form is Form.TABLE:
        return _join_static_table(node, left, right, run)
    sides = [branch_input(node, left, run)] if right is None else _side_inputs(node, (left, right), run)
    has_markers = any(IS_ROW in frame.columns for frame in (left, right) if frame is not None)
    widths = [len(schema) for schema in node.sides]
    kinds = [a.type for schema in node.sides for a in schema]
    counts_matches = _has_residual(node) and node.join_type is not JoinType.INNER
    emit = "candidates" if counts_matches else EMIT[node.join_type]
    out = kinds[: widths[0]] if node.join_type in LEFT_ONLY and not counts_matches else kinds
    if emit == "mark":
        out = [*out, Type.BOOLEAN]
    specification = json.dumps({"machine": "join", "emit": emit, "widths": widths})
    emitted = _run_join_machine(sides, specification, run, widths, out)
    if _has_residual(node):
        emitted = emitted.where(~F.col(IS_ROW) | (F.col(WINDOW) == 0) | _matches(node, run))
    if counts_matches:
        emitted = _count_matches(node, emitted, widths, kinds, run)
    carried = [TICK, *([IS_ROW] if has_markers else []), COUNT]
    if isinstance(node.residual, Compatibility) and node.join_type not in LEFT_ONLY:
        return emitted.select(*carried, *_merged(node.schema, _by_name(node.sides)))
    return emitted.select(*carried, *value_names(node.schema))


def _run_join_machine(
    sides: Sequence[DataFrame],
    specification: str,
    run: LoweringContext,
    values_per_side: Sequence[int],
    output_types: Sequence[Type],
) -> DataFrame:
    """Run a join machine; return tick, `window` (0: a left row itself), `is_row`, `count` and the values of pairs.

    `values_per_side` are the numbers of values of the inputs. `window` is 0 for a left row itself, which is no pair.
    """
    cells = [(f"c{n}", kind) for n, kind in enumerate(output_types)]
    emitted = run_machine(sides, specification, run, values_per_side=values_per_side, output_columns=cells)
    return emitted.select(TICK, WINDOW, IS_ROW, F.col(COUNT).cast("int").alias(COUNT), *(name for name, _ in cells))


def _count_matches(
    node: ChangeJoin,
    pairs: DataFrame,
    values_per_side: Sequence[int],
    value_types: Sequence[Type],
    run: LoweringContext,
) -> DataFrame:
    """Finish a LEFT, SEMI, ANTI or MARK join: a second state machine counts the `pairs` of each left row.

    `values_per_side` and `value_types` are the numbers and the types of the inputs' values.
    """
    left_values = machine_columns(pairs, value_names(node.sides[0]))
    with_pairs = node.join_type is JoinType.LEFT
    cells = machine_columns(pairs, [f"c{n}" for n in range(sum(values_per_side))]) if with_pairs else left_values
    rows = pairs.withColumnsRenamed({WINDOW: SIDE}).withColumn(WINDOW, F.lit(1))
    input_rows = machine_input(rows, run, values=cells, side=F.col(SIDE), count=F.col(COUNT), group_by=left_values)
    padding = sum(values_per_side[1:]) if with_pairs else 0
    emit = EMIT[node.join_type]
    specification = json.dumps({"machine": "matches", "emit": emit, "padding": padding})
    out = [*value_types[: values_per_side[0] + padding], *([Type.BOOLEAN] if emit == "mark" else [])]
    return _run_join_machine(
        [input_rows], specification, run, [values_per_side[0], sum(values_per_side) if with_pairs else 0], out
    )


def _side_inputs(node: ChangeJoin, frames: Sequence[DataFrame], run: LoweringContext) -> list[DataFrame]:
    """Build the inputs of the join machine for two relations, without rows whose NULL key cannot match.

    Window markers are kept.
    """
    machine_inputs = []
    for side, (schema, frame) in enumerate(zip(node.sides, frames, strict=True)):
        keys = _keys(node, side, schema, run)
        has_markers = IS_ROW in frame.columns
        if side == 1 or node.join_type in (JoinType.INNER, JoinType.SEMI):
            for key in keys:
                frame = frame.where(~F.col(IS_ROW) | key.isNotNull() if has_markers else key.isNotNull())
        rows = frame.drop(WINDOW_KEY).withColumn(WINDOW, F.lit(1)) if has_markers else frame
        cells = machine_columns(rows, value_names(schema))
        machine_inputs.append(machine_input(rows, run, values=cells, side=side, count=F.col(COUNT), group_by=keys))
    return machine_inputs


def _keys(node: ChangeJoin, side: int, schema: Schema, run: LoweringContext) -> list[Column]:
    """Return the key columns of the left (0) or right (1) join input: shared variables, or key expressions."""
    columns = dict(zip((a.name for a in schema), value_columns(schema)))
    return [
        columns[key] if isinstance(key, str) else to_machine(lower_expression(key[side], schema, run), key[side].type)
        for key in node.keys
    ]


def branch_input(
    node: ChangeJoin, frame: DataFrame, run: LoweringContext, key_order: Sequence[JoinKey] = (), first_side: int = 0
) -> DataFrame:
    """Build a join machine's input from solutions of several patterns; column `side` says which one, from `first_side`.

    Pattern 0 is side `first_side` of the machine.

    `key_order` has the keys in another order than the node.
    """
    side = F.col(SIDE)
    keys = []
    for name in key_order or node.keys:
        positions = [next(n for n, a in enumerate(schema) if a.name == name) for schema in node.sides]
        key = F.col(f"c{positions[0]}")
        for position in sorted(set(positions[1:]) - {positions[0]}):
            same_sides = [F.lit(number) for number, other in enumerate(positions) if other == position]
            key = F.when(side.isin(*same_sides), F.col(f"c{position}")).otherwise(key)
        keys.append(key)
    widest = value_columns(max(node.sides, key=len))
    return machine_input(
        frame,
        run,
        values=widest,
        side=side + F.lit(first_side) if first_side else side,
        first_side=first_side,
        count=F.col(COUNT),
        group_by=keys,
    )


def _has_residual(node: ChangeJoin) -> bool:
    """Whether pairs with equal keys must also satisfy a further condition of the join (its `residual`)."""
    return bool(node.residual) if isinstance(node.residual, Compatibility) else node.residual != TRUE


def _matches(node: ChangeJoin, run: LoweringContext) -> Column:
    """Build the condition, beyond equal keys, of a join, on a frame with the left and then the right values."""
    if isinstance(node.residual, Compatibility):
        return _compatible(node.residual, _by_name(node.sides))
    pair = Schema(tuple(a for schema in node.sides for a in schema))
    return holds(node.residual, pair, run)


def _by_name(sides: Sequence[Schema]) -> list[dict[str, Column]]:
    """Map attribute names to value columns for each input of a join, in a frame whose rows hold all inputs' values."""
    columns: list[dict[str, Column]] = []
    first = 0
    for schema in sides:
        columns.append({a.name: F.col(f"c{first + n}") for n, a in enumerate(schema)})
        first += len(schema)
    return columns


def _merged(schema: Schema, sides: Sequence[Mapping[str, Column]]) -> list[Column]:
    """Return the columns of merged solutions; each variable comes from the first joined solution that binds it."""
    return [_first_bound(a.name, sides).alias(f"c{n}") for n, a in enumerate(schema)]


def _first_bound(name: str, sides: Sequence[Mapping[str, Column]]) -> Column:
    """Return a variable's value in a merged solution, from the first of the joined solutions that binds it."""
    columns = [side[name] for side in sides if name in side]
    return columns[0] if len(columns) == 1 else F.coalesce(*columns)


def _compatible(residual: Compatibility, sides: Sequence[Mapping[str, Column]]) -> Column:
    """Whether solutions to be joined agree on shared variables and meet the `residual` condition; never NULL.

    With `overlap`, they must also both bind one of these variables.
    """
    condition = F.lit(True)
    overlap = F.lit(False)
    for name in residual.variables:
        columns = [side[name] for side in sides if name in side]
        for other in columns[1:]:
            condition = condition & (columns[0].isNull() | other.isNull() | (columns[0] == other))
            overlap = overlap | (columns[0].isNotNull() & other.isNotNull())
    if residual.overlap:
        condition = condition & overlap
    if residual.condition != TRUE:
        names = dict.fromkeys(name for side in sides for name in side)
        condition = condition & expressions.holds(
            residual.condition, {name: _first_bound(name, sides) for name in names}
        )
    return F.coalesce(condition, F.lit(False))


def _join_static_table(node: ChangeJoin, left: DataFrame, right: DataFrame, run: LoweringContext) -> DataFrame:
    """Join solutions, given as changes or a table, with a table that never changes, by Spark's stateless join."""
    assert isinstance(node.residual, Compatibility)  # noqa: S101 - only solutions are joined with a table here
    sides = [
        {a.name: F.col(f"{alias}.c{n}") for n, a in enumerate(schema)}
        for alias, schema in zip(("left", "right"), node.sides, strict=True)
    ]
    condition = _compatible(node.residual, sides)
    for name in node.keys:
        assert isinstance(name, str)  # noqa: S101 - the keys of solutions are variables
        condition = condition & (sides[0][name] == sides[1][name])
    left_side, right_side = left.alias("left"), right.withColumn("is_match", F.lit(1)).alias("right")
    left_columns = [F.col(f"left.{name}").alias(name) for name in (TICK, COUNT) if name in left.columns]
    if node.join_type in (JoinType.ANTI, JoinType.SEMI):
        result = left_side.join(right_side, condition, "left_anti" if node.join_type is JoinType.ANTI else "left_semi")
        carried = [F.col(name) for name in (TICK, COUNT) if name in result.columns]
        return result.select(*carried, *value_names(node.schema))
    if node.join_type is JoinType.MARK:
        left_columns += [F.col(f"left.{name}") for name in value_names(node.sides[0])]
        flag_by_join = {"left_semi": True, "left_anti": False}
        branches = [
            left_side.join(right_side, condition, how).select(*left_columns, F.lit(flag))
            for how, flag in flag_by_join.items()
        ]
        return branches[0].union(branches[1]).toDF(*branches[0].columns[:-1], value_names(node.schema)[-1])
    if node.join_type is JoinType.LEFT:
        result = left_side.join(right_side, condition, "left")
    elif run.live:
        result = join_table(
            left_side, right_side, condition, "right.is_match", f"transom_table_{next(run.metric_numbers)}"
        )
    else:
        result = left_side.join(right_side, condition)
    return result.select(*left_columns, *_merged(node.schema, sides))
