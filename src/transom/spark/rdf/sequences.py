"""Ordered sequences on Spark: ORDER BY, LIMIT and OFFSET over the solutions of each tick that has changes."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import TRUE
from transom.physical.nodes.keyed_windows import CombineKind, CombineRelations, WindowsToChanges
from transom.physical.nodes.rdf import DistinctStep, ProjectStep, SequenceToChanges, SliceStep, Sort
from transom.physical.nodes.windows import Form
from transom.spark import changes
from transom.spark.columns import COUNT, IS_ROW, ORDER, WINDOW
from transom.spark.expressions.sql import F as S
from transom.spark.expressions.sql import Sql, SqlInputs
from transom.spark.frames import LoweringContext, carried_columns, columns_by_name, value_names
from transom.spark.rdf import expressions
from transom.spark.rdf.terms.spelling import (
    datatype_term,
    iri_text,
    is_blank_node,
    is_iri,
    is_literal,
    language_tag,
    lexical,
    literal_suffix,
)

_MAX_LENGTH = 2**31 - 1


def sort(node: Sort, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Sort, slice and number solutions as ORDER BY, LIMIT and OFFSET demand; the number is in `row_order`.

    For changes, it emits all rows at each tick with changes, or a marker if there are none.
    """
    columns = columns_by_name(node.input.schema)
    per = [columns[name].alias(f"per{n}") for n, name in enumerate(node.per)]
    if node.form is Form.TABLE:
        collected = frame.groupBy(*carried_columns(frame), F.lit(0).alias("_"), *per).agg(
            F.collect_list(_sort_entry(node)).alias("rows")
        )
    else:
        rows = _contents_by_tick(node, frame, run)
        entry = F.when(F.col(IS_ROW), _sort_entry(node))
        collected = rows.groupBy(*carried_columns(rows), *per).agg(F.collect_list(entry).alias("rows"))
    lists = collected.select(*carried_columns(collected), _sliced_rows(node).alias("rows"))
    cells = value_names(node.schema)
    if node.form is Form.TABLE:
        numbered = lists.select(*carried_columns(lists), F.posexplode("rows").alias(ORDER, "row"))
        return numbered.select(
            *carried_columns(numbered), (F.col(ORDER) + 1).alias(ORDER), *(F.col(f"row.{n}").alias(n) for n in cells)
        )
    numbered = lists.select(*carried_columns(lists), F.posexplode_outer("rows").alias(ORDER, "row"))
    return numbered.select(
        *carried_columns(numbered),
        F.col("row").isNotNull().alias(IS_ROW),
        F.coalesce(F.col(ORDER) + 1, F.lit(0)).alias(ORDER),
        *(F.col(f"row.{n}").alias(n) for n in cells),
    )


