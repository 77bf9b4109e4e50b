"""Pair the windows of lanes, assign their colours, and choose the example windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from transom.picture.timeline.lanes import DrawnWindow, Lane

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#b5478d", "#b58900", "#2aa1c0", "#7b2d43", "#6b6ecf")
"""Colours that are distinct for any kind of colour vision, and dark enough for white text."""

UNPAIRED_COLOUR = "#7a8594"
"""The colour of a window that was created when another lane had no window yet."""


@dataclass(frozen=True, slots=True)
class JoinedLanes:
    """The lanes of one block (FROM clause), whose windows are joined.

    An output tick is one at which some lane has a new window and all lanes have one. `colours` maps each output tick to
    its colour, `together` to the number of combinations of current windows at it (S10).
    """

    lanes: tuple[int, ...]
    colours: dict[int, str] = field(default_factory=dict)
    together: dict[int, int] = field(default_factory=dict)
    created: tuple[int, ...] = ()

    @property
    def is_product(self) -> bool:
        """Whether the FROM clause has several sources (lanes of the picture), whose windows are joined."""
        return len(self.lanes) > 1

    def colour_of(self, window: DrawnWindow, number: int) -> str:
        """Return the colour of a window: by creation tick if the lanes are joined, else by its `number` in the lane."""
        if not self.is_product:
            return PALETTE[number % len(PALETTE)]
        return self.colours.get(window.created, UNPAIRED_COLOUR)

    def ticks_of(self, window: DrawnWindow) -> list[int]:
        """Return the ticks after a window's creation at which it is joined with another source's new window."""
        end = window.superseded
        return [tick for tick in self.colours if tick > window.created and (end is None or tick < end)]


@dataclass(frozen=True, slots=True)
class ExampleWindows:
    """The windows of a lane, by number, whose members are drawn in colour as an example."""

    windows: tuple[int, ...]
    colour: str
    caption: str


def pair_lanes(lanes: Sequence[Lane]) -> list[JoinedLanes]:
    """Group the lanes (each a row of the picture for one source) that the same FROM clause joins."""
    blocks: dict[int, list[int]] = {}
    for number, lane in enumerate(lanes):
        blocks.setdefault(lane.block, []).append(number)
    return [_pair_block(tuple(numbers), lanes) for numbers in blocks.values()]


def _pair_block(numbers: tuple[int, ...], lanes: Sequence[Lane]) -> JoinedLanes:
    """Group the lanes with the indexes `numbers`, which one FROM clause joins, and colour their windows.

    `numbers` are those of its lanes in `lanes`, from 0.
    """
    ticks = [lanes[number].created for number in numbers]
    created = tuple(sorted({tick for of_lane in ticks for tick in of_lane}))
    if len(numbers) == 1 or not all(ticks):
        return JoinedLanes(numbers, created=created)
    output = output_ticks(ticks)
    colours = {tick: PALETTE[number % len(PALETTE)] for number, tick in enumerate(output)}
    together = {tick: prod(_current_count(tick, of_lane) for of_lane in ticks) for tick in output}
    return JoinedLanes(numbers, colours, together, created)


def output_ticks(created: Sequence[Sequence[int]]) -> list[int]:
    """Merge the sorted tick lists in `created`, one per timeline row (lane), from when every lane has a window.

    At these ticks the query has an answer.
    """
    if not all(created):
        return []
    started = max(of_lane[0] for of_lane in created)
    return sorted({tick for of_lane in created for tick in of_lane if tick >= started})


def _current_count(tick: int, created: Sequence[int]) -> int:
    """Return how many windows of a lane belong to its latest creation tick that is not after `tick`."""
    last = max(creation for creation in created if creation <= tick)
    return created.count(last)


def choose_examples(joined_lanes: JoinedLanes, lanes: Sequence[Lane], first_tick: int) -> dict[int, ExampleWindows]:
    """Return, by lane index, the windows to draw as example: the last with rows, preferably not before `first_tick`.

    In a lane without pairs, windows that begin from tick `first_tick` on are preferred. `first_tick` is the first tick
    of the run.
    """
    if not joined_lanes.colours:
        return {
            number: example
            for number in joined_lanes.lanes
            if (example := _single_example(joined_lanes, lanes[number], first_tick))
        }
    ticks_with_rows = [
        tick
        for tick in joined_lanes.colours
        if all(_has_current_rows(lanes[number], tick) for number in joined_lanes.lanes)
    ]
    ticks_of_several = [
        tick for tick in ticks_with_rows if sum(tick in lanes[number].created for number in joined_lanes.lanes) > 1
    ]
    tick = (ticks_of_several or ticks_with_rows or list(joined_lanes.colours))[-1]
    caption = f"tuples of the windows that are paired at {tick}"
    return {
        number: ExampleWindows(tuple(_current_windows(lanes[number], tick)), joined_lanes.colours[tick], caption)
        for number in joined_lanes.lanes
    }


def _single_example(joined_lanes: JoinedLanes, lane: Lane, first_tick: int) -> ExampleWindows | None:
    """Return a lane's last window with rows as example, preferably one that begins at `first_tick` or later, or None.

    If possible it does not begin before tick `first_tick`.
    """
    numbers = [chosen for chosen, window in enumerate(lane.windows) if window.rows]
    if lane.is_scan or not numbers:
        return None
    inside = [number for number in numbers if (ticks := lane.ticks(lane.windows[number])) and ticks[0] >= first_tick]
    chosen = (inside or numbers)[-1]
    window = lane.windows[chosen]
    caption = f"tuples of the window created at {window.created}"
    return ExampleWindows((chosen,), joined_lanes.colour_of(window, chosen), caption)


def _current_windows(lane: Lane, tick: int) -> list[int]:
    """Return the indexes of a lane's (window operator's) windows that exist at a tick and are not replaced."""
    return [
        number
        for number, window in enumerate(lane.windows)
        if window.created <= tick and (window.superseded is None or tick < window.superseded)
    ]


def _has_current_rows(lane: Lane, tick: int) -> bool:
    """Whether any window that is current at a tick has rows; a lane shows the windows of one operator."""
    return any(lane.windows[number].rows for number in _current_windows(lane, tick))
