"""Expressions of SPARQL 1.1 over one solution; each gives a term or an error (W3C 17)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from transom.algebra.rdf.functions import AGGREGATES, FUNCTIONS
from transom.algebra.rdf.operator import Solutions
from transom.algebra.rdf.variable import Variable
from transom.errors import PlanError
from transom.model.rdf.terms import Term


@dataclass(frozen=True, slots=True)
class Constant:
    """A term."""

    term: Term

    def __str__(self) -> str:
        return str(self.term)


@dataclass(frozen=True, slots=True)
class Call:
    """A function, an operator or a cast by its name in FUNCTIONS, applied to arguments."""

    function: str
    arguments: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        function = FUNCTIONS.get(self.function)
        if function is None:
            raise PlanError(f"no such function: {self.function}")
        if len(self.arguments) < function.least or (function.most is not None and len(self.arguments) > function.most):
            raise PlanError(f"{self.function} does not take {len(self.arguments)} arguments")
        if self.function == "BOUND" and not isinstance(self.arguments[0], Variable):
            raise PlanError("BOUND takes a variable")

    def __str__(self) -> str:
        name, said = self.function, [str(argument) for argument in self.arguments]
        if name in ("IN", "NOT IN"):
            return f"({said[0]} {name} ({', '.join(said[1:])}))"
        if len(said) == 2 and not name[0].isalpha():
            return f"({said[0]} {name} {said[1]})"
        if len(said) == 1 and (name == "!" or name.startswith("unary ")):
            return f"{name[-1]}({said[0]})" if said[0][0] in "!+-" else f"{name[-1]}{said[0]}"
        return f"{name}({', '.join(said)})"


@dataclass(frozen=True, slots=True)
class Exists:
    """Whether a pattern has a solution at the same instant, once the variables of this solution stand for their terms.

    NOT EXISTS is `!` of it.
    """

    pattern: Solutions

    def __str__(self) -> str:
        return "EXISTS {...}"


Expression: TypeAlias = Variable | Constant | Call | Exists


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable and the expression that it stands for; unbound where that is an error."""

    variable: Variable
    expression: Expression

    def __str__(self) -> str:
        return f"{self.expression} AS {self.variable}"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of the solutions of a group; COUNT without an argument counts the solutions themselves."""

    variable: Variable
    function: str
    argument: Expression | None = None
    distinct: bool = False
    separator: str = " "

    def __post_init__(self) -> None:
        if self.function not in AGGREGATES:
            raise PlanError(f"no such aggregate: {self.function}")
        if self.argument is None and self.function != "COUNT":
            raise PlanError(f"{self.function} takes an argument")

    def __str__(self) -> str:
        of = "*" if self.argument is None else str(self.argument)
        return f"{self.function}({'DISTINCT ' if self.distinct else ''}{of}) AS {self.variable}"


@dataclass(frozen=True, slots=True)
class SortKey:
    """One key of an order; errors come first, as if unbound."""

    expression: Expression
    descending: bool = False

    def __str__(self) -> str:
        return f"{'DESC' if self.descending else 'ASC'}({self.expression})"


def parts(expression: Expression) -> Iterator[Expression]:
    """An expression and all expressions in it; the pattern of an EXISTS is not entered."""
    yield expression
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from parts(argument)
