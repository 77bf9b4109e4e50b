"""A map as SVG: regions as areas, tracks coloured by object or speed, with the current window in full colour."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from transom.model.geometry.regions import Ring
from transom.model.time import Calendar
from transom.picture.map.tracks import MapContent, Track, TrackPoint
from transom.picture.style import FADED, FAINT, GREY, INK, PANEL, SANS, WIDTH
from transom.picture.svg import escape, label, line, number, shorten, tag, tooltip
from transom.picture.timeline.window_text import plural
from transom.reference.space_functions import kilometres_per_hour

Colour: TypeAlias = Literal["object", "speed"]

OBJECT_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#7b3294", "#444444")
SPEED_COLOURS = ("#2c4c9b", "#3a8fb7", "#57b894", "#e0b13c", "#d1495b")
REGION_FILL, REGION_EDGE = "#dcebe4", "#5f9d86"
MAX_DOTS = 4000
LEFT, TOP, PLOT_WIDTH, MAX_HEIGHT, MIN_HEIGHT, LEGEND_X = 70, 56, 760, 700, 260, 850
MAX_LEGEND_ENTRIES = 16


@dataclass(frozen=True, slots=True)
class MapFrame:
    """Maps coordinates to pixels; longitudes are unwrapped around `centre_longitude`, which is None on the plane."""

    left: float
    top: float
    x_scale: float
    y_scale: float
    height: float
    centre_longitude: float | None

    def x(self, value: float) -> float:
        """The x pixel of an x coordinate or (unwrapped) longitude."""
        return LEFT + (value - self.left) * self.x_scale

    def y(self, value: float) -> float:
        """The y pixel of a y coordinate or latitude."""
        return TOP + (self.top - value) * self.y_scale


def draw_map(content: MapContent, calendar: Calendar, colour: Colour, title: str) -> str:
    """Draw tracks and regions as a standalone SVG document; `colour` is whether colours mean objects or speeds."""
    frame = _fit_frame(content)
    bins = _SpeedBins.of(content, calendar)
    dense = sum(len(track.points) for track in content.tracks) > MAX_DOTS
    tracks = [
        _draw_track(frame, content, track, index, colour, bins, dense) for index, track in enumerate(content.tracks)
    ]
    body = [
        tag("rect", x=LEFT, y=TOP, width=PLOT_WIDTH, height=frame.height, fill=PANEL),
        *_graticule(frame, content),
        tag("g", *_draw_regions(frame, content), clip_path="url(#plot)"),
        tag("g", *_draw_slide_marks(frame, content)),
        tag("g", *tracks, clip_path="url(#plot)"),
        *_legend(content, colour, bins),
        label(LEFT, 24, shorten(title or "map", 90), size=15, fill=INK, font_weight="600"),
        label(LEFT, 43, _caption(content, calendar), fill=FADED),
    ]  # fmt: skip
    height = TOP + frame.height + 40
    clip = tag("clipPath", tag("rect", x=LEFT, y=TOP, width=PLOT_WIDTH, height=frame.height), id="plot")
    return tag(
        "svg",
        tag("rect", width=WIDTH, height=height, fill="#ffffff"),
        tag("defs", clip),
        *body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {number(height)}",
        width=WIDTH,
        height=height,
        font_family=SANS,
    )


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


def _fit_frame(content: MapContent) -> MapFrame:
    """Choose scale and height of a map so that all tracks fit, and all regions that the query names."""
    named_regions = [region for region in content.regions if region.in_query]
    rings = [polygon[0] for region in named_regions for polygon in region.polygons]
    first = content.tracks[0].points[0].x if content.tracks else rings[0][0][0] if rings else 0.0
    centre_longitude = first if content.geodesic else None
    xs = [x for track in content.tracks for x, _ in _unwrapped_line(track.points, centre_longitude)] + [
        x for ring in rings for x, _ in _unwrapped_ring(ring, centre_longitude)
    ]
    ys = [point.y for track in content.tracks for point in track.points] + [y for ring in rings for _, y in ring]
    if not xs:
        xs, ys = [0.0, 1.0], [0.0, 1.0]
    width, span = (max(xs) - min(xs)) or 1.0, (max(ys) - min(ys)) or 1.0
    left, top, width, span = min(xs) - width * 0.06, max(ys) + span * 0.06, width * 1.12, span * 1.12
    if content.line:
        return MapFrame(left, top, PLOT_WIDTH / width, 420 / span, 420, centre_longitude)
    longitude_factor = math.cos(math.radians(min(80.0, abs(top - span / 2)))) if content.geodesic else 1.0
    height = min(MAX_HEIGHT, max(MIN_HEIGHT, PLOT_WIDTH * span / (width * longitude_factor)))
    scale = min(PLOT_WIDTH / (width * longitude_factor), height / span)
    spare_x, spare_y = PLOT_WIDTH / (scale * longitude_factor) - width, height / scale - span
    return MapFrame(left - spare_x / 2, top + spare_y / 2, scale * longitude_factor, scale, height, centre_longitude)


def _unwrapped_line(track_points: Sequence[TrackPoint], centre_longitude: float | None) -> list[tuple[float, float]]:
    """The (x, y) of track points, without jumps of longitude at 180 degrees; unchanged if the centre is None."""
    xs = [point.x for point in track_points]
    return list(
        zip(
            xs if centre_longitude is None else unwrap_longitudes(xs, centre_longitude),
            (point.y for point in track_points),
        )
    )


def _unwrapped_ring(ring: Ring, centre_longitude: float | None) -> list[tuple[float, float]]:
    """A region's border, shifted by full turns next to the map's centre; unchanged if the centre is None."""
    if centre_longitude is None:
        return list(ring)
    middle = (min(x for x, _ in ring) + max(x for x, _ in ring)) / 2
    shift = unwrap_longitudes([middle], centre_longitude)[0] - middle
    return [(x + shift, y) for x, y in ring]


def _graticule(frame: MapFrame, content: MapContent) -> Iterator[str]:
    """Draw the grid lines of a map, labelled with coordinates, as SVG elements."""
    bottom = TOP + frame.height
    for value in _round_steps(frame.left, frame.left + PLOT_WIDTH / frame.x_scale):
        x = frame.x(value)
        yield line(x, TOP, x, bottom, stroke=FAINT)
        yield label(x, bottom + 16, _degrees(value, "E", "W") if content.geodesic else f"{value:g}",
                    text_anchor="middle", fill=FADED, size=10)  # fmt: skip
    for value in _round_steps(frame.top - frame.height / frame.y_scale, frame.top):
        y = frame.y(value)
        yield line(LEFT, y, LEFT + PLOT_WIDTH, y, stroke=FAINT)
        text = _degrees(value, "N", "S") if content.geodesic else f"tick {value:g}" if content.line else f"{value:g}"
        yield label(LEFT - 6, y + 3, text, text_anchor="end", fill=FADED, size=10)


def _round_steps(low: float, high: float) -> Iterator[float]:
    """About six round numbers between `low` and `high`, at which a map has grid lines."""
    step_hint = (high - low) / 6
    size = 10.0 ** math.floor(math.log10(step_hint))
    size *= next(factor for factor in (1, 2, 5, 10) if factor * size >= step_hint)
    for multiple in range(math.ceil(low / size), math.floor(high / size) + 1):
        yield round(multiple * size, 12)


def _degrees(value: float, positive: str, negative: str) -> str:
    """A longitude or latitude as text: `30°W`; `positive` and `negative` are the letters, such as E and W."""
    value = math.remainder(value, 360.0) if positive == "E" else value
    return f"{abs(value):g}°{positive if value > 0 else negative if value < 0 else ''}"


def _draw_regions(frame: MapFrame, content: MapContent) -> Iterator[str]:
    """Draw the regions of a map with their names, as SVG elements; regions that the query does not name are pale."""
    for region in content.regions:
        path = "".join(
            "M"
            + "L".join(
                f"{number(frame.x(x))} {number(frame.y(y))}" for x, y in _unwrapped_ring(ring, frame.centre_longitude)
            )
            + "Z"
            for polygon in region.polygons
            for ring in polygon
        )
        opacity = 0.95 if region.in_query else 0.45
        yield tag(
            "path",
            tooltip(region.name),
            d=path,
            fill=REGION_FILL,
            fill_rule="evenodd",
            stroke=REGION_EDGE,
            opacity=opacity,
        )
        corner = max(_unwrapped_ring(region.polygons[0][0], frame.centre_longitude), key=lambda xy: (xy[1], -xy[0]))
        x, y = max(LEFT + 6, frame.x(corner[0]) + 6), max(TOP + 14, frame.y(corner[1]) + 14)
        yield label(x, y, region.name, fill=REGION_EDGE, font_style="italic")


@dataclass(frozen=True, slots=True)
class _SpeedBins:
    """Colour bins of equal width for speeds in km/h, up to the 98th percentile."""

    calendar: Calendar
    top: float

    @staticmethod
    def of(content: MapContent, calendar: Calendar) -> _SpeedBins:
        """Choose the speeds at which a map's tracks change colour, from the speeds of all tracks."""
        bins = _SpeedBins(calendar, 1.0)
        speeds = sorted(bins.speed(start, end) for track in content.tracks for start, end in pairwise(track.points))
        percentile = speeds[int(len(speeds) * 0.98)] if speeds else 0.0
        return _SpeedBins(calendar, max(percentile, 1.0))

    def speed(self, start: TrackPoint, end: TrackPoint) -> float:
        """The average speed from one track point to the next, in km/h."""
        return kilometres_per_hour(end.distance - start.distance, max(1, end.tick - start.tick), self.calendar.length)

    def colour(self, start: TrackPoint, end: TrackPoint) -> str:
        """The colour of a track from one point to the next, by the speed between them."""
        return SPEED_COLOURS[min(len(SPEED_COLOURS) - 1, int(self.speed(start, end) / self.top * len(SPEED_COLOURS)))]


