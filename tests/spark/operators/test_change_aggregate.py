"""Aggregates of changes on Spark, of terms and of SQL values, against the aggregates of the rows at each tick."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tests.machines.group_cases import MIXES
from tests.rdf.build import aggregate_of, item
from transom.algebra.expressions.expression import Aggregate as SqlAggregate
from transom.algebra.expressions.expression import AggregateFunction, Column, NamedExpression
from transom.algebra.expressions.terms import variable
from transom.algebra.relations import WindowAggregation
from transom.algebra.sources import Values
from transom.model.rdf.terms import Literal, Term
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Type, Value, normalize_decimal
from transom.physical.decisions import STATELESS
from transom.physical.nodes.change_aggregate import ChangeAggregate
from transom.physical.nodes.rdf import solution_schema
from transom.physical.nodes.windows import ReadStream
from transom.reference.expressions import aggregate
from transom.reference.relations import aggregate_over_window
from transom.spark.columns import COUNT
from transom.spark.frames import LoweringContext, value_names
from transom.spark.stateful import kernel
from transom.spark.stateful.change_aggregate import change_aggregate

TICKS = 12
G, X = variable("g"), variable("x")
BELOW = ReadStream("l", solution_schema(("g", "x")), False, STATELESS)
FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT")
AGGREGATES = (
    *(aggregate_of(variable(f"{f}{once}".lower()), f, X, once, ", ") for f in FUNCTIONS for once in (False, True)),
    aggregate_of(variable("rows"), "COUNT"),
    aggregate_of(variable("different"), "COUNT", None, True),
)
K, A, B, C = (Attribute(n, t) for n, t in zip("kabc", (Type.STRING, Type.INTEGER, Type.FLOAT, Type.DECIMAL)))
ROWS = ReadStream("r", Schema((K, A, B, C)), False, STATELESS)
SQL = [
    SqlAggregate(function, Column(a), Attribute(f"{function.value}_{a.name}", result))
    for function in AggregateFunction
    for a in (A, B, C)
    if (result := function.result(a.type)) is not None
]

Change = tuple[int, int, int]
"""Tick, how many copies come or go, and the number of the row."""


def changes(rows: int, seed: str) -> Iterator[Change]:
    """Rows that come and go in any order; in the end all are gone."""
    rng, there = random.Random(seed), Counter[int]()
    for tick in range(TICKS):
        for _ in range(rng.randrange(2 * rows) if tick < TICKS - 1 else 0):
            row, count = rng.randrange(rows), rng.choice([1, 1, 2])
            there[row] += count
            yield tick, count, row
        for row in rng.sample(sorted(there), len(there) // 2 if tick < TICKS - 1 else len(there)):
            count = there[row] if tick == TICKS - 1 else rng.randint(1, there[row])
            there[row] -= count
            there += Counter()
            yield tick, -count, row


def at(tick: int, given: list[Change]) -> list[int]:
    """The numbers of the rows at a tick."""
    there: Counter[int] = Counter()
    for when, count, row in given:
        if when <= tick:
            there[row] += count
    return list(there.elements())


def added_up(made: DataFrame, node: ChangeAggregate, run: LoweringContext) -> list[Counter[tuple[Any, ...]]]:
    """The rows at every tick; nothing is ever retracted that is not there."""
    found = [
        tuple(row) for row in made.select(run.time.tick_number().alias("t"), COUNT, *value_names(node.schema)).collect()
    ]
    rows = []
    for tick in range(TICKS):
        there: Counter[tuple[Any, ...]] = Counter()
        for when, count, *row in found:
            there[tuple(map(plain, row))] += count if when <= tick else 0
        assert min(there.values(), default=0) >= 0
        rows.append(+there)
    return rows


def plain(value: Any) -> Any:
    return normalize_decimal(value) if isinstance(value, Decimal) else value


def frame(spark: Any, run: LoweringContext, given: list[Change], rows: list[tuple[Any, ...]], kinds: str) -> DataFrame:
    made = [(tick, count, *rows[row]) for tick, count, row in given]
    return spark.createDataFrame(made, f"t bigint, n int, {kinds}").select(
        run.time.as_event_time(F.col("t")), F.col("n").alias(COUNT), *(f"c{place}" for place in range(len(rows[0])))
    )


def check_terms(spark: Any, run: LoweringContext, whole: bool) -> None:
    terms: list[tuple[str, Term | None]] = [(g, t) for g, mix in zip("abcdefghij", MIXES, strict=True) for t in mix]
    given = list(changes(len(terms), f"terms {whole}"))
    keys = () if whole else (item(G, G),)
    op = WindowAggregation(Values((G, X), ()), keys, AGGREGATES)
    spelled = [(f'"{g}"', None if t is None else str(t)) for g, t in terms]
    rows = frame(spark, run, given, spelled, "c0 string, c1 string")
    start = spark.createDataFrame([(0, 1)], "t bigint, n int").select(
        run.time.as_event_time(F.col("t")), F.col("n").alias(COUNT)
    )
    node = ChangeAggregate(BELOW, BELOW if whole else None, keys, AGGREGATES, op.schema, STATELESS)
    found = added_up(change_aggregate(node, rows, start if whole else None, run), node, run)
    for tick in range(TICKS):
        there = [(Literal(group), term) for group, term in (terms[row] for row in at(tick, given))]
        wanted = aggregate_over_window(op, there)
        expected = Counter(tuple(None if t is None else str(t) for t in row) for row in wanted)
        assert found[tick] == expected, (tick, whole)


def check_values(spark: Any, run: LoweringContext) -> None:
    big = Decimal("9" * 20)
    values: list[tuple[Value, ...]] = [
        (key, whole, number, decimal)
        for key in ("u", "v", None)
        for whole, number, decimal in [(1, 0.1, Decimal("1.5")), (2**62, 0.2, big), (None, None, None), (3, 1e20, big)]
    ]
    given = list(changes(len(values), "values"))
    schema = Schema((K, *(one.attribute for one in SQL)))
    node = ChangeAggregate(ROWS, None, (NamedExpression(Column(K), K),), tuple(SQL), schema, STATELESS)
    rows = frame(spark, run, given, values, "c0 string, c1 bigint, c2 double, c3 decimal(38,18)")
    found = added_up(change_aggregate(node, rows, None, run), node, run)
    for tick in range(TICKS):
        groups: dict[Value, list[tuple[Value, ...]]] = {}
        for row in at(tick, given):
            groups.setdefault(values[row][0], []).append(values[row])
        expected = Counter(
            (key, *(plain(_narrow(aggregate(one, ROWS.schema, group))) for one in SQL)) for key, group in groups.items()
        )
        assert found[tick] == expected, tick


def _narrow(value: Value) -> Value:
    """What Spark's decimals hold."""
    return None if isinstance(value, Decimal) and abs(value) >= Decimal(10) ** 20 else value


@pytest.mark.parametrize(
    "java", [pytest.param(False, marks=pytest.mark.nightly, id="python"), pytest.param(True, id="java")]
)
def test_changes_add_up_to_the_aggregates(spark: Any, java: bool) -> None:
    if java and (why := kernel.load_kernel(spark)):
        pytest.skip(why)
    run = LoweringContext(spark, Calendar(), {}, {}, live=False, kernel=java)
    check_terms(spark, run, whole=False)
    check_terms(spark, run, whole=True)
    check_values(spark, run)
