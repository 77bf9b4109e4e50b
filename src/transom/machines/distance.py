"""How far an object has gone: its path length, which never goes backwards, and the machine that adds it to rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from transom.errors import PlanError
from transom.machines import encoding
from transom.machines.told import Told
from transom.model.bag import Row
from transom.model.space import Position, Speed, step


@dataclass(frozen=True, slots=True)
class PlaceSpec:
    """Where a row has its place, and how steps are measured.

    `x` and `y` are places of values in a row; `limit`, micrometres in so many ticks, is how fast an object can be.
    """

    x: int
    y: int | None
    geodesic: bool = False
    unit: int = 1_000_000
    limit: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.geodesic and self.y is None:
            raise PlanError("a place on the ellipsoid has a longitude and a latitude")
        if self.unit < 1 or (self.limit is not None and min(self.limit) < 1):
            raise PlanError("a unit, and both numbers of a speed, are at least 1")

    @property
    def position(self) -> Position:
        """How steps are measured."""
        return Position("x", None if self.y is None else "y", self.geodesic, self.unit)

    def to_json(self) -> str:
        """The document of a machine that adds distances to rows."""
        entries = {"machine": "distance", "place": self.to_entries(), "shared": True}
        return json.dumps(entries, separators=(",", ":"), sort_keys=True)

    def to_entries(self) -> dict[str, Any]:
        """What goes into a specification."""
        limit = None if self.limit is None else list(self.limit)
        return {"x": self.x, "y": self.y, "geodesic": self.geodesic, "unit": self.unit, "limit": limit}

    @staticmethod
    def from_entries(entries: dict[str, Any]) -> PlaceSpec:
        """What stands in a specification."""
        limit = entries["limit"]
        return PlaceSpec(**{**entries, "limit": None if limit is None else tuple(limit)})


class Odometer:
    """Places in order in, steps out; keeps the last place that was accepted, its tick, and the sum of all steps."""

    def __init__(self, spec: PlaceSpec) -> None:
        self.spec = spec
        self.distance = 0
        self.tick = 0
        self.place: tuple[float, float] | None = None
        self._position = spec.position
        self._limit = None if spec.limit is None else Speed(*spec.limit)

    def where(self, row: Row) -> tuple[float, float] | None:
        """The place of a row; None if it has none."""
        spec = self.spec
        return self._position.place(row[spec.x], 0.0 if spec.y is None else row[spec.y])

    def move(self, tick: int, place: tuple[float, float] | None) -> int | None:
        """The step to the place of the next row; 0 for a row without one, None for one that is too far away."""
        if place is None:
            return 0
        far = 0
        if self.place is not None:
            far = step(self._position, self.place, place)
            if self._limit is not None and not self._limit.allows(far, tick - self.tick):
                return None
        self.distance += far
        self.place = place
        self.tick = tick
        return far

    def follow(self, place: tuple[float, float] | None) -> int:
        """The step to the place of the next row, however fast; 0 for a row without one."""
        if place is None:
            return 0
        far = 0 if self.place is None else step(self._position, self.place, place)
        self.place = place
        return far

    def save(self) -> list[Any]:
        """The state for JSON."""
        return [self.distance, self.tick, None if self.place is None else list(self.place)]

    def load(self, state: list[Any]) -> None:
        """As it was when it was saved."""
        self.distance, self.tick, place = state
        self.place = None if place is None else (place[0], place[1])


class DistanceMachine:
    """Rows of one object in order in, the same rows with the distance travelled so far out (C11); keeps one place.

    A row without a place has the distance of the row before it. A row that no object under the speed limit could have
    reached from the last place is rejected, and counted. An object of which no row was taken for more than
    `forget_after` ticks is new again.
    """

    kind = "distance"
    held = 0

    def __init__(self, spec: PlaceSpec, forget_after: int | None = None) -> None:
        self.spec = spec
        self.forget_after = forget_after
        self.odometer = Odometer(spec)
        self.last: int | None = None

    @property
    def blank(self) -> bool:
        """Whether it is as good as new; only one that forgets says so."""
        return self.forget_after is not None and self.last is None

    @property
    def wake(self) -> int | None:
        """The tick at which the object is forgotten if nothing more comes in."""
        return None if self.forget_after is None or self.last is None else self.last + self.forget_after + 1

    def take(self, tick: int, rows: Sequence[Row]) -> list[Told]:
        """The rows of a tick with their distances."""
        self.advance(tick - 1)
        told, rejected = [], 0
        for row in rows:
            if self.odometer.move(tick, self.odometer.where(row)) is None:
                rejected += 1
            else:
                self.last = tick
                told.append(Told(tick, 1, True, self.odometer.distance, row))
        return [Told(tick, 0, False, rejected, None), *told] if rejected else told

    def advance(self, closed: int) -> list[Told]:
        """Nothing waits for a tick to close; but an object may be forgotten then."""
        if (wake := self.wake) is not None and wake <= closed:
            self.odometer, self.last = Odometer(self.spec), None
        return []

    def save(self) -> bytes:
        """The state as bytes."""
        last = [] if self.forget_after is None else [self.last]
        return encoding.save(self.kind, [*self.odometer.save(), *last])

    @classmethod
    def load(cls, spec: PlaceSpec, state: bytes, forget_after: int | None = None) -> DistanceMachine:
        """The machine as it was when it was saved."""
        machine = cls(spec, forget_after)
        saved = encoding.load(cls.kind, state)
        machine.odometer.load(saved[:3])
        if forget_after is not None:
            machine.last = saved[3]
        return machine
