"""Operators that change nothing are left out."""

from __future__ import annotations

from transom.algebra.expressions import TRUE, unchanged
from transom.algebra.operator import Operator
from transom.algebra.relations import WindowProject, WindowSelect
from transom.algebra.streams import StreamProject, StreamSelect
from transom.optimizer.rule import Context


def drop_trivial(op: Operator, context: Context) -> Operator | None:
    """Leave out a selection by TRUE, and a projection that gives back just the columns it gets."""
    match op:
        case StreamSelect(input=stream, predicate=predicate) if predicate == TRUE:
            return stream
        case WindowSelect(input=windows, predicate=predicate) if predicate == TRUE:
            return windows
        case StreamProject(input=stream, items=items) if items == unchanged(stream.schema):
            return stream
        case WindowProject(input=windows, items=items) if items == unchanged(windows.schema):
            return windows
        case _:
            return None
