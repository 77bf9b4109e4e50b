"""Choose the part of a run that a picture shows: enough windows in each lane to see the pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from transom.algebra.periods import EveryPeriod
from transom.algebra.sources import StoredTable
from transom.algebra.windows import AtStart, CoordinateRange, Every, Window
from transom.picture.timeline.lanes import MAX_WINDOWS, thin_slides, window_events
from transom.picture.timeline.pairs import PALETTE, output_ticks
from transom.reference.sources import Inputs

FEW_WINDOWS, MANY_WINDOWS = 7, 10
MAX_SLIDES = 100_000


@dataclass(frozen=True, slots=True)
class DrawnSpan:
    """The ticks that are drawn, and `until`, the last tick of the run; one window in `each` is drawn."""

    first: int
    last: int
    until: int
    each: int = 1

    @property
    def is_complete(self) -> bool:
        """Whether the drawn ticks reach the end of the run."""
        return self.last >= self.until


def choose_span(lanes: Sequence[tuple[Window, int]], inputs: Inputs) -> DrawnSpan:
    """Choose the ticks to draw for lanes (window operator, FROM clause number): several windows, at most MAX_WINDOWS.

    A lane is a window operator and the number of its block.
    If one window in several is drawn, the span tells how many.
    """
    each = _thinning_factor(lanes[0][0]) if len(lanes) == 1 else 1
    lanes = [(thin_slides(op, each), block) for op, block in lanes]
    operators = [op for op, _ in lanes]
    targets = [_target_window_count(op) for op in operators]
    end = inputs.start
    step = MAX_WINDOWS * min(map(_slide_length, operators))
    while True:
        end = min(end + step, inputs.until)
        ticks = [_creation_ticks(op, replace(inputs, until=end)) for op in operators]
        crowded = any(len(creations) > MAX_WINDOWS for creations in ticks)
        enough = all(len(creations) > target for creations, target in zip(ticks, targets))
        if crowded or enough or end == inputs.until:
            break
        step *= 2
    if end == inputs.until and all(
        len(creations) <= max(target, MANY_WINDOWS) for creations, target in zip(ticks, targets)
    ):
        return DrawnSpan(inputs.start, _limit_to_palette(inputs.until, lanes, ticks), inputs.until, each)
    last = max(creations[target - 1] if len(creations) >= target else end for creations, target in zip(ticks, targets))
    last = min([last] + [creations[MAX_WINDOWS - 1] for creations in ticks if len(creations) > MAX_WINDOWS])
    return DrawnSpan(inputs.start, _limit_to_palette(last, lanes, ticks), inputs.until, each)


def _slide_length(op: Window) -> int:
    """Return the ticks or rows from one window to the next; the least if they vary by period, 1 if not fixed."""
    match op.slide:
        case Every(step=step):
            return step
        case EveryPeriod() as slide:
            return slide.shortest
        case _:
            return 1


def _limit_to_palette(last: int, lanes: Sequence[tuple[Window, int]], ticks: Sequence[Sequence[int]]) -> int:
    """Return `last`, or an earlier tick, such that joins of lanes (windows created at `ticks`) need no colour twice.

    `ticks` are the creation ticks of the lanes.
    """
    blocks: dict[int, list[Sequence[int]]] = {}
    for (_, block), created in zip(lanes, ticks):
        blocks.setdefault(block, []).append(created)
    for paired in blocks.values():
        answers = output_ticks(paired)
        if len(paired) > 1 and len(answers) > len(PALETTE):
            last = min(last, answers[len(PALETTE) - 1])
    return last


def _creation_ticks(op: Window, inputs: Inputs) -> list[int]:
    """Return the ticks at which a window operator creates windows."""
    return [tick for tick, _ in window_events(op, inputs)[1]]


def _slides_per_range(op: Window) -> int:
    """Return the number of slides that a window's range spans, in time or rows; 0 if the number is not fixed."""
    if not isinstance(op.slide, Every) or not isinstance(op.range, CoordinateRange):
        return 0
    return -(op.range.low.offset // op.slide.step)


def _target_window_count(op: Window) -> int:
    """Return how many windows of an operator to draw, enough that some lie wholly in the run if possible."""
    if isinstance(op.slide, AtStart) or isinstance(op.input, StoredTable):
        return 1 if isinstance(op.slide, AtStart) else 3
    slides = _slides_per_range(op)
    return max(FEW_WINDOWS, slides + 5) if slides + 5 <= MAX_WINDOWS else MANY_WINDOWS - 1


def _thinning_factor(op: Window) -> int:
    """Return n if drawing only every n-th window keeps the picture small, else return 1."""
    slides = _slides_per_range(op)
    if slides + 5 <= MAX_WINDOWS or slides > MAX_SLIDES:
        return 1
    return -(-slides // 25) * 5
