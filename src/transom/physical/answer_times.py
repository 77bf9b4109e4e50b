"""When the rows of a plan reach the sink: only once their tick is closed, or before."""

from __future__ import annotations

from transom.physical.forms import Executor
from transom.physical.nodes.node import PhysicalNode, ReadClock
from transom.physical.nodes.windows import (
    CollectWindows,
    ExpandWindows,
    Filter,
    Project,
    RowNumber,
    UnionAll,
    WindowAggregate,
    WindowMarkers,
    WindowProduct,
    WindowsToStream,
)


def answers_closed_ticks(node: PhysicalNode) -> bool:
    """Whether a plan node emits each row only after the watermark has closed the row's tick, never earlier.

    A machine and an aggregate wait until a tick is closed. A row that is expanded to its windows is ahead: it comes
    before the ticks of its later windows are closed.
    """
    match node:
        case WindowAggregate() | CollectWindows() | ReadClock() | ExpandWindows(clock=ReadClock()):
            return True
        case Filter(input=input) | Project(input=input) | RowNumber(input=input) | WindowsToStream(input=input):
            return answers_closed_ticks(input)
        case WindowMarkers(input=input):
            return answers_closed_ticks(input)
        case UnionAll(left=left, right=right) | WindowProduct(left=left, right=right):
            return answers_closed_ticks(left) and answers_closed_ticks(right)
        case _:
            return node.decision.executor is not Executor.NATIVE
