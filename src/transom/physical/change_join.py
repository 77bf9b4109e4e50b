"""The join of relations that arrive as changes: changes in, changes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from transom.algebra.expressions import TRUE, Expression
from transom.algebra.relations import JoinType
from transom.model.schema import Schema
from transom.physical.forms import Choice, Form
from transom.physical.node import Physical


@dataclass(frozen=True, slots=True)
class Compatible:
    """The residual of a join of solutions: variables that may be unbound agree wherever both sides bind them.

    With `overlap` both sides must bind one of them. The condition is asked of the merged solution.
    """

    variables: tuple[str, ...] = ()
    overlap: bool = False
    condition: Expression = TRUE

    def __bool__(self) -> bool:
        return bool(self.variables) or self.condition != TRUE

    def __str__(self) -> str:
        parts = [f"?{name} may be unbound" for name in self.variables]
        parts += ["both sides bind one of them"] if self.overlap else []
        return ", ".join([*parts, *([] if self.condition == TRUE else [str(self.condition)])])


JoinKey: TypeAlias = tuple[Expression, Expression] | str
"""Values of both sides that are equal, or a variable that all sides bind."""


@dataclass(frozen=True, slots=True)
class ChangeJoin(Physical):
    """The join of two sides, or of all branches of one scan, as changes.

    Rows meet where their keys are equal. The residual is checked on pairs.
    """

    left: Physical
    right: Physical | None
    join_type: JoinType
    keys: tuple[JoinKey, ...]
    residual: Expression | Compatible
    schema: Schema
    form: Form
    choice: Choice
    ordered: bool = False

    @property
    def sides(self) -> tuple[Schema, ...]:
        """The columns of the sides."""
        if self.right is not None:
            return (self.left.schema, self.right.schema)
        return tuple(branch.schema for branch in getattr(self.left, "branches", ()))
