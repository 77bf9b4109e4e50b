"""The legend below a map: the colours of objects or speeds, and the symbols that occur."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from transom.picture.map.colours import TrackColours
from transom.picture.map.content import MapContent
from transom.picture.map.frame import LEFT, PLOT_WIDTH, MapFrame
from transom.picture.style import EDGE, FADED, GREY, INK, WIDTH
from transom.picture.svg import Attribute, label, line, number, shorten, tag, text_width
from transom.picture.timeline.window_text import plural

MAX_LEGEND_ENTRIES = 16
LINE_HEIGHT = 21
SYMBOL_WIDTH = 22

Symbol = Callable[[float, float], list[str]]
"""Draws a symbol whose left end is at x, on the line at y."""


def cross(x: float, y: float, *content: str, **attributes: Attribute) -> str:
    """Draw a grey cross at a pixel for a row beyond the speed limit; `content` is SVG inside, such as a tooltip."""
    shape = f"M{number(x - 3)} {number(y - 3)}l6 6m0 -6l-6 6"
    return tag("path", *content, d=shape, fill="none", stroke=GREY, stroke_width=1.5, class_="rejected", **attributes)


def diamond(x: float, y: float, *content: str, **attributes: Attribute) -> str:
    """Return SVG of a diamond at a pixel, which marks a window made by distance; `content` is SVG inside."""
    shape = f"M{number(x)} {number(y - 5.5)}l4.5 5.5l-4.5 5.5l-4.5 -5.5Z"
    return tag("path", *content, d=shape, fill="#ffffff", stroke=INK, stroke_width=1.2, class_="mark", **attributes)


def draw_legend(
    content: MapContent, frame: MapFrame, colours: TrackColours, y: float, *, only_window_dots: bool
) -> tuple[list[str], float]:
    """Draw a map's legend from y pixel `y` on, without the dot of a row if `only_window_dots`; return SVG and end y."""
    parts: list[str] = []
    groups = [
        list(_colour_entries(content, colours)),
        list(_symbol_entries(content, frame, only_window_dots=only_window_dots)),
    ]
    for entries in groups:
        x = float(EDGE + 2)
        for symbol, text in entries:
            width = (SYMBOL_WIDTH + 7 if symbol else 0) + text_width(text, 12) + 16
            if x + width > WIDTH - EDGE and x > EDGE + 2:
                x, y = float(EDGE + 2), y + LINE_HEIGHT
            parts += symbol(x, y - 4) if symbol else []
            fill = INK if symbol else FADED
            parts.append(label(x + (SYMBOL_WIDTH + 7 if symbol else 0), y, text, size=12, fill=fill))
            x += width
        y += LINE_HEIGHT if entries else 0
    return parts, y


def _colour_entries(content: MapContent, colours: TrackColours) -> Iterator[tuple[Symbol | None, str]]:
    """Yield a map's legend entries on colours of tracks: the function that draws a symbol, or None, and a text."""
    if colours.mode == "speed":
        yield None, "speed in km/h:"
        for colour, text in colours.classes:
            yield _track_symbol(colour), text
        return
    for index, track in enumerate(content.tracks[:MAX_LEGEND_ENTRIES]):
        yield _track_symbol(colours.of_object(index)), shorten(track.name, 22)
    if len(content.tracks) > MAX_LEGEND_ENTRIES:
        yield None, f"and {len(content.tracks) - MAX_LEGEND_ENTRIES} more"


def _track_symbol(colour: str) -> Symbol:
    """Return the function that draws a track's symbol in the legend, a line in a colour such as `#1f77b4`."""
    return lambda x, y: [line(x, y, x + SYMBOL_WIDTH, y, stroke=colour, stroke_width=3, stroke_linecap="round")]


def _symbol_entries(
    content: MapContent, frame: MapFrame, *, only_window_dots: bool
) -> Iterator[tuple[Symbol | None, str]]:
    """Yield legend entries (drawing function or None, text) on symbols; `only_window_dots`: other rows have no dot."""
    middle = SYMBOL_WIDTH / 2
    if content.tracks:
        yield lambda x, y: [tag("circle", cx=x + middle, cy=y, r=4.4, fill="#ffffff", stroke=GREY,
                                stroke_width=2.4)], "latest row of an object"  # fmt: skip
    if content.tracks and not only_window_dots:
        yield lambda x, y: [tag("circle", cx=x + middle, cy=y, r=1.9, fill=GREY)], "a row"
    if content.windows:
        yield lambda x, y: [tag("circle", cx=x + middle, cy=y, r=3.6, fill=GREY)], "a row in the window"
    if content.marks:
        yield lambda x, y: [diamond(x + middle, y)], "a window was made here"
    yield from _answer_entries(content)
    rejected = [frame.pixel(point.x, point.y) for track in content.tracks for point in track.rejected]
    if rejected:
        outside = sum(not (LEFT <= x <= LEFT + PLOT_WIDTH and frame.plot_top <= y <= frame.bottom) for x, y in rejected)
        note = f", {outside} outside the map" if outside else ""
        yield lambda x, y: [cross(x + middle, y)], f"beyond max_speed: {plural(len(rejected), 'row')}{note}"


def _answer_entries(content: MapContent) -> Iterator[tuple[Symbol | None, str]]:
    """Yield legend entries (drawing function or None, text) on the rings of answer rows, with their counts.

    Rows without a position are counted too.
    """
    placed = [row for row in content.answers if row.positions]
    current, earlier = sum(row.is_current for row in placed), sum(not row.is_current for row in placed)
    if current:
        about = " about each object" if any(row.names for row in placed) else ""
        text = f"latest answer{about}" if earlier else "answer, with time"
        yield _ring_symbol(7.0, INK, 2.2), f"{text}: {plural(current, 'row')}"
    if earlier:
        yield _ring_symbol(5.5, FADED, 1.2), f"earlier answers: {plural(earlier, 'row')}"
    if any(len(row.positions) > 1 for row in placed):
        dashes: dict[str, Attribute] = {"stroke": INK, "stroke_width": 1.4, "stroke_dasharray": "4 3"}
        yield lambda x, y: [line(x, y, x + SYMBOL_WIDTH, y, **dashes)], "objects of the same answer row"
    if len(placed) < len(content.answers):
        yield None, f"{plural(len(content.answers) - len(placed), 'answer row')} without a position"


def _ring_symbol(radius: float, colour: str, width: float) -> Symbol:
    """Return the function that draws answer rows' symbol in the legend, a ring with line `width` in pixels."""
    return lambda x, y: [tag("circle", cx=x + SYMBOL_WIDTH / 2, cy=y, r=radius, fill="none", stroke=colour,
                             stroke_width=width)]  # fmt: skip
