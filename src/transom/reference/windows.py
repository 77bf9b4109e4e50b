"""Figures 5 and 6 for any coordinate: when windows are created and which tuples they hold, key by key."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from transom.algebra.periods import EveryPeriod, PeriodRange
from transom.algebra.sources import StoredTable
from transom.algebra.windows import (
    AtStart,
    Bound,
    Coordinate,
    CoordinateRange,
    Every,
    OnArrival,
    OnChange,
    OnRowCount,
    Range,
    RangeIntersection,
    RegionRange,
    Slide,
    TableContent,
    UnboundedRange,
    Window,
    range_parts,
)
from transom.errors import Unsupported
from transom.model.bag import Bag, Element, Row, difference, row_identity, row_key
from transom.model.geometry.space import step_length
from transom.reference.sources import Inputs, scan_table

TICK, INDEX, DISTANCE = Coordinate.TICK, Coordinate.INDEX, Coordinate.DISTANCE

CoordinateValues: TypeAlias = dict[Coordinate, int]
"""The value of each coordinate when a window is created."""


@dataclass(frozen=True, slots=True)
class PositionedElement:
    """An element with its value on each coordinate, and its position if it has one."""

    element: Element
    at: CoordinateValues
    position: tuple[float, float] | None


def scan(op: Window, table: StoredTable, inputs: Inputs) -> list[Bag]:
    """Scan a table: return a window with the table's rows for each scan tick of `op` in the run (Figure 5)."""
    return [Bag(now, scan_table(table, now, inputs)) for now in scan_ticks(op.slide, table, inputs)]


def scan_ticks(slide: Slide, table: StoredTable, inputs: Inputs) -> Sequence[int]:
    """Return the ticks of the run at which a stored table is scanned: the first, each boundary or each change (S17)."""
    match slide:
        case AtStart():
            return [inputs.start] if inputs.start <= inputs.until else []
        case Every():
            return boundaries(slide, inputs)
        case OnChange():
            return [now for now in range(inputs.start, inputs.until + 1) if is_changed(table, now, inputs)]
        case OnArrival() | OnRowCount() | EveryPeriod():
            raise Unsupported("Window", "nothing arrives at a table", "never")
        case _:
            assert_never(slide)


def is_changed(table: StoredTable, now: int, inputs: Inputs) -> bool:
    """Whether a table's content at tick `now` differs from the tick before; always True at the start of the run."""
    before, after = scan_table(table, now - 1, inputs), scan_table(table, now, inputs)
    return now == inputs.start or bool(difference(before, after) or difference(after, before))


