"""Aggregates over changes on Spark, for all languages: one machine per group.

Spark computes the group key and the arguments of the aggregates. The machine aggregates them. Spark then builds terms
from the numbers and strings that the machine emits.
"""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import Aggregate, AggregateFunction, Expression
from transom.machines.aggregates.group_aggregate import TERM, AggregateSpec, GroupSpec
from transom.model.rdf.terms import INTEGER
from transom.model.rdf.values import NumericKind
from transom.model.types import Type
from transom.physical.nodes.change_aggregate import ChangeAggregate
from transom.physical.nodes.windows import Form
from transom.spark.columns import COUNT, IS_ROW, TICK, WINDOW
from transom.spark.expressions.sql import F as S
from transom.spark.expressions.sql import Sql, SqlInputs, let
from transom.spark.expressions.types import DECIMAL
from transom.spark.frames import LoweringContext, lower_expression, select_computed, value_columns, without_markers
from transom.spark.rdf.order import sort_key
from transom.spark.rdf.terms.arithmetic import divide
from transom.spark.rdf.terms.functions import string_characters
from transom.spark.rdf.terms.numerals import number_term
from transom.spark.rdf.terms.spelling import datatype_suffix, literal_term
from transom.spark.rdf.terms.values import EXACT, ValueClass, exact_number, term_number, value_struct
from transom.spark.stateful.operator import machine_input, run_machine, to_machine

_COUNT, _CONCAT, _AVG = AggregateFunction.COUNT, AggregateFunction.GROUP_CONCAT, AggregateFunction.AVG
_ORDERED = {AggregateFunction.MIN, AggregateFunction.MAX, AggregateFunction.SAMPLE, _CONCAT}
_NUMERIC = {AggregateFunction.SUM, _AVG}
_SOLUTION = "*"
"""The argument of COUNT(DISTINCT *)."""


def change_aggregate(
    node: ChangeAggregate, frame: DataFrame, group_start: DataFrame | None, run: LoweringContext
) -> DataFrame:
    """Aggregate changes per group, and emit result changes; without keys, the group exists from `group_start` on.

    From the ticks of `group_start` on, the group of all rows exists; without it, from the first row on.
    """
    if node.form is Form.TABLE:
        frame, group_start = _at_start(frame, run), None if group_start is None else _at_start(group_start, run)
    has_markers = IS_ROW in frame.columns
    arguments = list(dict.fromkeys(a for a in map(_argument, node.aggregates) if a is not None))
    rows = _compute_arguments(node, arguments, frame, run)
    if group_start is not None:
        rows = _with_start(rows, group_start)
    keys = [F.col(f"key{n}") for n in range(len(node.keys))]
    cells, positions = list(keys), {}
    for n, argument in enumerate(arguments):
        positions[argument] = len(cells)
        cells += _term_cells(f"arg{n}", rows.columns) if _is_term(node, argument) else [F.col(f"arg{n}")]
    specs = tuple(_aggregate_spec(aggregate, positions.get(_argument(aggregate))) for aggregate in node.aggregates)
    input_rows = machine_input(rows, run, values=cells, count=F.col(COUNT), group_by=keys)
    specification = GroupSpec(len(keys), specs, is_global=not node.keys).to_json()
    emitted = run_machine(
        [input_rows], specification, run, values_per_side=[len(cells)], output_columns=_emitted_columns(node)
    )
    carried = [F.col(TICK), *([F.col(IS_ROW)] if has_markers else []), F.col(COUNT).cast("int").alias(COUNT)]
    carried = [] if node.form is Form.TABLE else carried
    return (emitted if has_markers else emitted.where(IS_ROW)).select(*carried, *_results(node))


def _at_start(table: DataFrame, run: LoweringContext) -> DataFrame:
    """Convert the rows of a table to insertions at tick 0, as the stateful machine needs them."""
    return table.select(run.time.as_event_time(F.lit(0)), F.lit(1).alias(COUNT), "*")


def _argument(aggregate: Aggregate) -> object | None:
    """The argument expression of an aggregate; None for COUNT(*), the constant `_SOLUTION` for COUNT(DISTINCT *)."""
    if aggregate.argument is None and aggregate.distinct:
        return _SOLUTION
    return aggregate.argument


