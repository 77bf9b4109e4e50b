"""Figures 5 and 6 for any coordinate: when windows are created and which tuples they hold, key by key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from transom.algebra.sources import StoredTable
from transom.algebra.windows import (
    Arrival,
    Between,
    Bound,
    Change,
    Content,
    Coordinate,
    Every,
    Everything,
    Inside,
    Once,
    Passing,
    Range,
    Slide,
    Together,
    Window,
    parts,
)
from transom.errors import Unsupported
from transom.model.bag import Bag, Element, Row, difference, row_identity, row_key
from transom.model.space import step
from transom.reference.sources import Inputs, scan_table

TICK, INDEX, DISTANCE = Coordinate.TICK, Coordinate.INDEX, Coordinate.DISTANCE

At: TypeAlias = dict[Coordinate, int]
"""Where each coordinate stands when a window is created."""


@dataclass(frozen=True, slots=True)
class Stand:
    """An element with where it stands on every coordinate, and its place if it has one."""

    element: Element
    at: At
    place: tuple[float, float] | None


def scan(op: Window, table: StoredTable, inputs: Inputs) -> list[Bag]:
    """Figure 5: the content of the table at every scan tick."""
    return [Bag(now, scan_table(table, now, inputs)) for now in scan_ticks(op.slide, table, inputs)]


def scan_ticks(slide: Slide, table: StoredTable, inputs: Inputs) -> Sequence[int]:
    """The ticks at which a table is scanned: once at the start (S17), at every boundary, or at every change."""
    match slide:
        case Once():
            return [inputs.start] if inputs.start <= inputs.until else []
        case Every():
            return boundaries(slide, inputs)
        case Change():
            return [now for now in range(inputs.start, inputs.until + 1) if is_changed(table, now, inputs)]
        case Arrival() | Passing():
            raise Unsupported("Window", "nothing arrives at a table", "never")
        case _:
            assert_never(slide)


def is_changed(table: StoredTable, now: int, inputs: Inputs) -> bool:
    """Whether the content of a table is another than at the tick before; at the start it is new."""
    before, after = scan_table(table, now - 1, inputs), scan_table(table, now, inputs)
    return now == inputs.start or bool(difference(before, after) or difference(after, before))


def boundaries(slide: Every, inputs: Inputs) -> Sequence[int]:
    """The boundaries on the tick coordinate between start and end; they stay multiples of the step (S38)."""
    skipped = max(0, -(-(inputs.start - slide.first) // slide.step))
    return range(slide.first + skipped * slide.step, inputs.until + 1, slide.step)


def window(op: Window, elements: Sequence[Element], inputs: Inputs) -> list[Bag]:
    """Figure 6 for any coordinate: one window per slide event, with the elements in range; one lineage per key."""
    windows = [w for key, lineage in lineages(op, elements) for w in life(op, key, lineage, inputs)]
    return sorted(windows, key=lambda w: (w.tick, row_key(w.key)))


def validity(op: Window, elements: Sequence[Element]) -> list[tuple[Element, int, int | None]]:
    """Every element with the first tick at which the relation has it, and the first at which it no longer does.

    It says the same as `window`, without a bag per tick: an element in range stays until the lower bound has passed it.
    None is for ever. An element is never seen if it ends where it starts.
    """
    match op.slide, op.range:
        case Every(coordinate=Coordinate.TICK, step=1), Between(coordinate=Coordinate.TICK, low=low, high=Bound(1, 0)):
            return [(e, e.tick, ((e.tick - low.offset) // low.step + 1) * low.step) for e in elements]
        case Arrival(), Between(coordinate=Coordinate.INDEX, low=Bound(1, offset), high=Bound(1, 0)):
            ends: list[int | None] = [e.tick for e in elements[1 - offset :]]
            ends += [None] * (len(elements) - len(ends))
            return [(e, e.tick, end) for e, end in zip(elements, ends, strict=True)]
        case _:
            raise Unsupported("Window", "its elements do not leave in the order in which they came", "never")


def life(op: Window, key: Row, lineage: Sequence[Stand], inputs: Inputs) -> list[Bag]:
    """The windows of a key; if it is forgotten, those before that, and at last that it is over (E8)."""
    windows = [
        Bag(now, tuple(with_tags(op, e.element) for e in lineage if is_in(op.range, e, at)), key)
        for now, at in slide_events(op, lineage, inputs)
    ]
    if op.forget_after is None:
        return windows
    over = lineage[-1].at[TICK] + op.forget_after + 1
    before = [w for w in windows if w.tick < over]
    return [*before, Bag(over, (), key, over=True)] if before and over <= inputs.until else before


def lineages(op: Window, elements: Sequence[Element]) -> list[tuple[Row, list[Stand]]]:
    """The elements of each key, each with where it stands; without a key all of them, even if there are none (C14).

    A key that comes again after it was forgotten is a new one (E8).
    """
    if not op.key:
        return [((), stands(op, elements))]
    found: dict[tuple[object, ...], tuple[Row, list[Element]]] = {}
    for e in elements:
        key = tuple(e.row[op.input.schema.position(a)] for a in op.key)
        found.setdefault(row_identity(key), (key, []))[1].append(e)
    return [
        (key, stands(op, [Element(e.tick, number, e.row) for number, e in enumerate(own, start=1)], own))
        for key, all_of_it in found.values()
        for own in lives(op.forget_after, all_of_it)
    ]


def lives(forget_after: int | None, elements: Sequence[Element]) -> list[list[Element]]:
    """The elements of a key, cut where more than so many ticks had none (E8)."""
    found: list[list[Element]] = []
    for e in elements:
        if not found or (forget_after is not None and e.tick - found[-1][-1].tick - 1 > forget_after):
            found.append([])
        found[-1].append(e)
    return found


def stands(op: Window, numbered: Sequence[Element], elements: Sequence[Element] = ()) -> list[Stand]:
    """Tick, number and distance of each element: the way so far, step by step from the first place (C11).

    An element without a place has the distance of the one before it. Inside a key elements are numbered anew, but
    keep the index that they have as a tag.
    """
    found: list[Stand] = []
    distance = 0
    before: tuple[float, float] | None = None
    for number, element in zip(numbered, elements or numbered, strict=True):
        place = where(op, element)
        if op.position is not None and place is not None:
            distance += 0 if before is None else step(op.position, before, place)
            before = place
        found.append(Stand(element, {TICK: number.tick, INDEX: number.index, DISTANCE: distance}, place))
    return found


def where(op: Window, element: Element) -> tuple[float, float] | None:
    """The place of an element, if the window needs it and it has one."""
    if op.position is None:
        return None
    return op.position.place(*(element.row[op.input.schema.position(a)] for a in op.place))


def slide_events(op: Window, lineage: Sequence[Stand], inputs: Inputs) -> list[tuple[int, At]]:
    """When windows are created: the tick of each, and where each coordinate stands then.

    On the tick coordinate a window comes at every boundary, whether anything arrived or not (S5, S22), for a key from
    its first element on (C14). On the index coordinate it comes when the row of that number does, with its tick (S6,
    S7). On the others an instant counts with all its elements, and has at most one window (C5, C6, C12, C18, C28).
    """
    instants = sorted({e.at[TICK] for e in lineage})
    match op.slide:
        case Every(coordinate=Coordinate.TICK):
            born = instants[0] if op.key else inputs.start
            return [(now, standing(now, lineage)) for now in boundaries(op.slide, inputs) if now >= born]
        case Every(coordinate=Coordinate.INDEX, step=size, first=first):
            return [(e.at[TICK], e.at) for e in lineage if e.at[INDEX] >= first and (e.at[INDEX] - first) % size == 0]
        case Every(coordinate=Coordinate.DISTANCE, step=size, first=first):
            return passed_marks(DISTANCE, size, first, instants, lineage)
        case Passing(step=size):
            return passed_marks(INDEX, size, size, instants, lineage)
        case Arrival():
            ticks = sorted({e.at[TICK] for e in lineage if all(holds(p, e) for p in parts(op.range))})
            return [(now, standing(now, lineage)) for now in ticks]
        case Change():
            return changes(op, lineage, range(inputs.start, inputs.until + 1))
        case Once():
            raise Unsupported("Window", "only a table is scanned once", "never")
        case _:
            raise Unsupported("Window", f"no such slide: {op.slide}", "never")


def standing(now: int, lineage: Sequence[Stand]) -> At:
    """Where each coordinate stands at the end of a tick: where its last element so far stands."""
    so_far = [e.at for e in lineage if e.at[TICK] <= now]
    return {**(so_far[-1] if so_far else {INDEX: 0, DISTANCE: 0}), TICK: now}


def passed_marks(
    coordinate: Coordinate, size: int, first: int, instants: Sequence[int], lineage: Sequence[Stand]
) -> list[tuple[int, At]]:
    """The instants at the end of which a coordinate has passed a new mark; the mark is the last one (C12)."""
    events: list[tuple[int, At]] = []
    last = first - size
    for now in instants:
        at = standing(now, lineage)
        mark = first + (at[coordinate] - first) // size * size
        if mark > last and mark >= first:
            last = mark
            events.append((now, {**at, coordinate: mark}))
    return events


def changes(op: Window, lineage: Sequence[Stand], ticks: Sequence[int]) -> list[tuple[int, At]]:
    """The ticks at whose end other elements are in range than at the end of the tick before (C28)."""
    events: list[tuple[int, At]] = []
    before: list[int] = []
    for now in ticks:
        at = standing(now, lineage)
        held = [place for place, e in enumerate(lineage) if is_in(op.range, e, at)]
        if held != before:
            events.append((now, at))
        before = held
    return events


def is_in(reach: Range, e: Stand, at: At) -> bool:
    """Whether an element had arrived when the window was created and lies in range."""
    return e.at[TICK] <= at[TICK] and e.at[INDEX] <= at[INDEX] and in_range(reach, e, at)


def in_range(reach: Range, e: Stand, at: At) -> bool:
    """Whether an element lies between the bounds, both ends included (S4), or inside the region (C9)."""
    match reach:
        case Between(coordinate=coordinate, low=low, high=high):
            return low.at(at[coordinate]) <= e.at[coordinate] <= high.at(at[coordinate])
        case Inside(region=region):
            return e.place is not None and region.covers(*e.place)
        case Everything():
            return True
        case Together(parts=several):
            return all(in_range(part, e, at) for part in several)
        case Content():
            raise Unsupported("Window", "this range is not a range on a coordinate", "never")
        case _:
            assert_never(reach)


def holds(reach: Range, e: Stand) -> bool:
    """Whether a region can hold an element at all; ranges on coordinates hold what arrives."""
    return not isinstance(reach, Inside) or in_range(reach, e, e.at)


def with_tags(op: Window, element: Element) -> Row:
    """The tuple without its tags, except those that the query reads (S35)."""
    return element.row + tuple(element.tick if a.name == "tick" else element.index for a in op.tags)
