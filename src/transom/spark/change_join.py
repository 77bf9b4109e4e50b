"""The join of changes on Spark, for rows of all languages.

A machine for each key joins the changes of the sides. A residual is checked on the changes of pairs. Where the join
asks which left rows have a pair, a second machine then counts the pairs of each left row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions import TRUE
from transom.algebra.relations import JoinType
from transom.model.schema import Schema
from transom.model.types import Type
from transom.physical.change_join import ChangeJoin, Compatible
from transom.physical.plan import Form
from transom.spark import terms
from transom.spark.frames import LoweringContext, holds, names, value, values, without_markers
from transom.spark.marks import TICK, with_table
from transom.spark.stateful import crossing, crossing_columns, machine_input, run_machine

_EMIT = {
    JoinType.INNER: "inner",
    JoinType.LEFT: "left",
    JoinType.SEMI: "semi",
    JoinType.ANTI: "anti",
    JoinType.MARK: "mark",
}
_LEFT_ONLY = (JoinType.SEMI, JoinType.ANTI, JoinType.MARK)


def change_join(node: ChangeJoin, left: DataFrame, right: DataFrame | None, run: LoweringContext) -> DataFrame:
    """The changes of a join: tick, `p` if the sides have window markers, `n`, and values."""
    if isinstance(node.residual, Compatible):  # solutions have no windows
        left, right = without_markers(left), None if right is None else without_markers(right)
    if right is not None and node.right is not None and node.right.form is Form.TABLE:
        return _static(node, left, right, run)
    sides = [_branches(node, left, run)] if right is None else _sides(node, (left, right), run)
    marked = any("p" in frame.columns for frame in (left, right) if frame is not None)
    widths = [len(schema) for schema in node.sides]
    kinds = [a.type for schema in node.sides for a in schema]
    checks = _has_residual(node) and node.join_type is not JoinType.INNER
    emit = "candidates" if checks else _EMIT[node.join_type]
    out = kinds[: widths[0]] if node.join_type in _LEFT_ONLY and not checks else kinds
    if emit == "mark":
        out = [*out, Type.BOOLEAN]
    specification = json.dumps({"machine": "join", "emit": emit, "widths": widths})
    made = _run(sides, specification, run, widths, out)
    if _has_residual(node):
        made = made.where(~F.col("p") | (F.col("w") == 0) | _matches(node, run))
    if checks:
        made = _counted(node, made, widths, kinds, run)
    head = [TICK, *(["p"] if marked else []), "n"]
    if isinstance(node.residual, Compatible) and node.join_type not in _LEFT_ONLY:
        return made.select(*head, *_merged(node.schema, _by_name(node.sides)))
    return made.select(*head, *names(node.schema))


def _run(
    sides: Sequence[DataFrame], specification: str, run: LoweringContext, widths: Sequence[int], out: Sequence[Type]
) -> DataFrame:
    """What a machine emits: tick, `w` (1 a pair or a window marker, 0 a left row), `p`, `n`, and values."""
    cells = [(f"c{place}", kind) for place, kind in enumerate(out)]
    made = run_machine(sides, specification, run, widths=widths, out=cells)
    return made.select(TICK, "w", "p", F.col("n").cast("int").alias("n"), *(name for name, _ in cells))


def _counted(
    node: ChangeJoin, made: DataFrame, widths: Sequence[int], kinds: Sequence[Type], run: LoweringContext
) -> DataFrame:
    """The left rows with the number of pairs that match them; all that is said of one row comes together."""
    own = crossing_columns(made, names(node.sides[0]))
    with_pairs = node.join_type is JoinType.LEFT
    cells = crossing_columns(made, [f"c{place}" for place in range(sum(widths))]) if with_pairs else own
    rows = made.withColumnsRenamed({"w": "side"}).withColumn("w", F.lit(1))
    given = machine_input(rows, run, values=cells, side=F.col("side"), count=F.col("n"), group_by=own)
    padding = sum(widths[1:]) if with_pairs else 0
    emit = _EMIT[node.join_type]
    specification = json.dumps({"machine": "matches", "emit": emit, "padding": padding})
    out = [*kinds[: widths[0] + padding], *([Type.BOOLEAN] if emit == "mark" else [])]
    return _run([given], specification, run, [widths[0], sum(widths) if with_pairs else 0], out)


def _sides(node: ChangeJoin, frames: Sequence[DataFrame], run: LoweringContext) -> list[DataFrame]:
    """Two sides as the machine takes them; a row whose key is NULL matches none, and a marker has no key."""
    given = []
    for place, (schema, frame) in enumerate(zip(node.sides, frames, strict=True)):
        keys = _keys(node, place, schema, run)
        marked = "p" in frame.columns
        if place == 1 or node.join_type in (JoinType.INNER, JoinType.SEMI):
            for key in keys:
                frame = frame.where(~F.col("p") | key.isNotNull() if marked else key.isNotNull())
        rows = frame.drop("line").withColumn("w", F.lit(1)) if marked else frame
        cells = crossing_columns(rows, names(schema))
        given.append(machine_input(rows, run, values=cells, side=place, count=F.col("n"), group_by=keys))
    return given


def _keys(node: ChangeJoin, place: int, schema: Schema, run: LoweringContext) -> list[Column]:
    columns = dict(zip((a.name for a in schema), values(schema)))
    return [
        columns[key] if isinstance(key, str) else crossing(value(key[place], schema, run), key[place].type)
        for key in node.keys
    ]


def _branches(node: ChangeJoin, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """The branches of one scan as the machine takes them; all values are terms, so the sides share their columns."""
    side = F.col("side")
    keys = []
    for name in node.keys:
        places = [next(p for p, a in enumerate(schema) if a.name == name) for schema in node.sides]
        key = F.col(f"c{places[0]}")
        for own in sorted(set(places[1:]) - {places[0]}):
            having = [F.lit(place) for place, other in enumerate(places) if other == own]
            key = F.when(side.isin(*having), F.col(f"c{own}")).otherwise(key)
        keys.append(key)
    widest = values(max(node.sides, key=len))
    return machine_input(frame, run, values=widest, side=side, count=F.col("n"), group_by=keys)


def _has_residual(node: ChangeJoin) -> bool:
    return bool(node.residual) if isinstance(node.residual, Compatible) else node.residual != TRUE


def _matches(node: ChangeJoin, run: LoweringContext) -> Column:
    """Whether a pair, which has the values of both sides one after the other, fulfils the residual."""
    if isinstance(node.residual, Compatible):
        return _compatible(node.residual, _by_name(node.sides))
    pair = Schema(tuple(a for schema in node.sides for a in schema))
    return holds(node.residual, pair, run)


def _by_name(sides: Sequence[Schema]) -> list[dict[str, Column]]:
    """The columns of each side by name, in a frame that has the values of all sides one after the other."""
    found: list[dict[str, Column]] = []
    first = 0
    for schema in sides:
        found.append({a.name: F.col(f"c{first + place}") for place, a in enumerate(schema)})
        first += len(schema)
    return found


def _merged(schema: Schema, sides: Sequence[Mapping[str, Column]]) -> list[Column]:
    """The columns of merged solutions: what a side binds."""
    return [_either(a.name, sides).alias(f"c{place}") for place, a in enumerate(schema)]


def _either(name: str, sides: Sequence[Mapping[str, Column]]) -> Column:
    found = [side[name] for side in sides if name in side]
    return found[0] if len(found) == 1 else F.coalesce(*found)


def _compatible(residual: Compatible, sides: Sequence[Mapping[str, Column]]) -> Column:
    """Whether solutions are compatible, have a variable in common if that is asked for, and fulfil a condition."""
    wanted = F.lit(True)
    overlap = F.lit(False)
    for name in residual.variables:
        found = [side[name] for side in sides if name in side]
        for other in found[1:]:
            wanted = wanted & (found[0].isNull() | other.isNull() | (found[0] == other))
            overlap = overlap | (found[0].isNotNull() & other.isNotNull())
    if residual.overlap:
        wanted = wanted & overlap
    if residual.condition != TRUE:
        every = dict.fromkeys(name for side in sides for name in side)
        wanted = wanted & terms.holds(residual.condition, {name: _either(name, sides) for name in every})
    return F.coalesce(wanted, F.lit(False))


def _static(node: ChangeJoin, left: DataFrame, right: DataFrame, run: LoweringContext) -> DataFrame:
    """A join with what is stored."""
    assert isinstance(node.residual, Compatible)  # noqa: S101 - only solutions are joined with a table here
    sides = [
        {a.name: F.col(f"{alias}.c{place}") for place, a in enumerate(schema)}
        for alias, schema in zip(("l", "r"), node.sides, strict=True)
    ]
    meets = _compatible(node.residual, sides)
    for name in node.keys:
        assert isinstance(name, str)  # noqa: S101 - the keys of solutions are variables
        meets = meets & (sides[0][name] == sides[1][name])
    one, other = left.alias("l"), right.withColumn("there", F.lit(1)).alias("r")
    own = [F.col(f"l.{name}").alias(name) for name in (TICK, "n") if name in left.columns]
    if node.join_type in (JoinType.ANTI, JoinType.SEMI):
        found = one.join(other, meets, "left_anti" if node.join_type is JoinType.ANTI else "left_semi")
        kept = [F.col(name) for name in (TICK, "n") if name in found.columns]
        return found.select(*kept, *names(node.schema))
    if node.join_type is JoinType.MARK:
        own += [F.col(f"l.{name}") for name in names(node.sides[0])]
        flags = {"left_semi": True, "left_anti": False}
        marked = [one.join(other, meets, how).select(*own, F.lit(f)) for how, f in flags.items()]
        return marked[0].union(marked[1]).toDF(*marked[0].columns[:-1], names(node.schema)[-1])
    if node.join_type is JoinType.LEFT:
        found = one.join(other, meets, "left")
    elif run.live:
        found = with_table(one, other, meets, "r.there", f"transom_table_{next(run.counter)}")
    else:
        found = one.join(other, meets)
    return found.select(*own, *_merged(node.schema, sides))
