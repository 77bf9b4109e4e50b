"""The class of every operator that gives solutions; what it reads are windows of statements.

An operator takes any windows of statements, or any solutions. Which ones there are, `tree` says.
"""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.expressions import Column
from transom.algebra.operator import Operator, Windows
from transom.errors import PlanError
from transom.model.schema import Attribute, Schema
from transom.model.types import Type

STATEMENT = Schema(tuple(Attribute(name, Type.TERM) for name in ("s", "p", "o")))
"""A statement as a row: subject, predicate and object."""


@dataclass(frozen=True, slots=True)
class Solutions(Operator):
    """An operator that gives solutions: a relation with a column per variable, NULL where it is unbound."""

    @property
    def variables(self) -> tuple[Column, ...]:
        """The variables that solutions can bind."""
        raise NotImplementedError

    @property
    def schema(self) -> Schema:
        return Schema(tuple(variable.attribute for variable in self.variables))


def check_statements(op: Operator) -> None:
    """A pattern reads windows of statements."""
    if not isinstance(op, Windows) or op.schema != STATEMENT:
        raise PlanError(f"a pattern matches windows of statements, not a {type(op).__name__}")
