"""Distance travelled by an object: the odometer that measures it, and the machine that adds it to rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from transom.errors import PlanError
from transom.machines import codec
from transom.machines.emission import TimedEmission
from transom.machines.entries import StateEntry
from transom.model.bag import Row
from transom.model.geometry.space import Position, Speed, step_length


@dataclass(frozen=True, slots=True)
class PositionSpec:
    """The position columns of a row, and how steps between positions are measured.

    `x` and `y` are column indexes. `limit` is the maximum speed: micrometres, and the number of ticks that they take.
    """

    x: int
    y: int | None
    geodesic: bool = False
    unit: int = 1_000_000
    limit: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        """Raise PlanError if a longitude has no latitude, or if a unit or the speed limit is not positive."""
        if self.geodesic and self.y is None:
            raise PlanError("a position on the ellipsoid has a longitude and a latitude")
        if self.unit < 1 or (self.limit is not None and min(self.limit) < 1):
            raise PlanError("a unit, and both numbers of a speed, are at least 1")

    @property
    def coordinate_system(self) -> Position:
        """The coordinate system (line, plane or earth) in which steps between positions are measured."""
        return Position("x", None if self.y is None else "y", self.geodesic, self.unit)

    def to_json(self) -> str:
        """Return the JSON specification of the state machine that adds travelled distances to an object's rows."""
        entries = {"machine": "distance", "place": self.to_entries(), "shared": True}
        return json.dumps(entries, separators=(",", ":"), sort_keys=True)

    def to_entries(self) -> dict[str, Any]:
        """Return the position columns and the speed limit as a JSON object, which is part of other specifications."""
        limit = None if self.limit is None else list(self.limit)
        return {"x": self.x, "y": self.y, "geodesic": self.geodesic, "unit": self.unit, "limit": limit}

    @staticmethod
    def from_entries(entries: dict[str, Any]) -> PositionSpec:
        """Parse the JSON object with position columns and speed limit that `to_entries` returned."""
        limit = entries["limit"]
        return PositionSpec(**{**entries, "limit": None if limit is None else tuple(limit)})


class Odometer:
    """Measures steps between positions in order; keeps the last accepted position, its tick and the total distance."""

    def __init__(self, spec: PositionSpec) -> None:
        """Create an odometer at distance 0 that has seen no position yet."""
        self.spec = spec
        self.distance = 0
        self.tick = 0
        self.last_position: tuple[float, float] | None = None
        self._coordinate_system = spec.coordinate_system
        self._limit = None if spec.limit is None else Speed(*spec.limit)

    def position_of(self, row: Row) -> tuple[float, float] | None:
        """The coordinates of a row as (x, y) or (longitude, latitude); None if one is NULL or invalid."""
        spec = self.spec
        return self._coordinate_system.point(row[spec.x], 0.0 if spec.y is None else row[spec.y])

    def advance_to(self, tick: int, position: tuple[float, float] | None) -> int | None:
        """Move to `position` at `tick`; return the step in micrometres (0: no position), or None if too fast, and stay.

        Without a position the step is 0.
        """
        if position is None:
            return 0
        step = 0
        if self.last_position is not None:
            step = step_length(self._coordinate_system, self.last_position, position)
            if self._limit is not None and not self._limit.allows(step, tick - self.tick):
                return None
        self.distance += step
        self.last_position = position
        self.tick = tick
        return step

    def step_to(self, position: tuple[float, float] | None) -> int:
        """Move to `position` without checking the speed limit; return the step in micrometres, 0 if it is None.

        Without a position the step is 0.
        """
        if position is None:
            return 0
        step = 0 if self.last_position is None else step_length(self._coordinate_system, self.last_position, position)
        self.last_position = position
        return step

    def entries(self) -> Iterator[StateEntry]:
        """Yield one entry to inspect: total distance, last position and its tick; nothing before the first position."""
        if self.last_position is not None:
            yield StateEntry("position", 0, self.tick, 1, (self.distance, *self.last_position))

    def save(self) -> list[Any]:
        """Encode the total distance, and the tick and the position of the last row, for JSON."""
        return [self.distance, self.tick, None if self.last_position is None else list(self.last_position)]

    def load(self, state: list[Any]) -> None:
        """Restore the total distance, the tick and the last position that `save` encoded."""
        self.distance, self.tick, position = state
        self.last_position = None if position is None else (position[0], position[1])


class DistanceMachine:
    """Rows of one object in order in, the same rows with the distance travelled so far out (C11); keeps one position.

    A row without a position has the distance of the row before it. A row that could be reached from the last position
    only above the speed limit is rejected and counted. An object without an accepted row for more than `forget_after`
    ticks starts again from distance 0.
    """

    kind = "distance"
    held = 0

    def __init__(self, spec: PositionSpec, forget_after_ticks: int | None = None) -> None:
        """Create a moving object's state at distance 0; after over `forget_after_ticks` (None: never) idle it restarts.

        After more than `forget_after_ticks` idle ticks it starts anew; None means never.
        """
        self.spec = spec
        self.forget_after = forget_after_ticks
        self.odometer = Odometer(spec)
        self.last: int | None = None

    @property
    def blank(self) -> bool:
        """Whether the state can be dropped, as no row came within `forget_after` ticks; never without that limit.

        Too long is over `forget_after` ticks; without that limit, state is never dropped.
        """
        return self.forget_after is not None and self.last is None

    @property
    def next_wakeup(self) -> int | None:
        """The tick at which an idle object's state is dropped; None without rows or without `forget_after`."""
        return None if self.forget_after is None or self.last is None else self.last + self.forget_after + 1

    def take(self, tick: int, rows: Sequence[Row]) -> list[TimedEmission]:
        """Process a tick's rows; emit the count of too fast ones, then the others with micrometres travelled so far."""
        self.advance(tick - 1)
        emissions, rejected = [], 0
        for row in rows:
            if self.odometer.advance_to(tick, self.odometer.position_of(row)) is None:
                rejected += 1
            else:
                self.last = tick
                emissions.append(TimedEmission(tick, 1, True, self.odometer.distance, row))
        return [TimedEmission(tick, 0, False, rejected, None), *emissions] if rejected else emissions

    def advance(self, closed: int) -> list[TimedEmission]:
        """Forget the object's position and distance if its last row is over `forget_after` ticks ago; emit nothing."""
        if (wake := self.next_wakeup) is not None and wake <= closed:
            self.odometer, self.last = Odometer(self.spec), None
        return []

    def entries(self) -> Iterator[StateEntry]:
        """Yield a state entry with the object's total distance and last position, if it has a valid one."""
        yield from self.odometer.entries()

    def save(self) -> bytes:
        """Serialize distance, last tick and position and, with `forget_after`, the last accepted row's tick."""
        last = [] if self.forget_after is None else [self.last]
        return codec.save(self.kind, [*self.odometer.save(), *last])

    @classmethod
    def load(cls, spec: PositionSpec, state: bytes, forget_after_ticks: int | None = None) -> DistanceMachine:
        """Restore the state of a moving object from the bytes of `save`; other arguments are those of its creation."""
        machine = cls(spec, forget_after_ticks)
        saved = codec.load(cls.kind, state)
        machine.odometer.load(saved[:3])
        if forget_after_ticks is not None:
            machine.last = saved[3]
        return machine
