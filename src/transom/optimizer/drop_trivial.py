"""Selections and projections that change nothing are removed."""

from __future__ import annotations

from transom.algebra.expressions.expression import TRUE, identity_items
from transom.algebra.operator import Operator
from transom.algebra.relations import WindowProject, WindowSelect
from transom.algebra.streams import StreamProject, StreamSelect
from transom.optimizer.rule import RuleContext


def drop_trivial(op: Operator, context: RuleContext) -> Operator | None:
    """Remove selections whose condition is TRUE, and projections that return exactly the columns they read."""
    match op:
        case StreamSelect(input=stream, predicate=predicate) if predicate == TRUE:
            return stream
        case WindowSelect(input=windows, predicate=predicate) if predicate == TRUE:
            return windows
        case StreamProject(input=stream, items=items) if items == identity_items(stream.schema):
            return stream
        case WindowProject(input=windows, items=items) if items == identity_items(windows.schema):
            return windows
        case _:
            return None
