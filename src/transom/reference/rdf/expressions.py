"""The value of an expression for one solution: a term, or None, which is an error (W3C 17)."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import assert_never

from transom.algebra.rdf.expressions import Call, Constant, Exists, Expression
from transom.algebra.rdf.functions import FUNCTIONS
from transom.algebra.rdf.operator import Solutions
from transom.algebra.rdf.variable import Variable
from transom.errors import Unsupported, UsageError
from transom.model.rdf.compare import equal, truth
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import DOUBLE, IRI, Literal, Term, boolean
from transom.reference.rdf.forms import new_node
from transom.reference.rdf.functions import IMPLEMENTATIONS
from transom.reference.rdf.strings import simple


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression sees: a solution, the one around its pattern, and patterns to be asked at the same instant.

    `origin` and `copy` tell this solution from all others, so that new blank nodes are its own.
    """

    solution: Solution
    outer: Solution
    exists: Callable[[Solutions, Solution], bool]
    now: Literal | None = None
    origin: Solution = field(default_factory=Solution)
    copy: int = 0
    site: str = ""
    calls: count[int] = field(default_factory=count)

    def get(self, name: str) -> Term | None:
        """The term of a variable: of the solution, or of the one around its pattern."""
        found = self.solution.get(name)
        return found if found is not None else self.outer.get(name)


def value(expression: Expression, scope: Scope) -> Term | None:
    """The term that an expression stands for, or None, which is an error."""
    match expression:
        case Constant(term=term):
            return term
        case Variable(name=name):
            return scope.get(name)
        case Exists(pattern=pattern):
            return boolean(scope.exists(pattern, scope.outer.merge(scope.solution)))
        case Call(function=name, arguments=arguments):
            if not FUNCTIONS[name].strict:
                return form(name, arguments, scope)
            given = [value(argument, scope) for argument in arguments]
            known = [term for term in given if term is not None]
            if len(known) < len(given):
                return None
            return IMPLEMENTATIONS[name](*known) if name in IMPLEMENTATIONS else made(name, known, scope)
        case _:
            assert_never(expression)


def holds(expression: Expression | None, scope: Scope) -> bool:
    """Whether a condition is true; an error is not (R12), and no condition is."""
    return expression is None or effective(expression, scope) is True


def effective(expression: Expression, scope: Scope) -> bool | None:
    """The effective boolean value of an expression."""
    found = value(expression, scope)
    return None if found is None else truth(found)


def form(name: str, arguments: Sequence[Expression], scope: Scope) -> Term | None:
    """The forms that look at their arguments themselves (W3C 17.4.1)."""
    match name:
        case "BOUND":
            return boolean(value(arguments[0], scope) is not None)
        case "IF":
            chosen = effective(arguments[0], scope)
            return None if chosen is None else value(arguments[1 if chosen else 2], scope)
        case "COALESCE":
            return next((found for one in arguments if (found := value(one, scope)) is not None), None)
        case "&&" | "||":
            sides = [effective(argument, scope) for argument in arguments]
            decisive = name == "||"
            return boolean(decisive) if decisive in sides else None if None in sides else boolean(not decisive)
        case "IN" | "NOT IN":
            among = _in(arguments, scope)
            return None if among is None else boolean(among == (name == "IN"))
        case _:
            raise Unsupported(name, "no such form", "never")


def _in(arguments: Sequence[Expression], scope: Scope) -> bool | None:
    """Whether the first equals one of the others; an error where one comparison is and none is true."""
    one, *others = (value(argument, scope) for argument in arguments)
    if one is None:
        return None
    same = [None if other is None else equal(one, other) for other in others]
    return True if True in same else None if None in same else False


def made(name: str, arguments: Sequence[Term], scope: Scope) -> Term | None:
    """The functions that are none of their arguments alone."""
    match name:
        case "BNODE" if arguments:
            label = simple(arguments[0])
            return None if label is None else new_node(scope.origin, scope.copy, f"={label}")
        case "BNODE":
            return new_node(scope.origin, scope.copy, f"{scope.site}{next(scope.calls)}")
        case "NOW":
            if scope.now is None:
                raise UsageError("the query asks what time it is", hint="say it with `now`")
            return scope.now
        case "RAND":
            return Literal(repr(random.random()), DOUBLE)  # noqa: S311 - it keeps no secret
        case "UUID":
            return IRI(f"urn:uuid:{uuid.uuid4()}")
        case "STRUUID":
            return Literal(str(uuid.uuid4()))
        case _:
            raise Unsupported(name, "no such function", "never")
