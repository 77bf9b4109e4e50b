"""Expressions over terms as the text of SPARQL."""

from __future__ import annotations

from transom.algebra.expressions.expression import Call, Cast, Expression
from transom.algebra.expressions.term_functions import LOGIC
from transom.algebra.sequences import SortKey

_WRITTEN = {name: written for written, name in LOGIC.items()}


def sparql(expression: Expression) -> str:
    """The text of an expression; casts between terms and truth values are not written."""
    match expression:
        case Cast(operand=operand):
            return sparql(operand)
        case Call(function=function, arguments=arguments):
            said = [sparql(argument) for argument in arguments]
            if function.name == "IN":
                return f"({said[0]} IN ({', '.join(said[1:])}))"
            if function.name == "NOT" or function.name.startswith("unary "):
                return f"{_WRITTEN.get(function.name, function.name[-1])}({said[0]})"
            if function.infix:
                return "(" + f" {_WRITTEN.get(function.name, function.name)} ".join(said) + ")"
            return f"{function.name}({', '.join(said)})"
        case _:
            return str(expression)


def order(key: SortKey) -> str:
    """One key of ORDER BY."""
    return f"{'DESC' if key.descending else 'ASC'}({sparql(key.expression)})"
