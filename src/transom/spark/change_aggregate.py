"""Aggregates of changes on Spark, for rows of all languages: a machine for each group.

Spark computes the key of the group and the arguments of the aggregates. The machine adds them up. Spark then makes
terms of the numbers and characters that the machine emits.
"""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions import Aggregate, AggregateFunction, Expression
from transom.machines.group_aggregate import TERM, AggregateSpec, GroupSpec
from transom.model.rdf.terms import INTEGER
from transom.model.rdf.values import Kind
from transom.model.types import Type
from transom.physical.change_aggregate import ChangeAggregate
from transom.physical.plan import Form
from transom.spark.frames import LoweringContext, select_new, value, values, without_markers
from transom.spark.marks import TICK
from transom.spark.sql import F as S
from transom.spark.sql import Inputs, Sql, let
from transom.spark.stateful import crossing, machine_input, run_machine
from transom.spark.term_figures import number_term
from transom.spark.term_functions import characters
from transom.spark.term_numbers import divide
from transom.spark.term_order import sort_key
from transom.spark.term_spelling import ending, literal
from transom.spark.term_values import EXACT, Class, known, number, packed
from transom.spark.types import DECIMAL

_COUNT, _CONCAT, _AVG = AggregateFunction.COUNT, AggregateFunction.GROUP_CONCAT, AggregateFunction.AVG
_ORDERED = {AggregateFunction.MIN, AggregateFunction.MAX, AggregateFunction.SAMPLE, _CONCAT}
_NUMERIC = {AggregateFunction.SUM, _AVG}
_SOLUTION = "*"
"""The argument of COUNT(DISTINCT *)."""


def change_aggregate(
    node: ChangeAggregate, frame: DataFrame, start: DataFrame | None, run: LoweringContext
) -> DataFrame:
    """The changes of groups: tick, `p` if the input has window markers, `n`, and values; of a table the values."""
    if node.form is Form.TABLE:
        frame, start = _at_start(frame, run), None if start is None else _at_start(start, run)
    marked = "p" in frame.columns
    arguments = list(dict.fromkeys(a for a in map(_argument, node.aggregates) if a is not None))
    rows = _computed(node, arguments, frame, run)
    if start is not None:
        rows = _with_start(rows, start)
    keys = [F.col(f"key{place}") for place in range(len(node.keys))]
    cells, places = list(keys), {}
    for place, argument in enumerate(arguments):
        places[argument] = len(cells)
        cells += _cells(f"arg{place}", rows.columns) if _is_term(node, argument) else [F.col(f"arg{place}")]
    specs = tuple(_spec(one, places.get(_argument(one))) for one in node.aggregates)
    given = machine_input(rows, run, values=cells, count=F.col("n"), group_by=keys)
    specification = GroupSpec(len(keys), specs, whole=not node.keys).to_json()
    made = run_machine([given], specification, run, widths=[len(cells)], out=_emitted(node))
    head = [F.col(TICK), *([F.col("p")] if marked else []), F.col("n").cast("int").alias("n")]
    head = [] if node.form is Form.TABLE else head
    return (made if marked else made.where("p")).select(*head, *_results(node))


def _at_start(table: DataFrame, run: LoweringContext) -> DataFrame:
    """What is stored as changes of tick 0."""
    return table.select(run.time.marked(F.lit(0)), F.lit(1).alias("n"), "*")


def _argument(aggregate: Aggregate) -> object | None:
    """What an aggregate looks at; None counts rows."""
    if aggregate.argument is None and aggregate.distinct:
        return _SOLUTION
    return aggregate.argument


def _is_term(node: ChangeAggregate, argument: object) -> bool:
    return argument != _SOLUTION and _over_terms(node.aggregates[0])


def _computed(
    node: ChangeAggregate, arguments: Collection[object], frame: DataFrame, run: LoweringContext
) -> DataFrame:
    """The keys and the arguments of all aggregates, and of terms what their functions need."""
    marked = "p" in frame.columns
    kept = [F.col(TICK), F.col("n"), *([F.col("p"), F.lit(1).alias("w")] if marked else [])]
    made = {f"key{place}": _crossing(key.expression, node, run) for place, key in enumerate(node.keys)}
    for place, argument in enumerate(arguments):
        found = next(one for one in node.aggregates if _argument(one) == argument)
        made[f"arg{place}"] = _solution(node) if found.argument is None else _crossing(found.argument, node, run)
    rows = select_new(frame, kept, made)
    more: dict[str, Column] = {}
    for place, argument in enumerate(arguments):
        functions = {one.function for one in node.aggregates if _argument(one) == argument}
        if _is_term(node, argument):
            more |= _parts(f"arg{place}", functions)
    return select_new(rows, [F.col(name) for name in rows.columns], more) if more else rows


def _over_terms(aggregate: Aggregate) -> bool:
    return aggregate.attribute.type is Type.TERM


def _crossing(expression: Expression, node: ChangeAggregate, run: LoweringContext) -> Column:
    """An expression as a machine takes its value."""
    return crossing(value(expression, node.input.schema, run), expression.type)


