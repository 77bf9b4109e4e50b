"""Solutions that meet on Spark: joins, left joins, semi and anti joins, and every solution once.

What comes and goes meets in machines, by key. A condition that is left is asked of the changes of pairs; a second
machine then follows each solution of the left side and the pairs that cover it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.model.schema import Schema
from transom.model.types import Type
from transom.physical.plan import Form
from transom.physical.rdf_plan import Mate, Mating, Once
from transom.spark import terms
from transom.spark.frames import Run, carried, names, values
from transom.spark.marks import TICK, with_table
from transom.spark.rdf_patterns import kept
from transom.spark.stateful import machine_input, run_machine

_TELL = {Mating.JOIN: "pairs", Mating.OUTER: "outer", Mating.LONE: "lone", Mating.MATCHED: "matched"}


def mate(node: Mate, left: DataFrame, right: DataFrame | None, run: Run) -> DataFrame:
    """Compatible solutions of all sides."""
    if right is not None and node.right is not None and node.right.form is Form.TABLE:
        return _static(node, left, right, run)
    fed = [_fanned(node, left, run)] if right is None else _sides(node, (left, right), run)
    widths = [len(schema) for schema in node.sides]
    asks = node.asks and node.how is not Mating.JOIN
    tell = "asked" if asks else _TELL[node.how]
    own = node.how in (Mating.LONE, Mating.MATCHED) and not asks
    out = widths[0] if own else sum(widths)
    specification = json.dumps({"machine": "mates", "tell": tell, "widths": widths})
    told = _machine(fed, specification, run, widths, out)
    if own:
        return told.select(*kept(told), *names(node.schema))
    pairs = _all_columns(node.sides)
    wanted = _wanted(node, pairs)
    if asks:
        told = _covered(node, told.where((F.col("w") == 0) | wanted), widths, run)
        if node.how is not Mating.OUTER:
            return told.select(*kept(told), *names(node.schema))
    elif node.asks:
        told = told.where(wanted)
    return told.select(*kept(told), *_merged(node.schema, pairs))


def _all_columns(sides: Sequence[Schema], of: str = "") -> list[dict[str, Column]]:
    """The columns of each side by name, in a frame that has the values of all sides one after the other."""
    found: list[dict[str, Column]] = []
    at = 0
    for schema in sides:
        found.append({a.name: F.col(f"{of}c{at + place}") for place, a in enumerate(schema)})
        at += len(schema)
    return found


def _merged(schema: Schema, sides: Sequence[Mapping[str, Column]]) -> list[Column]:
    """The columns of merged solutions: what a side binds."""
    cells = []
    for place, attribute in enumerate(schema):
        cells.append(_either(attribute.name, sides).alias(f"c{place}"))
    return cells


def _either(name: str, sides: Sequence[Mapping[str, Column]]) -> Column:
    found = [side[name] for side in sides if name in side]
    return found[0] if len(found) == 1 else F.coalesce(*found)


def _wanted(node: Mate, sides: Sequence[Mapping[str, Column]]) -> Column:
    """What is left to be asked of a pair: that it is compatible, has a variable in common, and fulfils a condition."""
    wanted = F.lit(True)
    overlap = F.lit(False)
    for name in node.loose:
        found = [side[name] for side in sides if name in side]
        for other in found[1:]:
            wanted = wanted & (found[0].isNull() | other.isNull() | (found[0] == other))
            overlap = overlap | (found[0].isNotNull() & other.isNotNull())
    if node.overlap:
        wanted = wanted & overlap
    if node.condition is not None:
        every = dict.fromkeys(name for side in sides for name in side)
        holds = terms.truth(node.condition, {name: _either(name, sides) for name in every})
        wanted = wanted & F.coalesce(holds, F.lit(False))
    return F.coalesce(wanted, F.lit(False))


def _static(node: Mate, left: DataFrame, right: DataFrame, run: Run) -> DataFrame:
    """A join with what is stored."""
    sides = _apart(node, ("l", "r"))
    meets = _wanted(node, sides)
    for name in node.equal:
        meets = meets & (sides[0][name] == sides[1][name])
    one, other = left.alias("l"), right.withColumn("there", F.lit(1)).alias("r")
    own = [F.col(f"l.{name}").alias(name) for name in (TICK, "n") if name in left.columns]
    if node.how in (Mating.LONE, Mating.MATCHED):
        found = one.join(other, meets, "left_anti" if node.how is Mating.LONE else "left_semi")
        return found.select(*kept(found), *names(node.schema))
    if node.how is Mating.OUTER:
        found = one.join(other, meets, "left")
    elif run.live:
        found = with_table(one, other, meets, "r.there", f"transom_table_{next(run.counter)}")
    else:
        found = one.join(other, meets)
    return found.select(*own, *_merged(node.schema, sides))


def _apart(node: Mate, aliases: Sequence[str]) -> list[dict[str, Column]]:
    """The columns of each side by name, where every side has its own alias."""
    return [
        {a.name: F.col(f"{alias}.c{place}") for place, a in enumerate(schema)}
        for alias, schema in zip(aliases, node.sides, strict=True)
    ]


def _sides(node: Mate, frames: Sequence[DataFrame], run: Run) -> list[DataFrame]:
    """Two sides as the machine takes them."""
    fed = []
    for place, (schema, frame) in enumerate(zip(node.sides, frames, strict=True)):
        there = {a.name: F.col(f"c{at}") for at, a in enumerate(schema)}
        keys = [there[name] for name in node.equal]
        fed.append(machine_input(frame, run, values=values(schema), side=place, count=F.col("n"), group_by=keys))
    return fed


def _fanned(node: Mate, frame: DataFrame, run: Run) -> DataFrame:
    """The branches of one scan as the machine takes them; all values are terms, so the sides share their columns."""
    side = F.col("side")
    keys = []
    for name in node.equal:
        places = [next(p for p, a in enumerate(schema) if a.name == name) for schema in node.sides]
        key = F.col(f"c{places[0]}")
        for own in sorted(set(places[1:]) - {places[0]}):
            having = [F.lit(place) for place, other in enumerate(places) if other == own]
            key = F.when(side.isin(*having), F.col(f"c{own}")).otherwise(key)
        keys.append(key)
    widest = values(max(node.sides, key=len))
    return machine_input(frame, run, values=widest, side=side, count=F.col("n"), group_by=keys)


def _machine(sides: Sequence[DataFrame], specification: str, run: Run, widths: Sequence[int], out: int) -> DataFrame:
    """What a machine emits of solutions: tick, `w` (1 a pair, 0 a solution of the left), `n`, and values."""
    terms_out = [(f"c{place}", Type.STRING) for place in range(out)]
    made = run_machine(sides, specification, run, widths=widths, out=terms_out)
    return made.select(TICK, "w", F.col("n").cast("int").alias("n"), *(name for name, _ in terms_out))


def _covered(node: Mate, told: DataFrame, widths: Sequence[int], run: Run) -> DataFrame:
    """The solutions of the left side with the pairs that cover them; all that is told of one comes together."""
    own = [F.col(name) for name in names(node.sides[0])]
    outer = node.how is Mating.OUTER
    every = [F.col(f"c{place}") for place in range(sum(widths))]
    sides = told.withColumnRenamed("w", "side")
    fed = machine_input(sides, run, values=every if outer else own, side=F.col("side"), count=F.col("n"), group_by=own)
    padding = sum(widths[1:]) if outer else 0
    specification = json.dumps({"machine": "cover", "tell": _TELL[node.how], "padding": padding})
    pieces = [widths[0], sum(widths) if outer else 0]
    return _machine([fed], specification, run, pieces, widths[0] + padding)


def once(node: Once, frame: DataFrame, run: Run) -> DataFrame:
    """Every solution once."""
    cells = names(node.schema)
    if node.form is Form.TABLE:
        if cells:
            return frame.select(*cells).distinct()
        return frame.select(F.lit(0).alias("_")).distinct().drop("_")
    solution = values(node.schema)
    fed = machine_input(frame, run, values=solution, count=F.col("n"), group_by=solution)
    specification = json.dumps({"machine": "cover", "tell": "once", "padding": 0})
    told = _machine([fed], specification, run, [len(cells)], len(cells))
    return told.select(*carried(told, "n"), *cells)
