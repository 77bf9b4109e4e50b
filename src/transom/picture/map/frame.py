"""From coordinates to pixels: the part of the world that a map shows, its grid, and its scale bar."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from transom.model.geometry.geodesy import geodesic
from transom.model.geometry.regions import Ring
from transom.picture.map.content import MapContent, RegionShape, TrackPoint
from transom.picture.quantities import Clock, LengthUnit, round_numbers, round_step
from transom.picture.style import FADED, FAINT, INK, PANEL, WIDTH
from transom.picture.svg import Attribute, label, line, tag, text_width

LEFT, PLOT_WIDTH, MAX_HEIGHT, MIN_HEIGHT, LINE_HEIGHT = 66, WIDTH - 66 - 16, 720, 280, 420
MARGIN = 0.06
ROOM_FOR_REGIONS = 1.6
"""How much wider or higher a map may get, so that it shows a whole region that the query does not name."""

ROOM_FOR_REJECTED_ROWS = 1.15
"""The same for rows that are beyond the speed limit; the legend counts those that lie outside the map."""

HALO: dict[str, Attribute] = {
    "paint_order": "stroke",
    "stroke": "#ffffff",
    "stroke_width": 3.4,
    "stroke_linejoin": "round",
}
"""Attributes that keep text readable above tracks and regions."""


@dataclass(frozen=True, slots=True)
class MapFrame:
    """Maps coordinates to pixels; longitudes are unwrapped around `centre_longitude`, which is None on the plane.

    `left` and `top` are the coordinates of the plot's corner, whose y pixel is `plot_top`.
    """

    left: float
    top: float
    x_scale: float
    y_scale: float
    height: float
    centre_longitude: float | None
    plot_top: float

    @property
    def bottom(self) -> float:
        """The y pixel of the plot's lower edge."""
        return self.plot_top + self.height

    def x(self, value: float) -> float:
        """Convert an x coordinate or an (unwrapped) longitude to an x pixel."""
        return LEFT + (value - self.left) * self.x_scale

    def y(self, value: float) -> float:
        """Convert a y coordinate or a latitude to a y pixel."""
        return self.plot_top + (self.top - value) * self.y_scale

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        """Convert a single point to a pixel; its longitude is first shifted by 360 degrees if needed."""
        if self.centre_longitude is not None:
            x = unwrap_longitudes([x], self.centre_longitude)[0]
        return self.x(x), self.y(y)

    def pixels(self, points: Sequence[TrackPoint]) -> list[tuple[float, float]]:
        """Convert the points of a track to pixels."""
        return [(self.x(x), self.y(y)) for x, y in _unwrapped_line(points, self.centre_longitude)]

    def outline(self, ring: Ring) -> list[tuple[float, float]]:
        """Convert the border of a region to pixels."""
        return [(self.x(x), self.y(y)) for x, y in _unwrapped_ring(ring, self.centre_longitude)]


def unwrap_longitudes(values: Sequence[float], centre_longitude: float) -> list[float]:
    """Shift longitudes by 360 degrees where needed, so that a track across 180 degrees has no jump.

    The first is within 180 degrees of the centre.
    """
    unwrapped: list[float] = []
    previous = centre_longitude
    for value in values:
        while value - previous > 180.0:
            value -= 360.0
        while value - previous < -180.0:
            value += 360.0
        unwrapped.append(value)
        previous = value
    return unwrapped


def _unwrapped_line(points: Sequence[TrackPoint], centre_longitude: float | None) -> list[tuple[float, float]]:
    """Return track points as (x, y), unwrapped across 180 degrees; None as centre: a plane, nothing to unwrap.

    They are unchanged if the map has no centre longitude.
    """
    xs = [point.x for point in points]
    return list(
        zip(
            xs if centre_longitude is None else unwrap_longitudes(xs, centre_longitude),
            (point.y for point in points),
        )
    )


def _unwrapped_ring(ring: Ring, centre_longitude: float | None) -> list[tuple[float, float]]:
    """Return a region's border as (x, y), shifted by 360 degrees towards the map's centre (None: on the plane).

    It is unchanged if the map has no centre longitude.
    """
    if centre_longitude is None:
        return list(ring)
    middle = (min(x for x, _ in ring) + max(x for x, _ in ring)) / 2
    shift = unwrap_longitudes([middle], centre_longitude)[0] - middle
    return [(x + shift, y) for x, y in ring]