def _draw_track(
    frame: MapFrame, content: MapContent, track: Track, index: int, colour: Colour, bins: _SpeedBins, dense: bool
) -> str:
    """Draw a track, bold in the window, coloured by object `index` or speed (`bins`); `dense`: dots only in the window.

    `index` chooses its colour.
    """
    colour_code = OBJECT_COLOURS[index % len(OBJECT_COLOURS)]
    points = [(frame.x(x), frame.y(y)) for x, y in _unwrapped_line(track.points, frame.centre_longitude)]
    faint = 0.4 if content.windows else 0.9
    rejected_note = f"; {len(track.rejected)} rejected" if track.rejected else ""
    parts = [
        tooltip(f"{track.name}: {len(track.points)} rows, {track.points[-1].distance / 1e9:.3f} km{rejected_note}")
    ]
    for point in track.rejected:
        x = unwrap_longitudes([point.x], frame.centre_longitude)[0] if frame.centre_longitude is not None else point.x
        parts.append(
            _rejected_cross(frame.x(x), frame.y(point.y), tooltip(f"{track.name}, tick {point.tick}: beyond max_speed"))
        )
    for segment_colour, in_window, segment in _track_segments(track.points, points, colour, bins, colour_code):
        parts.append(_polyline(segment, segment_colour, 3.2 if in_window else 1.6, 0.95 if in_window else faint))
    for before, point, (x, y) in zip((track.points[0], *track.points), track.points, points):
        dot = bins.colour(before, point) if colour == "speed" else colour_code
        if point.in_window:
            parts.append(tag("circle", tooltip(f"{track.name}, tick {point.tick}"), cx=x, cy=y, r=3.4,
                             fill=dot, stroke="#ffffff", data_tick=point.tick))  # fmt: skip
        elif not dense:
            parts.append(tag("circle", cx=x, cy=y, r=1.7, fill=dot, opacity=faint, data_tick=point.tick))
    if points:
        x, y = points[-1]
        parts.append(tag("circle", cx=x, cy=y, r=5, fill="none", stroke=colour_code, stroke_width=1.6))
    return tag("g", *parts, class_="way")


