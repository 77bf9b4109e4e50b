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


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class TripleTemplate(Record):
    """A triple of a CONSTRUCT template; each solution turns its blank nodes into new ones."""

    subject: TermPattern
    predicate: TermPattern
    object: TermPattern

    def __str__(self) -> str:
        """The triple of a CONSTRUCT template as text: subject, predicate and object."""
        return f"{self.subject} {self.predicate} {self.object}"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Construct(Operator):
    """The triples that a CONSTRUCT query makes from its solutions.

    Meaning  each solution fills in the template once. The triples get the interval and the multiplicity of the
             solution. If several solutions give the same triple, their multiplicities are added. Each solution gets new
             blank nodes for the blank nodes in the template (R18).
    Bounds   a triple is left out if one of its variables is unbound, or if RDF does not allow one of its terms at the
             position of this term.
    Source   002 footnote 1, Sec. 6 (construct).
    State    none.
    """

    input: Windows
    template: tuple[TripleTemplate, ...]

    @property
    def schema(self) -> Schema:
        """The columns of an RDF statement: subject, predicate and object."""
        return STATEMENT


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Describe(Operator):
    """The triples about the resources that a DESCRIBE query names or finds.

    Meaning  at each instant, the result contains the valid triples whose subject is one of the resources. A resource is
             an IRI in the query, or a term to which a solution binds a variable (R19).
    Bounds   several solutions with the same subject do not multiply its triples.
    Source   002 Sec. 4 (describe).
    State    the valid triples and solutions.
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


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Ask(Operator):
    """Whether an ASK query has a solution.

    Meaning  at every instant, the answer is true if at least one solution is valid, and otherwise false (R17).
    Bounds   before the first triple, the answer is false.
    Source   002 Sec. 4 (ask).
    State    the number of valid solutions.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        """One boolean column, `ask`: whether the query has a solution."""
        return Schema((Attribute("ask", Type.BOOLEAN),))
