"""Relations on Spark: selections, projections, groups, joins of stays, products of windows."""

from __future__ import annotations

import json

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructType

from transom.algebra.expressions import TRUE, Expression, Literal
from transom.algebra.expressions import Column as AlgebraColumn
from transom.model.schema import Schema
from transom.model.types import Type
from transom.physical.node import Physical
from transom.physical.plan import Filter, Form, Group, Map, Meet, Meeting, Product, Slide
from transom.spark import aggregates, expressions, kernel
from transom.spark.frames import LoweringContext, carried, holds, names, reader, select_new, value, values
from transom.spark.marks import TICK, div, with_table
from transom.spark.stateful import crossed, crossing, crossing_columns, crossing_type, machine_input, run_machine
from transom.spark.windows import between, comings_and_goings, with_existence

TRAVEL = ("f", "g", "w", "p", "n", "o", "i")
"""Columns that go with a row, where a frame has them."""


def keep(node: Filter, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """The rows for which a predicate is true; the word that a window exists stays."""
    true = holds(node.predicate, node.input.schema, run)
    return frame.where(~F.col("p") | true) if "p" in frame.columns else frame.where(true)


def project(node: Map, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Each row made into another."""
    made = {f"c{n}": value(item.expression, node.input.schema, run) for n, item in enumerate(node.items)}
    travel = carried(frame, *TRAVEL)
    if all(isinstance(item.expression, AlgebraColumn | Literal) for item in node.items):
        return frame.select(*travel, *(column.alias(name) for name, column in made.items()))
    return select_new(frame, travel, made)


def group(node: Group, frame: DataFrame, clock: DataFrame | None, run: LoweringContext) -> DataFrame:
    """Aggregates per window, in one level or by panes; the clock brings the windows that hold nothing."""
    keys = [f"k{place}" for place in range(len(node.groups))]
    schema = node.input.schema
    window = ["w", *(["p"] if node.groups else [])] if node.form is Form.WINDOWS else []
    present = F.col("p") if node.form is Form.WINDOWS else None
    read = [value(item.expression, schema, run).alias(key) for item, key in zip(node.groups, keys)]
    read += [value(a.argument, schema, run).alias(f"a{place}") for place, a in enumerate(node.aggregates) if a.argument]
    rows = frame.select(*carried(frame, "g", "w", "p"), *read)
    approximate = run.approximate
    if node.panes:
        assert node.schedule is not None  # noqa: S101 - panes need a schedule
        ends = ["g"] if node.length is None else []
        panes = rows.groupBy(TICK, *ends, *keys).agg(*_partials(node, None, approximate))
        parts = [name for name in panes.columns if name.startswith("s")]
        first = run.time.number()
        gone = F.col("g") if node.length is None else first + F.lit(node.length)
        ticks = between(first, run.at_most(gone), node.schedule)
        rows = panes.select(F.explode(ticks).alias("t"), *(F.col(n) for n in [*keys, *parts]))
        rows = rows.select(run.time.marked(F.col("t")), *(F.col(n) for n in [*keys, *parts]))
        if clock is not None:
            rows = rows.unionByName(clock, allowMissingColumns=True)
        sums = rows.groupBy(TICK, *keys).agg(*_merges(node, approximate))
    else:
        if node.input.form is Form.STAYS and run.until is not None:
            rows = rows.where(run.time.number() <= F.lit(run.until))
        if clock is not None:
            rows = rows.withColumn("p", F.lit(True)).unionByName(
                clock.withColumn("p", F.lit(False)), allowMissingColumns=True
            )
            present = F.col("p")
        sums = rows.groupBy(*carried(rows, *window), *keys).agg(*_partials(node, present, approximate))
    made = [F.col(key).alias(f"c{place}") for place, key in enumerate(keys)]
    made += [
        aggregates.final(a, f"s{n}", approximate).alias(f"c{len(keys) + n}") for n, a in enumerate(node.aggregates)
    ]
    order = [F.struct(*(F.col(k) for k in keys), F.lit(0).alias("_")).alias("o")] if node.ordered else []
    if node.form is Form.WINDOWS and not node.groups:
        return words_and_rows(sums, [*order, *made])
    return sums.select(*carried(sums, "w", "p"), *order, *made)


def words_and_rows(sums: DataFrame, made: list[Column]) -> DataFrame:
    """Of every window a word and its one row; of a key that is over (window 0) the word."""
    both = F.explode(F.when(F.col("w") > 0, F.array(F.lit(False), F.lit(True))).otherwise(F.array(F.lit(False))))
    return sums.select(*carried(sums, "w"), both.alias("p"), *made)


def slide(node: Slide, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Aggregates per window and group, from the kernel: a row goes in once, whatever the number of its windows."""
    schema = node.input.schema
    keys = [f"k{place}" for place in range(len(node.groups))]
    asked = _asked(node)
    gone = F.col("g") if node.copies is None else None
    if (
        not run.live and run.until is not None
    ):  # a replay makes all windows of a row at once: only those that are asked for
        period = node.period
        last = (run.until // period + 1) * period
        end = run.time.number() + F.lit((node.copies or 0) * period) if gone is None else gone
        gone = F.least(end, F.lit(last))
    own = 0 if gone is None else 1
    rows = frame.select(
        TICK,
        run.time.number().alias("t"),
        *(value(item.expression, schema, run).alias(key) for item, key in zip(node.groups, keys)),
        *([] if gone is None else [gone.alias("a0")]),
        *(crossing(value(e, schema, run), e.type).alias(f"a{place + own}") for place, e in enumerate(asked)),
    )
    if run.until is not None:
        rows = rows.where(F.col("t") <= F.lit(run.until))
    made = list(node.schema)[len(keys) :]
    types = [crossing_type(attribute.type) for attribute in made]
    out = StructType([rows.schema[name] for name in keys])
    out = out.add("t", LongType())
    for place, kind in enumerate(types):
        out = out.add(f"v{place}", kind)
    told, count = slide_specification(node, ends=gone is not None), len(asked) + own
    sums = _until(kernel.slide(rows, told, run.calendar, by=keys, out=out, values=count, live=run.live), run)
    cells = [F.col(key).alias(f"c{place}") for place, key in enumerate(keys)]
    for place, attribute in enumerate(made):
        cells.append(crossed(F.col(f"v{place}"), attribute.type).alias(f"c{len(keys) + place}"))
    order = [F.struct(*(F.col(k) for k in keys), F.lit(0).alias("_")).alias("o")] if node.ordered else []
    return sums.select(run.time.marked(F.col("t")), *order, *cells)


def slide_specification(node: Slide, *, ends: bool = False) -> str:
    """What the machine of a node is told; `ends` where rows say when they are gone."""
    asked = _asked(node)
    wanted = [
        {
            "function": a.function.value.lower(),
            "type": _summed(a.argument.type) if a.argument else "integer",
            "argument": asked.index(a.argument) if a.argument else None,
        }
        for a in node.aggregates
    ]
    copies = None if ends else node.copies
    return json.dumps({"machine": "slide", "copies": copies, "period": node.period, "aggregates": wanted})


def _asked(node: Slide) -> list[Expression]:
    """What aggregates are made of, each expression once."""
    return list(dict.fromkeys(a.argument for a in node.aggregates if a.argument))


def _summed(kind: Type) -> str:
    return "integer" if kind is Type.TIME else kind.value


def _partials(node: Group, present: Column | None, approximate: bool) -> list[Column]:
    made = [
        column
        for n, a in enumerate(node.aggregates)
        for column in aggregates.partial(a, F.col(f"a{n}") if a.argument else None, f"s{n}", present, approximate)
    ]
    return made or [F.count(F.lit(1)).alias("s_rows")]


def _merges(node: Group, approximate: bool) -> list[Column]:
    made = [c for n, a in enumerate(node.aggregates) for c in aggregates.merge(a, f"s{n}", approximate)]
    return made or [F.count(F.lit(1)).alias("s_rows")]


def _until(frame: DataFrame, run: LoweringContext) -> DataFrame:
    return frame if run.until is None else frame.where(F.col("t") <= F.lit(run.until))


def meet(node: Meet, left: DataFrame, right: DataFrame, run: LoweringContext) -> DataFrame:
    """Pairs of rows whose stays overlap.

    Both sides are cut into spans of `cell` ticks, which makes the join an equality on event time: state is dropped when
    a span is over, and nothing waits. A pair belongs to the span in which the later of its rows comes.
    """
    one, other = (_side(frame, run, side) for frame, side in ((left, "l"), (right, "r")))
    if node.how is Meeting.SPANS:
        one, other = (_cells(frame, node.cell, run, side) for frame, side in ((one, "l"), (other, "r")))
    early, late = F.greatest(F.col("lf"), F.col("rf")), F.least(F.col("lg"), F.col("rg"))
    condition = (F.col("lf") < F.col("rg")) & (F.col("rf") < F.col("lg"))
    if "lx" in one.columns:
        here = div(early, node.cell) == div(run.time.number(F.col("lx")), node.cell)
        condition = condition & (F.col("lx") == F.col("rx")) & here
    if node.how is Meeting.RANGES:
        condition = condition & _ranges(node, run)
    condition = condition & _matching(node.equal, node.left, node.right)
    if node.rest != TRUE:
        condition = condition & _both(node.rest, node.left.schema, node.right.schema)
    if run.live and node.form is Form.STAYS and node.how is Meeting.STATIC:
        stream, table, found = (one, other, "rf") if node.right.form is Form.TABLE else (other, one, "lf")
        pairs = with_table(stream, table, condition, found, f"transom_table_{next(run.counter)}")
    else:
        pairs = one.join(other, condition)
    place = run.time.marked(early) if node.form is Form.STAYS else early.alias("f")
    order = [F.struct(F.col("lo").alias("l"), F.col("ro").alias("r")).alias("o")] if node.ordered else []
    return pairs.select(place, late.alias("g"), *order, *_concatenated(node.left.schema, node.right.schema))


def _side(frame: DataFrame, run: LoweringContext, side: str) -> DataFrame:
    """One side of a join, its columns under names of their own."""
    first = run.time.number() if TICK in frame.columns else F.col("f")
    others = [n for n in frame.columns if n not in ("f", "i")]
    return frame.select(first.alias(f"{side}f"), *(F.col(n).alias(f"{side}{n}") for n in others))


def _ranges(node: Meet, run: LoweringContext) -> Column:
    """The bounds from which Spark learns when a row can be forgotten; overlap alone does not tell it."""
    longest = f"interval {node.cell * run.calendar.length} microseconds"
    return F.expr(f"rtick < ltick + {longest} and ltick < rtick + {longest}")


def _cells(frame: DataFrame, cell: int, run: LoweringContext, side: str) -> DataFrame:
    """Each stay in every span that it touches; the last tick of the span is event time, an upper bound (R2)."""
    first, gone = F.col(f"{side}f"), run.at_most(F.col(f"{side}g"))
    spans = F.when(first < gone, F.sequence(div(first, cell), div(gone - F.lit(1), cell)))
    others = [n for n in frame.columns if n != f"{side}{TICK}"]
    cut = frame.select(F.explode(spans).alias("cell"), *others)
    end = run.time.marked((F.col("cell") + F.lit(1)) * F.lit(cell) - F.lit(1))
    return cut.select(end, *others).withColumnRenamed(TICK, f"{side}x")


def _matching(equal: tuple[tuple[Expression, Expression], ...], left: Physical, right: Physical) -> Column:
    condition = F.lit(True)
    for mine, yours in equal:
        one = expressions.lower(mine, reader(left.schema, "lc"), _no_tag)
        other = expressions.lower(yours, reader(right.schema, "rc"), _no_tag)
        condition = condition & (one == other)
    return condition


def _both(predicate: Expression, left: Schema, right: Schema) -> Column:
    sides = {a: f"lc{n}" for n, a in enumerate(left)} | {a: f"rc{n}" for n, a in enumerate(right)}
    return expressions.holds(predicate, lambda attribute: F.col(sides[attribute]), _no_tag)


def _no_tag(tag: str) -> Column:
    raise AssertionError(f"a relation has no {tag}")


def _concatenated(left: Schema, right: Schema) -> list[Column]:
    first = [F.col(f"lc{n}").alias(f"c{n}") for n in range(len(left))]
    return first + [F.col(f"rc{n}").alias(f"c{len(left) + n}") for n in range(len(right))]


def product(
    node: Product,
    sides: tuple[DataFrame, DataFrame],
    clocks: tuple[DataFrame | None, DataFrame | None],
    run: LoweringContext,
) -> DataFrame:
    """Pairs of current windows, from the machine that keeps them; what the pairs must fulfil is checked after it."""
    inputs = (node.left, node.right)
    fed = [_fed(node, place, inputs[place], sides[place], clocks[place], run) for place in (0, 1)]
    specification = json.dumps({"machine": "product", "left": _kind(node.left), "right": _kind(node.right)})
    rows = run_machine(
        fed,
        specification,
        run,
        widths=[len(side.schema) for side in inputs],
        out=node.schema,
        pair_keys=len(node.equal),
        buckets=node.buckets,
    )
    if node.rest != TRUE:
        rows = rows.where(~F.col("p") | holds(node.rest, node.schema, run))
    order = [F.col("n").alias("o")] if node.ordered else []
    return rows.select(*carried(rows, "w", "p"), *order, *values(node.schema))


def _kind(side: Physical) -> str:
    return "stays" if side.form is Form.STAYS else "windows"


def _fed(
    node: Product, place: int, side: Physical, frame: DataFrame, clock: DataFrame | None, run: LoweringContext
) -> DataFrame:
    """One side as a machine takes it: rows of windows, or comings and goings, with the words that windows exist."""
    count = F.col("n") if side.form is Form.STAYS else None
    if side.form is Form.STAYS:
        frame = comings_and_goings(frame, F.col("g"), run, [*(["o"] if side.ordered else []), *names(side.schema)])
    if clock is not None:
        frame = with_existence(frame, clock, run)
    keys = [crossing(value(pair[place], side.schema, run), pair[place].type) for pair in node.equal]
    for key in keys:
        frame = frame.where(~F.col("p") | key.isNotNull())
    order = F.col("o") if side.ordered else None
    return machine_input(
        frame,
        run,
        values=crossing_columns(frame, names(side.schema)),
        side=place,
        order=order,
        count=count,
        pair_keys=keys,
        buckets=node.buckets,
        hash_on=keys,
    )