def _solution(node: ChangeAggregate) -> Column:
    return F.struct(F.lit(0).alias("_"), *values(node.input.schema))


def _parts(name: str, functions: set[AggregateFunction]) -> dict[str, Column]:
    """The sort key, the characters and the number of a term, where a function needs them."""
    found = {}
    term = Inputs().name(F.col(name))
    if functions & _ORDERED:
        found[f"{name}_order"] = Inputs().column(sort_key(term))
    if _CONCAT in functions:
        found[f"{name}_characters"] = Inputs().column(characters(term))
    if functions & _NUMERIC:
        found[f"{name}_number"] = Inputs().column(number(term))
    return found


def _cells(name: str, there: Collection[str]) -> list[Column]:
    """A term as the machine takes it."""
    nothing = F.lit(None).cast("string")
    parts = [F.col(f"{name}_{p}") if f"{name}_{p}" in there else nothing for p in ("order", "characters")]
    figures = [F.col(f"{name}_number.{p}") if f"{name}_number" in there else nothing for p in "knf"]
    return [F.col(name), *parts, *figures]


def _with_start(rows: DataFrame, start: DataFrame) -> DataFrame:
    """Rows, and a marker at the tick from which the group of all rows exists."""
    began = without_markers(start).select(TICK, "n", F.lit(False).alias("p"), F.lit(1).alias("w"))
    own = rows if "p" in rows.columns else rows.withColumns({"p": F.lit(True), "w": F.lit(1)})
    return own.unionByName(began, allowMissingColumns=True)


def _spec(aggregate: Aggregate, place: int | None) -> AggregateSpec:
    function = "concat" if aggregate.function is _CONCAT else aggregate.function.value.lower()
    if not _over_terms(aggregate):
        kind = Type.INTEGER if aggregate.argument is None else aggregate.argument.type
        return AggregateSpec(function, kind.value, place)
    kind_of_cell = "row" if _argument(aggregate) == _SOLUTION else TERM
    return AggregateSpec(function, kind_of_cell, place, aggregate.distinct, aggregate.separator)


def _emitted(node: ChangeAggregate) -> list[tuple[str, Type]]:
    """The columns that the machine emits."""
    found = [(f"key{place}", attribute.type) for place, attribute in zip(range(len(node.keys)), node.schema)]
    for place, one in enumerate(node.aggregates):
        if not _over_terms(one):
            found.append((f"out{place}", Type.STRING if _is_digits(one) else one.attribute.type))
        elif one.function in _NUMERIC:
            found += [(f"out{place}_k", Type.INTEGER), (f"out{place}_n", Type.STRING), (f"out{place}_f", Type.FLOAT)]
            found += [(f"out{place}_count", Type.INTEGER)] if one.function is _AVG else []
        else:
            found.append((f"out{place}", Type.INTEGER if one.function is _COUNT else Type.STRING))
    return found


def _is_digits(aggregate: Aggregate) -> bool:
    """Whether the machine emits the digits of a decimal."""
    return aggregate.function is AggregateFunction.SUM and aggregate.attribute.type is Type.DECIMAL


def _results(node: ChangeAggregate) -> list[Column]:
    """The keys and the aggregates, as values of their types."""
    found = [F.col(f"key{place}") for place in range(len(node.keys))]
    for place, one in enumerate(node.aggregates):
        if _over_terms(one):
            found.append(_term(one, f"out{place}"))
        else:
            found.append(F.col(f"out{place}").try_cast(DECIMAL) if _is_digits(one) else F.col(f"out{place}"))
    return [column.alias(f"c{place}") for place, column in enumerate(found)]


def _term(aggregate: Aggregate, name: str) -> Column:
    """An aggregate as a term."""
    if aggregate.function in _NUMERIC:
        return Inputs().column(_numeric(aggregate, name))
    if aggregate.function in (_COUNT, _CONCAT):
        own = Inputs().name(F.col(name))
        counts = aggregate.function is _COUNT
        return Inputs().column(literal(own.cast("string"), ending(INTEGER), escape=False) if counts else literal(own))
    return F.col(name)


def _numeric(aggregate: Aggregate, name: str) -> Sql:
    """A sum, or a sum divided by its count, as a term in canonical form."""
    kind, digits, floating = (Inputs().name(F.col(f"{name}_{part}")) for part in "knf")
    total = S.when(kind.isNotNull(), packed(Class.NUMBER, k=kind, n=digits.cast(EXACT), f=floating))
    if aggregate.function is AggregateFunction.SUM:
        return let([total], _spelled)
    count = Inputs().name(F.col(f"{name}_count"))

    def mean(whole: Sql, members: Sql) -> Sql:
        return S.when(count == S.lit(0), whole).otherwise(divide(whole, members))

    return let([let([total, known(Kind.INTEGER, count.cast(EXACT))], mean)], _spelled)


def _spelled(found: Sql) -> Sql:
    return S.when(found.isNotNull(), number_term(found))