def _is_term(node: ChangeAggregate, argument: object) -> bool:
    """Whether the stateful machine gets an argument as an RDF term, not as a typed value or a whole solution."""
    return argument != _SOLUTION and _over_terms(node.aggregates[0])


def _compute_arguments(
    node: ChangeAggregate, arguments: Collection[object], frame: DataFrame, run: LoweringContext
) -> DataFrame:
    """Add columns for GROUP BY keys, aggregate arguments, and the RDF term parts that aggregates need."""
    has_markers = IS_ROW in frame.columns
    carried = [F.col(TICK), F.col(COUNT), *([F.col(IS_ROW), F.lit(1).alias(WINDOW)] if has_markers else [])]
    computed = {f"key{n}": _machine_argument(key.expression, node, run) for n, key in enumerate(node.keys)}
    for n, argument in enumerate(arguments):
        aggregate = next(other for other in node.aggregates if _argument(other) == argument)
        computed[f"arg{n}"] = (
            _solution_struct(node) if aggregate.argument is None else _machine_argument(aggregate.argument, node, run)
        )
    rows = select_computed(frame, carried, computed)
    parts: dict[str, Column] = {}
    for n, argument in enumerate(arguments):
        functions = {other.function for other in node.aggregates if _argument(other) == argument}
        if _is_term(node, argument):
            parts |= _term_parts(f"arg{n}", functions)
    return select_computed(rows, [F.col(name) for name in rows.columns], parts) if parts else rows


def _over_terms(aggregate: Aggregate) -> bool:
    """Whether the result of an aggregate is an RDF term."""
    return aggregate.attribute.type is Type.TERM


def _machine_argument(expression: Expression, node: ChangeAggregate, run: LoweringContext) -> Column:
    """Translate an expression to a column that stateful machines can take: timestamps become microseconds."""
    return to_machine(lower_expression(expression, node.input.schema, run), expression.type)


def _solution_struct(node: ChangeAggregate) -> Column:
    """Build a struct of all values of a solution, the argument of COUNT(DISTINCT *)."""
    return F.struct(F.lit(0).alias("_"), *value_columns(node.input.schema))


def _term_parts(name: str, functions: set[AggregateFunction]) -> dict[str, Column]:
    """Return, by name, the columns that `functions` need of a term `name`: its sort key, characters, number."""
    columns = {}
    term = SqlInputs().name(F.col(name))
    if functions & _ORDERED:
        columns[f"{name}_order"] = SqlInputs().column(sort_key(term))
    if _CONCAT in functions:
        columns[f"{name}_characters"] = SqlInputs().column(string_characters(term))
    if functions & _NUMERIC:
        columns[f"{name}_number"] = SqlInputs().column(term_number(term))
    return columns


def _term_cells(name: str, available: Collection[str]) -> list[Column]:
    """Return columns with the term `name`, sort key, text and number; NULL for those not in `available`.

    Those that are not `available` are NULL.
    """
    null = F.lit(None).cast("string")
    parts = [F.col(f"{name}_{p}") if f"{name}_{p}" in available else null for p in ("order", "characters")]
    number_parts = [F.col(f"{name}_number.{p}") if f"{name}_number" in available else null for p in "knf"]
    return [F.col(name), *parts, *number_parts]


def _with_start(rows: DataFrame, start: DataFrame) -> DataFrame:
    """Add a marker row at each tick of `start`, from which an aggregate without keys has a (maybe empty) group."""
    markers = without_markers(start).select(TICK, COUNT, F.lit(False).alias(IS_ROW), F.lit(1).alias(WINDOW))
    marked_rows = rows if IS_ROW in rows.columns else rows.withColumns({IS_ROW: F.lit(True), WINDOW: F.lit(1)})
    return marked_rows.unionByName(markers, allowMissingColumns=True)


