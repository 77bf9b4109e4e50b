"""The machine that aggregates sliding windows of one group: a partial aggregate per tick, and each window from these.

A row is in so many windows, a period apart, or in those before the tick at which it says it is gone. What rows that
come and go together add up to is kept once, as a pane, and not once per window.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from transom.errors import PlanError
from transom.machines import encoding
from transom.machines.aggregates import SlideAggregate, part_of
from transom.model.bag import Row
from transom.model.types import Value


@dataclass(frozen=True, slots=True)
class SlideSpec:
    """What a slide machine is told: a row is in `copies` windows, from that of its tick on, one per `period`.

    Without `copies` the first value of a row is the tick of the first window after it that does not hold it, and the
    arguments of aggregates count from the value after that. It travels as one small JSON document.
    """

    copies: int | None
    period: int
    aggregates: tuple[SlideAggregate, ...]

    def __post_init__(self) -> None:
        if (self.copies is not None and self.copies < 1) or self.period < 1:
            raise PlanError("a row is in at least one window, and windows are at least one tick apart")
        if any(aggregate.in_order for aggregate in self.aggregates):
            raise PlanError("rows that come in any order have no path, no first and no last")

    def to_json(self) -> str:
        """The document that every implementation of the machine reads."""
        aggregates = [{"function": a.function, "type": a.type, "argument": a.argument} for a in self.aggregates]
        entries = {"machine": "slide", "copies": self.copies, "period": self.period, "aggregates": aggregates}
        return json.dumps(entries, separators=(",", ":"), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> SlideSpec:
        """The specification in a document."""
        entries: dict[str, Any] = json.loads(text)
        aggregates = tuple(SlideAggregate(**aggregate) for aggregate in entries["aggregates"])
        return SlideSpec(entries["copies"], entries["period"], aggregates)


class SlideMachine:
    """Rows of one group in, in any order, one row of aggregates per window out; keeps one pane per tick and end.

    A window comes out when its tick is closed and it holds a row. A pane is kept as long as a coming window holds it.
    Of two rows the one that comes later must not go earlier.
    """

    kind = "slide"

    def __init__(self, spec: SlideSpec) -> None:
        self.spec = spec
        self.panes: dict[tuple[int, int], list[Any]] = {}
        self.reached: int | None = None
        self._parts = [part_of(aggregate) for aggregate in spec.aggregates]
        first = 1 if spec.copies is None else 0
        self._places = [None if a.argument is None else a.argument + first for a in spec.aggregates]

    @property
    def held(self) -> int:
        """Panes that are remembered."""
        return len(self.panes)

    @property
    def next(self) -> int | None:
        """The next tick at which something comes out if nothing more comes in."""
        if not self.panes:
            return None
        first, _ = min(self.panes)
        return first if self.reached is None else max(first, self.reached)

    def take(self, tick: int, row: Row) -> None:
        """A row of a tick that is not closed."""
        if self.reached is not None and tick < self.reached:
            raise PlanError(f"a row of tick {tick} came when all windows before {self.reached} were out")
        gone = self._gone(tick, row)
        pane = self.panes.get((tick, gone))
        if pane is None:
            pane = self._open(tick, gone)
        for place, (part, argument) in enumerate(zip(self._parts, self._places, strict=True)):
            value: Value = True if argument is None else row[argument]
            if value is not None:
                pane[place] = part.add(pane[place], value)

    def advance(self, closed: int) -> Iterator[tuple[int, Row]]:
        """The windows of all ticks up to one that is closed now, each with its values."""
        waiting, inside = deque(self._in_order()), deque[tuple[int, int]]()
        windows = [part.window() for part in self._parts]
        tick = self.next
        while tick is not None and tick <= closed:
            while waiting and waiting[0][0] <= tick:
                inside.append(waiting.popleft())
                for window, content in zip(windows, self.panes[inside[-1]], strict=True):
                    window.enter(content)
            while inside and inside[0][1] <= tick:
                for window, content in zip(windows, self.panes.pop(inside.popleft()), strict=True):
                    window.leave(content)
            if inside:
                yield tick, tuple(window.value() for window in windows)
                tick += self.spec.period
            else:
                tick = waiting[0][0] if waiting else None
        after = (closed // self.spec.period + 1) * self.spec.period
        self.reached = after if self.reached is None else max(after, self.reached)
        while inside and inside[0][1] <= self.reached:
            del self.panes[inside.popleft()]

    def save(self) -> bytes | None:
        """The state as bytes, None when nothing is remembered."""
        if not self.panes:
            return None
        panes = [
            [*key, [part.pack(content) for part, content in zip(self._parts, self.panes[key], strict=True)]]
            for key in self._in_order()
        ]
        return encoding.save(self.kind, [self.reached, panes])

    @classmethod
    def load(cls, spec: SlideSpec, state: bytes | None) -> SlideMachine:
        """The machine as it was when it was saved."""
        machine = cls(spec)
        if state is not None:
            machine.reached, panes = encoding.load(cls.kind, state)
            for tick, gone, pane in panes:
                cells = zip(machine._parts, pane, strict=True)
                machine.panes[tick, gone] = [part.unpack(content) for part, content in cells]
        return machine

    def _gone(self, tick: int, row: Row) -> int:
        """The tick of the first window after a row that does not hold it."""
        if self.spec.copies is not None:
            return tick + self.spec.copies * self.spec.period
        gone = row[0]
        if not isinstance(gone, int):
            raise PlanError(f"a row of tick {tick} does not say when it is gone")
        return gone

    def _open(self, tick: int, gone: int) -> list[Any]:
        period = self.spec.period
        if tick % period:
            raise PlanError(f"tick {tick} is not a window: these are {period} apart")
        if gone <= tick or gone % period:
            raise PlanError(f"a row of tick {tick} is gone at {gone}: no window after it, these are {period} apart")
        pane = self.panes[tick, gone] = [part.empty() for part in self._parts]
        return pane

    def _in_order(self) -> list[tuple[int, int]]:
        """The panes as they come, which is as they go."""
        panes = sorted(self.panes)
        if self.spec.copies is None:
            for (first, late), (tick, gone) in pairwise(panes):
                if gone < late:
                    raise PlanError(
                        f"a row of tick {tick} is gone at {gone}, but one of tick {first} at {late}: "
                        "of two rows the one that comes later must not go earlier"
                    )
        return panes
