"""Solutions on Spark, one by one: conditions, new variables, fewer variables, unions, statements made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from transom.algebra import expressions
from transom.algebra.rdf.patterns import Place
from transom.model.rdf.terms import BlankNode
from transom.model.schema import Schema
from transom.model.types import Type
from transom.physical.lines import Distinct
from transom.physical.node import Physical
from transom.physical.plan import Form, UnionAll
from transom.physical.rdf_plan import BindNodes, Make
from transom.spark import terms
from transom.spark.frames import LoweringContext, carried, columns_of, names, values
from transom.spark.rdf_patterns import kept, spelled
from transom.spark.stateful import machine_input, run_machine
from transom.spark.term_nodes import new_node, spoken
from transom.spark.types import nothing

COPY = "copy"
"""The column with the number of a copy of a solution."""


def bind_nodes(node: BindNodes, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """One more variable, unbound where its expression is an error."""
    there = columns_of(node.input.schema)
    frame = numbered(frame, node.input.schema, run)
    whose = _owner({name: there[name] for name in node.owner})
    made = terms.value(node.item.expression, there, whose=whose, site=node.item.attribute.name)
    own = names(node.input.schema)
    return frame.select(*kept(frame), *own, made.alias(f"c{len(own)}"))


def _cells(schema: Schema, there: Mapping[str, Column]) -> list[Column]:
    return [there.get(a.name, nothing(a.type)).alias(f"c{place}") for place, a in enumerate(schema)]


def union_all(node: UnionAll, left: DataFrame, right: DataFrame) -> DataFrame:
    """The rows of both sides; in order, `o` says first of which side they are."""
    return _side(node, node.left, left, 0).unionByName(_side(node, node.right, right, 1))


def _side(node: UnionAll, below: Physical, frame: DataFrame, place: int) -> DataFrame:
    cells = _cells(node.schema, columns_of(below.schema))
    if not node.ordered:
        return frame.select(*kept(frame), *cells)
    several = isinstance(below, UnionAll)
    order = F.col("o") if several else F.struct(F.lit(_number(node, place)).alias("part"), F.col("o"))
    return frame.select(*kept(frame.drop("o")), order.alias("o"), *cells)


def _number(node: UnionAll, place: int) -> int:
    """The number of a part: how many stand to the left of it."""
    count = 0
    left = node.left
    while isinstance(left, UnionAll):
        count += 1
        left = left.left
    return count + 1 if place else count


def make(node: Make, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Statements made of solutions; what is unbound or no statement is left out (R18)."""
    there = columns_of(node.input.schema)
    nodes = any(isinstance(p, BlankNode) for line in node.template for p in (line.subject, line.predicate, line.object))
    whose = F.lit("")
    if nodes:
        frame = numbered(frame, node.input.schema, run)
        whose = _owner(there)
    made = [
        F.struct(*(_made(place, there, whose).alias(f"c{at}") for at, place in enumerate(places)))
        for places in ((line.subject, line.predicate, line.object) for line in node.template)
    ]
    if not made:
        return frame.where(F.lit(False)).select(*kept(frame), *(F.lit("").alias(f"c{at}") for at in range(3)))
    rows = frame.select(*kept(frame), F.inline(F.array(*made)))
    subject, predicate, object = (F.col(f"c{at}") for at in range(3))
    legal = ~F.startswith(subject, F.lit('"')) & F.startswith(predicate, F.lit("<")) & object.isNotNull()
    return rows.where(legal)


def numbered(frame: DataFrame, schema: Schema, run: LoweringContext) -> DataFrame:
    """Every solution with its number among those that equal it, from 0; as changes each copy comes and goes alone."""
    cells = values(schema)
    if "n" not in frame.columns:
        same = Window.partitionBy(F.lit(0), *cells).orderBy(F.lit(0))
        return frame.withColumn(COPY, F.row_number().over(same) - F.lit(1))
    given = machine_input(frame, run, values=cells, count=F.col("n"), group_by=cells)
    specification = json.dumps({"machine": "matches", "emit": "numbered", "padding": 0})
    out = [*((f"c{place}", a.type) for place, a in enumerate(schema)), (COPY, Type.INTEGER)]
    made = run_machine([given], specification, run, widths=[len(cells)], out=out)
    return made.select(*carried(made), F.col("n").cast("int").alias("n"), *names(schema), COPY)


def _made(place: Place, there: Mapping[str, Column], whose: Column) -> Column:
    match place:
        case expressions.Column(name=name):
            return there.get(name, F.lit(None).cast("string"))
        case BlankNode(label=label):
            return new_node(whose, F.lit(label))
        case _:
            return F.lit(spelled(place))


def _owner(there: Mapping[str, Column]) -> Column:
    """A solution and the number of its copy, to which new blank nodes belong."""
    return F.concat(spoken(there), F.lit(" "), F.col(COPY).cast("string"))


def distinct(node: Distinct, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Every solution once."""
    cells = names(node.schema)
    if node.form is Form.TABLE:
        if cells:
            return frame.select(*cells).distinct()
        return frame.select(F.lit(0).alias("_")).distinct().drop("_")
    solution = values(node.schema)
    given = machine_input(frame, run, values=solution, count=F.col("n"), group_by=solution)
    specification = json.dumps({"machine": "matches", "emit": "distinct", "padding": 0})
    made = run_machine([given], specification, run, widths=[len(cells)], out=node.schema)
    return made.select(*carried(made), F.col("n").cast("int").alias("n"), *cells)