def _rejected_cross(x: float, y: float, *content: str) -> str:
    """Draw a grey cross at a pixel for a row beyond the speed limit; `content` is SVG inside, such as a tooltip."""
    shape = f"M{number(x - 3)} {number(y - 3)}l6 6m0 -6l-6 6"
    return tag("path", *content, d=shape, fill="none", stroke=GREY, stroke_width=1.2, class_="rejected")


def _track_segments(
    track_points: Sequence[TrackPoint],
    points: Sequence[tuple[float, float]],
    colour: Colour,
    bins: _SpeedBins,
    colour_code: str,
) -> Iterator[tuple[str, bool, list[tuple[float, float]]]]:
    """Split a track (`points` are its pixels) where colour or being in the window changes: (colour, in it, pixels)."""
    appearance: tuple[str, bool] | None = None
    segment: list[tuple[float, float]] = []
    for (before, after), (start, end) in zip(pairwise(track_points), pairwise(points)):
        next_appearance = (
            bins.colour(before, after) if colour == "speed" else colour_code,
            before.in_window and after.in_window,
        )
        if next_appearance != appearance:
            if appearance is not None:
                yield (*appearance, segment)
            appearance, segment = next_appearance, [start]
        segment.append(end)
    if appearance is not None:
        yield (*appearance, segment)


def _polyline(points: Iterable[tuple[float, float]], colour_code: str, width: float, opacity: float) -> str:
    """The SVG polyline through pixels, for a part of a track."""
    path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return tag("polyline", points=path, fill="none", stroke=colour_code, stroke_width=width, stroke_linejoin="round",
               stroke_linecap="round", opacity=opacity)  # fmt: skip


