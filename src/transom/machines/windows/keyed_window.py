"""The machine for CQL windows of one key: at most one per tick, by tick, row, distance, region or combinations.

All rows of a tick are processed first, then its one window (C5, C18). If a row jumps over several boundaries, there is
one window, for the last of them (C12). The content of a window is fixed when it is created (C13). Rows enter and leave
windows in order, so each window is computed from the previous one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from transom.machines import codec
from transom.machines.aggregates.sliding import PartialAggregate, SlidingAggregate, partial_aggregate
from transom.machines.emission import TimedEmission
from transom.machines.entries import StateEntry
from transom.machines.windows.distance import Odometer
from transom.machines.windows.keyed_window_spec import KeyedWindowSpec
from transom.model.bag import Row
from transom.model.types import Value

RangeEnds = tuple[tuple[int, int], ...]
"""The low and the high end of each range."""


class _Pane(NamedTuple):
    """Rows that enter and leave windows together: coordinates of the last row; the row or its partial aggregates."""

    coordinates: tuple[int, ...]
    content: Any


class KeyedWindowMachine:
    """Rows of one key in order in, windows out; keeps only rows that a later window can hold or must retract.

    For aggregates, rows that enter and leave windows together form one pane.
    """

    kind = "lineage"

    def __init__(self, spec: KeyedWindowSpec) -> None:
        """Create the windows of one key that has no rows yet."""
        self.spec = spec
        self._aggregated = spec.output == "aggregates"
        self._parts: list[PartialAggregate] = [partial_aggregate(aggregate) for aggregate in spec.aggregates]
        self._boundaries = spec.boundaries
        self._measures_trail = spec.flag is not None and any(a.function == "path" for a in spec.aggregates)
        self._keeps_rows = spec.output != "changes" or bool(spec.ranges) or spec.forget_after is not None
        self._clear()

    def _clear(self) -> None:
        """Reset the whole state to that of a key without rows."""
        spec = self.spec
        self.last: int | None = None
        self.count = 0
        self.next = spec.boundary(spec.start) if spec.slide == "tick" else spec.first
        self.odometer = None if spec.position is None else Odometer(spec.position)
        self.trail = Odometer(spec.position) if self._measures_trail and spec.position is not None else None
        self.inside: deque[_Pane] = deque()
        self.pending: deque[_Pane] = deque()
        self._windows: list[SlidingAggregate] = [part.window() for part in self._parts]
        self.has_emitted = False

    @property
    def held(self) -> int:
        """Number of rows in state, or of panes if the output is aggregates."""
        return len(self.inside) + len(self.pending)

    @property
    def blank(self) -> bool:
        """Whether the key's state equals that of a key without rows, so that it can be dropped."""
        return self.last is None and not self.spec.eager

    @property
    def next_wakeup(self) -> int | None:
        """The next tick at which a window is due without new rows or an idle key's state is dropped, or None."""
        ticks = [] if (tick := self._next_window_tick()) is None else [tick]
        if self.last is not None and self.spec.forget_after is not None:
            ticks.append(self.last + self.spec.forget_after + 1)
        return min(ticks, default=None)

    def take(self, tick: int, rows: Sequence[Row]) -> list[TimedEmission]:
        """Process all rows of a tick, in order; returns the emissions of all windows up to this tick."""
        spec = self.spec
        emissions = self.advance(tick - 1)
        if spec.until is not None and tick > spec.until:
            return emissions
        rejected, arrived, inside = 0, False, False
        for row in rows:
            position = None if self.odometer is None else self.odometer.position_of(row)
            step = 0 if self.odometer is None else self.odometer.advance_to(tick, position)
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
                    step = self.trail.step_to(position)
                self._add_row(tick, row, None if position is None else step)
        if rejected:
            emissions.append(TimedEmission(tick, 0, False, rejected, None))
        if arrived:
            emissions += self._windows_after_rows(tick, inside)
        return emissions + self.advance(tick)

    def advance(self, closed: int) -> list[TimedEmission]:
        """Close all ticks up to `closed` and return the emissions of their windows.

        A key that was idle for too long is reset.
        """
        if self.last is not None and self.spec.forget_after is not None:
            end = self.last + self.spec.forget_after
            if closed > end:
                return self._windows_until(end) + self._reset(end + 1)
        return self._windows_until(closed)

    def _next_window_tick(self) -> int | None:
        """The next tick at which a window is due even if no more rows arrive; None if there is none."""
        spec = self.spec
        if spec.slide == "tick":
            tick = self.next if spec.eager or self.last is not None else None
        elif spec.slide == "change" and self.inside:
            pane = self.inside[0]
            expiry_ticks = [
                row_tick - reach.low[1] + 1 for row_tick, reach in zip(pane.coordinates, spec.ranges, strict=True)
            ]
            tick = min(expiry_ticks, default=None)
        else:
            tick = None
        return None if tick is None or (spec.until is not None and tick > spec.until) else tick

    def _windows_until(self, closed: int) -> list[TimedEmission]:
        """Create all windows that are due up to the tick `closed` without new rows, and return their emissions."""
        emissions: list[TimedEmission] = []
        while (tick := self._next_window_tick()) is not None and tick <= closed:
            if self.spec.slide == "tick":
                self.next += self.spec.step
            emissions += self._window(tick, tick)
        return emissions

    def _windows_after_rows(self, tick: int, inside: bool) -> list[TimedEmission]:
        """Return the emissions of the window, if any, that a tick's rows trigger; `inside`: a row passed the flag.

        `inside` says whether a row lies in the window's regions.
        """
        spec = self.spec
        match spec.slide:
            case "arrival":
                return self._window(tick, tick)
            case "inside" | "change":
                if inside:
                    return self._window(tick, tick)
            case "index" | "distance":
                value = self._coordinate(spec.slide, tick)
                if value >= self.next:
                    boundary = spec.first + (value - spec.first) // spec.step * spec.step
                    self.next = boundary + spec.step
                    return self._window(tick, boundary)
            case _:
                pass
        self._evict(tick + 1)
        return []

    def _coordinate(self, coordinate: str, tick: int) -> int:
        """Value of `coordinate` now: `tick`, the key's rows so far (index), or the micrometres travelled (distance)."""
        match coordinate:
            case "tick":
                return tick
            case "index":
                return self.count
            case _:
                return 0 if self.odometer is None else self.odometer.distance

    def _add_row(self, tick: int, row: Row, step: int | None) -> None:
        """Store a row, for aggregates in the last pane if windows hold both or neither; `step`: micrometres moved.

        `step` is its distance from the previous row.
        """
        spec = self.spec
        row = row + tuple(self._coordinate(tag, tick) for tag in spec.tags)
        coordinates = tuple(self._coordinate(reach.coordinate, tick) for reach in spec.ranges)
        if not self._aggregated:
            self.pending.append(_Pane(coordinates, row))
            return
        if self.pending and self._same_pane(self.pending[-1].coordinates, coordinates):
            content = self.pending.pop().content
        else:
            content = [part.empty() for part in self._parts]
        for index, (part, aggregate) in enumerate(zip(self._parts, spec.aggregates, strict=True)):
            value: Value = step if aggregate.function == "path" else True
            if aggregate.argument is not None:
                value = row[aggregate.argument]
            if value is not None or aggregate.counts_null:
                content[index] = part.add(content[index], value)
        self.pending.append(_Pane(coordinates, content))

    def _same_pane(self, coordinates: tuple[int, ...], other_coordinates: tuple[int, ...]) -> bool:
        """Whether every window holds both or neither of two rows, whose coordinates per range are given."""
        for value, other_value, (period, origin, other_period, other_origin) in zip(
            coordinates, other_coordinates, self._boundaries, strict=True
        ):
            if (value - origin) // period != (other_value - origin) // period:
                return False
            if (other_origin - value) // other_period != (other_origin - other_value) // other_period:
                return False
        return True

    def _window(self, tick: int, boundary: int) -> list[TimedEmission]:
        """Create the window of `tick`; `boundary`: NOW on the slide's coordinate; return its emissions."""
        spec = self.spec
        self.has_emitted = True
        bases = (boundary if r.coordinate == spec.slide else self._coordinate(r.coordinate, tick) for r in spec.ranges)
        ends = tuple(reach.ends(base) for reach, base in zip(spec.ranges, bases, strict=True))
        removed = self._leave(ends)
        added: list[_Pane] = []
        while self.pending and all(
            value <= high for value, (_, high) in zip(self.pending[0].coordinates, ends, strict=True)
        ):
            added.append(self.pending.popleft())
            self._enter(added[-1])
        emissions = self._emit(tick, added, removed)
        self._evict(tick + 1)
        return emissions

    def _leave(self, ends: RangeEnds) -> list[_Pane]:
        """Remove all panes (groups of rows) below the range `ends`; return those that the previous window contained."""
        removed = []
        while self.inside and _is_below(self.inside[0], ends):
            removed.append(self.inside.popleft())
            for window, content in zip(self._windows, removed[-1].content if self._aggregated else (), strict=True):
                window.leave(content)
        while self.pending and _is_below(self.pending[0], ends):
            self.pending.popleft()
        return removed

    def _enter(self, pane: _Pane) -> None:
        """Add a pane to the current window and to its running aggregates."""
        if not self._keeps_rows:
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

    def _emit(self, tick: int, added: list[_Pane], removed: list[_Pane]) -> list[TimedEmission]:
        """Return a window's emissions, as the spec's output says: aggregates, added and removed rows, or all rows."""
        match self.spec.output:
            case "aggregates":
                return [TimedEmission(tick, 1, True, 0, tuple(window.value() for window in self._windows))]
            case "changes":
                rows = [TimedEmission(tick, 1, True, -1, pane.content) for pane in removed]
                rows += [TimedEmission(tick, 1, True, 1, pane.content) for pane in added]
            case _:
                rows = [
                    TimedEmission(tick, 1, True, position, pane.content) for position, pane in enumerate(self.inside, 1)
                ]
        return [TimedEmission(tick, 1, False, 0, None), *rows]

    def _evict(self, tick: int) -> None:
        """Drop the panes (groups of rows) that no window from `tick` on can hold.

        With the output `changes`, the rows of the current window stay, since they must still be retracted.
        """
        spec = self.spec
        if not spec.ranges or spec.slide == "change":
            return
        ends: list[tuple[int, int]] = []
        for reach in spec.ranges:
            base = self.next if reach.coordinate == spec.slide else self._coordinate(reach.coordinate, tick)
            if reach.coordinate == "index" and spec.slide not in ("index", "tick"):
                base += 1
            ends.append(reach.ends(base))
        if spec.output != "changes":
            self._leave(tuple(ends))
        while self.pending and _is_below(self.pending[0], tuple(ends)):
            self.pending.popleft()

    def _reset(self, tick: int) -> list[TimedEmission]:
        """Drop an idle key's state; return what ends its last window at `tick`: retractions, or an end marker (seq 0).

        The end is the retraction of all rows in change mode, otherwise a marker with `seq` 0.
        """
        emissions: list[TimedEmission] = []
        if self.has_emitted and (self.spec.until is None or tick <= self.spec.until):
            changes = self.spec.output == "changes"
            emissions = self._emit(tick, [], list(self.inside)) if changes else [TimedEmission(tick, 0, False, 0, None)]
        self._clear()
        return emissions

    def entries(self) -> Iterator[StateEntry]:
        """Yield the key's state to inspect: row count and last tick, position, then rows or panes with aggregates."""
        yield StateEntry("count", 0, self.last, self.count, None)
        if self.odometer is not None:
            yield from self.odometer.entries()
        kind = "pane" if self._aggregated else "row"
        for part, panes in ((kind, self.inside), (f"next {kind}", self.pending)):
            for pane in panes:
                yield StateEntry(part, 0, None, 1, self._values(pane.content) if self._aggregated else pane.content)

    def save(self) -> bytes:
        """Serialize the counters, odometers and panes of the key."""
        odometers = [None if odometer is None else odometer.save() for odometer in (self.odometer, self.trail)]
        panes = [[list(pane.coordinates), self._pack(pane.content)] for pane in (*self.inside, *self.pending)]
        emitted = [] if self.spec.forget_after is None else [self.has_emitted]
        return codec.save(self.kind, [self.last, self.count, self.next, odometers, len(self.inside), panes, *emitted])

    @classmethod
    def load(cls, spec: KeyedWindowSpec, state: bytes) -> KeyedWindowMachine:
        """Restore the windows of a key from the bytes of `save`; `spec` says which windows are created."""
        machine = cls(spec)
        machine.last, machine.count, machine.next, odometers, inside, panes, *emitted = codec.load(cls.kind, state)
        for odometer, saved in zip((machine.odometer, machine.trail), odometers, strict=True):
            if odometer is not None:
                odometer.load(saved)
        for number, (coordinates, cells) in enumerate(panes):
            pane = _Pane(tuple(coordinates), machine._unpack(cells))
            if number < inside:
                machine._enter(pane)
            else:
                machine.pending.append(pane)
        machine.has_emitted = any(emitted)
        return machine

    def _values(self, partials: Any) -> Row:
        """Return a pane's final aggregate values from `partials`, its partial aggregates in specification order."""
        windows = [part.window() for part in self._parts]
        for window, partial in zip(windows, partials, strict=True):
            window.enter(partial)
        return tuple(window.value() for window in windows)

    def _pack(self, content: Any) -> Any:
        """Encode a pane's content (a row or, if the output is aggregates, partial aggregates) as JSON values."""
        if not self._aggregated:
            return codec.pack(content)
        return [part.pack(cell) for part, cell in zip(self._parts, content, strict=True)]

    def _unpack(self, cells: Any) -> Any:
        """Decode a pane's content from JSON: a row, or a list with one partial value per aggregate."""
        if not self._aggregated:
            return codec.unpack(cells)
        return [part.unpack(cell) for part, cell in zip(self._parts, cells, strict=True)]


def _is_below(pane: _Pane, ends: RangeEnds) -> bool:
    """Whether one of the pane's coordinates is below the low end of its range, so that the pane leaves the window."""
    return any(value < low for value, (low, _) in zip(pane.coordinates, ends, strict=True))
