"""Lanes of a picture: one per window operator, with its input tuples and its windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from transom.algebra.operator import Operator, Plan
from transom.algebra.periods import PeriodRange
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive
from transom.algebra.streams import DStream, IStream, RStream
from transom.algebra.tree import inputs as input_operators
from transom.algebra.tree import walk
from transom.algebra.windows import (
    Coordinate,
    CoordinateRange,
    Every,
    RegionRange,
    TableContent,
    Window,
    range_parts,
)
from transom.model.bag import Element, TableVersion
from transom.reference.evaluate import evaluate_stream
from transom.reference.sources import Inputs, scan_table
from transom.reference.windows import is_in_window, position_elements, scan_ticks, slide_events

MAX_WINDOWS = 14
"""The most windows that a lane draws."""


@dataclass(frozen=True, slots=True)
class DrawnWindow:
    """One drawn window. `low` and `high` are its bounds on the coordinate of its range.

    `members` are the elements it holds; `superseded` is the tick at which its lane has newer windows.
    """

    created: int
    low: int
    high: int
    rows: int
    members: tuple[Element, ...] = ()
    superseded: int | None = None


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane of the picture, which shows one window operator: its input elements or table versions, and its windows.

    `block` is the same for lanes whose windows are paired with each other. `created` are the ticks of all windows of
    the span, drawn or not; one window in `each` is considered.
    """

    op: Window
    block: int
    elements: tuple[Element, ...] = ()
    versions: tuple[TableVersion, ...] = ()
    windows: tuple[DrawnWindow, ...] = ()
    created: tuple[int, ...] = ()
    each: int = 1

    @property
    def is_scan(self) -> bool:
        """Whether the drawn window operator scans a stored table instead of making windows over a stream."""
        return isinstance(self.op.range, TableContent)

    @property
    def counts_rows(self) -> bool:
        """Whether the windows of this lane are ranges of row numbers, not of ticks."""
        return isinstance(self.op.range, CoordinateRange) and self.op.range.coordinate is Coordinate.INDEX

    @property
    def unseen(self) -> int:
        """The number of windows that this row of the picture leaves out, because it draws at most MAX_WINDOWS."""
        return len(self.created) - len(self.windows)

    def ticks(self, window: DrawnWindow) -> tuple[int, int] | None:
        """Return the first and last tick that a drawn window covers; None for a window of row numbers that is empty."""
        if not self.counts_rows:
            return window.low, window.high
        return (window.members[0].tick, window.members[-1].tick) if window.members else None

    @property
    def name(self) -> str:
        """The name of the lane's window input: `extent`, `extent AS alias`, or `subquery on extents`."""
        source = self.op.input
        if isinstance(source, StreamAcquire | StreamReceive | StoredTable):
            alias = next((attribute.qualifier for attribute in source.schema if attribute.qualifier), source.extent)
            return source.extent if alias == source.extent else f"{source.extent} AS {alias}"
        return f"subquery on {', '.join(extent_names(source))}"


def extent_names(op: Operator) -> list[str]:
    """Return the names of all extents (sources and tables) that an operator and its inputs read, each once."""
    names = (source.extent for source in walk(op) if isinstance(source, StreamAcquire | StreamReceive | StoredTable))
    return list(dict.fromkeys(names))


def window_operators(plan: Plan) -> list[tuple[Window, int]]:
    """Return a plan's window operators, inner ones first, each with a number that windows of one FROM share.

    The windows of a block are paired with each other. The input of a window, or of a relation-to-stream operator,
    begins a new block with a greater number.
    """
    operators: list[tuple[Window, int]] = []
    _collect_windows(plan, count(1), 0, operators)
    return sorted(operators, key=lambda pair: -pair[1])


