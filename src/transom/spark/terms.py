"""Expressions over RDF terms as native Spark columns, with the values that the reference engine gives.

A term is a text column in canonical spelling (`transom.spark.term_spelling`); NULL is an unbound variable and an error
alike, so that AND, OR and NOT of SQL are those of SPARQL. Between functions a value keeps the shape that the inner one
made: a term is spelled only where one is needed.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column

from transom.algebra import expressions
from transom.algebra.expressions import Call, Cast, Expression, Literal
from transom.errors import PlanError
from transom.model.rdf.terms import Term
from transom.model.types import Type
from transom.spark.function_gaps import refusal
from transom.spark.sql import F, Inputs, let
from transom.spark.term_forms import CONDITIONS, FORMS
from transom.spark.term_functions import LOWERINGS
from transom.spark.term_nodes import with_nodes
from transom.spark.term_order import sort_key
from transom.spark.term_patterns import PATTERNS
from transom.spark.term_shapes import Shape, Shaped, bound, nothing, of_constant, truths


def value(
    expression: Expression, columns: Mapping[str, Column], *, whose: Column | None = None, site: str = ""
) -> Column:
    """The column of an expression: a term, or a truth value.

    `columns` are the solution, to which new blank nodes belong; if they belong to another, `whose` is it and the number
    of its copy. `site` is the variable that the expression is for.
    """
    inputs = Inputs()
    expression, columns = with_nodes(expression, columns, whose, site, value)
    found = lower(expression, columns, inputs)
    return inputs.column(found.term() if expression.type is Type.TERM else found.truth())


def holds(condition: Expression, columns: Mapping[str, Column]) -> Column:
    """Whether a condition is true: an error counts as false, also within AND and OR."""
    inputs = Inputs()
    condition, columns = with_nodes(condition, columns, None, "", value)
    return inputs.column(F.coalesce(_condition(condition, columns, inputs).truth(), F.lit(False)))


def _condition(condition: Expression, columns: Mapping[str, Column], inputs: Inputs) -> Shaped:
    match condition:
        case Cast(operand=operand, type=Type.BOOLEAN):
            return truths(_condition(operand, columns, inputs).truth())
        case Call(function=function, arguments=arguments) if function.name in ("AND", "OR"):
            return FORMS[function.name](*(_condition(argument, columns, inputs) for argument in arguments))
        case Call(function=function, arguments=arguments) if function.name in CONDITIONS:
            return CONDITIONS[function.name](*(lower(argument, columns, inputs) for argument in arguments))
        case _:
            return lower(condition, columns, inputs)


def order_key(expression: Expression, columns: Mapping[str, Column]) -> list[Column]:
    """Columns whose ascending order, NULL first, is that of ORDER BY; all turned round is the descending one."""
    inputs = Inputs()
    expression, columns = with_nodes(expression, columns, None, "", value)
    found = lower(expression, columns, inputs)
    is_name = found.short and found.shape is Shape.TERM
    return [inputs.column(sort_key(found.term()) if is_name else let([found.term()], sort_key))]


def lower(expression: Expression, columns: Mapping[str, Column], inputs: Inputs) -> Shaped:
    """The value of an expression, in the shape in which it is made."""
    match expression:
        case Literal(value=None):
            return nothing()
        case Literal(value=bool() as truth):
            return Shaped(Shape.TRUTH, F.lit(truth), short=True)
        case Literal(value=term) if isinstance(term, Term):
            return of_constant(term)
        case expressions.Column(name=name, type=kind):
            shape = Shape.TERM if kind is Type.TERM else Shape.TRUTH
            return Shaped(shape, inputs.name(columns[name]), short=True) if name in columns else nothing()
        case Cast(operand=operand, type=kind):
            given = lower(operand, columns, inputs)
            return given if kind is Type.TERM else truths(given.truth())
        case Call(function=function, arguments=arguments):
            if (gap := refusal(expression)) is not None:
                raise gap
            name = function.name
            if name in PATTERNS:
                found = [lower(arguments[0], columns, inputs)]
                return bound(found, lambda one: PATTERNS[name](expression, one))
            lowered = [lower(argument, columns, inputs) for argument in arguments]
            return FORMS[name](*lowered) if name in FORMS else bound(lowered, LOWERINGS[name])
        case _:
            raise PlanError(f"{expression} is no expression over terms")
