"""What a query hands out besides solutions: statements made or found, and a truth value."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.expressions import Column
from transom.algebra.operator import Operator, Windows
from transom.algebra.rdf.patterns import Place, check_statements
from transom.algebra.terms import STATEMENT
from transom.model.rdf.terms import IRI
from transom.model.schema import Attribute, Schema
from transom.model.types import Type


@dataclass(frozen=True, slots=True)
class Template:
    """A statement to be made of each solution; a blank node is a new one in each."""

    subject: Place
    predicate: Place
    object: Place

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate} {self.object}"


@dataclass(frozen=True, slots=True)
class Construct(Operator):
    """Statements made of solutions.

    Meaning  each solution gives the statements of the template with its interval and its n; equal statements add up;
             blank nodes of the template are new for each solution (R18).
    Bounds   a statement with an unbound variable, or with a literal where none may stand, is left out.
    Source   002 footnote 1, Sec. 6 (construct).
    State    none.
    """

    input: Windows
    template: tuple[Template, ...]

    @property
    def schema(self) -> Schema:
        return STATEMENT


@dataclass(frozen=True, slots=True)
class Describe(Operator):
    """The statements about resources.

    Meaning  at each instant, the valid statements whose subject is one of the resources: names, or what a variable is
             bound to in some solution (R19).
    Bounds   a statement comes as often as it is valid, however many solutions name its subject.
    Source   002 Sec. 4 (describe).
    State    what is valid of the statements and of the solutions.
    """

    input: Windows
    resources: tuple[Column | IRI, ...]
    statements: Windows

    def __post_init__(self) -> None:
        check_statements(self.statements)

    @property
    def schema(self) -> Schema:
        return STATEMENT


@dataclass(frozen=True, slots=True)
class Ask(Operator):
    """Whether there is a solution.

    Meaning  a truth value for every instant: true where a solution is valid (R17).
    Bounds   it is false before anything came.
    Source   002 Sec. 4 (ask).
    State    how many solutions are valid.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        return Schema((Attribute("ask", Type.BOOLEAN),))