def _collect_windows(
    op: Operator, block_numbers: Iterator[int], block: int, operators: list[tuple[Window, int]]
) -> None:
    """Append (window operator, FROM clause number): `block` or, if nested, the next of `block_numbers`.

    `block_numbers` yields the numbers of further FROM clauses.
    """
    input_block = next(block_numbers) if isinstance(op, Window | RStream | IStream | DStream) else block
    for operand in input_operators(op):
        _collect_windows(operand, block_numbers, input_block, operators)
    if isinstance(op, Window):
        operators.append((op, block))


WindowEvent = tuple[int, dict[Coordinate, int]]
"""The creation of a window: its tick, and the value of each coordinate then."""


def undrawable_part(op: Window) -> str:
    """Return why a window cannot be a bar on the time axis, such as `a window by region`; empty if it can."""
    if isinstance(op.input, StoredTable):
        return ""
    if op.key:
        return f"a window for each {' and '.join(attribute.name for attribute in op.key)}"
    if any(isinstance(part, RegionRange) for part in range_parts(op.range)):
        return "a window by region"
    if op.by_distance:
        return "a window by distance"
    return "" if isinstance(op.range, CoordinateRange | PeriodRange) else "a window without bounds"


def window_events(op: Window, inputs: Inputs) -> tuple[list[Element], list[WindowEvent]]:
    """Return a window operator's input tuples (none for a table), and (creation tick, coordinates) of its windows."""
    if isinstance(op.input, StoredTable):
        return [], [(tick, {Coordinate.TICK: tick}) for tick in scan_ticks(op.slide, op.input, inputs)]
    elements = evaluate_stream(op.input, inputs)
    return elements, slide_events(op, position_elements(op, elements), inputs)


def build_lane(op: Window, block: int, inputs: Inputs, each: int = 1) -> Lane:
    """Evaluate a window of FROM clause number `block` as a row (lane) of the picture, with every `each`-th window.

    `block` is the number of its FROM clause.
    """
    elements, events = window_events(thin_slides(op, each), inputs)
    created = tuple(tick for tick, _ in events)
    superseded = _next_ticks(created)
    windows = tuple(
        _drawn_window(op, event, elements, inputs, newer) for event, newer in zip(events[:MAX_WINDOWS], superseded)
    )
    versions: Sequence[TableVersion] = ()
    if isinstance(op.input, StoredTable):
        versions = [version for version in inputs.tables.get(op.input.extent, ()) if version.tick <= inputs.until]
    return Lane(op, block, tuple(elements), tuple(versions), windows, created, each)


def thin_slides(op: Window, each: int) -> Window:
    """Multiply the slide of a window operator by `each`, so that it creates one out of `each` of its windows."""
    if each == 1 or not isinstance(op.slide, Every):
        return op
    return replace(op, slide=replace(op.slide, step=op.slide.step * each))


def _drawn_window(
    op: Window, event: WindowEvent, elements: Sequence[Element], inputs: Inputs, superseded: int | None
) -> DrawnWindow:
    """Build the window created at `event` from input `elements`; `superseded` is the next window's creation tick."""
    tick, coordinates = event
    if isinstance(op.input, StoredTable):
        return DrawnWindow(tick, tick, tick, len(scan_table(op.input, tick, inputs)), superseded=superseded)
    assert isinstance(op.range, CoordinateRange | PeriodRange)  # noqa: S101 - undrawable_part names the others
    members = tuple(
        positioned.element
        for positioned in position_elements(op, elements)
        if is_in_window(op.range, positioned, coordinates)
    )
    if isinstance(op.range, PeriodRange):
        low, high = op.range.bounds(tick)
    else:
        base = coordinates[op.range.coordinate]
        low, high = op.range.low.at(base), op.range.high.at(base)
    return DrawnWindow(tick, low, high, len(members), members, superseded)


def _next_ticks(ticks: Sequence[int]) -> list[int | None]:
    """Return, for each of the ascending ticks, the next greater one; None for the greatest."""
    following: list[int | None] = [None] * len(ticks)
    for index in range(len(ticks) - 2, -1, -1):
        following[index] = ticks[index + 1] if ticks[index + 1] > ticks[index] else following[index + 1]
    return following
