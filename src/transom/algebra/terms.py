"""How expressions over terms are written: variables, terms, and calls of SPARQL's functions by their names."""

from __future__ import annotations

from transom.algebra.expressions import Call, Cast, Column, Expression, Literal
from transom.algebra.functions import FUNCTIONS
from transom.algebra.term_functions import LOGIC, TERM_FUNCTIONS
from transom.errors import PlanError
from transom.model.rdf.terms import Term
from transom.model.schema import Attribute, Schema
from transom.model.types import Type

STATEMENT = Schema(tuple(Attribute(name, Type.TERM) for name in ("s", "p", "o")))
"""A statement as a row: subject, predicate and object."""


def variable(name: str) -> Column:
    """A variable of SPARQL; NULL where it is unbound."""
    if not name or name[0] in "?$":
        raise PlanError("a variable is named without its question mark")
    return Column(Attribute(name, Type.TERM))


def term_literal(term: Term) -> Literal:
    """A term that a query says."""
    return Literal(term, Type.TERM)


def as_type(expression: Expression, wanted: Type) -> Expression:
    """A term as its effective boolean value, or a truth value as a term (W3C 17.2.2)."""
    if isinstance(expression, Cast) and expression.type is Type.TERM is not wanted:
        return expression.operand
    return expression if expression.type is wanted else Cast(expression, wanted)


def term_call(name: str, *arguments: Expression) -> Call:
    """A function or an operator of SPARQL by its name, with terms and truth values as it takes them."""
    if name == "NOT IN":
        return term_call("!", term_call("IN", *arguments))
    function = FUNCTIONS[LOGIC[name]] if name in LOGIC else TERM_FUNCTIONS.get(name)
    if function is None:
        raise PlanError(f"no such function: {name}")
    if name == "BOUND" and not isinstance(arguments[0], Column):
        raise PlanError("BOUND takes a variable")
    for signature in function.signatures:
        if (wanted := signature.expand(len(arguments))) is not None:
            return Call(function, tuple(as_type(a, kind) for a, kind in zip(arguments, wanted, strict=True)))
    raise PlanError(f"{name} does not take {len(arguments)} arguments")