def boundaries(slide: Every | EveryPeriod, inputs: Inputs) -> Sequence[int]:
    """Return the ticks of the run at which a slide has a boundary; a later start does not shift them (S38)."""
    if isinstance(slide, EveryPeriod):
        return tuple(slide.boundaries(inputs.start, inputs.until))
    skipped = max(0, -(-(inputs.start - slide.first) // slide.step))
    return range(slide.first + skipped * slide.step, inputs.until + 1, slide.step)


def window(op: Window, elements: Sequence[Element], inputs: Inputs) -> list[Bag]:
    """Create a window for each key and slide event, with the elements in range; by tick, then key (Figure 6)."""
    windows = [w for key, members in elements_by_key(op, elements) for w in windows_of_key(op, key, members, inputs)]
    return sorted(windows, key=lambda w: (w.tick, row_key(w.key)))


def validity(op: Window, elements: Sequence[Element]) -> list[tuple[Element, int, int | None]]:
    """Return (element, tick at which it enters the window, tick at which it leaves; None: never) for each element.

    Equivalent to `window`, without a bag per tick: an element in range stays until the lower bound has passed it. An
    end of None is forever. An element whose end equals its start is never visible. Unsupported for windows whose
    elements do not leave in order of arrival.
    """
    match op.slide, op.range:
        case Every(coordinate=Coordinate.TICK, step=1), CoordinateRange(
            coordinate=Coordinate.TICK, low=low, high=Bound(1, 0)
        ):
            return [(e, e.tick, ((e.tick - low.offset) // low.step + 1) * low.step) for e in elements]
        case OnArrival(), CoordinateRange(coordinate=Coordinate.INDEX, low=Bound(1, offset), high=Bound(1, 0)):
            ends: list[int | None] = [e.tick for e in elements[1 - offset :]]
            ends += [None] * (len(elements) - len(ends))
            return [(e, e.tick, end) for e, end in zip(elements, ends, strict=True)]
        case _:
            raise Unsupported("Window", "its elements do not leave in the order of arrival", "never")


def windows_of_key(op: Window, key: Row, elements: Sequence[PositionedElement], inputs: Inputs) -> list[Bag]:
    """Build the windows over the elements of one key, in the order of their ticks.

    If `op.forget_after` ticks pass without a row of the key, an empty final window ends them (E8).
    """
    windows = [
        Bag(now, tuple(with_tags(op, e.element) for e in elements_in_window(op.range, elements, at)), key)
        for now, at in slide_events(op, elements, inputs)
    ]
    if op.forget_after is None:
        return windows
    end = elements[-1].at[TICK] + op.forget_after + 1
    before = [w for w in windows if w.tick < end]
    return [*before, Bag(end, (), key, is_final=True)] if before and end <= inputs.until else before


def elements_by_key(op: Window, elements: Sequence[Element]) -> list[tuple[Row, list[PositionedElement]]]:
    """Group elements by key, with tick, index and distance of each; without a key they are one group (C14).

    Without a key the group exists even if it is empty. A key that returns after it was forgotten is a new key (E8).
    """
    if not op.key:
        return [((), position_elements(op, elements))]
    groups: dict[tuple[object, ...], tuple[Row, list[Element]]] = {}
    for e in elements:
        key = tuple(e.row[op.input.schema.position(a)] for a in op.key)
        groups.setdefault(row_identity(key), (key, []))[1].append(e)
    return [
        (key, position_elements(op, [Element(e.tick, index, e.row) for index, e in enumerate(life, start=1)], life))
        for key, members in groups.values()
        for life in split_lifetimes(op.forget_after, members)
    ]


def split_lifetimes(forget_after: int | None, elements: Sequence[Element]) -> list[list[Element]]:
    """Split a key's elements at gaps of over `forget_after` ticks (None: never), after which it is a new key (E8)."""
    lifetimes: list[list[Element]] = []
    for e in elements:
        if not lifetimes or (forget_after is not None and e.tick - lifetimes[-1][-1].tick - 1 > forget_after):
            lifetimes.append([])
        lifetimes[-1].append(e)
    return lifetimes


def position_elements(
    op: Window, numbered: Sequence[Element], elements: Sequence[Element] = ()
) -> list[PositionedElement]:
    """Add tick, index (in `numbered`) and distance travelled to each of `elements` (default: `numbered`) (C11).

    An element without a position has the distance of its predecessor. `numbered` has the indexes within a key, and
    `elements` the same elements with their stream index, which stays as a tag.
    """
    positioned: list[PositionedElement] = []
    distance = 0
    before: tuple[float, float] | None = None
    for numbered_element, element in zip(numbered, elements or numbered, strict=True):
        position = element_position(op, element)
        if op.position is not None and position is not None:
            distance += 0 if before is None else step_length(op.position, before, position)
            before = position
        positioned.append(
            PositionedElement(
                element, {TICK: numbered_element.tick, INDEX: numbered_element.index, DISTANCE: distance}, position
            )
        )
    return positioned


def element_position(op: Window, element: Element) -> tuple[float, float] | None:
    """Return an element's (x, y) position; None if it is NULL or invalid, or if `op` has no position columns."""
    if op.position is None:
        return None
    return op.position.point(*(element.row[op.input.schema.position(a)] for a in op.position_columns))


def slide_events(
    op: Window, elements: Sequence[PositionedElement], inputs: Inputs
) -> list[tuple[int, CoordinateValues]]:
    """Return (tick, coordinate values then) for each window over the elements of a key, in order of creation.

    On the tick coordinate there is a window at every boundary, with or without arrivals (S5, S22), for a key from its
    first element on (C14). On the index coordinate there is a window when the row of that number arrives, at its tick
    (S6, S7). For other slides all elements of an instant count together, and there is at most one window (C5, C6, C12,
    C18, C28).
    """
    instants = sorted({e.at[TICK] for e in elements})
    match op.slide:
        case Every(coordinate=Coordinate.TICK) | EveryPeriod():
            start = instants[0] if op.key else inputs.start
            return [(now, coordinates_at(now, elements)) for now in boundaries(op.slide, inputs) if now >= start]
        case Every(coordinate=Coordinate.INDEX, step=step, first=first):
            return [(e.at[TICK], e.at) for e in elements if e.at[INDEX] >= first and (e.at[INDEX] - first) % step == 0]
        case Every(coordinate=Coordinate.DISTANCE, step=step, first=first):
            return boundary_crossings(DISTANCE, step, first, instants, elements)
        case OnRowCount(step=step):
            return boundary_crossings(INDEX, step, step, instants, elements)
        case OnArrival():
            ticks = sorted({e.at[TICK] for e in elements if all(can_hold(p, e) for p in range_parts(op.range))})
            return [(now, coordinates_at(now, elements)) for now in ticks]
        case OnChange():
            return change_ticks(op, elements, range(inputs.start, inputs.until + 1))
        case AtStart():
            raise Unsupported("Window", "only a table is scanned once", "never")
        case _:
            raise Unsupported("Window", f"no such slide: {op.slide}", "never")


def coordinates_at(now: int, elements: Sequence[PositionedElement]) -> CoordinateValues:
    """Return a window's coordinate values at tick `now`: `now`, and the last row's index and distance (0 if none)."""
    arrived = count_up_to(elements, TICK, now)
    return {**(elements[arrived - 1].at if arrived else {INDEX: 0, DISTANCE: 0}), TICK: now}


def count_up_to(elements: Sequence[PositionedElement], coordinate: Coordinate, last: int) -> int:
    """Return how many elements of a key have a `coordinate` of at most `last`; coordinates never decrease."""
    return bisect_right(elements, last, key=lambda e: e.at[coordinate])


def boundary_crossings(
    coordinate: Coordinate, step: int, first: int, instants: Sequence[int], elements: Sequence[PositionedElement]
) -> list[tuple[int, CoordinateValues]]:
    """Return (tick, coordinate values) at those `instants` where rows or distance pass `first` + n * `step` (C12).

    The boundaries are `first` + n * `step`; there is at most one event at each of the `instants`.
    """
    events: list[tuple[int, CoordinateValues]] = []
    last = first - step
    for now in instants:
        at = coordinates_at(now, elements)
        boundary = first + (at[coordinate] - first) // step * step
        if boundary > last and boundary >= first:
            last = boundary
            events.append((now, {**at, coordinate: boundary}))
    return events


def change_ticks(
    op: Window, elements: Sequence[PositionedElement], ticks: Sequence[int]
) -> list[tuple[int, CoordinateValues]]:
    """Return (tick, coordinate values then) for those `ticks` at which the window's elements change (C28)."""
    events: list[tuple[int, CoordinateValues]] = []
    before: list[PositionedElement] = []
    for now in ticks:
        at = coordinates_at(now, elements)
        in_window = elements_in_window(op.range, elements, at)
        if in_window != before:
            events.append((now, at))
        before = in_window
    return events


def elements_in_window(
    window_range: Range, elements: Sequence[PositionedElement], at: CoordinateValues
) -> list[PositionedElement]:
    """Return the elements of a key in the window created at the coordinates `at`: already arrived and in range."""
    arrived = min(count_up_to(elements, TICK, at[TICK]), count_up_to(elements, INDEX, at[INDEX]))
    return [e for e in elements[count_below(window_range, elements, at) : arrived] if in_range(window_range, e, at)]


def count_below(window_range: Range, elements: Sequence[PositionedElement], at: CoordinateValues) -> int:
    """Return how many elements of a key lie below `window_range` at the coordinates `at`, and need no further check."""
    match window_range:
        case CoordinateRange(coordinate=coordinate, low=low):
            return bisect_left(elements, low.at(at[coordinate]), key=lambda e: e.at[coordinate])
        case PeriodRange():
            return bisect_left(elements, window_range.bounds(at[TICK])[0], key=lambda e: e.at[TICK])
        case RangeIntersection(parts=parts):
            return max(count_below(part, elements, at) for part in parts)
        case _:
            return 0


def is_in_window(window_range: Range, element: PositionedElement, at: CoordinateValues) -> bool:
    """Whether an element belongs to the window created at the coordinates `at`: already arrived and in range."""
    return element.at[TICK] <= at[TICK] and element.at[INDEX] <= at[INDEX] and in_range(window_range, element, at)


def in_range(window_range: Range, element: PositionedElement, at: CoordinateValues) -> bool:
    """Whether an element is in `window_range`; a range with bounds is relative to the NOW values in `at`."""
    match window_range:
        case CoordinateRange(coordinate=coordinate, low=low, high=high):
            return low.at(at[coordinate]) <= element.at[coordinate] <= high.at(at[coordinate])
        case PeriodRange():
            low_tick, high_tick = window_range.bounds(at[TICK])
            return low_tick <= element.at[TICK] <= high_tick
        case RegionRange(region=region):
            return element.position is not None and region.covers(*element.position)
        case UnboundedRange():
            return True
        case RangeIntersection(parts=parts):
            return all(in_range(part, element, at) for part in parts)
        case TableContent():
            raise Unsupported("Window", "this range is not a range on a coordinate", "never")
        case _:
            assert_never(window_range)


def can_hold(window_range: Range, element: PositionedElement) -> bool:
    """Whether a window could ever hold an element by this range: False only if it lies outside the range's region."""
    return not isinstance(window_range, RegionRange) or in_range(window_range, element, element.at)


def with_tags(op: Window, element: Element) -> Row:
    """Return the row of an element, with its tick and index appended where the query reads them as columns (S35)."""
    return element.row + tuple(element.tick if a.name == "tick" else element.index for a in op.tags)
