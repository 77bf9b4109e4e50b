"""The machine that aggregates sliding windows of one group: partial aggregates in panes, combined per window.

A row belongs to a fixed number of windows, one period apart, or to the windows before its expiry tick. Rows that enter
and leave windows together are aggregated once, into a pane, and not once per window.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from transom.errors import PlanError
from transom.machines import codec
from transom.machines.aggregates.sliding import SlidingAggregateSpec, partial_aggregate
from transom.model.bag import Row
from transom.model.types import Value


@dataclass(frozen=True, slots=True)
class SlidingWindowSpec:
    """A sliding window per group: a row is in `copies` windows, from that of its tick on, one per `period`.

    Without `copies` the first value of a row is its expiry tick, that of the first later window that does not hold it;
    arguments of aggregates count from the value after it. Serialized as one small JSON document.
    """

    copies: int | None
    period: int
    aggregates: tuple[SlidingAggregateSpec, ...]

    def __post_init__(self) -> None:
        """Raise PlanError if a row is in no window, the period is below 1, or an aggregate depends on the row order."""
        if (self.copies is not None and self.copies < 1) or self.period < 1:
            raise PlanError("a row is in at least one window, and windows are at least one tick apart")
        if any(aggregate.in_order for aggregate in self.aggregates):
            raise PlanError("rows that arrive in any order have no path, no first and no last")

    def to_json(self) -> str:
        """Return this sliding-window specification as the JSON that the Python and the Java implementation read."""
        aggregates = [{"function": a.function, "type": a.type, "argument": a.argument} for a in self.aggregates]
        entries = {"machine": "slide", "copies": self.copies, "period": self.period, "aggregates": aggregates}
        return json.dumps(entries, separators=(",", ":"), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> SlidingWindowSpec:
        """Parse a sliding-window specification from the JSON that `to_json` wrote."""
        entries: dict[str, Any] = json.loads(text)
        aggregates = tuple(SlidingAggregateSpec(**aggregate) for aggregate in entries["aggregates"])
        return SlidingWindowSpec(entries["copies"], entries["period"], aggregates)


class SlidingWindowMachine:
    """Rows of one group in any order in, one row of aggregates per window out; keeps one pane per tick and expiry.

    A window is emitted when its tick is closed, if it holds a row. A pane is kept as long as a later window holds it.
    A row must not expire before a row of an earlier tick.
    """

    kind = "slide"

    def __init__(self, spec: SlidingWindowSpec) -> None:
        """Create the sliding windows of a group without rows."""
        self.spec = spec
        self.panes: dict[tuple[int, int], list[Any]] = {}
        self.next_open_tick: int | None = None
        self._parts = [partial_aggregate(aggregate) for aggregate in spec.aggregates]
        first = 1 if spec.copies is None else 0
        self._argument_indexes = [None if a.argument is None else a.argument + first for a in spec.aggregates]

    @property
    def held(self) -> int:
        """Number of panes in state, not of rows; a pane aggregates rows that enter and leave windows together."""
        return len(self.panes)

    @property
    def next(self) -> int | None:
        """The next tick at which a window is due if no more rows arrive; None if there is none."""
        if not self.panes:
            return None
        first, _ = min(self.panes)
        return first if self.next_open_tick is None else max(first, self.next_open_tick)

    def take(self, tick: int, row: Row) -> None:
        """Aggregate a row into its pane; raises PlanError if the windows of its tick were already emitted."""
        if self.next_open_tick is not None and tick < self.next_open_tick:
            raise PlanError(f"a row of tick {tick} arrived after all windows before {self.next_open_tick} were emitted")
        expiry = self._expiry_tick(tick, row)
        pane = self.panes.get((tick, expiry))
        if pane is None:
            pane = self._add_pane(tick, expiry)
        for index, (part, argument) in enumerate(zip(self._parts, self._argument_indexes, strict=True)):
            value: Value = True if argument is None else row[argument]
            if value is not None:
                pane[index] = part.add(pane[index], value)

    def advance(self, closed: int) -> Iterator[tuple[int, Row]]:
        """Close all ticks up to `closed`; yield (window's tick, aggregates) per window due that holds a row."""
        waiting, inside = deque(self._sorted_panes()), deque[tuple[int, int]]()
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
        self.next_open_tick = after if self.next_open_tick is None else max(after, self.next_open_tick)
        while inside and inside[0][1] <= self.next_open_tick:
            del self.panes[inside.popleft()]

    def save(self) -> bytes | None:
        """Serialize the panes of the group; None if there are none."""
        if not self.panes:
            return None
        panes = [
            [*key, [part.pack(content) for part, content in zip(self._parts, self.panes[key], strict=True)]]
            for key in self._sorted_panes()
        ]
        return codec.save(self.kind, [self.next_open_tick, panes])

    @classmethod
    def load(cls, spec: SlidingWindowSpec, state: bytes | None) -> SlidingWindowMachine:
        """Restore a group's sliding windows from the bytes of `save`; a `state` of None gives a group without rows."""
        machine = cls(spec)
        if state is not None:
            machine.next_open_tick, panes = codec.load(cls.kind, state)
            for tick, expiry, pane in panes:
                cells = zip(machine._parts, pane, strict=True)
                machine.panes[tick, expiry] = [part.unpack(content) for part, content in cells]
        return machine

    def _expiry_tick(self, tick: int, row: Row) -> int:
        """Return the tick of the first window that no longer holds a row: computed, or the row's first value.

        Raises PlanError if a row must carry this tick as its first value, but does not.
        """
        if self.spec.copies is not None:
            return tick + self.spec.copies * self.spec.period
        expiry = row[0]
        if not isinstance(expiry, int):
            raise PlanError(f"a row of tick {tick} has no tick at which it leaves")
        return expiry

    def _add_pane(self, tick: int, expiry: int) -> list[Any]:
        """Create an empty pane for rows in windows from `tick` to before `expiry`; return its partial aggregates."""
        period = self.spec.period
        if tick % period:
            raise PlanError(f"tick {tick} is not a window: these are {period} apart")
        if expiry <= tick or expiry % period:
            raise PlanError(f"a row of tick {tick} leaves at {expiry}: no window after it, these are {period} apart")
        pane = self.panes[tick, expiry] = [part.empty() for part in self._parts]
        return pane

    def _sorted_panes(self) -> list[tuple[int, int]]:
        """Return (tick, expiry tick) of each pane of rows, sorted; PlanError if a later pane expires earlier."""
        panes = sorted(self.panes)
        if self.spec.copies is None:
            for (first, first_expiry), (tick, expiry) in pairwise(panes):
                if expiry < first_expiry:
                    raise PlanError(
                        f"a row of tick {tick} leaves at {expiry}, but one of tick {first} at {first_expiry}: "
                        "of two rows the later one must not leave earlier"
                    )
        return panes
