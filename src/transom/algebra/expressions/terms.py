"""Constructors of expressions over terms: variables, constant terms, and calls of SPARQL functions by name."""

from __future__ import annotations

from transom.algebra.expressions.expression import Call, Cast, Column, Constant, Expression
from transom.algebra.expressions.functions import FUNCTIONS
from transom.algebra.expressions.term_functions import LOGIC, TERM_FUNCTIONS
from transom.errors import PlanError
from transom.model.rdf.terms import Term
from transom.model.schema import Attribute, Schema
from transom.model.types import Type

STATEMENT = Schema(tuple(Attribute(name, Type.TERM) for name in ("s", "p", "o")))
"""A statement as a row: subject, predicate and object."""


def variable(name: str) -> Column:
    """Return the column of RDF terms that holds a SPARQL variable, named without `?`; NULL means unbound."""
    if not name or name[0] in "?$":
        raise PlanError("a variable is named without its question mark")
    return Column(Attribute(name, Type.TERM))


def term_literal(term: Term) -> Constant:
    """Return a constant expression whose value is an RDF term."""
    return Constant(term, Type.TERM)


def as_type(expression: Expression, target: Type) -> Expression:
    """Cast an expression to `target`, the type of RDF terms or boolean, unless it has this type already.

    A term becomes its effective boolean value, a boolean a literal.
    """
    if isinstance(expression, Cast) and expression.type is Type.TERM is not target:
        return expression.operand
    return expression if expression.type is target else Cast(expression, target)


def term_call(name: str, *arguments: Expression) -> Call:
    """Build a call of a SPARQL function or operator; raise PlanError if it does not take these arguments.

    Arguments are cast between terms and booleans where needed.
    """
    if name == "NOT IN":
        return term_call("!", term_call("IN", *arguments))
    function = FUNCTIONS[LOGIC[name]] if name in LOGIC else TERM_FUNCTIONS.get(name)
    if function is None:
        raise PlanError(f"no such function: {name}")
    if name == "BOUND" and not isinstance(arguments[0], Column):
        raise PlanError("BOUND takes a variable")
    for signature in function.signatures:
        if (parameters := signature.expand(len(arguments))) is not None:
            return Call(function, tuple(as_type(a, kind) for a, kind in zip(arguments, parameters, strict=True)))
    raise PlanError(f"{name} does not take {len(arguments)} arguments")
