"""The content of a map: tracks of objects, answer rows with their positions, slide marks and regions."""

from __future__ import annotations

from dataclasses import dataclass

from transom.model.geometry.regions import Polygon
from transom.model.types import Value

StopRanges = tuple[tuple[int, int], ...]
"""Ranges of stops of the time slider, first and last included."""


@dataclass(frozen=True, slots=True)
class TrackPoint:
    """One row of an object: tick, position, distance travelled, and whether the current window holds it.

    `held` are the stops of the time slider at which the current window holds it.
    """

    tick: int
    x: float
    y: float
    distance: int
    in_window: bool
    held: StopRanges = ()


@dataclass(frozen=True, slots=True)
class Track:
    """The rows of one object that have a position, in order; rows beyond its speed limit are in `rejected`."""

    extent: str
    name: str
    points: tuple[TrackPoint, ...]
    rejected: tuple[TrackPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A row of the answer with its positions: those of the objects in it, or the points that it contains.

    `ticks` are all ticks at which the answer has the row; it has no positions if it names neither an object nor a
    point. `is_current` is whether the row belongs to the latest answer, at the stops `current` of the time slider.
    """

    ticks: tuple[int, ...]
    values: tuple[tuple[str, Value], ...]
    names: tuple[str, ...]
    positions: tuple[tuple[float, float], ...]
    is_current: bool = True
    current: StopRanges = ()


@dataclass(frozen=True, slots=True)
class SlideMark:
    """A slide of a window by distance: its tick, the object's position then, and a label."""

    tick: int
    x: float
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class RegionShape:
    """The drawn shape of a region; `in_query` if the query names it."""

    name: str
    polygons: tuple[Polygon, ...]
    in_query: bool


@dataclass(frozen=True, slots=True)
class MapContent:
    """The content of a map. With `line`, positions have one coordinate, and y is the tick.

    Coordinates on the plane count `unit` micrometres. `windows` are the windows of the query as sentences, and
    `stops` the ticks of the time slider, of which the last is `at`.
    """

    tracks: tuple[Track, ...]
    marks: tuple[SlideMark, ...]
    regions: tuple[RegionShape, ...]
    at: int
    windows: tuple[str, ...]
    geodesic: bool
    line: bool
    unit: int = 1_000_000
    answers: tuple[AnswerRow, ...] = ()
    stops: tuple[int, ...] = ()


def stop_ranges(numbers: list[int]) -> StopRanges:
    """Convert ascending numbers of slider stops to pairs of the first and last number of each consecutive run.

    >>> stop_ranges([1, 2, 3, 7])
    ((1, 3), (7, 7))
    """
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return tuple(ranges)
