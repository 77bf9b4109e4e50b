"""The machine for the windows of one key in CQL: at most one per tick, by tick, row, distance, region or mixtures.

All rows of a tick come first, then one window at that tick (C5, C18). If a row jumps over several marks there is one
window, for the last of them (C12). What a window holds is fixed when it is made (C13). Rows come into a window and go
out of it in order, so a window moves by what comes and what goes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from transom.machines import encoding
from transom.machines.aggregates import Part, Sliding, part_of
from transom.machines.distance import Odometer
from transom.machines.lineage_spec import LineageSpec
from transom.machines.told import Told
from transom.model.bag import Row
from transom.model.types import Value

Ends = tuple[tuple[int, int], ...]
"""Of each range its low and its high end."""


class _Pane(NamedTuple):
    """Rows that come and go together: where the last of them is, and the one row, or what aggregates keep of all."""

    where: tuple[int, ...]
    content: Any


class LineageMachine:
    """Rows of one key in order in, windows out; keeps only rows that a coming window can still hold, or still tells.

    For aggregates rows that come and go together are one pane.
    """

    kind = "lineage"

    def __init__(self, spec: LineageSpec) -> None:
        self.spec = spec
        self._aggregated = spec.output == "aggregates"
        self._parts: list[Part] = [part_of(aggregate) for aggregate in spec.aggregates]
        self._apart = spec.apart
        self._trails = spec.flag is not None and any(a.function == "path" for a in spec.aggregates)
        self._keeps = spec.output != "changes" or bool(spec.ranges) or spec.forget_after is not None
        self._clear()

    def _clear(self) -> None:
        spec = self.spec
        self.last: int | None = None
        self.count = 0
        self.next = spec.boundary(spec.start) if spec.slide == "tick" else spec.first
        self.odometer = None if spec.place is None else Odometer(spec.place)
        self.trail = Odometer(spec.place) if self._trails and spec.place is not None else None
        self.inside: deque[_Pane] = deque()
        self.waiting: deque[_Pane] = deque()
        self._windows: list[Sliding] = [part.window() for part in self._parts]
        self.told = False

    @property
    def held(self) -> int:
        """Rows, or panes, that are remembered."""
        return len(self.inside) + len(self.waiting)

    @property
    def blank(self) -> bool:
        """Whether it is as good as new."""
        return self.last is None and not self.spec.eager

    @property
    def wake(self) -> int | None:
        """The next tick at which there is something to do if nothing more comes in."""
        found = [] if (tick := self._due()) is None else [tick]
        if self.last is not None and self.spec.forget_after is not None:
            found.append(self.last + self.spec.forget_after + 1)
        return min(found, default=None)

    def take(self, tick: int, rows: Sequence[Row]) -> list[Told]:
        """All rows of a tick, in order; the windows up to that tick."""
        spec = self.spec
        told = self.advance(tick - 1)
        if spec.until is not None and tick > spec.until:
            return told
        rejected, arrived, inside = 0, False, False
        for row in rows:
            place = None if self.odometer is None else self.odometer.where(row)
            step = 0 if self.odometer is None else self.odometer.move(tick, place)
            if step is None:
                rejected += 1
                continue
            if self.last is None and spec.slide == "tick" and not spec.eager:
                self.next = spec.boundary(max(spec.start, tick))
            self.last, arrived = tick, True
            self.count += 1
            if spec.flag is None or row[spec.flag] is True:
                inside = True
                if self.trail is not None:
                    step = self.trail.follow(place)
                self._keep(tick, row, None if place is None else step)
        if rejected:
            told.append(Told(tick, 0, False, rejected, None))
        if arrived:
            told += self._after(tick, inside)
        return told + self.advance(tick)

    def advance(self, closed: int) -> list[Told]:
        """The windows of all ticks up to one that is closed now."""
        if self.last is not None and self.spec.forget_after is not None:
            end = self.last + self.spec.forget_after
            if closed > end:
                return self._pass(end) + self._drop(end + 1)
        return self._pass(closed)

    def _due(self) -> int | None:
        """The next tick at which a window comes if no row does."""
        spec = self.spec
        if spec.slide == "tick":
            tick = self.next if spec.eager or self.last is not None else None
        elif spec.slide == "change" and self.inside:
            pane = self.inside[0]
            ages = [where - reach.low[1] + 1 for where, reach in zip(pane.where, spec.ranges, strict=True)]
            tick = min(ages, default=None)
        else:
            tick = None
        return None if tick is None or (spec.until is not None and tick > spec.until) else tick

    def _pass(self, closed: int) -> list[Told]:
        told: list[Told] = []
        while (tick := self._due()) is not None and tick <= closed:
            if self.spec.slide == "tick":
                self.next += self.spec.step
            told += self._window(tick, tick)
        return told

    def _after(self, tick: int, inside: bool) -> list[Told]:
        """The window that the rows of a tick make."""
        spec = self.spec
        match spec.slide:
            case "arrival":
                return self._window(tick, tick)
            case "inside" | "change":
                if inside:
                    return self._window(tick, tick)
            case "index" | "distance":
                reached = self._now(spec.slide, tick)
                if reached >= self.next:
                    mark = spec.first + (reached - spec.first) // spec.step * spec.step
                    self.next = mark + spec.step
                    return self._window(tick, mark)
            case _:
                pass
        self._forget(tick + 1)
        return []

    def _now(self, coordinate: str, tick: int) -> int:
        """The present value of a coordinate."""
        match coordinate:
            case "tick":
                return tick
            case "index":
                return self.count
            case _:
                return 0 if self.odometer is None else self.odometer.distance

    def _keep(self, tick: int, row: Row, step: int | None) -> None:
        spec = self.spec
        row = row + tuple(self._now(tag, tick) for tag in spec.tags)
        where = tuple(self._now(reach.coordinate, tick) for reach in spec.ranges)
        if not self._aggregated:
            self.waiting.append(_Pane(where, row))
            return
        if self.waiting and self._together(self.waiting[-1].where, where):
            content = self.waiting.pop().content
        else:
            content = [part.empty() for part in self._parts]
        for place, (part, aggregate) in enumerate(zip(self._parts, spec.aggregates, strict=True)):
            value: Value = step if aggregate.function == "path" else True
            if aggregate.argument is not None:
                value = row[aggregate.argument]
            if value is not None or aggregate.counts_null:
                content[place] = part.add(content[place], value)
        self.waiting.append(_Pane(where, content))

    def _together(self, one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        """Whether no bound can come between two rows."""
        for before, now, (period, origin, other_period, other_origin) in zip(one, other, self._apart, strict=True):
            if (before - origin) // period != (now - origin) // period:
                return False
            if (other_origin - before) // other_period != (other_origin - now) // other_period:
                return False
        return True

    def _window(self, tick: int, mark: int) -> list[Told]:
        """Make the window of a tick, and tell of it."""
        spec = self.spec
        self.told = True
        bases = (mark if r.coordinate == spec.slide else self._now(r.coordinate, tick) for r in spec.ranges)
        ends = tuple(reach.ends(base) for reach, base in zip(spec.ranges, bases, strict=True))
        went = self._leave(ends)
        came: list[_Pane] = []
        while self.waiting and all(w <= high for w, (_, high) in zip(self.waiting[0].where, ends, strict=True)):
            came.append(self.waiting.popleft())
            self._enter(came[-1])
        told = self._tell(tick, came, went)
        self._forget(tick + 1)
        return told

    def _leave(self, ends: Ends) -> list[_Pane]:
        """Let the rows go that are below their low ends; those that were in the window."""
        went = []
        while self.inside and _below(self.inside[0], ends):
            went.append(self.inside.popleft())
            for window, content in zip(self._windows, went[-1].content if self._aggregated else (), strict=True):
                window.leave(content)
        while self.waiting and _below(self.waiting[0], ends):
            self.waiting.popleft()
        return went

    def _enter(self, pane: _Pane) -> None:
        if not self._keeps:
            return
        if self._aggregated:
            if self.inside and not self.spec.ranges:
                before = self.inside.pop().content
                for window, content in zip(self._windows, before, strict=True):
                    window.leave(content)
                merged = [p.merge(*both) for p, *both in zip(self._parts, before, pane.content, strict=True)]
                pane = _Pane((), merged)
            for window, content in zip(self._windows, pane.content, strict=True):
                window.enter(content)
        self.inside.append(pane)

    def _tell(self, tick: int, came: list[_Pane], went: list[_Pane]) -> list[Told]:
        match self.spec.output:
            case "aggregates":
                return [Told(tick, 1, True, 0, tuple(window.value() for window in self._windows))]
            case "changes":
                rows = [Told(tick, 1, True, -1, pane.content) for pane in went]
                rows += [Told(tick, 1, True, 1, pane.content) for pane in came]
            case _:
                rows = [Told(tick, 1, True, place, pane.content) for place, pane in enumerate(self.inside, 1)]
        return [Told(tick, 1, False, 0, None), *rows]

    def _forget(self, tick: int) -> None:
        """Drop the rows that no window from a tick on can hold; but not those whose going matters."""
        spec = self.spec
        if not spec.ranges or spec.slide == "change":
            return
        ends: list[tuple[int, int]] = []
        for reach in spec.ranges:
            base = self.next if reach.coordinate == spec.slide else self._now(reach.coordinate, tick)
            if reach.coordinate == "index" and spec.slide not in ("index", "tick"):
                base += 1
            ends.append(reach.ends(base))
        if spec.output != "changes":
            self._leave(tuple(ends))
        while self.waiting and _below(self.waiting[0], tuple(ends)):
            self.waiting.popleft()

    def _drop(self, tick: int) -> list[Told]:
        """Be new again, and tell it of a key that had a window: in changes all rows go, else there is a window 0."""
        told: list[Told] = []
        if self.told and (self.spec.until is None or tick <= self.spec.until):
            changes = self.spec.output == "changes"
            told = self._tell(tick, [], list(self.inside)) if changes else [Told(tick, 0, False, 0, None)]
        self._clear()
        return told

    def save(self) -> bytes:
        """The state as bytes."""
        meters = [None if meter is None else meter.save() for meter in (self.odometer, self.trail)]
        panes = [[list(pane.where), self._pack(pane.content)] for pane in (*self.inside, *self.waiting)]
        told = [] if self.spec.forget_after is None else [self.told]
        return encoding.save(self.kind, [self.last, self.count, self.next, meters, len(self.inside), panes, *told])

    @classmethod
    def load(cls, spec: LineageSpec, state: bytes) -> LineageMachine:
        """The machine as it was when it was saved."""
        machine = cls(spec)
        machine.last, machine.count, machine.next, meters, inside, panes, *told = encoding.load(cls.kind, state)
        for meter, saved in zip((machine.odometer, machine.trail), meters, strict=True):
            if meter is not None:
                meter.load(saved)
        for place, (where, cells) in enumerate(panes):
            pane = _Pane(tuple(where), machine._unpack(cells))
            if place < inside:
                machine._enter(pane)
            else:
                machine.waiting.append(pane)
        machine.told = any(told)
        return machine

    def _pack(self, content: Any) -> Any:
        if not self._aggregated:
            return encoding.pack(content)
        return [part.pack(cell) for part, cell in zip(self._parts, content, strict=True)]

    def _unpack(self, cells: Any) -> Any:
        if not self._aggregated:
            return encoding.unpack(cells)
        return [part.unpack(cell) for part, cell in zip(self._parts, cells, strict=True)]


def _below(pane: _Pane, ends: Ends) -> bool:
    return any(where < low for where, (low, _) in zip(pane.where, ends, strict=True))
