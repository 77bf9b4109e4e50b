"""SPARQL queries that do not produce solutions: CONSTRUCT, DESCRIBE and ASK."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.expressions.expression import Column
from transom.algebra.expressions.terms import STATEMENT
from transom.algebra.operator import Operator, Windows
from transom.algebra.rdf.patterns import TermPattern, check_statements
from transom.model.rdf.terms import IRI
from transom.model.schema import Attribute, Schema
from transom.model.types import Type
from transom.record import Record


@dataclass(frozen=True, repr=False, slots=True)
class TripleTemplate(Record):
    """A triple of a CONSTRUCT template; each solution turns its blank nodes into new ones."""

    subject: TermPattern
    predicate: TermPattern
    object: TermPattern

    def __str__(self) -> str:
        """The triple of a CONSTRUCT template as text: subject, predicate and object."""
        return f"{self.subject} {self.predicate} {self.object}"


@dataclass(frozen=True, repr=False, slots=True)
class Construct(Operator):
    """The statements that a template makes from solutions (CONSTRUCT).

    Meaning  each solution gives the statements of the template, with its interval and multiplicity; equal
             statements add up; blank nodes of the template are new for each solution (R18).
    Bounds   a statement with an unbound variable, or a term that RDF does not allow in that position, is left out.
    Source   002 footnote 1, Sec. 6 (construct).
    State    none.
    """

    input: Windows
    template: tuple[TripleTemplate, ...]

    @property
    def schema(self) -> Schema:
        """The columns of an RDF statement: subject, predicate and object."""
        return STATEMENT


@dataclass(frozen=True, repr=False, slots=True)
class Describe(Operator):
    """The statements about resources (DESCRIBE).

    Meaning  at each instant, the valid statements whose subject is one of the resources: IRIs, and the terms
             that a variable is bound to in some solution (R19).
    Bounds   the number of solutions that bind the subject does not change the multiplicity of a statement.
    Source   002 Sec. 4 (describe).
    State    the valid statements and solutions.
    """

    input: Windows
    resources: tuple[Column | IRI, ...]
    statements: Windows

    def __post_init__(self) -> None:
        """Raise PlanError unless the input `statements` produces windows of RDF statements."""
        check_statements(self.statements)

    @property
    def schema(self) -> Schema:
        """The columns of an RDF statement: subject, predicate and object."""
        return STATEMENT


@dataclass(frozen=True, repr=False, slots=True)
class Ask(Operator):
    """Whether there is a solution (ASK).

    Meaning  a truth value for every instant: true where a solution is valid (R17).
    Bounds   false before the first statement.
    Source   002 Sec. 4 (ask).
    State    the number of valid solutions.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        """One boolean column, `ask`: whether the query has a solution."""
        return Schema((Attribute("ask", Type.BOOLEAN),))
