"""How high each lane is and where its parts stand."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.tree import walk
from transom.algebra.windows import Window
from transom.model.time import Calendar
from transom.picture.dots import Dots, dots_of
from transom.picture.lanes import Lane
from transom.picture.look import NOTES, ROW
from transom.picture.pairs import Example
from transom.picture.scale import Scale
from transom.picture.words import Reach, ordinal, reach, sentence

HEAD, PAD, GAP = 24, 8, 12


@dataclass(frozen=True, slots=True)
class Box:
    """A lane on the page: its top and bottom, the base line of its dots, the top of each window's row.

    `bounds` is the form of the window where the example is explained bound by bound, below the row `explained`.
    """

    lane: Lane
    dots: Dots
    top: float
    base: float
    rows: tuple[float, ...]
    bottom: float
    explained: int | None = None
    bounds: Reach | None = None

    @property
    def zone(self) -> float:
        """Where the part below the heading begins."""
        return self.base - (10 if self.lane.is_scan else self.dots.height) - 4


def meaning_of(lane: Lane, calendar: Calendar) -> str:
    """The second line of a lane: what its windows mean."""
    words = [sentence(lane.op, calendar)]
    if lane.each > 1:
        words.append(f"every {ordinal(lane.each)} window is drawn")
    if any(isinstance(op, Window) for op in walk(lane.op.input)):
        words.append("its tuples are the answer made from the windows above")
    return "; ".join(filter(None, words))


def box_of(lane: Lane, top: float, scale: Scale, example: Example | None, calendar: Calendar) -> Box:
    """The box of a lane whose top is known."""
    dots = dots_of(lane.elements, scale, numbered=lane.counts_rows)
    base = top + HEAD + (16 if meaning_of(lane, calendar) else 0) + (dots.height if not lane.is_scan else 14) + PAD
    y = base + 9
    if lane.problem is not None or not lane.windows:
        return Box(lane, dots, top, base, (), y + 8)
    if lane.is_scan:
        return Box(lane, dots, top, base, (y,), y + ROW + PAD)
    explained = example.places[-1] if example is not None and example.places else None
    bounds = None if lane.counts_rows or explained is None else reach(lane.op, calendar)
    rows = []
    for place in range(len(lane.windows)):
        rows.append(y)
        y += ROW + (NOTES if bounds is not None and place == explained else 0)
    return Box(lane, dots, top, base, tuple(rows), y + PAD + (14 if lane.unseen else 0), explained, bounds)
