"""New blank nodes on Spark, of CONSTRUCT and BNODE: named by their solution, the number of its copy, and their place.

The names are those of the reference engine. The same solution has the same ones at every tick and after every restart,
so that what is retracted is what was added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.algebra.expressions import Call, Expression, parts, rewrite
from transom.algebra.terms import variable
from transom.spark.sql import Inputs
from transom.spark.term_functions import characters

Value = Callable[[Expression, Mapping[str, Column]], Column]


def spoken(there: Mapping[str, Column]) -> Column:
    """A solution as the reference engine writes it, without the variables that no query can name."""
    own = sorted(name for name in there if " " not in name)
    bindings = [F.when(there[name].isNotNull(), F.concat(F.lit(f"?{name} = "), there[name])) for name in own]
    return F.concat(F.lit("{"), F.concat_ws(", ", *bindings), F.lit("}"))


def new_node(whose: Column, place: Column) -> Column:
    """A blank node of a solution, which is followed by the number of its copy."""
    digest = F.sha2(F.concat(whose, F.lit(" "), place), 256)
    return F.concat(F.lit("_:n"), F.substring(digest, 1, 20))


def makes_nodes(expression: Expression) -> bool:
    """Whether an expression calls BNODE."""
    return any(isinstance(part, Call) and part.function.name == "BNODE" for part in parts(expression))


def with_nodes(
    expression: Expression, columns: Mapping[str, Column], whose: Column | None, site: str, value: Value
) -> tuple[Expression, Mapping[str, Column]]:
    """An expression in which every BNODE is a variable, and the columns that it reads then."""
    if not makes_nodes(expression):
        return expression, columns
    owner = F.concat(spoken(columns), F.lit(" 0")) if whose is None else whose
    found = dict(columns)
    calls = 0

    def changed(one: Expression) -> Expression:
        nonlocal calls
        if not isinstance(one, Call) or one.function.name != "BNODE":
            return one
        if one.arguments:
            place = F.concat(F.lit("="), _simple(value(one.arguments[0], found)))
        else:
            place = F.lit(f"{site}{calls}")
            calls += 1
        name = f"new node {len(found)}"
        found[name] = new_node(owner, place)
        return variable(name)

    return rewrite(expression, changed), found


def _simple(term: Column) -> Column:
    """The characters of a string without a language; NULL for every other term."""
    inputs = Inputs()
    text = inputs.column(characters(inputs.name(term)))
    return F.when(F.startswith(term, F.lit('"')) & F.endswith(term, F.lit('"')), text)
