"""The node for incremental joins: changes in, changes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, TypeGuard

from transom.algebra.expressions.expression import TRUE, Expression
from transom.algebra.relations import JoinType
from transom.model.schema import Schema
from transom.physical.forms import Decision, Form
from transom.physical.nodes.node import PhysicalNode


@dataclass(frozen=True, slots=True)
class Compatibility:
    """A further condition of a join of solutions: variables that may be unbound agree wherever both sides bind them.

    With `overlap` both sides must bind at least one of them. The condition is evaluated on the merged solution.
    """

    variables: tuple[str, ...] = ()
    overlap: bool = False
    condition: Expression = TRUE

    def __bool__(self) -> bool:
        """Whether joined solutions need a check besides equal keys: of unbound variables or a condition.

        They must if a shared variable may be unbound, or if there is a condition.
        """
        return bool(self.variables) or self.condition != TRUE

    def __str__(self) -> str:
        """Describe the check on joined solutions, as `explain` prints it."""
        parts = [f"?{name} may be unbound" for name in self.variables]
        parts += ["both sides bind one of them"] if self.overlap else []
        return ", ".join([*parts, *([] if self.condition == TRUE else [str(self.condition)])])


JoinKey: TypeAlias = tuple[Expression, Expression] | str
"""An expression of each side, which must be equal; or a variable that all sides bind."""


@dataclass(frozen=True, slots=True)
class ChangeJoin(PhysicalNode):
    """The join of two inputs, or of all triple patterns of one stream, as changes; of two tables, as a table.

    Rows match if their keys are equal. The residual is checked on pairs. A join that is `fused` runs in the stateful
    operator of the join above it, which has the same keys.
    """

    left: PhysicalNode
    right: PhysicalNode | None
    join_type: JoinType
    keys: tuple[JoinKey, ...]
    residual: Expression | Compatibility
    schema: Schema
    form: Form
    decision: Decision
    ordered: bool = False
    fused: bool = False

    @property
    def sides(self) -> tuple[Schema, ...]:
        """The schemas of the joined inputs: two, or one per triple pattern if all patterns read one stream."""
        if self.right is not None:
            return (self.left.schema, self.right.schema)
        return tuple(branch.schema for branch in getattr(self.left, "branches", ()))

    @property
    def operator_inputs(self) -> tuple[PhysicalNode, ...]:
        """The inputs of the join's stateful operator; a fused join among them is replaced by its own inputs."""
        inputs = (self.left,) if self.right is None else (self.left, self.right)
        return tuple(leaf for node in inputs for leaf in (node.operator_inputs if is_fused(node) else (node,)))


def is_fused(node: PhysicalNode) -> TypeGuard[ChangeJoin]:
    """Whether a node is a join that runs in the stateful operator of the join above it."""
    return isinstance(node, ChangeJoin) and node.fused
