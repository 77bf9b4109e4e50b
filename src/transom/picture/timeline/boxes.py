"""Layout of lanes: the height of each lane and the positions of its parts."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.tree import walk
from transom.algebra.windows import Window
from transom.model.time import Calendar
from transom.picture.style import NOTES, ROW
from transom.picture.timeline.dots import Dots, layout_dots
from transom.picture.timeline.lanes import Lane
from transom.picture.timeline.pairs import ExampleWindows
from transom.picture.timeline.scale import Scale
from transom.picture.timeline.window_text import WindowBounds, ordinal, window_bounds, window_sentence

HEADING_HEIGHT, LANE_PADDING, LANE_GAP = 24, 8, 12


@dataclass(frozen=True, slots=True)
class LaneBox:
    """A lane on the page: its top and bottom, the base line of its dots, the top of each window's row.

    `explained` is the row of the example whose bounds are labelled, and `bounds` are those labels' window bounds.
    """

    lane: Lane
    dots: Dots
    top: float
    base: float
    rows: tuple[float, ...]
    bottom: float
    explained: int | None = None
    bounds: WindowBounds | None = None

    @property
    def zone(self) -> float:
        """The y pixel at which a lane's heading ends, and the area with the dots of its input tuples begins."""
        return self.base - (10 if self.lane.is_scan else self.dots.height) - 4


def lane_meaning(lane: Lane, calendar: Calendar) -> str:
    """Describe the windows of a lane in a sentence, for its heading; empty if no sentence fits them."""
    sentences = [window_sentence(lane.op, calendar)]
    if lane.each > 1:
        sentences.append(f"every {ordinal(lane.each)} window is drawn")
    if any(isinstance(op, Window) for op in walk(lane.op.input)):
        sentences.append("its tuples are the answer made from the windows above")
    return "; ".join(filter(None, sentences))


def layout_lane(lane: Lane, top: float, scale: Scale, example: ExampleWindows | None, calendar: Calendar) -> LaneBox:
    """Lay out a lane (row of the picture for one window operator) below y `top`, with room for labels of `example`.

    If there is an example window, there is space for the labels of its bounds.
    """
    dots = layout_dots(lane.elements, scale, show_row_numbers=lane.counts_rows)
    base = (
        top
        + HEADING_HEIGHT
        + (16 if lane_meaning(lane, calendar) else 0)
        + (dots.height if not lane.is_scan else 14)
        + LANE_PADDING
    )
    y = base + 9
    if not lane.windows:
        return LaneBox(lane, dots, top, base, (), y + 8)
    if lane.is_scan:
        return LaneBox(lane, dots, top, base, (y,), y + ROW + LANE_PADDING)
    explained = example.windows[-1] if example is not None and example.windows else None
    bounds = None if lane.counts_rows or explained is None else window_bounds(lane.op, calendar)
    rows = []
    for number in range(len(lane.windows)):
        rows.append(y)
        y += ROW + (NOTES if bounds is not None and number == explained else 0)
    return LaneBox(lane, dots, top, base, tuple(rows), y + LANE_PADDING + (14 if lane.unseen else 0), explained, bounds)
