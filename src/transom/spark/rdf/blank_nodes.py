"""New blank nodes of CONSTRUCT and BNODE, with labels derived from the solution, its copy number, and their place.

The labels are those of the reference engine. A solution has the same labels at every tick and after every restart, so
that a retraction matches its insertion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import Call, Expression, rewrite, subexpressions
from transom.algebra.expressions.terms import variable
from transom.spark.expressions.sql import SqlInputs
from transom.spark.rdf.terms.functions import string_characters

LowerExpression = Callable[[Expression, Mapping[str, Column]], Column]


def solution_text(columns: Mapping[str, Column]) -> Column:
    """Write a solution's bindings as one text, as the reference engine does; internal variables are left out.

    The names of internal variables contain a space.
    """
    names = sorted(name for name in columns if " " not in name)
    bindings = [F.when(columns[name].isNotNull(), F.concat(F.lit(f"?{name} = "), columns[name])) for name in names]
    return F.concat(F.lit("{"), F.concat_ws(", ", *bindings), F.lit("}"))


def new_blank_node(owner_text: Column, origin: Column) -> Column:
    """Create a blank node, labelled by a hash of the owning solution's text and of the call or template node.

    `owner_text` is a solution and its copy number, `origin` tells which call or template node creates the blank node.
    """
    digest = F.sha2(F.concat(owner_text, F.lit(" "), origin), 256)
    return F.concat(F.lit("_:n"), F.substring(digest, 1, 20))


def calls_bnode(expression: Expression) -> bool:
    """Whether an expression contains a call of SPARQL's function BNODE."""
    return any(isinstance(part, Call) and part.function.name == "BNODE" for part in subexpressions(expression))


def replace_bnode_calls(
    expression: Expression,
    columns: Mapping[str, Column],
    owner: Column | None,
    bound_variable: str,
    lower_argument: LowerExpression,
) -> tuple[Expression, Mapping[str, Column]]:
    """Replace BNODE() calls by variables; return the expression, and `columns` with blank nodes unique per `owner`.

    The label of a blank node depends on `owner` (None: the solution itself), and on the argument of the call or,
    without one, on `bound_variable`.
    """
    if not calls_bnode(expression):
        return expression, columns
    owner_text = F.concat(solution_text(columns), F.lit(" 0")) if owner is None else owner
    extended = dict(columns)
    call_count = 0

    def replace_call(part: Expression) -> Expression:
        """Replace a BNODE call by a variable for its blank node; return other expressions unchanged."""
        nonlocal call_count
        if not isinstance(part, Call) or part.function.name != "BNODE":
            return part
        if part.arguments:
            origin = F.concat(F.lit("="), _plain_string(lower_argument(part.arguments[0], extended)))
        else:
            origin = F.lit(f"{bound_variable}{call_count}")
            call_count += 1
        name = f"new node {len(extended)}"
        extended[name] = new_blank_node(owner_text, origin)
        return variable(name)

    return rewrite(expression, replace_call), extended


def _plain_string(term: Column) -> Column:
    """Return the text of a plain literal, without datatype and language tag; NULL for every other term."""
    inputs = SqlInputs()
    text = inputs.column(string_characters(inputs.name(term)))
    return F.when(F.startswith(term, F.lit('"')) & F.endswith(term, F.lit('"')), text)
