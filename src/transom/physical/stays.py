"""What is known of the rows of a relation over time: how long they stay, and whether they come from one window."""

from __future__ import annotations

from transom.physical.node import Physical
from transom.physical.plan import Filter, Form, Group, Map, Meet, Spread, Stay
from transom.physical.walk import walk

MOST_COPIES = 1_000_000
"""The most windows that a live run puts one row into at once."""


def longest(node: Physical) -> int:
    """The most ticks that a row of a node stays in a relation; 0 where it has no end of its own."""
    match node:
        case Stay(longest=ticks) | Meet(longest=ticks):
            return max(ticks, 0)
        case Spread(form=Form.STAYS, schedule=schedule):
            return schedule.periods[0]
        case Filter(input=input) | Map(input=input):
            return longest(input)
        case _:
            return 0


def length(node: Physical) -> int | None:
    """How many ticks every row of a node stays, where all stay as long."""
    match node:
        case Stay(past=past, until=until, slide=slide, longest=ticks):
            return ticks if (past - until + 1) % slide == 0 else None
        case Filter(input=input) | Map(input=input):
            return length(input)
        case _:
            return None


def by_stay(node: Physical) -> bool:
    """Whether rows are those of one window over time: then the one that comes first goes first."""
    match node:
        case Stay():
            return True
        case Filter(input=input) | Map(input=input):
            return by_stay(input)
        case _:
            return False


def pairs_streams(node: Physical) -> bool:
    """Whether rows are pairs of two streams: hardly two of them come and go together, so panes would gather nothing."""
    match node:
        case Meet(left=left, right=right):
            return left.form is right.form is Form.STAYS or pairs_streams(left) or pairs_streams(right)
        case Filter(input=input) | Map(input=input):
            return pairs_streams(input)
        case _:
            return False


def copies(plan: Physical) -> int:
    """The most rows that Spark makes of one, one for each window that it is in; 1 where nothing is spread."""
    found = [1]
    for node in walk(plan):
        spread = isinstance(node, Spread) and node.clock is None
        if isinstance(node, Spread | Group) and (spread or (isinstance(node, Group) and node.panes)) and node.schedule:
            found.append(node.schedule.within(longest(node.input)))
    return max(found)
