"""What operators over RDF are to each other: the class of every operator, and the classes of what they give.

An operator takes any statements, or any solutions. Which ones there are, `tree` says.
"""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.operator import AnyOperator
from transom.algebra.rdf.variable import Variable
from transom.errors import PlanError


@dataclass(frozen=True, slots=True)
class Operator(AnyOperator):
    """An operator of a query over RDF."""


@dataclass(frozen=True, slots=True)
class Statements(Operator):
    """An operator that gives statements with intervals."""

    @property
    def gives_statements(self) -> bool:
        """Whether these are statements; a window on a pattern gives solutions."""
        return True


@dataclass(frozen=True, slots=True)
class Solutions(Operator):
    """An operator that gives solutions with intervals."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that solutions can bind."""
        raise NotImplementedError


def check_statements(op: Operator) -> None:
    """A pattern reads statements, not solutions."""
    if not isinstance(op, Statements):
        raise PlanError(f"a pattern matches statements, not a {type(op).__name__}")
    if not op.gives_statements:
        raise PlanError("a pattern matches statements, and this window holds solutions")
