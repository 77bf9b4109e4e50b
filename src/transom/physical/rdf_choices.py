"""The planner's rules over RDF: each picks a path and says why, and how many rows are remembered on it."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra import bounds
from transom.algebra.composed import rewritten
from transom.algebra.operator import Operator, Stream, Windows
from transom.algebra.relations import JoinType, WindowAggregation
from transom.algebra.state import NOTHING, ONE, Formula, Number, plus, times
from transom.algebra.windows import Between, Bound, Coordinate, Window
from transom.physical.change_join import Compatible
from transom.physical.forms import Choice, Path

MATCHED = Choice(Path.NATIVE, "pattern", "each statement by itself", NOTHING)
WINDOW = Choice(Path.NATIVE, "time window", "when a statement goes follows from its tick", NOTHING)
STORED = Choice(Path.NATIVE, "stored", "it holds for ever: no state", NOTHING)
STATIC = Choice(Path.NATIVE, "static join", "one side is known beforehand: no state", NOTHING)


def fan(count: int) -> Choice:
    """Several patterns over one scan."""
    return Choice(Path.NATIVE, "one scan", f"{count} patterns read the stream once, each statement by itself", NOTHING)


def within_message(count: int) -> Choice:
    """A star whose statements come together."""
    why = f"all statements about a subject come in one message: {count} patterns are matched inside it, without state"
    return Choice(Path.NATIVE, "subjects: local", why, NOTHING)


def mate(how: JoinType, sides: tuple[Windows, ...], spread: bool, residual: Compatible, slack: int) -> Choice:
    """Relations of one key."""
    asks = how is not JoinType.INNER and bool(residual)
    where = "by key" if spread else "in one task, as no key says which solutions belong together"
    star = f"{len(sides)} patterns of one key are one operator" if len(sides) > 2 else f"the {how} is built in order"
    again = "; a condition is asked of pairs before it is known which solutions have none" if asks else ""
    state = times(Number(2), plus(*(within(side, slack) for side in sides)))
    if asks:
        state = plus(state, times(Number(2), times(*(within(side, slack) for side in sides))))
    return Choice(Path.MACHINE, "solutions that come and go", f"{star}, {where}{again}", state)


def aggregate(op: WindowAggregation, slack: int) -> Choice:
    """Groups of solutions."""
    where = "by group" if op.groups else "in one task, as there is one group"
    why = f"solutions go in any order: each changes the counts, sums and values of its group, {where}"
    return Choice(Path.MACHINE, "aggregates of changes", why, times(Number(3), plus(within(op.input, slack), ONE)))


def once(op: Windows, slack: int) -> Choice:
    """Every solution once."""
    state = times(Number(3), within(op, slack))
    return Choice(Path.MACHINE, "each once", "a solution is there as long as one of its copies", state)


def numbered(op: Windows, slack: int) -> Choice:
    """Copies of solutions, each with its number."""
    state = times(Number(3), within(op, slack))
    why = "new blank nodes are named by their solution and the number of its copy, so that a retraction repeats them"
    return Choice(Path.MACHINE, "blank nodes", why, state)


def closure(edges: Windows, statements: Windows, has_nodes: bool, slack: int) -> Choice:
    """Paths of any length."""
    why = "all edges are followed in one task; when some change, again from every term that leads to them"
    terms = times(Number(4), within(statements, slack)) if has_nodes else NOTHING
    return Choice(Path.MACHINE, "path of any length", why, plus(times(Number(2), within(edges, slack)), terms))


def sequence(op: Windows, slack: int) -> Choice:
    """The whole list of each tick."""
    state = times(Number(3), within(op, slack))
    return Choice(
        Path.MACHINE, "in order", "a sequence is known only as a whole, at every tick where it changes", state
    )


def elements(op: Window, stream: Stream, slack: int) -> Choice:
    """The last so many, in order."""
    state = plus(bounds.remembered(op), bounds.arrivals(stream, 1 + slack))
    return Choice(Path.MACHINE, "last elements", "an element goes when another comes: they are taken in order", state)


def within(op: Windows, slack: int) -> Formula:
    """The most that is valid at one instant, with time windows that are longer by what may be open at once."""

    def longer(part: Operator) -> Operator:
        match part:
            case Window(range=Between(coordinate=Coordinate.TICK, low=low) as reach):
                return replace(part, range=replace(reach, low=Bound(low.step, low.offset - slack)))
            case _:
                return part

    return bounds.size(rewritten(op, longer))
