"""Solutions on Spark: BNODE bindings, unions, CONSTRUCT, numbering of copies, DISTINCT."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from transom.algebra.expressions import expression
from transom.algebra.rdf.patterns import TermPattern
from transom.model.rdf.terms import BlankNode
from transom.model.schema import Schema
from transom.model.types import Type
from transom.physical.nodes.keyed_windows import Distinct
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.rdf import BindBlankNodes, ConstructExec
from transom.physical.nodes.windows import Form, UnionAll
from transom.spark.columns import COUNT, ORDER
from transom.spark.expressions.types import null_of
from transom.spark.frames import LoweringContext, carried_columns, columns_by_name, value_columns, value_names
from transom.spark.rdf import expressions
from transom.spark.rdf.blank_nodes import new_blank_node, solution_text
from transom.spark.rdf.patterns import carried_term_columns, term_text
from transom.spark.stateful.operator import machine_input, run_machine

COPY_NUMBER = "copy"
"""The column with the number of a solution among equal ones."""


def bind_blank_nodes(node: BindBlankNodes, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Compute BIND of an expression that calls BNODE: add the variable's column, which is NULL (unbound) on error."""
    columns = columns_by_name(node.input.schema)
    frame = number_copies(frame, node.input.schema, run)
    owner = _blank_node_owner({name: columns[name] for name in node.owner})
    bound = expressions.lower_to_column(
        node.item.expression, columns, owner_text=owner, bound_variable=node.item.attribute.name
    )
    names = value_names(node.input.schema)
    return frame.select(*carried_term_columns(frame), *names, bound.alias(f"c{len(names)}"))


def _aligned_columns(schema: Schema, columns: Mapping[str, Column]) -> list[Column]:
    """Return the columns of variables in the order of a schema; NULL for variables that are not bound."""
    return [columns.get(a.name, null_of(a.type)).alias(f"c{n}") for n, a in enumerate(schema)]


def union_all(node: UnionAll, left: DataFrame, right: DataFrame) -> DataFrame:
    """Unite two inputs of solutions, with columns aligned by variable; if ordered, the left solutions come first."""
    return _union_side(node, node.left, left, 0).unionByName(_union_side(node, node.right, right, 1))


def _union_side(node: UnionAll, input_node: PhysicalNode, frame: DataFrame, side: int) -> DataFrame:
    """Prepare the left (0) or right (1) input of a UNION by aligning its columns with the result.

    If ordered, `row_order` begins with the number of the input.
    """
    cells = _aligned_columns(node.schema, columns_by_name(input_node.schema))
    if not node.ordered:
        return frame.select(*carried_term_columns(frame), *cells)
    is_chain = isinstance(input_node, UnionAll)
    order = F.col(ORDER) if is_chain else F.struct(F.lit(_part_number(node, side)).alias("part"), F.col(ORDER))
    return frame.select(*carried_term_columns(frame.drop(ORDER)), order.alias(ORDER), *cells)


def _part_number(node: UnionAll, side: int) -> int:
    """The position of an input (`side`: 0 is left, 1 is right) in a chain of nested UNIONs, counted from the left."""
    count = 0
    left = node.left
    while isinstance(left, UnionAll):
        count += 1
        left = left.left
    return count + 1 if side else count


def construct(node: ConstructExec, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Build the statements of a CONSTRUCT template for each solution; leave out invalid statements (R18).

    A statement is invalid if a term is unbound or not allowed in its position.
    """
    columns = columns_by_name(node.input.schema)
    creates_nodes = any(
        isinstance(part, BlankNode)
        for triple in node.template
        for part in (triple.subject, triple.predicate, triple.object)
    )
    owner = F.lit("")
    if creates_nodes:
        frame = number_copies(frame, node.input.schema, run)
        owner = _blank_node_owner(columns)
    statements = [
        F.struct(*(_template_term(term, columns, owner).alias(f"c{n}") for n, term in enumerate(terms)))
        for terms in ((triple.subject, triple.predicate, triple.object) for triple in node.template)
    ]
    if not statements:
        return frame.where(F.lit(False)).select(
            *carried_term_columns(frame), *(F.lit("").alias(f"c{n}") for n in range(3))
        )
    rows = frame.select(*carried_term_columns(frame), F.inline(F.array(*statements)))
    subject, predicate, object = (F.col(f"c{n}") for n in range(3))
    is_valid = ~F.startswith(subject, F.lit('"')) & F.startswith(predicate, F.lit("<")) & object.isNotNull()
    return rows.where(is_valid)


def number_copies(frame: DataFrame, schema: Schema, run: LoweringContext) -> DataFrame:
    """Number equal solutions from 0, in column `copy`; split a change of several copies into one row per copy."""
    cells = value_columns(schema)
    if COUNT not in frame.columns:
        equal_solutions = Window.partitionBy(F.lit(0), *cells).orderBy(F.lit(0))
        return frame.withColumn(COPY_NUMBER, F.row_number().over(equal_solutions) - F.lit(1))
    input_rows = machine_input(frame, run, values=cells, count=F.col(COUNT), group_by=cells)
    specification = json.dumps({"machine": "matches", "emit": "numbered", "padding": 0})
    out = [*((f"c{n}", a.type) for n, a in enumerate(schema)), (COPY_NUMBER, Type.INTEGER)]
    emitted = run_machine([input_rows], specification, run, values_per_side=[len(cells)], output_columns=out)
    return emitted.select(
        *carried_columns(emitted), F.col(COUNT).cast("int").alias(COUNT), *value_names(schema), COPY_NUMBER
    )


def _template_term(term: TermPattern, columns: Mapping[str, Column], owner_text: Column) -> Column:
    """Build a CONSTRUCT template's term: a variable's value, a constant, or a blank node per `owner_text`."""
    match term:
        case expression.Column(name=name):
            return columns.get(name, F.lit(None).cast("string"))
        case BlankNode(label=label):
            return new_blank_node(owner_text, F.lit(label))
        case _:
            return F.lit(term_text(term))


def _blank_node_owner(columns: Mapping[str, Column]) -> Column:
    """Write the text from which new blank nodes are labelled: a solution's bindings and its copy number."""
    return F.concat(solution_text(columns), F.lit(" "), F.col(COPY_NUMBER).cast("string"))


def distinct(node: Distinct, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Remove duplicate solutions; of changes, keep only the first copy's insertion and the last copy's retraction."""
    cells = value_names(node.schema)
    if node.form is Form.TABLE:
        if cells:
            return frame.select(*cells).distinct()
        return frame.select(F.lit(0).alias("_")).distinct().drop("_")
    solution = value_columns(node.schema)
    input_rows = machine_input(frame, run, values=solution, count=F.col(COUNT), group_by=solution)
    specification = json.dumps({"machine": "matches", "emit": "distinct", "padding": 0})
    emitted = run_machine([input_rows], specification, run, values_per_side=[len(cells)], output_columns=node.schema)
    return emitted.select(*carried_columns(emitted), F.col(COUNT).cast("int").alias(COUNT), *cells)
