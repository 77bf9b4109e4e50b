"""Windows of keys on Spark, from the machine that follows each key; tracks through the places of rows."""

from __future__ import annotations

import json
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.algebra.tracks import Track
from transom.model.schema import Attribute, Schema
from transom.model.types import Type
from transom.physical.lines import Follow, Lines, Steady
from transom.physical.plan import Form, Read
from transom.physical.walk import walk
from transom.spark import aggregates
from transom.spark.balance import Metric, Place
from transom.spark.frames import LoweringContext, carried, names, value, values
from transom.spark.marks import TICK
from transom.spark.rejected import too_fast
from transom.spark.relations import words_and_rows
from transom.spark.stateful import crossing, crossing_columns, machine_input, run_machine
from transom.spark.tracks import track

KEYS_TOGETHER = 512
"""States that keys share: enough to spread over a cluster, few enough to be read as wholes."""


def lines(node: Lines, frame: DataFrame, clock: DataFrame | None, run: LoweringContext) -> DataFrame:
    """The rows or the changes of the windows of each key, and a word for every window."""
    schema = node.schema
    cells = names(node.input.schema)
    tags = [run.time.number() if tag.name == "tick" else F.col("i") for tag in node.tags]
    made = [*map(F.col, cells), *(tag.alias(f"c{len(cells) + place}") for place, tag in enumerate(tags))]
    out = schema
    if node.flag is not None:
        made.append(F.coalesce(value(node.flag, node.input.schema, run), F.lit(False)).alias(f"c{len(schema)}"))
        out = schema + Schema((Attribute("inside", Type.BOOLEAN, "."),))
    order = "i" if "i" in frame.columns else "o"
    rows = frame.select(*carried(frame), F.col(order).alias("o"), *made)
    if clock is not None:
        words = clock.select(*carried(clock), F.lit(1).alias("w"), F.lit(False).alias("p"))
        rows = rows.withColumn("w", F.lit(1)).withColumn("p", F.lit(True)).unionByName(words, allowMissingColumns=True)
    told = _by_key(rows, node.key, schema, out, replace(node.spec, until=run.until).to_json(), run)
    if node.form is Form.CHANGES:
        return told.select(*carried(told, "p"), F.col("n").cast("int").alias("n"), *values(schema))
    place = [F.col("n").alias("o")] if node.ordered else []
    return told.select(*carried(told, "w", "p"), *place, *values(schema))


def steady(node: Steady, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """The rows that their objects can have reached in time."""
    out = Schema((*node.schema, Attribute("index", Type.INTEGER, ".")))
    last = f"c{len(node.schema)}"
    rows = frame.select(*carried(frame), F.col("i").alias("o"), *values(node.schema), F.col("i").alias(last))
    place = node.place.to_entries()
    entries = {"machine": "distance", "place": place, "until": run.until, "forget_after": node.forget_after}
    told = _by_key(rows, node.key, node.schema, out, json.dumps(entries), run)
    extent = next((below.extent for below in walk(node) if isinstance(below, Read)), "a subquery")
    if run.live:
        told = run.counts.observe(told, Metric(extent, Place.SPEED_LIMIT), too_fast().alias("rows"))
    else:
        told = run.rejected.watch(told, extent, next(run.counter))
    return told.where("p").select(TICK, F.col(last).alias("i"), F.col(last).alias("o"), *values(node.schema))


def _by_key(
    rows: DataFrame, key: tuple[Attribute, ...], schema: Schema, out: Schema, specification: str, run: LoweringContext
) -> DataFrame:
    """What the machines of all keys tell: tick, `line` (the key), `w`, `p`, `n`, and values."""
    keys = [crossing(F.col(f"c{schema.position(a)}"), a.type) for a in key]
    buckets = KEYS_TOGETHER if keys else 1
    cells = crossing_columns(rows, names(out))
    given = machine_input(rows, run, values=cells, order=F.col("o"), pair_keys=keys, buckets=buckets, hash_on=keys)
    known = Schema(tuple(Attribute(f"k{place}", a.type, ".") for place, a in enumerate(key)))
    shared = json.dumps(json.loads(specification) | {"shared": True})
    told = run_machine([given], shared, run, widths=[len(out)], out=known + out, pair_keys=len(keys), buckets=buckets)
    line = [F.struct(*(F.col(f"c{place}").alias(f"k{place}") for place in range(len(keys)))).alias("line")]
    values = [F.col(f"c{len(keys) + place}").alias(f"c{place}") for place in range(len(out))]
    return told.select(*carried(told, "w", "p", "n"), *(line if keys else []), *values)


def follow(node: Follow, frame: DataFrame, clock: DataFrame | None, run: LoweringContext) -> DataFrame:
    """Aggregates per window and group of its rows; tracks go through the places of rows in the order of time."""
    schema = node.input.schema
    keys = [f"k{place}" for place in range(len(node.groups))]
    windowed = node.form is Form.WINDOWS
    if clock is not None:
        frame = frame.withColumn("p", F.lit(True)).unionByName(
            clock.withColumn("p", F.lit(False)), allowMissingColumns=True
        )
    present = F.col("p") if "p" in frame.columns else F.lit(True)
    read = [value(item.expression, schema, run).alias(key) for item, key in zip(node.groups, keys, strict=True)]
    made = []
    order = F.col("o") if "o" in frame.columns else F.lit(0)
    for n, a in enumerate(node.aggregates):
        if isinstance(a, Track):
            where, tick = value(a.place, schema, run), value(a.tick, schema, run)
            read.append(F.struct(tick.alias("t"), order.alias("o"), where.alias("place")).alias(f"a{n}"))
            made.append(F.collect_list(F.when(present, F.col(f"a{n}"))).alias(f"s{n}"))
        else:
            if a.argument is not None:
                read.append(value(a.argument, schema, run).alias(f"a{n}"))
            argument = F.col(f"a{n}") if a.argument is not None else None
            made += aggregates.partial(a, argument, f"s{n}", present, run.approximate)
    rows = frame.select(*carried(frame, "w", "p"), *read)
    window = ["w", *(["p"] if node.groups else [])] if windowed else []
    sums = rows.groupBy(*carried(rows, *window), *keys).agg(*made)
    out = [F.col(key).alias(f"c{place}") for place, key in enumerate(keys)]
    for n, a in enumerate(node.aggregates):
        final = track(a, F.col(f"s{n}")) if isinstance(a, Track) else aggregates.final(a, f"s{n}", run.approximate)
        out.append(final.alias(f"c{len(keys) + n}"))
    if node.ordered:
        out.append(F.struct(*(F.col(k) for k in keys), F.lit(0).alias("_")).alias("o"))
    if windowed and not node.groups:
        return words_and_rows(sums, out)
    return sums.select(*carried(sums, "w", "p"), *out)