def _contents_by_tick(node: Sort, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Convert changes to all current solutions and a marker row at each changed tick, in a stateful machine."""
    copies = F.abs(F.col(COUNT)).cast("int")
    sign = F.signum(F.col(COUNT)).cast("int")
    events = F.concat(
        F.array_repeat(F.struct(sign.alias(COUNT), F.lit(True).alias(IS_ROW)), copies), F.array(_marker_struct())
    )
    cells = value_names(node.input.schema)
    signed_rows = frame.select(*carried_columns(frame), F.inline(events), *cells)
    decision = node.decision
    merge = CombineRelations(node.input, None, CombineKind.MERGE, (), TRUE, 1, node.input.schema, decision)
    return changes.combine_relations(merge, signed_rows, None, run)


def _marker_struct() -> Column:
    """Build the change that marks that a window exists, even without rows: `count` is 1, `is_row` is false."""
    return F.struct(F.lit(1).alias(COUNT), F.lit(False).alias(IS_ROW))


def _sort_entry(node: Sort) -> Column:
    """Build the struct by which a solution is sorted: ORDER BY values, tie-breaking variables, then its columns."""
    columns = columns_by_name(node.input.schema)
    keys: list[Column] = []
    for at, key in enumerate(node.keys):
        parts = expressions.order_key(key.expression, columns)
        keys.append(F.struct(*(part.alias(f"p{n}") for n, part in enumerate(parts))).alias(f"k{at}"))
    ties = [total_order_key(columns[name]) for name in node.ties if name in columns]
    tie = F.struct(F.lit(0).alias("_"), *(part.alias(f"t{n}") for n, part in enumerate(ties))).alias("tie")
    return F.struct(*keys, tie, *value_names(node.input.schema))


def _sliced_rows(node: Sort) -> Column:
    """Sort the array column `rows`; then apply projection, DISTINCT, OFFSET and LIMIT in the node's order."""
    if node.keys:
        rows = F.array_sort(F.col("rows"), lambda left, right: _compare_rows(node, left, right))
    else:
        rows = F.sort_array("rows")
    fields = {a.name: f"c{n}" for n, a in enumerate(node.input.schema)}
    rows = F.transform(rows, _projection(list(fields.values())))
    for step in node.after:
        match step:
            case ProjectStep(names=names):
                rows = F.transform(rows, _projection([fields.get(name) for name in names]))
                fields = {name: f"c{n}" for n, name in enumerate(names)}
            case DistinctStep():
                rows = F.array_distinct(rows)
            case SliceStep(offset=offset, limit=limit):
                rows = F.slice(rows, offset + 1, _MAX_LENGTH if limit is None else limit)
    return rows


def _projection(field_names: list[str | None]) -> Callable[[Column], Column]:
    """Return a function that selects fields of a row struct as `c0`, `c1`, ...; a None among the names selects NULL."""
    return lambda row: _row_struct([None if field_name is None else row[field_name] for field_name in field_names])


def _row_struct(cells: list[Column | None]) -> Column:
    """Build a row as a struct of `c0`, `c1`, ... from columns; None becomes NULL (unbound)."""
    null = F.lit(None).cast("string")
    return F.struct(F.lit(0).alias("_"), *((null if c is None else c).alias(f"c{n}") for n, c in enumerate(cells)))


def _compare_rows(node: Sort, left: Column, right: Column) -> Column:
    """Compare two solutions (structs of `_sort_entry`) by ORDER BY, then by the tie-breaking variables: -1, 0 or 1."""
    order = _compare_values(left["tie"], right["tie"], False)
    for n in reversed(range(len(node.keys))):
        key = _compare_values(left[f"k{n}"], right[f"k{n}"], node.keys[n].descending)
        order = F.when(key != 0, key).otherwise(order)
    return order


def _compare_values(left: Column, right: Column, descending: bool) -> Column:
    """Compare the values of one ORDER BY expression in two solutions: -1, 0 or 1; reversed if `descending`."""
    less, more = (1, -1) if descending else (-1, 1)
    return F.when(left < right, F.lit(less)).when(left > right, F.lit(more)).otherwise(F.lit(0))


def sequence_to_changes(node: SequenceToChanges, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Emit the insertions and retractions between the contents of a sorted sequence at successive ticks.

    A table only loses the column `row_order`.
    """
    if node.form is Form.TABLE:
        return frame.drop(ORDER)
    rows = frame.withColumn(WINDOW, F.lit(1))
    return changes.windows_to_changes(WindowsToChanges(node.input, node.schema, node.decision), rows, run)


def total_order_key(term: Column) -> Column:
    """Build a struct that orders all RDF terms, to break ties of ORDER BY: NULL, blank nodes, IRIs, literals."""
    inputs = SqlInputs()
    return inputs.column(_total_order_key(inputs.name(term)))


def _total_order_key(term: Sql) -> Sql:
    """Build a struct that orders all RDF terms by kind, text, datatype and language, to break ties of ORDER BY."""
    suffix = literal_suffix(term)
    kind = S.when(term.isNull(), 0).when(is_blank_node(term), 1).when(is_iri(term), 2).otherwise(3)
    text = (
        S.when(is_blank_node(term), S.substring(term, 3, S.length(term)))
        .when(is_iri(term), iri_text(term))
        .when(is_literal(term), lexical(term, suffix))
    )
    parts = (
        S.coalesce(text, ""),
        S.coalesce(S.when(is_literal(term), iri_text(datatype_term(suffix))), ""),
        S.coalesce(S.when(is_literal(term), language_tag(suffix)), ""),
    )
    return S.struct(kind.alias("kind"), *(part.alias(f"p{n}") for n, part in enumerate(parts)))
