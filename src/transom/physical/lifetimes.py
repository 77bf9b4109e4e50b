"""Static analysis of validity intervals: how long rows are valid, and whether they come from one time window."""

from __future__ import annotations

from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import (
    ExpandWindows,
    Filter,
    Form,
    IntervalJoin,
    PeriodWindow,
    Project,
    TimeWindow,
    WindowAggregate,
)
from transom.physical.schedule import Schedule

MAX_COPIES = 1_000_000
"""The most windows into which a live run expands one row at once."""


def max_lifetime(node: PhysicalNode) -> int:
    """The longest time, in ticks, that a plan node's row is valid; by convention 0 if rows carry no end tick."""
    match node:
        case TimeWindow(longest=ticks) | PeriodWindow(longest=ticks) | IntervalJoin(longest=ticks):
            return max(ticks, 0)
        case ExpandWindows(form=Form.INTERVALS, schedule=schedule):
            return schedule.periods[0]
        case Filter(input=input) | Project(input=input):
            return max_lifetime(input)
        case _:
            return 0


def fixed_lifetime(node: PhysicalNode) -> int | None:
    """The number of ticks for which every row of a plan node is valid; None if it varies between rows or is unknown."""
    match node:
        case TimeWindow(past=past, until=until, slide=slide, longest=ticks):
            return ticks if (past - until + 1) % slide == 0 else None
        case Filter(input=input) | Project(input=input):
            return fixed_lifetime(input)
        case _:
            return None


def max_windows(node: PhysicalNode, schedule: Schedule) -> int:
    """The largest number of a schedule's windows that can contain one and the same row of a plan node."""
    match node:
        case PeriodWindow(slide=slide, windows=windows) if not schedule.periods and schedule.calendars == (slide,):
            return windows
        case Filter(input=input) | Project(input=input):
            return max_windows(input, schedule)
        case _:
            return schedule.max_ticks_in(max_lifetime(node))


def is_time_window(node: PhysicalNode) -> bool:
    """Whether a plan node is a time window, perhaps filtered or projected, so that its rows expire in tick order."""
    match node:
        case TimeWindow():
            return True
        case Filter(input=input) | Project(input=input):
            return is_time_window(input)
        case _:
            return False


def joins_streams(node: PhysicalNode) -> bool:
    """Whether a plan node is a join of two streams, or a join, filter or projection above one.

    Few of these pairs share a validity interval, so aggregating panes saves little.
    """
    match node:
        case IntervalJoin(left=left, right=right):
            return left.form is right.form is Form.INTERVALS or joins_streams(left) or joins_streams(right)
        case Filter(input=input) | Project(input=input):
            return joins_streams(input)
        case _:
            return False


def max_copies(plan: PhysicalNode) -> int:
    """The largest number of copies of one row that a plan makes, one for each window; 1 if it makes no copies."""
    copies = [1]
    for node in walk(plan):
        expands = isinstance(node, ExpandWindows) and node.clock is None
        if (
            isinstance(node, ExpandWindows | WindowAggregate)
            and (expands or (isinstance(node, WindowAggregate) and node.panes))
            and node.schedule
        ):
            copies.append(max_windows(node.input, node.schedule))
    return max(copies)
