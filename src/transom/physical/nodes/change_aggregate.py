"""The node for incremental aggregation: changes in, changes out."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.expressions.expression import Aggregate, NamedExpression
from transom.model.schema import Schema
from transom.physical.forms import Decision, Form
from transom.physical.nodes.node import PhysicalNode


@dataclass(frozen=True, slots=True)
class ChangeAggregate(PhysicalNode):
    """One row per group with its key and aggregates, as changes; over stored rows, as a table.

    Without keys all rows form one group, which exists even without rows: from the first change of `start`, or from the
    first window marker of the input.
    """

    input: PhysicalNode
    start: PhysicalNode | None
    keys: tuple[NamedExpression, ...]
    aggregates: tuple[Aggregate, ...]
    schema: Schema
    decision: Decision
    form: Form = Form.CHANGES
    ordered: bool = False
