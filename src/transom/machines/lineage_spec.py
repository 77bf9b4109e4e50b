"""What a lineage machine is told: when the windows of a key come, what they hold, and what is told of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from transom.errors import PlanError
from transom.machines.aggregates import SlideAggregate
from transom.machines.distance import PlaceSpec

COORDINATES = ("tick", "index", "distance")
SLIDES = (*COORDINATES, "arrival", "inside", "change")
OUTPUTS = ("content", "changes", "aggregates")


@dataclass(frozen=True, slots=True)
class Reach:
    """A range of a coordinate; at base b its ends are floor(b / step) * step + offset, and both belong to it."""

    coordinate: str
    low: tuple[int, int]
    high: tuple[int, int]

    def __post_init__(self) -> None:
        if self.coordinate not in COORDINATES or min(self.low[0], self.high[0]) < 1:
            raise PlanError("a range is of tick, index or distance, and its bounds have steps of at least 1")

    def ends(self, base: int) -> tuple[int, int]:
        """Its ends at a base."""
        return at(self.low, base), at(self.high, base)


@dataclass(frozen=True, slots=True)
class LineageSpec:
    """When the windows of a key come, what they hold, and what is told of them.

    `slide` is `tick`, `index` or `distance`: at the boundaries first, first + step, ...; `arrival`: at every tick with
    a row; `inside`: at every tick with a row that may be in a window; `change`: also when a row leaves by its age. A
    window holds the rows in all `ranges`, of those whose value at `flag` is true, if there is a flag. Windows by tick
    come from `start` to `until`, from the first row of the key on or, if `eager`, from the start. `place` is needed for
    distances and paths. What is told is the `content` of a window, its `changes`, or its `aggregates`; `tags` go to the
    end of a row, and arguments count them. A key without a row for more than `forget_after` ticks is forgotten at
    the next one, and new if it comes again. It travels as JSON.
    """

    slide: str
    ranges: tuple[Reach, ...] = ()
    step: int = 1
    first: int = 0
    start: int = 0
    until: int | None = None
    eager: bool = False
    flag: int | None = None
    place: PlaceSpec | None = None
    output: str = "content"
    tags: tuple[str, ...] = ()
    aggregates: tuple[SlideAggregate, ...] = ()
    forget_after: int | None = None

    def __post_init__(self) -> None:
        if self.slide not in SLIDES or self.output not in OUTPUTS or not set(self.tags) <= set(COORDINATES):
            raise PlanError("a lineage has a slide, an output or a tag that is unknown")
        if self.step < 1 or self.first < 0 or (self.forget_after is not None and self.forget_after < 0):
            raise PlanError("a lineage needs a step of at least 1, and no number below 0")
        if self.place is None and self._far:
            raise PlanError("a lineage with distances needs a place")
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
    def _far(self) -> bool:
        paths = any(aggregate.function == "path" for aggregate in self.aggregates)
        named = [self.slide, *self.tags, *(reach.coordinate for reach in self.ranges)]
        return paths or "distance" in named

    @property
    def apart(self) -> tuple[tuple[int, int, int, int], ...]:
        """Of each range, a period and an origin of the low bound, then of the high one: all values that it can have."""
        return tuple((*self._values(reach, reach.low), *self._values(reach, reach.high)) for reach in self.ranges)

    def _values(self, reach: Reach, bound: tuple[int, int]) -> tuple[int, int]:
        step, offset = bound
        if reach.coordinate == self.slide and not self.step % step and not self.first % step:
            return self.step, self.first + offset
        return step, offset

    def boundary(self, least: int) -> int:
        """The first boundary that is not below a number."""
        return self.first + max(0, -(-(least - self.first) // self.step)) * self.step

    def to_json(self) -> str:
        """The document that every implementation of the machine reads."""
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
            "place": None if self.place is None else self.place.to_entries(),
            "output": self.output,
            "tags": list(self.tags),
            "aggregates": [{"function": a.function, "type": a.type, "argument": a.argument} for a in self.aggregates],
            "forget_after": self.forget_after,
            "shared": True,
        }
        return json.dumps(entries, separators=(",", ":"), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> LineageSpec:
        """The specification in a document."""
        entries: dict[str, Any] = json.loads(text)
        kept = {name: entries[name] for name in LineageSpec.__dataclass_fields__}
        ranges = tuple(Reach(r["coordinate"], tuple(r["low"]), tuple(r["high"])) for r in entries["ranges"])
        place = None if entries["place"] is None else PlaceSpec.from_entries(entries["place"])
        aggregates = tuple(SlideAggregate(**aggregate) for aggregate in entries["aggregates"])
        tags = tuple(entries["tags"])
        return LineageSpec(**{**kept, "ranges": ranges, "place": place, "aggregates": aggregates, "tags": tags})


def at(bound: tuple[int, int], base: int) -> int:
    """The value of a bound at a base."""
    step, offset = bound
    return base // step * step + offset
