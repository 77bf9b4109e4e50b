"""Specification of the keyed-window machine: when it creates windows, what they hold, and what it emits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from transom.errors import PlanError
from transom.machines.aggregates.sliding import SlidingAggregateSpec
from transom.machines.windows.distance import PositionSpec

COORDINATES = ("tick", "index", "distance")
SLIDES = (*COORDINATES, "arrival", "inside", "change")
OUTPUTS = ("content", "changes", "aggregates")


@dataclass(frozen=True, slots=True)
class RangeSpec:
    """A range on a coordinate; at base b its ends are floor(b / step) * step + offset, both inclusive."""

    coordinate: str
    low: tuple[int, int]
    high: tuple[int, int]

    def __post_init__(self) -> None:
        """Raise PlanError for an unknown coordinate or a step below 1."""
        if self.coordinate not in COORDINATES or min(self.low[0], self.high[0]) < 1:
            raise PlanError("a range is of tick, index or distance, and its bounds have steps of at least 1")

    def ends(self, base: int) -> tuple[int, int]:
        """Lowest and highest coordinate, inclusive, of the rows in a window whose NOW (tick, index, ...) is `base`."""
        return bound_at(self.low, base), bound_at(self.high, base)


@dataclass(frozen=True, slots=True)
class KeyedWindowSpec:
    """When the windows of a key are created, what they hold, and what is emitted; serialized as JSON.

    `slide` is `tick`, `index` or `distance`: at the boundaries first, first + step, ...; `arrival`: at every tick with
    a row; `inside`: at every tick with a row whose flag is true; `change`: like `inside`, and when a row expires.
    A window holds the rows that are in all `ranges`; with a `flag`, only rows in which that column is true. Windows by
    tick run from `start` to `until`: from the first row of the key on or, if `eager`, from `start`. `position` is
    required for distances and paths. `output` is the `content` of a window, its `changes` or its `aggregates`. `tags`
    are appended to a row, and arguments of aggregates may refer to them. A key without a row for more than
    `forget_after` ticks is forgotten at the next tick; a later row creates it again.
    """

    slide: str
    ranges: tuple[RangeSpec, ...] = ()
    step: int = 1
    first: int = 0
    start: int = 0
    until: int | None = None
    eager: bool = False
    flag: int | None = None
    position: PositionSpec | None = None
    output: str = "content"
    tags: tuple[str, ...] = ()
    aggregates: tuple[SlidingAggregateSpec, ...] = ()
    forget_after: int | None = None

    def __post_init__(self) -> None:
        """Raise PlanError if settings contradict each other, such as windows by distance without position columns."""
        if self.slide not in SLIDES or self.output not in OUTPUTS or not set(self.tags) <= set(COORDINATES):
            raise PlanError("a lineage has a slide, an output or a tag that is unknown")
        if self.step < 1 or self.first < 0 or (self.forget_after is not None and self.forget_after < 0):
            raise PlanError("a lineage needs a step of at least 1, and no number below 0")
        if self.position is None and self._needs_position:
            raise PlanError("windows by distance need a position")
        if self.slide == "inside" and self.flag is None:
            raise PlanError("rows come inside only where a flag says so")
        if self.slide == "change" and any(
            r.coordinate != "tick" or (r.low[0], *r.high) != (1, 1, 0) for r in self.ranges
        ):
            raise PlanError("windows that come with a change have ranges of ticks up to now")
        if self.eager and self.forget_after is not None:
            raise PlanError("windows before the first row, and keys that are forgotten, do not go together")
        if bool(self.aggregates) != (self.output == "aggregates"):
            raise PlanError("a lineage has aggregates if these are told, and only then")

    @property
    def _needs_position(self) -> bool:
        """Whether a distance or a path length is computed, so that rows must have a position."""
        paths = any(aggregate.function == "path" for aggregate in self.aggregates)
        named = [self.slide, *self.tags, *(reach.coordinate for reach in self.ranges)]
        return paths or "distance" in named

    @property
    def boundaries(self) -> tuple[tuple[int, int, int, int], ...]:
        """Per range (period, origin, period, origin): its low end, then its high end, is always origin + n * period.

        They are period and origin of the low bound, then of the high bound.
        """
        return tuple(
            (*self._bound_values(reach, reach.low), *self._bound_values(reach, reach.high)) for reach in self.ranges
        )

    def _bound_values(self, range_spec: RangeSpec, bound: tuple[int, int]) -> tuple[int, int]:
        """Return (period, origin): a range's bound (step, offset) only takes the values origin + n * period."""
        step, offset = bound
        if range_spec.coordinate == self.slide and not self.step % step and not self.first % step:
            return self.step, self.first + offset
        return step, offset

    def boundary(self, least: int) -> int:
        """Return the least window boundary `first` + n * `step`, n >= 0, that is at least `least`."""
        return self.first + max(0, -(-(least - self.first) // self.step)) * self.step

    def to_json(self) -> str:
        """Return this keyed-window specification as the JSON that the Python and the Java implementation read."""
        ranges = [{"coordinate": r.coordinate, "low": list(r.low), "high": list(r.high)} for r in self.ranges]
        entries = {
            "machine": "lineage",
            "slide": self.slide,
            "ranges": ranges,
            "step": self.step,
            "first": self.first,
            "start": self.start,
            "until": self.until,
            "eager": self.eager,
            "flag": self.flag,
            "place": None if self.position is None else self.position.to_entries(),
            "output": self.output,
            "tags": list(self.tags),
            "aggregates": [{"function": a.function, "type": a.type, "argument": a.argument} for a in self.aggregates],
            "forget_after": self.forget_after,
            "shared": True,
        }
        return json.dumps(entries, separators=(",", ":"), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> KeyedWindowSpec:
        """Parse a keyed-window specification from the JSON that `to_json` wrote."""
        entries: dict[str, Any] = json.loads(text)
        entries["position"] = entries.pop("place")
        fields = {name: entries[name] for name in KeyedWindowSpec.__dataclass_fields__}
        ranges = tuple(RangeSpec(r["coordinate"], tuple(r["low"]), tuple(r["high"])) for r in entries["ranges"])
        position = None if fields["position"] is None else PositionSpec.from_entries(fields["position"])
        aggregates = tuple(SlidingAggregateSpec(**aggregate) for aggregate in entries["aggregates"])
        tags = tuple(entries["tags"])
        return KeyedWindowSpec(
            **{**fields, "ranges": ranges, "position": position, "aggregates": aggregates, "tags": tags}
        )


def bound_at(bound: tuple[int, int], base: int) -> int:
    """Return base // step * step + offset: the end, by `bound` (step, offset), of a range in a window at NOW `base`."""
    step, offset = bound
    return base // step * step + offset
