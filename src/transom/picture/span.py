"""How much of a run a picture shows: enough windows of each lane to see the rhythm, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from transom.algebra.sources import StoredTable
from transom.algebra.windows import Between, Every, Once, Window
from transom.errors import Unsupported
from transom.picture.lanes import MOST_WINDOWS, events_of, thinned
from transom.picture.pairs import PALETTE, output_ticks
from transom.reference.sources import Inputs

FEW, MANY = 7, 10
MOST_SLIDES = 100_000


@dataclass(frozen=True, slots=True)
class Span:
    """The ticks that are drawn, and the last one of the run. `each` is 10 when every tenth window is drawn."""

    first: int
    last: int
    until: int
    each: int = 1

    @property
    def is_whole(self) -> bool:
        """Whether the whole run is drawn."""
        return self.last >= self.until


def choose(lanes: Sequence[tuple[Window, int]], given: Inputs) -> Span:
    """The span in which each lane has a handful of windows, and none too many; a lane is an operator and its block."""
    each = _each(lanes[0][0]) if len(lanes) == 1 else 1
    start = replace(given, until=given.start)
    lanes = [(thinned(op, each), block) for op, block in lanes if _created(op, start) is not None]
    operators = [op for op, _ in lanes]
    if not operators:
        return Span(given.start, given.until, given.until)
    wanted = [_wanted(op) for op in operators]
    end = given.start
    step = MOST_WINDOWS * min((op.slide.step for op in operators if isinstance(op.slide, Every)), default=1)
    while True:
        end = min(end + step, given.until)
        ticks = [_created(op, replace(given, until=end)) or [] for op in operators]
        crowded = any(len(found) > MOST_WINDOWS for found in ticks)
        enough = all(len(found) > wish for found, wish in zip(ticks, wanted))
        if crowded or enough or end == given.until:
            break
        step *= 2
    if end == given.until and all(len(found) <= max(wish, MANY) for found, wish in zip(ticks, wanted)):
        return Span(given.start, _cut(given.until, lanes, ticks), given.until, each)
    last = max(found[wish - 1] if len(found) >= wish else end for found, wish in zip(ticks, wanted))
    last = min([last] + [found[MOST_WINDOWS - 1] for found in ticks if len(found) > MOST_WINDOWS])
    return Span(given.start, _cut(last, lanes, ticks), given.until, each)


def _cut(last: int, lanes: Sequence[tuple[Window, int]], ticks: Sequence[Sequence[int]]) -> int:
    """An earlier end where lanes that are paired would have more answers than there are colours."""
    blocks: dict[int, list[Sequence[int]]] = {}
    for (_, block), created in zip(lanes, ticks):
        blocks.setdefault(block, []).append(created)
    for paired in blocks.values():
        answers = output_ticks(paired)
        if len(paired) > 1 and len(answers) > len(PALETTE):
            last = min(last, answers[len(PALETTE) - 1])
    return last


def _created(op: Window, given: Inputs) -> list[int] | None:
    """The ticks of the windows of an operator; None if it is one that cannot be drawn."""
    try:
        return [now for now, _ in events_of(op, given)[1]]
    except Unsupported:
        return None


def _slides(op: Window) -> int:
    """How many slides a window reaches back."""
    if not isinstance(op.slide, Every) or not isinstance(op.range, Between):
        return 0
    return -(op.range.low.offset // op.slide.step)


def _wanted(op: Window) -> int:
    """How many windows of a lane are worth drawing: until the first ones have let go of the start, and some more."""
    if isinstance(op.slide, Once) or isinstance(op.input, StoredTable):
        return 1 if isinstance(op.slide, Once) else 3
    slides = _slides(op)
    return max(FEW, slides + 5) if slides + 5 <= MOST_WINDOWS else MANY - 1


def _each(op: Window) -> int:
    """One window in how many is drawn, so that a window that reaches far back fits into the picture."""
    slides = _slides(op)
    if slides + 5 <= MOST_WINDOWS or slides > MOST_SLIDES:
        return 1
    return -(-slides // 25) * 5
