"""What a picture shows: one lane per window operator, with the tuples it gets and the windows it makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from transom.algebra.operator import Operator, Plan
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive
from transom.algebra.streams import DStream, IStream, RStream
from transom.algebra.tree import inputs, walk
from transom.algebra.windows import Between, Content, Coordinate, Every, Window
from transom.errors import Unsupported
from transom.model.bag import Element, Version
from transom.reference.evaluate import evaluate_stream
from transom.reference.sources import Inputs, scan_table
from transom.reference.windows import is_in, scan_ticks, slide_events, stands

MOST_WINDOWS = 14
"""No lane draws more windows than this."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One window that is drawn. `low` and `high` are its bounds on the coordinate of its range.

    `members` are the elements it holds, `superseded` is the tick at which its lane has newer windows.
    """

    created: int
    low: int
    high: int
    rows: int
    members: tuple[Element, ...] = ()
    superseded: int | None = None


@dataclass(frozen=True, slots=True)
class Lane:
    """One window operator: the elements it gets (or the versions of its table) and the windows that are drawn.

    `block` is the same for lanes whose windows are paired with each other. `created` are the ticks of all windows of
    the span, drawn or not; `each` is 10 when only every tenth is looked at; `problem` says why nothing is drawn.
    """

    op: Window
    block: int
    elements: tuple[Element, ...] = ()
    versions: tuple[Version, ...] = ()
    windows: tuple[Shown, ...] = ()
    created: tuple[int, ...] = ()
    each: int = 1
    problem: str | None = None

    @property
    def is_scan(self) -> bool:
        """Whether the lane shows a table."""
        return isinstance(self.op.range, Content)

    @property
    def counts_rows(self) -> bool:
        """Whether the bounds of its windows are row numbers."""
        return isinstance(self.op.range, Between) and self.op.range.coordinate is Coordinate.INDEX

    @property
    def unseen(self) -> int:
        """How many windows of the span are not drawn for want of space."""
        return len(self.created) - len(self.windows)

    def ticks(self, window: Shown) -> tuple[int, int] | None:
        """From which tick to which tick a window reaches; None for a window of rows that holds none."""
        if not self.counts_rows:
            return window.low, window.high
        return (window.members[0].tick, window.members[-1].tick) if window.members else None

    @property
    def name(self) -> str:
        """What the window stands on: an extent, with its alias, or a subquery."""
        below = self.op.input
        if isinstance(below, StreamAcquire | StreamReceive | StoredTable):
            alias = next((a.qualifier for a in below.schema if a.qualifier), below.extent)
            return below.extent if alias == below.extent else f"{below.extent} AS {alias}"
        return f"subquery on {', '.join(extents(below))}"


def extents(op: Operator) -> list[str]:
    """The names of the extents below an operator, each once."""
    names = (s.extent for s in walk(op) if isinstance(s, StreamAcquire | StreamReceive | StoredTable))
    return list(dict.fromkeys(names))


def window_operators(plan: Plan) -> list[tuple[Window, int]]:
    """The window operators of a plan, inner ones first, each with the number of its block.

    A block is what one FROM clause names: its windows are paired with each other. A converter, or the input of a
    window, begins another block, with a greater number.
    """
    found: list[tuple[Window, int]] = []
    _collect(plan, count(1), 0, found)
    return sorted(found, key=lambda pair: -pair[1])


def _collect(op: Operator, fresh: Iterator[int], block: int, found: list[tuple[Window, int]]) -> None:
    inner = next(fresh) if isinstance(op, Window | RStream | IStream | DStream) else block
    for below in inputs(op):
        _collect(below, fresh, inner, found)
    if isinstance(op, Window):
        found.append((op, block))


Event = tuple[int, dict[Coordinate, int]]
"""When a window is created: its tick, and where each coordinate stands then."""


def events_of(op: Window, given: Inputs) -> tuple[list[Element], list[Event]]:
    """The elements that a window operator gets, and when it makes windows."""
    if isinstance(op.input, StoredTable):
        return [], [(now, {Coordinate.TICK: now}) for now in scan_ticks(op.slide, op.input, given)]
    if op.key or not isinstance(op.range, Between):
        raise Unsupported("Window", "a picture shows no partitions and no regions")
    if op.by_distance:
        raise Unsupported("Window", "a picture shows no distances")
    elements = evaluate_stream(op.input, given)
    return elements, slide_events(op, stands(op, elements), given)


def lane_of(op: Window, block: int, given: Inputs, each: int = 1) -> Lane:
    """The lane of a window operator, up to the end of the inputs."""
    try:
        elements, events = events_of(thinned(op, each), given)
    except Unsupported as gap:
        return Lane(op, block, problem=gap.why)
    created = tuple(now for now, _ in events)
    later = _next_ticks(created)
    windows = tuple(_shown(op, event, elements, given, end) for event, end in zip(events[:MOST_WINDOWS], later))
    versions: Sequence[Version] = ()
    if isinstance(op.input, StoredTable):
        versions = [v for v in given.tables.get(op.input.extent, ()) if v.tick <= given.until]
    return Lane(op, block, tuple(elements), tuple(versions), windows, created, each)


def thinned(op: Window, each: int) -> Window:
    """The operator with one slide event in so many; those that stay are events of the operator itself."""
    if each == 1 or not isinstance(op.slide, Every):
        return op
    return replace(op, slide=replace(op.slide, step=op.slide.step * each))


def _shown(op: Window, event: Event, elements: Sequence[Element], given: Inputs, later: int | None) -> Shown:
    now, at = event
    if isinstance(op.input, StoredTable):
        return Shown(now, now, now, len(scan_table(op.input, now, given)), superseded=later)
    assert isinstance(op.range, Between)  # noqa: S101 - events_of refused the others
    base = at[op.range.coordinate]
    members = tuple(e.element for e in stands(op, elements) if is_in(op.range, e, at))
    low, high = op.range.low.at(base), op.range.high.at(base)
    return Shown(now, low, high, len(members), members, later)


def _next_ticks(ticks: Sequence[int]) -> list[int | None]:
    """For each tick of a sorted list the next one that is greater."""
    found: list[int | None] = [None] * len(ticks)
    for place in range(len(ticks) - 2, -1, -1):
        found[place] = ticks[place + 1] if ticks[place + 1] > ticks[place] else found[place + 1]
    return found
