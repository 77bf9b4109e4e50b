"""The colours of tracks: one for each object, or by speed in round steps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from transom.model.time import Calendar
from transom.picture.map.content import MapContent, Track, TrackPoint
from transom.picture.quantities import class_width
from transom.reference.space_functions import kilometres_per_hour

Colour: TypeAlias = Literal["object", "speed"]

OBJECT_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#7b3294", "#444444")
SPEED_COLOURS = ("#e3a92f", "#dd7440", "#b94a66", "#7c3a7f", "#3a2a63")
"""From slow to fast: ever darker, so that the order is seen with any kind of colour vision, and in grey."""


@dataclass(frozen=True, slots=True)
class TrackColours:
    """The colour of each piece of a track; `step` is the width of a class of speeds in km/h."""

    mode: Colour
    calendar: Calendar
    step: float

    @staticmethod
    def of(content: MapContent, calendar: Calendar, mode: Colour) -> TrackColours:
        """Choose the colours of a map's tracks: by object, or by classes of speed with round limits."""
        speeds = sorted(
            _speed(start, end, calendar) for track in content.tracks for start, end in pairwise(track.points)
        )
        top = speeds[int(len(speeds) * 0.95)] if speeds else 0.0
        return TrackColours(mode, calendar, class_width(max(top, 0.05) / (len(SPEED_COLOURS) - 1)))

    def of_object(self, number: int) -> str:
        """Return the colour of an object, given its index in the map's list of tracks."""
        return OBJECT_COLOURS[number % len(OBJECT_COLOURS)]

    def of_piece(self, number: int, start: TrackPoint, end: TrackPoint) -> str:
        """Return the colour of the track from `start` to `end`, by speed or by its object's index `number`."""
        if self.mode == "object":
            return self.of_object(number)
        level = int(_speed(start, end, self.calendar) / self.step)
        return SPEED_COLOURS[min(len(SPEED_COLOURS) - 1, level)]

    def of_points(self, number: int, track: Track) -> list[str]:
        """Return a colour per point of a track, that of the piece ending there; `number` is the object's index.

        The first point has the colour of the piece that begins there.
        """
        before = (track.points[0], *track.points)
        if len(track.points) > 1:
            first = self.of_piece(number, track.points[0], track.points[1])
            return [first, *(self.of_piece(number, *piece) for piece in pairwise(track.points))]
        return [self.of_piece(number, *piece) for piece in zip(before, track.points)]

    @property
    def classes(self) -> list[tuple[str, str]]:
        """The classes of speed for the legend, as pairs of colour and range in km/h, such as `10 – 20`."""
        limits = [f"{self.step * number:g}" for number in range(len(SPEED_COLOURS))]
        texts = [f"{low} – {high}" for low, high in pairwise(limits)] + [f"{limits[-1]} or more"]
        return list(zip(SPEED_COLOURS, texts))


def _speed(start: TrackPoint, end: TrackPoint, calendar: Calendar) -> float:
    """Return the average speed from one track point to the next, in km/h."""
    return kilometres_per_hour(end.distance - start.distance, max(1, end.tick - start.tick), calendar.length)
