"""Which windows are paired, which colour each has, and which ones the picture explains by example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from transom.picture.lanes import Lane, Shown

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#b5478d", "#b58900", "#2aa1c0", "#7b2d43", "#6b6ecf")
"""Colours that people with any kind of colour vision can tell apart, dark enough for white letters."""

ALONE = "#7a8594"
"""The colour of a window that was created when another lane had none yet."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """How the lanes of one block belong together.

    `colours` gives every output tick its colour: a tick at which some lane has a new window and all lanes have one.
    `together` says how many combinations of current windows there are at it (S10).
    """

    lanes: tuple[int, ...]
    colours: dict[int, str] = field(default_factory=dict)
    together: dict[int, int] = field(default_factory=dict)
    created: tuple[int, ...] = ()

    @property
    def is_product(self) -> bool:
        """Whether there is anything to pair."""
        return len(self.lanes) > 1

    def colour_of(self, window: Shown, place: int) -> str:
        """The colour of a window: that of the tick it was created at, or simply the next one in a lane of its own."""
        if not self.is_product:
            return PALETTE[place % len(PALETTE)]
        return self.colours.get(window.created, ALONE)

    def ticks_of(self, window: Shown) -> list[int]:
        """The output ticks after its creation at which a window still is a current one."""
        end = window.superseded
        return [t for t in self.colours if t > window.created and (end is None or t < end)]


@dataclass(frozen=True, slots=True)
class Example:
    """The windows of a lane whose members are drawn in colour."""

    places: tuple[int, ...]
    colour: str
    words: str


def pairings(lanes: Sequence[Lane]) -> list[Pairing]:
    """The blocks of a picture, in the order of their lanes; a lane that cannot be drawn leaves nothing to pair."""
    blocks: dict[int, list[int]] = {}
    for place, lane in enumerate(lanes):
        blocks.setdefault(lane.block, []).append(place)
    found: list[Pairing] = []
    for places in blocks.values():
        whole = all(lanes[place].problem is None for place in places)
        parts = [tuple(places)] if whole else [(place,) for place in places]
        found += [_pairing(part, lanes) for part in parts]
    return found


def _pairing(places: tuple[int, ...], lanes: Sequence[Lane]) -> Pairing:
    ticks = [lanes[place].created for place in places]
    created = tuple(sorted({tick for of_lane in ticks for tick in of_lane}))
    if len(places) == 1 or not all(ticks):
        return Pairing(places, created=created)
    output = output_ticks(ticks)
    colours = {tick: PALETTE[place % len(PALETTE)] for place, tick in enumerate(output)}
    together = {tick: prod(_current(tick, of_lane) for of_lane in ticks) for tick in output}
    return Pairing(places, colours, together, created)


def output_ticks(created: Sequence[Sequence[int]]) -> list[int]:
    """The ticks with a new window in some lane, once all lanes have one (S8, S9)."""
    if not all(created):
        return []
    started = max(of_lane[0] for of_lane in created)
    return sorted({tick for of_lane in created for tick in of_lane if tick >= started})


def _current(tick: int, created: Sequence[int]) -> int:
    """How many windows of a lane are current at a tick: all those of its last tick that has any (S10)."""
    last = max(t for t in created if t <= tick)
    return created.count(last)


def examples(pairing: Pairing, lanes: Sequence[Lane], first: int) -> dict[int, Example]:
    """For each lane of a block the windows that explain it: late ones that hold something."""
    if not pairing.colours:
        return {place: found for place in pairing.lanes if (found := _single(pairing, lanes[place], first))}
    full = [t for t in pairing.colours if all(_held(lanes[place], t) for place in pairing.lanes)]
    new = [t for t in full if sum(t in lanes[place].created for place in pairing.lanes) > 1]
    tick = (new or full or list(pairing.colours))[-1]
    words = f"tuples of the windows that are paired at {tick}"
    return {place: Example(tuple(_places(lanes[place], tick)), pairing.colours[tick], words) for place in pairing.lanes}


def _single(pairing: Pairing, lane: Lane, first: int) -> Example | None:
    held = [place for place, window in enumerate(lane.windows) if window.rows]
    if lane.is_scan or not held:
        return None
    inside = [p for p in held if (ticks := lane.ticks(lane.windows[p])) and ticks[0] >= first]
    place = (inside or held)[-1]
    window = lane.windows[place]
    words = f"tuples of the window created at {window.created}"
    return Example((place,), pairing.colour_of(window, place), words)


def _places(lane: Lane, tick: int) -> list[int]:
    """The windows of a lane that are current at a tick."""
    return [
        place
        for place, window in enumerate(lane.windows)
        if window.created <= tick and (window.superseded is None or tick < window.superseded)
    ]


def _held(lane: Lane, tick: int) -> bool:
    return any(lane.windows[place].rows for place in _places(lane, tick))
