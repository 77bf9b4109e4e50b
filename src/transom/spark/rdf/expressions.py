"""Lower expressions over RDF terms to native Spark columns, with the same values as in the reference engine.

A term is a string column in canonical spelling (`terms.spelling`). NULL is both an unbound variable and an error, so
that SQL's AND, OR and NOT are those of SPARQL. Between nested functions a value keeps the shape that the inner function
returns: a term is spelled only if one is needed.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column

from transom.algebra.expressions import expression as expressions
from transom.algebra.expressions.expression import Call, Cast, Constant, Expression
from transom.errors import PlanError
from transom.model.rdf.terms import Term
from transom.model.types import Type
from transom.spark.expressions.function_gaps import function_refusal
from transom.spark.expressions.sql import F, SqlInputs, let
from transom.spark.rdf.blank_nodes import replace_bnode_calls
from transom.spark.rdf.order import sort_key
from transom.spark.rdf.terms.forms import CONDITIONS, FORMS
from transom.spark.rdf.terms.functions import TERM_LOWERINGS
from transom.spark.rdf.terms.patterns import PATTERNS
from transom.spark.rdf.terms.shapes import ShapedTerm, TermShape, bind_once, constant_term, no_term, truth_term


def lower_to_column(
    expression: Expression, columns: Mapping[str, Column], *, owner_text: Column | None = None, bound_variable: str = ""
) -> Column:
    """Translate an expression to N-Triples text or a boolean; `owner_text`, `bound_variable` label new blank nodes.

    `columns` is the solution, which owns new blank nodes. If another solution owns them, `owner_text` is its text and
    copy number. `bound_variable` is the variable that the expression defines.
    """
    inputs = SqlInputs()
    expression, columns = replace_bnode_calls(expression, columns, owner_text, bound_variable, lower_to_column)
    lowered = lower(expression, columns, inputs)
    return inputs.column(lowered.term() if expression.type is Type.TERM else lowered.truth())


def holds(condition: Expression, columns: Mapping[str, Column]) -> Column:
    """Whether a condition over RDF terms is true, as a Spark column; an error at any depth counts as false.

    `columns` are the variables' columns by name.
    """
    inputs = SqlInputs()
    condition, columns = replace_bnode_calls(condition, columns, None, "", lower_to_column)
    return inputs.column(F.coalesce(_lower_condition(condition, columns, inputs).truth(), F.lit(False)))


def _lower_condition(condition: Expression, columns: Mapping[str, Column], inputs: SqlInputs) -> ShapedTerm:
    """Translate a condition, such as a FILTER, to SQL in which an error counts as false.

    This gives smaller SQL than `lower`.
    """
    match condition:
        case Cast(operand=operand, type=Type.BOOLEAN):
            return truth_term(_lower_condition(operand, columns, inputs).truth())
        case Call(function=function, arguments=arguments) if function.name in ("AND", "OR"):
            return FORMS[function.name](*(_lower_condition(argument, columns, inputs) for argument in arguments))
        case Call(function=function, arguments=arguments) if function.name in CONDITIONS:
            return CONDITIONS[function.name](*(lower(argument, columns, inputs) for argument in arguments))
        case _:
            return lower(condition, columns, inputs)


def order_key(expression: Expression, columns: Mapping[str, Column]) -> list[Column]:
    """Return the sort columns of an ORDER BY expression: ascending, with unbound (NULL) first.

    For DESC, callers reverse the order.
    """
    inputs = SqlInputs()
    expression, columns = replace_bnode_calls(expression, columns, None, "", lower_to_column)
    lowered = lower(expression, columns, inputs)
    is_short_term = lowered.is_short and lowered.shape is TermShape.TERM
    return [inputs.column(sort_key(lowered.term()) if is_short_term else let([lowered.term()], sort_key))]


def lower(expression: Expression, columns: Mapping[str, Column], inputs: SqlInputs) -> ShapedTerm:
    """Translate an expression over RDF terms to SQL and its representation, or raise Unsupported if Spark cannot."""
    match expression:
        case Constant(value=None):
            return no_term()
        case Constant(value=bool() as truth):
            return ShapedTerm(TermShape.TRUTH, F.lit(truth), is_short=True)
        case Constant(value=term) if isinstance(term, Term):
            return constant_term(term)
        case expressions.Column(name=name, type=kind):
            shape = TermShape.TERM if kind is Type.TERM else TermShape.TRUTH
            return ShapedTerm(shape, inputs.name(columns[name]), is_short=True) if name in columns else no_term()
        case Cast(operand=operand, type=kind):
            lowered_operand = lower(operand, columns, inputs)
            return lowered_operand if kind is Type.TERM else truth_term(lowered_operand.truth())
        case Call(function=function, arguments=arguments):
            if (gap := function_refusal(expression)) is not None:
                raise gap
            name = function.name
            if name in PATTERNS:
                text = [lower(arguments[0], columns, inputs)]
                return bind_once(text, lambda argument: PATTERNS[name](expression, argument))
            lowered = [lower(argument, columns, inputs) for argument in arguments]
            return FORMS[name](*lowered) if name in FORMS else bind_once(lowered, TERM_LOWERINGS[name])
        case _:
            raise PlanError(f"{expression} is no expression over terms")
