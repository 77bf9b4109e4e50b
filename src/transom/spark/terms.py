"""Expressions of SPARQL over RDF terms as native Spark columns, with the values that the reference engine gives.

A term is a text column in canonical spelling (`transom.spark.term_spelling`); NULL is an unbound variable and an error
alike, so that AND, OR and NOT of SQL are those of SPARQL. Between functions a value keeps the shape that the inner one
made: a term is spelled only where one is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from pyspark.sql import Column

from transom.algebra.rdf.expressions import Call, Constant, Exists, Expression
from transom.algebra.rdf.variable import Variable
from transom.errors import PlanError
from transom.spark.function_gaps import refusal
from transom.spark.sql import Inputs, let
from transom.spark.term_forms import FORMS
from transom.spark.term_functions import LOWERINGS
from transom.spark.term_nodes import with_nodes
from transom.spark.term_order import sort_key
from transom.spark.term_patterns import PATTERNS
from transom.spark.term_shapes import Shape, Shaped, bound, nothing, of_constant

Asked = Callable[[Exists], Column]


def value(
    expression: Expression,
    columns: Mapping[str, Column],
    exists: Asked | None = None,
    *,
    whose: Column | None = None,
    site: str = "",
) -> Column:
    """The term column of an expression; `exists` says what an EXISTS is, as a boolean column.

    `columns` are the solution, to which new blank nodes belong; if they belong to another, `whose` is it and the number
    of its copy. `site` is the variable that the expression is for.
    """
    inputs = Inputs()
    expression, columns = with_nodes(expression, columns, whose, site, value)
    return inputs.column(lower(expression, columns, exists, inputs).term())


def truth(expression: Expression, columns: Mapping[str, Column], exists: Asked | None = None) -> Column:
    """The effective boolean value of an expression, NULL where it is an error."""
    inputs = Inputs()
    expression, columns = with_nodes(expression, columns, None, "", value)
    return inputs.column(lower(expression, columns, exists, inputs).truth())


def order_key(expression: Expression, columns: Mapping[str, Column]) -> list[Column]:
    """Columns whose ascending order, NULL first, is that of ORDER BY; all turned round is the descending one."""
    inputs = Inputs()
    expression, columns = with_nodes(expression, columns, None, "", value)
    found = lower(expression, columns, None, inputs)
    is_name = found.short and found.shape is Shape.TERM
    return [inputs.column(sort_key(found.term()) if is_name else let([found.term()], sort_key))]


def lower(expression: Expression, columns: Mapping[str, Column], exists: Asked | None, inputs: Inputs) -> Shaped:
    """The value of an expression, in the shape in which it is made."""
    match expression:
        case Constant(term=term):
            return of_constant(term)
        case Variable(name=name):
            return Shaped(Shape.TERM, inputs.name(columns[name]), short=True) if name in columns else nothing()
        case Exists():
            if exists is None:
                raise PlanError("there is no pattern to be asked here")
            return Shaped(Shape.TRUTH, inputs.name(exists(expression)), short=True)
        case Call(function=name, arguments=arguments):
            if (gap := refusal(expression)) is not None:
                raise gap
            if name in PATTERNS:
                found = [lower(arguments[0], columns, exists, inputs)]
                return bound(found, lambda one: PATTERNS[name](expression, one))
            given = [lower(argument, columns, exists, inputs) for argument in arguments]
            return FORMS[name](*given) if name in FORMS else bound(given, LOWERINGS[name])
        case _:
            assert_never(expression)