def fit_frame(content: MapContent, plot_top_y: float) -> MapFrame:
    """Fit a map's scale and height to all rows, named regions and near ones; `plot_top_y` is the plot's upper pixel."""
    named = [point for region in content.regions if region.in_query for point in _corners(region)]
    first = content.tracks[0].points[0].x if content.tracks else named[0][0] if named else 0.0
    centre_longitude = first if content.geodesic else None
    points = [xy for track in content.tracks for xy in _unwrapped_line(track.points, centre_longitude)]
    shapes = {region: _region_points(region, centre_longitude) for region in content.regions}
    points += [xy for region, border in shapes.items() if region.in_query for xy in border]
    points = points or [xy for border in shapes.values() for xy in border] or [(0.0, 0.0), (1.0, 1.0)]
    points = _with_neighbours(points, shapes.values(), ROOM_FOR_REGIONS)
    rejected = [[xy] for track in content.tracks for xy in _unwrapped_line(track.rejected, centre_longitude)]
    points = _with_neighbours(points, rejected, ROOM_FOR_REJECTED_ROWS)
    (low_x, low_y), (high_x, high_y) = _extremes(points)
    width, span = (high_x - low_x) or 1.0, (high_y - low_y) or 1.0
    left, top = low_x - width * MARGIN, high_y + span * MARGIN
    width, span = width * (1 + 2 * MARGIN), span * (1 + 2 * MARGIN)
    if content.line:
        scale = LINE_HEIGHT / span
        return MapFrame(left, top, PLOT_WIDTH / width, scale, LINE_HEIGHT, centre_longitude, plot_top_y)
    longitude_factor = math.cos(math.radians(min(80.0, abs(top - span / 2)))) if content.geodesic else 1.0
    height = min(MAX_HEIGHT, max(MIN_HEIGHT, PLOT_WIDTH * span / (width * longitude_factor)))
    scale = min(PLOT_WIDTH / (width * longitude_factor), height / span)
    spare_x, spare_y = PLOT_WIDTH / (scale * longitude_factor) - width, height / scale - span
    return MapFrame(
        left - spare_x / 2, top + spare_y / 2, scale * longitude_factor, scale, height, centre_longitude, plot_top_y
    )


def _with_neighbours(
    points: list[tuple[float, float]], shapes: Iterable[Sequence[tuple[float, float]]], max_growth: float
) -> list[tuple[float, float]]:
    """Return points whose box spans `points` and each shape that keeps it below `max_growth` times their box.

    Return points that span the new box.
    """
    widest = [span * max_growth for span in _spans(points)]
    for shape in shapes:
        wider = [*_extremes(points), *_extremes(shape)]
        if all(new <= most for new, most in zip(_spans(wider), widest)):
            points = wider
    return points


def _corners(region: RegionShape) -> list[tuple[float, float]]:
    """Return the points of the outer borders of a region."""
    return [point for polygon in region.polygons for point in polygon[0]]


def _region_points(region: RegionShape, centre_longitude: float | None) -> list[tuple[float, float]]:
    """Return a region's outer borders, shifted by 360 degrees towards the map's centre (None: on the plane)."""
    return [xy for polygon in region.polygons for xy in _unwrapped_ring(polygon[0], centre_longitude)]


