"""A map as SVG: regions as areas, ways as lines coloured by object or by speed, the window in force in full colour."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from transom.model.regions import Ring
from transom.model.time import Calendar
from transom.picture.look import FADED, FAINT, GREY, INK, PANEL, SANS, WIDTH
from transom.picture.svg import escape, hint, label, line, number, shortened, tag
from transom.picture.ways import Spot, Way, Ways
from transom.picture.words import plural
from transom.reference.space_functions import kilometres_per_hour

Colour: TypeAlias = Literal["object", "speed"]

OBJECTS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#7b3294", "#444444")
SPEEDS = ("#2c4c9b", "#3a8fb7", "#57b894", "#e0b13c", "#d1495b")
LAND, LAND_EDGE = "#dcebe4", "#5f9d86"
MOST_DOTS = 4000
LEFT, TOP, PLOT, TALLEST, SMALLEST, SIDE = 70, 56, 760, 700, 260, 850
LISTED = 16


@dataclass(frozen=True, slots=True)
class Frame:
    """How places lie on the paper; `turn` is the longitude around which others are unwound."""

    left: float
    top: float
    across: float
    along: float
    height: float
    turn: float | None

    def x(self, value: float) -> float:
        """How far to the right."""
        return LEFT + (value - self.left) * self.across

    def y(self, value: float) -> float:
        """How far down."""
        return TOP + (self.top - value) * self.along


def draw_map(ways: Ways, calendar: Calendar, colour: Colour, title: str) -> str:
    """A standalone SVG document."""
    frame = _frame(ways)
    bins = _Bins.of(ways, calendar)
    dense = sum(len(way.spots) for way in ways.ways) > MOST_DOTS
    body = [
        tag("rect", x=LEFT, y=TOP, width=PLOT, height=frame.height, fill=PANEL),
        *_graticule(frame, ways),
        tag("g", *_lands(frame, ways), clip_path="url(#plot)"),
        tag("g", *_marks(frame, ways)),
        tag("g", *(_way(frame, ways, way, place, colour, bins, dense) for place, way in enumerate(ways.ways)),
            clip_path="url(#plot)"),
        *_legend(ways, colour, bins),
        label(LEFT, 24, shortened(title or "map", 90), size=15, fill=INK, font_weight="600"),
        label(LEFT, 43, _caption(ways, calendar), fill=FADED),
    ]  # fmt: skip
    height = TOP + frame.height + 40
    clip = tag("clipPath", tag("rect", x=LEFT, y=TOP, width=PLOT, height=frame.height), id="plot")
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


def unwound(values: Sequence[float], turn: float) -> list[float]:
    """Longitudes without jumps, the first of them within half a turn of another longitude."""
    found: list[float] = []
    before = turn
    for value in values:
        while value - before > 180.0:
            value -= 360.0
        while value - before < -180.0:
            value += 360.0
        found.append(value)
        before = value
    return found


def _frame(ways: Ways) -> Frame:
    """The frame around all ways and the regions of the query; around all regions if it names none."""
    named = [land for land in ways.lands if land.asked]
    rings = [polygon[0] for land in named for polygon in land.polygons]
    first = ways.ways[0].spots[0].x if ways.ways else rings[0][0][0] if rings else 0.0
    turn = first if ways.geodesic else None
    xs = [x for way in ways.ways for x, _ in _line(way.spots, turn)] + [x for r in rings for x, _ in _ring(r, turn)]
    ys = [spot.y for way in ways.ways for spot in way.spots] + [y for ring in rings for _, y in ring]
    if not xs:
        xs, ys = [0.0, 1.0], [0.0, 1.0]
    wide, high = (max(xs) - min(xs)) or 1.0, (max(ys) - min(ys)) or 1.0
    left, top, wide, high = min(xs) - wide * 0.06, max(ys) + high * 0.06, wide * 1.12, high * 1.12
    if ways.line:
        return Frame(left, top, PLOT / wide, 420 / high, 420, turn)
    squeeze = math.cos(math.radians(min(80.0, abs(top - high / 2)))) if ways.geodesic else 1.0
    height = min(TALLEST, max(SMALLEST, PLOT * high / (wide * squeeze)))
    scale = min(PLOT / (wide * squeeze), height / high)
    spare_x, spare_y = PLOT / (scale * squeeze) - wide, height / scale - high
    return Frame(left - spare_x / 2, top + spare_y / 2, scale * squeeze, scale, height, turn)


def _line(spots: Sequence[Spot], turn: float | None) -> list[tuple[float, float]]:
    xs = [spot.x for spot in spots]
    return list(zip(xs if turn is None else unwound(xs, turn), (spot.y for spot in spots)))


def _ring(ring: Ring, turn: float | None) -> list[tuple[float, float]]:
    """A ring of a region moved by full turns; its corners are unwound already."""
    if turn is None:
        return list(ring)
    middle = (min(x for x, _ in ring) + max(x for x, _ in ring)) / 2
    moved = unwound([middle], turn)[0] - middle
    return [(x + moved, y) for x, y in ring]


def _graticule(frame: Frame, ways: Ways) -> Iterator[str]:
    bottom = TOP + frame.height
    for value in _nice(frame.left, frame.left + PLOT / frame.across):
        x = frame.x(value)
        yield line(x, TOP, x, bottom, stroke=FAINT)
        yield label(x, bottom + 16, _degrees(value, "E", "W") if ways.geodesic else f"{value:g}",
                    text_anchor="middle", fill=FADED, size=10)  # fmt: skip
    for value in _nice(frame.top - frame.height / frame.along, frame.top):
        y = frame.y(value)
        yield line(LEFT, y, LEFT + PLOT, y, stroke=FAINT)
        words = _degrees(value, "N", "S") if ways.geodesic else f"tick {value:g}" if ways.line else f"{value:g}"
        yield label(LEFT - 6, y + 3, words, text_anchor="end", fill=FADED, size=10)


def _nice(low: float, high: float) -> Iterator[float]:
    """About six round numbers between two others."""
    raw = (high - low) / 6
    size = 10.0 ** math.floor(math.log10(raw))
    size *= next(factor for factor in (1, 2, 5, 10) if factor * size >= raw)
    for place in range(math.ceil(low / size), math.floor(high / size) + 1):
        yield round(place * size, 12)


def _degrees(value: float, positive: str, negative: str) -> str:
    value = math.remainder(value, 360.0) if positive == "E" else value
    return f"{abs(value):g}°{positive if value > 0 else negative if value < 0 else ''}"


def _lands(frame: Frame, ways: Ways) -> Iterator[str]:
    for land in ways.lands:
        path = "".join(
            "M" + "L".join(f"{number(frame.x(x))} {number(frame.y(y))}" for x, y in _ring(ring, frame.turn)) + "Z"
            for polygon in land.polygons
            for ring in polygon
        )
        strong = 0.95 if land.asked else 0.45
        yield tag("path", hint(land.name), d=path, fill=LAND, fill_rule="evenodd", stroke=LAND_EDGE, opacity=strong)
        corner = max(_ring(land.polygons[0][0], frame.turn), key=lambda place: (place[1], -place[0]))
        x, y = max(LEFT + 6, frame.x(corner[0]) + 6), max(TOP + 14, frame.y(corner[1]) + 14)
        yield label(x, y, land.name, fill=LAND_EDGE, font_style="italic")


@dataclass(frozen=True, slots=True)
class _Bins:
    """Speeds in km/h in a few steps of equal width, up to the one that nearly all stay below."""

    calendar: Calendar
    top: float

    @staticmethod
    def of(ways: Ways, calendar: Calendar) -> _Bins:
        bins = _Bins(calendar, 1.0)
        speeds = sorted(bins.speed(a, b) for way in ways.ways for a, b in pairwise(way.spots))
        most = speeds[int(len(speeds) * 0.98)] if speeds else 0.0
        return _Bins(calendar, max(most, 1.0))

    def speed(self, a: Spot, b: Spot) -> float:
        return kilometres_per_hour(b.distance - a.distance, max(1, b.tick - a.tick), self.calendar.length)

    def colour(self, a: Spot, b: Spot) -> str:
        return SPEEDS[min(len(SPEEDS) - 1, int(self.speed(a, b) / self.top * len(SPEEDS)))]


def _way(frame: Frame, ways: Ways, way: Way, place: int, colour: Colour, bins: _Bins, dense: bool) -> str:
    """One object: its way, thin where the window in force does not hold it, and its rows as dots."""
    paint = OBJECTS[place % len(OBJECTS)]
    points = [(frame.x(x), frame.y(y)) for x, y in _line(way.spots, frame.turn)]
    faint = 0.4 if ways.windows else 0.9
    beyond = f"; {len(way.rejected)} rejected" if way.rejected else ""
    parts = [hint(f"{way.name}: {len(way.spots)} rows, {way.spots[-1].distance / 1e9:.3f} km{beyond}")]
    for spot in way.rejected:
        x = unwound([spot.x], frame.turn)[0] if frame.turn is not None else spot.x
        parts.append(_cross(frame.x(x), frame.y(spot.y), hint(f"{way.name}, tick {spot.tick}: beyond max_speed")))
    for paint_of, held, run in _runs(way.spots, points, colour, bins, paint):
        parts.append(_polyline(run, paint_of, 3.2 if held else 1.6, 0.95 if held else faint))
    for before, spot, (x, y) in zip((way.spots[0], *way.spots), way.spots, points):
        dot = bins.colour(before, spot) if colour == "speed" else paint
        if spot.held:
            parts.append(tag("circle", hint(f"{way.name}, tick {spot.tick}"), cx=x, cy=y, r=3.4,
                             fill=dot, stroke="#ffffff", data_tick=spot.tick))  # fmt: skip
        elif not dense:
            parts.append(tag("circle", cx=x, cy=y, r=1.7, fill=dot, opacity=faint, data_tick=spot.tick))
    if points:
        x, y = points[-1]
        parts.append(tag("circle", cx=x, cy=y, r=5, fill="none", stroke=paint, stroke_width=1.6))
    return tag("g", *parts, class_="way")


def _cross(x: float, y: float, *content: str) -> str:
    """A row that was rejected."""
    shape = f"M{number(x - 3)} {number(y - 3)}l6 6m0 -6l-6 6"
    return tag("path", *content, d=shape, fill="none", stroke=GREY, stroke_width=1.2, class_="rejected")


def _runs(
    spots: Sequence[Spot], points: Sequence[tuple[float, float]], colour: Colour, bins: _Bins, paint: str
) -> Iterator[tuple[str, bool, list[tuple[float, float]]]]:
    """A way cut where its colour changes, or where it comes into the window or leaves it."""
    look: tuple[str, bool] | None = None
    run: list[tuple[float, float]] = []
    for (a, b), (start, end) in zip(pairwise(spots), pairwise(points)):
        new = (bins.colour(a, b) if colour == "speed" else paint, a.held and b.held)
        if new != look:
            if look is not None:
                yield (*look, run)
            look, run = new, [start]
        run.append(end)
    if look is not None:
        yield (*look, run)


def _polyline(points: Iterable[tuple[float, float]], paint: str, width: float, opacity: float) -> str:
    path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return tag("polyline", points=path, fill="none", stroke=paint, stroke_width=width, stroke_linejoin="round",
               stroke_linecap="round", opacity=opacity)  # fmt: skip


def _marks(frame: Frame, ways: Ways) -> Iterator[str]:
    for mark in ways.marks:
        x = frame.x(unwound([mark.x], frame.turn)[0] if frame.turn is not None else mark.x)
        shape = f"M{number(x)} {number(frame.y(mark.y) - 6)}l5 6l-5 6l-5 -6Z"
        yield tag("path", hint(mark.words), d=shape, fill="#ffffff", stroke=INK, stroke_width=1.3, data_tick=mark.tick)


def _legend(ways: Ways, colour: Colour, bins: _Bins) -> Iterator[str]:
    y = TOP + 10.0
    if colour == "speed":
        yield label(SIDE, y, "km/h", fill=FADED)
        for place, paint in enumerate(SPEEDS):
            y += 18
            yield line(SIDE, y - 4, SIDE + 22, y - 4, stroke=paint, stroke_width=3)
            yield label(SIDE + 30, y, f"{bins.top * place / len(SPEEDS):.3g} and more", fill=INK)
    else:
        for place, way in enumerate(ways.ways[:LISTED]):
            yield line(SIDE, y - 4, SIDE + 22, y - 4, stroke=OBJECTS[place % len(OBJECTS)], stroke_width=3)
            yield label(SIDE + 30, y, shortened(way.name, 22), fill=INK)
            y += 18
        if len(ways.ways) > LISTED:
            yield label(SIDE + 30, y, f"and {len(ways.ways) - LISTED} more", fill=FADED)
    y += 26
    if ways.windows:
        yield tag("circle", cx=SIDE + 11, cy=y - 4, r=3.4, fill=GREY, stroke="#ffffff")
        yield label(SIDE + 30, y, "in the window", fill=INK)
        y += 18
    if ways.marks:
        shape = f"M{SIDE + 11} {number(y - 10)}l5 6l-5 6l-5 -6Z"
        yield tag("path", d=shape, fill="#ffffff", stroke=INK, stroke_width=1.3)
        yield label(SIDE + 30, y, "the window slid", fill=INK)
        y += 18
    rejected = sum(len(way.rejected) for way in ways.ways)
    if rejected:
        yield _cross(SIDE + 11, y - 4)
        yield label(SIDE + 30, y, f"beyond max_speed: {plural(rejected, 'row')}", fill=INK)


def _caption(ways: Ways, calendar: Calendar) -> str:
    when = f"at tick {ways.at}, {calendar.instant_of(ways.at).isoformat(sep=' ')}"
    return shortened("; ".join([when, *ways.windows]), 150)


def page(svg: str, title: str) -> str:
    """A page that holds the drawing and lets it be moved and enlarged; it loads nothing."""
    return _PAGE.replace("{title}", escape(title or "map")).replace("{svg}", svg)


_PAGE = """<!DOCTYPE html>
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