def _aggregate_spec(aggregate: Aggregate, position: int | None) -> AggregateSpec:
    """Specify an aggregate for the state machine; `position`: its argument's index in the input (None: COUNT(*))."""
    function = "concat" if aggregate.function is _CONCAT else aggregate.function.value.lower()
    if not _over_terms(aggregate):
        kind = Type.INTEGER if aggregate.argument is None else aggregate.argument.type
        return AggregateSpec(function, kind.value, position)
    cell_kind = "row" if _argument(aggregate) == _SOLUTION else TERM
    return AggregateSpec(function, cell_kind, position, aggregate.distinct, aggregate.separator)


def _emitted_columns(node: ChangeAggregate) -> list[tuple[str, Type]]:
    """Return the names and types of the columns that the stateful machine emits: group keys, then aggregates."""
    columns = [(f"key{n}", attribute.type) for n, attribute in zip(range(len(node.keys)), node.schema)]
    for n, aggregate in enumerate(node.aggregates):
        if not _over_terms(aggregate):
            columns.append((f"out{n}", Type.STRING if _is_digits(aggregate) else aggregate.attribute.type))
        elif aggregate.function in _NUMERIC:
            columns += [(f"out{n}_k", Type.INTEGER), (f"out{n}_n", Type.STRING), (f"out{n}_f", Type.FLOAT)]
            columns += [(f"out{n}_count", Type.INTEGER)] if aggregate.function is _AVG else []
        else:
            columns.append((f"out{n}", Type.INTEGER if aggregate.function is _COUNT else Type.STRING))
    return columns


def _is_digits(aggregate: Aggregate) -> bool:
    """Whether the stateful machine emits an aggregate (a SUM of decimals) as digits in a string."""
    return aggregate.function is AggregateFunction.SUM and aggregate.attribute.type is Type.DECIMAL


def _results(node: ChangeAggregate) -> list[Column]:
    """Build the output columns `c0`, `c1`, ... from the state machine's columns: group keys, then aggregates."""
    columns = [F.col(f"key{n}") for n in range(len(node.keys))]
    for n, aggregate in enumerate(node.aggregates):
        if _over_terms(aggregate):
            columns.append(_result_term(aggregate, f"out{n}"))
        else:
            columns.append(F.col(f"out{n}").try_cast(DECIMAL) if _is_digits(aggregate) else F.col(f"out{n}"))
    return [column.alias(f"c{n}") for n, column in enumerate(columns)]


def _result_term(aggregate: Aggregate, name: str) -> Column:
    """Build the RDF term of an aggregate, from the emitted columns whose names begin with `name`."""
    if aggregate.function in _NUMERIC:
        return SqlInputs().column(_numeric_term(aggregate, name))
    if aggregate.function in (_COUNT, _CONCAT):
        value = SqlInputs().name(F.col(name))
        is_count = aggregate.function is _COUNT
        return SqlInputs().column(
            literal_term(value.cast("string"), datatype_suffix(INTEGER), needs_escape=False)
            if is_count
            else literal_term(value)
        )
    return F.col(name)


def _numeric_term(aggregate: Aggregate, name: str) -> Sql:
    """Build the literal of SUM or AVG over RDF terms, from the columns `name`_k (kind), _n, _f and _count.

    AVG of no values is their sum.
    """
    kind, digits, floating = (SqlInputs().name(F.col(f"{name}_{part}")) for part in "knf")
    total = S.when(
        kind.isNotNull(), value_struct(ValueClass.NUMBER, kind=kind, number=digits.cast(EXACT), float_number=floating)
    )
    if aggregate.function is AggregateFunction.SUM:
        return let([total], _number_term_or_null)
    count = SqlInputs().name(F.col(f"{name}_count"))

    def quotient(sum_value: Sql, count_value: Sql) -> Sql:
        """Divide a sum by the number of values, both parsed numbers; return the sum if there are no values."""
        return S.when(count == S.lit(0), sum_value).otherwise(divide(sum_value, count_value))

    return let([let([total, exact_number(NumericKind.INTEGER, count.cast(EXACT))], quotient)], _number_term_or_null)


def _number_term_or_null(number: Sql) -> Sql:
    """Write a number struct (kind, exact value, float value) as an RDF literal; NULL stays NULL."""
    return S.when(number.isNotNull(), number_term(number))