def _extremes(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the lower left and the upper right corner of the box around points."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return (min(xs), min(ys)), (max(xs), max(ys))


def _spans(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the width and the height of the box around points."""
    (low_x, low_y), (high_x, high_y) = _extremes(points)
    return high_x - low_x, high_y - low_y


def draw_grid(frame: MapFrame, content: MapContent, clock: Clock) -> Iterator[str]:
    """Yield the background and the grid lines of a map, labelled with degrees, lengths or times."""
    yield tag("rect", x=LEFT, y=frame.plot_top, width=PLOT_WIDTH, height=frame.height, fill=PANEL)
    right, low_y = frame.left + PLOT_WIDTH / frame.x_scale, frame.top - frame.height / frame.y_scale
    unit = LengthUnit.for_span(max(right - frame.left, 0 if content.line else frame.top - low_y), content.unit)
    size = 1.0 if content.geodesic else unit.size
    for value in round_numbers(frame.left / size, right / size):
        x = frame.x(value * size)
        text = _degrees(value, "E", "W") if content.geodesic else f"{value:g} {unit.name}"
        yield line(x, frame.plot_top, x, frame.bottom, stroke=FAINT)
        yield label(x, frame.bottom + 17, text, text_anchor="middle", fill=FADED)
    if content.line:
        yield from _time_lines(frame, clock, low_y)
        return
    for value in round_numbers(low_y / size, frame.top / size):
        y = frame.y(value * size)
        text = _degrees(value, "N", "S") if content.geodesic else f"{value:g} {unit.name}"
        yield line(LEFT, y, LEFT + PLOT_WIDTH, y, stroke=FAINT)
        yield label(LEFT - 6, y + 4, text, text_anchor="end", fill=FADED)


def _time_lines(frame: MapFrame, clock: Clock, low: float) -> Iterator[str]:
    """Yield SVG lines and labels of the time axis of a map of one-dimensional positions, from tick `low` up."""
    for value in clock.round_ticks(math.ceil(low), math.floor(frame.top), 6):
        y = frame.y(value)
        yield line(LEFT, y, LEFT + PLOT_WIDTH, y, stroke=FAINT)
        yield label(LEFT - 6, y + 4, clock.text(value), text_anchor="end", fill=FADED)


def _degrees(value: float, positive: str, negative: str) -> str:
    """Format a longitude or latitude, such as `30°W`; `positive` and `negative` are letters, such as E and W."""
    value = math.remainder(value, 360.0) if positive == "E" else value
    return f"{abs(value):g}°{positive if value > 0 else negative if value < 0 else ''}"


@dataclass(frozen=True, slots=True)
class ScaleBar:
    """A bar of `pixels` that is as long as its text says, and the box that it takes on the map."""

    pixels: float
    text: str
    x: float
    y: float

    @property
    def box(self) -> tuple[float, float, float, float]:
        """The rectangle behind the scale bar, which labels avoid: left, top, right and bottom pixel."""
        return self.x - 8, self.y - 22, self.x + max(self.pixels, text_width(self.text)) + 8, self.y + 8

    def corners(self, frame: MapFrame) -> Iterator[ScaleBar]:
        """Yield the same scale bar in each corner of a map, beginning with the lower left one."""
        _, top, right, _ = self.box
        for y in (self.y, frame.plot_top + self.y - top + 6):
            yield replace(self, y=y)
            yield replace(self, x=LEFT + PLOT_WIDTH - (right - self.x) - 8, y=y)

    def draw(self) -> str:
        """Draw the scale bar with its length above it."""
        x, y, end = self.x, self.y, self.x + self.pixels
        left, top, right, bottom = self.box
        ground = tag("rect", x=left, y=top, width=right - left, height=bottom - top, rx=4, fill="#ffffff", opacity=0.8)
        shape = f"M{x:.1f} {y - 5:.1f}V{y:.1f}H{end:.1f}V{y - 5:.1f}"
        path = tag("path", d=shape, fill="none", stroke=INK, stroke_width=1.6)
        return tag("g", ground, path, label(x, y - 9, self.text, fill=INK), class_="scale-bar")


def scale_bar(frame: MapFrame, content: MapContent) -> ScaleBar:
    """Create the scale bar of a map, whose length is round and about a sixth of the map's width.

    For a globe it is the length at the map's middle latitude.
    """
    if content.geodesic:
        middle = max(-80.0, min(80.0, frame.top - frame.height / frame.y_scale / 2))
        metres_per_pixel = geodesic(0.0, middle, 1.0, middle) / frame.x_scale
        note = f" at {_degrees(round(middle), 'N', 'S')}"
    else:
        metres_per_pixel, note = content.unit / 1e6 / frame.x_scale, ""
    unit = LengthUnit.for_span(metres_per_pixel * 120, 1_000_000)
    if not content.geodesic and (own := LengthUnit.for_span(1.0, content.unit)).name not in ("km", "m", "mm"):
        unit = LengthUnit(own.name, content.unit / 1e6)
    length = round_step(metres_per_pixel * 60 / unit.size)
    text = f"{length:g} {unit.name}{note}"
    return ScaleBar(length * unit.size / metres_per_pixel, text, LEFT + 18, frame.bottom - 16)