def _draw_slide_marks(frame: MapFrame, content: MapContent) -> Iterator[str]:
    """Draw a diamond at each position where a window that slides by distance was created."""
    for mark in content.marks:
        x = frame.x(
            unwrap_longitudes([mark.x], frame.centre_longitude)[0] if frame.centre_longitude is not None else mark.x
        )
        shape = f"M{number(x)} {number(frame.y(mark.y) - 6)}l5 6l-5 6l-5 -6Z"
        yield tag(
            "path", tooltip(mark.label), d=shape, fill="#ffffff", stroke=INK, stroke_width=1.3, data_tick=mark.tick
        )


def _legend(content: MapContent, colour: Colour, bins: _SpeedBins) -> Iterator[str]:
    """Draw a map's legend: the colours of objects or speeds, and the symbols that occur."""
    y = TOP + 10.0
    if colour == "speed":
        yield label(LEGEND_X, y, "km/h", fill=FADED)
        for index, colour_code in enumerate(SPEED_COLOURS):
            y += 18
            yield line(LEGEND_X, y - 4, LEGEND_X + 22, y - 4, stroke=colour_code, stroke_width=3)
            yield label(LEGEND_X + 30, y, f"{bins.top * index / len(SPEED_COLOURS):.3g} and more", fill=INK)
    else:
        for index, track in enumerate(content.tracks[:MAX_LEGEND_ENTRIES]):
            yield line(
                LEGEND_X,
                y - 4,
                LEGEND_X + 22,
                y - 4,
                stroke=OBJECT_COLOURS[index % len(OBJECT_COLOURS)],
                stroke_width=3,
            )
            yield label(LEGEND_X + 30, y, shorten(track.name, 22), fill=INK)
            y += 18
        if len(content.tracks) > MAX_LEGEND_ENTRIES:
            yield label(LEGEND_X + 30, y, f"and {len(content.tracks) - MAX_LEGEND_ENTRIES} more", fill=FADED)
    y += 26
    if content.windows:
        yield tag("circle", cx=LEGEND_X + 11, cy=y - 4, r=3.4, fill=GREY, stroke="#ffffff")
        yield label(LEGEND_X + 30, y, "in the window", fill=INK)
        y += 18
    if content.marks:
        shape = f"M{LEGEND_X + 11} {number(y - 10)}l5 6l-5 6l-5 -6Z"
        yield tag("path", d=shape, fill="#ffffff", stroke=INK, stroke_width=1.3)
        yield label(LEGEND_X + 30, y, "the window slid", fill=INK)
        y += 18
    rejected = sum(len(track.rejected) for track in content.tracks)
    if rejected:
        yield _rejected_cross(LEGEND_X + 11, y - 4)
        yield label(LEGEND_X + 30, y, f"beyond max_speed: {plural(rejected, 'row')}", fill=INK)


def _caption(content: MapContent, calendar: Calendar) -> str:
    """The line below a map's title: the tick shown, its instant, and the windows of the query."""
    time = f"at tick {content.at}, {calendar.instant_of(content.at).isoformat(sep=' ')}"
    return shorten("; ".join([time, *content.windows]), 150)


def html_page(svg: str, title: str) -> str:
    """A self-contained HTML page with the SVG of a map, which the user can pan and zoom."""
    return _HTML_PAGE.replace("{title}", escape(title or "map")).replace("{svg}", svg)


_HTML_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>
body { margin: 0; background: #fff; font-family: system-ui, sans-serif; }
svg { width: 100vw; height: 100vh; cursor: grab; touch-action: none; }
.way:hover polyline { stroke-width: 5; opacity: 1; }
</style></head><body>
{svg}
<script>
const svg = document.querySelector("svg"), box = svg.viewBox.baseVal, whole = [box.x, box.y, box.width, box.height];
const at = (e) => new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
svg.addEventListener("wheel", (e) => {
  e.preventDefault();
  const k = Math.exp(e.deltaY / 500), p = at(e);
  box.x = p.x - (p.x - box.x) * k; box.y = p.y - (p.y - box.y) * k; box.width *= k; box.height *= k;
}, { passive: false });
let from = null;
svg.addEventListener("pointerdown", (e) => { from = at(e); svg.setPointerCapture(e.pointerId); });
svg.addEventListener("pointermove", (e) => {
  if (from) { const p = at(e); box.x += from.x - p.x; box.y += from.y - p.y; }
});
svg.addEventListener("pointerup", () => { from = null; });
svg.addEventListener("dblclick", () => { [box.x, box.y, box.width, box.height] = whole; });
</script></body></html>
"""
