"""Joins of changes on Spark, of every type, with and without a residual, against the join of the rows at each tick."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import TRUE, Column, call
from transom.algebra.relations import JoinType
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Type
from transom.physical.decisions import STATELESS
from transom.physical.nodes.change_join import ChangeJoin
from transom.physical.nodes.windows import Form, ReadStream
from transom.spark.columns import COUNT
from transom.spark.frames import LoweringContext, value_names
from transom.spark.stateful import kernel
from transom.spark.stateful.change_join import change_join

KEY, V, OTHER_KEY, W = (Attribute(n, Type.INTEGER, q) for n, q in (("k", "l"), ("v", "l"), ("k", "r"), ("w", "r")))
LEFT, RIGHT = Schema((KEY, V)), Schema((OTHER_KEY, W))
CHANGES = {
    "left": [(0, 1, 1, 5), (0, 2, 1, 7), (0, 1, 2, 5), (0, 1, None, 5), (3, -1, 1, 7), (4, 1, 3, 1), (6, -1, 1, 5)],
    "right": [(1, 1, 1, 6), (2, 1, 1, 8), (2, 1, None, 1), (3, 2, 2, 4), (4, -1, 1, 6), (5, -1, 1, 8), (6, 1, 3, 9)],
}
"""Changes of both sides: tick, how many copies come or go, key and value. NULL is no key."""


def at(side: str, tick: int) -> list[tuple[Any, Any]]:
    """The rows of a side at a tick."""
    there: Counter[tuple[Any, Any]] = Counter()
    for when, count, key, value in CHANGES[side]:
        if when <= tick:
            there[key, value] += count
    return list(there.elements())


def joined(join_type: JoinType, checks: bool, tick: int) -> Counter[tuple[Any, ...]]:
    """The join at a tick, by its definition."""
    found: Counter[tuple[Any, ...]] = Counter()
    for k, v in at("left", tick):
        pairs = [(k2, w) for k2, w in at("right", tick) if k is not None and k == k2 and (not checks or v < w)]
        match join_type:
            case JoinType.INNER:
                found.update((k, v, *pair) for pair in pairs)
            case JoinType.LEFT:
                found.update((k, v, *pair) for pair in pairs or [(None, None)])
            case JoinType.MARK:
                found[k, v, bool(pairs)] += 1
            case _:
                found[k, v] += bool(pairs) == (join_type is JoinType.SEMI)
    return +found


def side(spark: Any, name: str, run: LoweringContext) -> DataFrame:
    rows = spark.createDataFrame(CHANGES[name], "t bigint, n int, c0 bigint, c1 bigint")
    return rows.select(run.time.as_event_time(F.col("t")), F.col("n").alias(COUNT), "c0", "c1")


@pytest.mark.parametrize(
    "java", [pytest.param(False, marks=pytest.mark.nightly, id="python"), pytest.param(True, id="java")]
)
def test_changes_add_up_to_the_join(spark: Any, java: bool) -> None:
    if java and (why := kernel.load_kernel(spark)):
        pytest.skip(why)
    run = LoweringContext(spark, Calendar(), {}, {}, live=False, kernel=java)
    frames = [side(spark, name, run) for name in ("left", "right")]
    sides = [ReadStream(name, schema, False, STATELESS) for name, schema in (("l", LEFT), ("r", RIGHT))]
    keys = ((Column(KEY), Column(OTHER_KEY)),)
    less = call("<", Column(V), Column(W))
    for join_type in JoinType:
        own = LEFT if join_type in (JoinType.SEMI, JoinType.ANTI) else LEFT + RIGHT
        schema = LEFT + Schema((Attribute("matches", Type.BOOLEAN),)) if join_type is JoinType.MARK else own
        for residual in (TRUE, less):
            node = ChangeJoin(*sides, join_type, keys, residual, schema, Form.CHANGES, STATELESS)
            made = change_join(node, *frames, run).select(
                run.time.tick_number().alias("t"), COUNT, *value_names(schema)
            )
            changes = [tuple(row) for row in made.collect()]
            for tick in range(8):
                there: Counter[tuple[Any, ...]] = Counter()
                for when, count, *row in changes:
                    if when <= tick:
                        there[tuple(row)] += count
                assert +there == joined(join_type, residual != TRUE, tick), (join_type, str(residual), tick)
                assert min(there.values(), default=0) >= 0
