"""Draw the windows of a lane as bars from bound to bound, each with a creation mark; scans as diamonds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from transom.picture.style import BAR, EDGE, FADED, INK, PANEL, RIGHT, ROW, TEXT_HALO, WIDTH
from transom.picture.svg import label, line, tag, text_width, tooltip
from transom.picture.timeline.lanes import DrawnWindow, Lane
from transom.picture.timeline.pairs import JoinedLanes
from transom.picture.timeline.scale import Scale
from transom.picture.timeline.window_text import WindowBounds, plural

FADE_WIDTH = 3.0
FADE_STEPS = tuple(step / 13 for step in range(1, 13))


@dataclass(frozen=True, slots=True)
class BarBounds:
    """The pixels at which a bar starts and ends; `open` if it continues to the left of the picture."""

    start: float
    end: float
    open: bool

    @property
    def middle(self) -> float:
        """The x pixel of the middle of a window's bar, at which its number of tuples is written."""
        return (self.start + self.end) / 2


def bar_bounds(lane: Lane, window: DrawnWindow, scale: Scale) -> BarBounds:
    """Return the x pixels at which a window's bar starts and ends; the bar covers the window's first and last tick."""
    low, high = lane.ticks(window) or (window.created, window.created)
    low, high = min(low, high), max(low, high)
    edge = scale.start - 12
    start, end = scale.at(low) - scale.pad, scale.at(high) + scale.pad
    if low >= scale.left:
        return BarBounds(start, end, False)
    return BarBounds(edge, max(end, edge + FADE_WIDTH * 13), True)


def draw_window(
    lane: Lane,
    window: DrawnWindow,
    y: float,
    scale: Scale,
    colour: str,
    joined_lanes: JoinedLanes,
    drawn_tuples: Collection[int],
) -> str:
    """Draw a window's bar, with dots for `drawn_tuples` (indexes), its creation tick and joins with other windows.

    A tuple is marked in the bar only if its index is in `drawn_tuples`.
    """
    bar = bar_bounds(lane, window, scale)
    x = scale.at(window.created)
    parts = [tooltip(_tooltip_text(lane, window))]
    if joined_lanes.is_product:
        parts += _validity_line(window, y, scale, joined_lanes, colour)
    if x > bar.end + 1:
        middle = y + BAR / 2
        parts.append(line(bar.end, middle, x, middle, stroke=colour, stroke_width=1.6, stroke_dasharray="1.5 3.5"))
        parts.append(line(x, y + 1, x, y + BAR, stroke=INK, stroke_width=1.6))
    parts += _bar(bar, y, colour, is_empty=not window.rows)
    parts += _bar_content(window, bar, y, scale, colour, drawn_tuples)
    parts.append(_creation_mark(x, y + BAR))
    parts.append(_side_label(lane, window, max(x + 7, bar.end + 5), min(x - 7, bar.start - 5), y + BAR / 2 + 4))
    return tag(
        "g",
        *parts,
        class_="window",
        data_low=window.low,
        data_high=window.high,
        data_created=window.created,
        data_rows=window.rows,
        data_colour=colour,
    )


def _bar(bar: BarBounds, y: float, colour: str, *, is_empty: bool) -> list[str]:
    """Draw a window's bar, dashed if `is_empty` (no rows); it fades in if it begins left of the picture."""
    parts, start = [], bar.start
    if bar.open and not is_empty:
        for opacity in FADE_STEPS:
            parts.append(tag("rect", x=start, y=y, width=FADE_WIDTH, height=BAR, fill=colour, opacity=opacity))
            start += FADE_WIDTH
    width = max(bar.end - start, 2.0)
    if is_empty:
        parts.append(
            tag(
                "rect",
                class_="bar hollow",
                x=start + 0.8,
                y=y + 0.8,
                width=width - 1.6,
                height=BAR - 1.6,
                rx=4,
                fill="white",
                stroke=colour,
                stroke_width=1.6,
                stroke_dasharray="4 2.5",
            )
        )
        if bar.open:
            parts.append(label(start + 4, y + 12.5, "←", fill=colour))
    else:
        rounded = None if bar.open else 4
        parts.append(tag("rect", class_="bar", x=start, y=y, width=width, height=BAR, rx=rounded, fill=colour))
    return parts


def _bar_content(
    window: DrawnWindow, bar: BarBounds, y: float, scale: Scale, colour: str, drawn_tuples: Collection[int]
) -> list[str]:
    """Draw in a window's bar its number of tuples, and dots at ticks of tuples whose index is in `drawn_tuples`.

    `drawn_tuples` are the indexes of tuples.
    """
    parts, next_x = [], float("-inf")
    for tick in sorted({element.tick for element in window.members if element.index in drawn_tuples}):
        if scale.at(tick) >= next_x:
            parts.append(tag("circle", cx=scale.at(tick), cy=y + BAR - 3.1, r=1.8, fill="white", class_="member"))
            next_x = scale.at(tick) + 3
    count = str(window.rows)
    count_x = max(bar.start + FADE_WIDTH * 9, bar.middle) if bar.open else bar.middle
    fill = "white" if window.rows else colour
    count_y = 10.9 if window.rows else 12.8
    parts.append(
        label(
            count_x, y + count_y, count, size=11.5, font_weight="bold", text_anchor="middle", fill=fill, class_="count"
        )
    )
    return parts


def _creation_mark(x: float, y: float) -> str:
    """Draw the mark of a window's creation: a triangle below its bar, whose tip is at (x, y)."""
    points = f"{x:.1f},{y:.1f} {x - 4.5:.1f},{y + 7:.1f} {x + 4.5:.1f},{y + 7:.1f}"
    return tag("polygon", points=points, fill=INK, class_="creation")


def _validity_line(window: DrawnWindow, y: float, scale: Scale, joined_lanes: JoinedLanes, colour: str) -> list[str]:
    """Return SVG: a line from a window's creation to its replacement, with a dot at each join with a new window.

    It is paired again when another lane of its FROM clause has a new window.
    """
    level = y + BAR + 4.5
    end = RIGHT + 12 if window.superseded is None else scale.at(window.superseded)
    parts = [line(scale.at(window.created), level, end, level, stroke=colour, stroke_width=2, opacity=0.45)]
    for tick in joined_lanes.ticks_of(window):
        parts.append(pair_dot(scale.at(tick), level, joined_lanes.colours[tick], tick))
    return parts


def pair_dot(x: float, y: float, colour: str, tick: int) -> str:
    """Draw the dot for an older window that is joined at this tick with a new window of another source."""
    return tag(
        "circle",
        tooltip(f"paired again at tick {tick}"),
        cx=x,
        cy=y,
        r=4,
        fill=colour,
        stroke=PANEL,
        stroke_width=1.2,
        class_="pair",
        data_tick=tick,
    )


def _side_labels(lane: Lane, window: DrawnWindow) -> list[str]:
    """Return texts that may be written beside a window's bar, the longest first; the first that fits is used."""
    created = f"created at {window.created}"
    if not lane.counts_rows:
        return [created]
    rows = "no row"
    if window.members:
        first, last = window.members[0].index, window.members[-1].index
        rows = f"row {first}" if first == last else f"rows {first} to {last}"
    return [f"{rows}, {created}", rows]


def _side_label(lane: Lane, window: DrawnWindow, right: float, left: float, y: float) -> str:
    """Write beside a window's bar when it was created, from pixel `right` on or, without room, up to pixel `left`.

    `right` and `left` are the pixels at which the text begins or ends.
    """
    for text in _side_labels(lane, window):
        if right + text_width(text) < WIDTH - EDGE:
            return label(right, y, text, fill=FADED, **TEXT_HALO)
        if left - text_width(text) > EDGE:
            return label(left, y, text, text_anchor="end", fill=FADED, **TEXT_HALO)
    return ""


def _tooltip_text(lane: Lane, window: DrawnWindow) -> str:
    """Return the tooltip of a window, which says its creation tick, bounds and number of tuples."""
    unit = "rows" if lane.counts_rows else "ticks"
    content = plural(window.rows, "tuple")
    return f"window created at tick {window.created}, {unit} {window.low} to {window.high}, holds {content}"


def draw_scans(lane: Lane, y: float, scale: Scale, joined_lanes: JoinedLanes) -> list[str]:
    """Draw the scans of a table as diamonds, each with a line until the next scan, and a dot at each join.

    A dot is where a join uses a scan again.
    """
    parts = []
    level = y + ROW / 2
    for number, window in enumerate(lane.windows):
        colour = joined_lanes.colour_of(window, number)
        x, end = scale.at(window.created), RIGHT + 12 if window.superseded is None else scale.at(window.superseded)
        inner = [tooltip(f"scanned at tick {window.created}: {plural(window.rows, 'row')}")]
        inner.append(line(x, level, end, level, stroke=colour, stroke_width=5, opacity=0.35))
        inner += [
            pair_dot(scale.at(tick), level, joined_lanes.colours[tick], tick) for tick in joined_lanes.ticks_of(window)
        ]
        points = f"{x:.1f},{level - 9:.1f} {x + 9:.1f},{level:.1f} {x:.1f},{level + 9:.1f} {x - 9:.1f},{level:.1f}"
        inner.append(
            tag(
                "polygon",
                points=points,
                fill=colour if window.rows else "white",
                stroke=colour,
                stroke_width=1.6,
                class_="bar" if window.rows else "bar hollow",
            )
        )
        text = plural(window.rows, "row")
        if end - x > text_width(text) + 16:
            inner.append(label(x + 12, level - 7, text, fill=FADED))
        parts.append(
            tag(
                "g",
                *inner,
                class_="window scan",
                data_low=window.low,
                data_high=window.high,
                data_created=window.created,
                data_rows=window.rows,
                data_colour=colour,
            )
        )
    return parts


def draw_bounds(lane: Lane, window: DrawnWindow, window_bounds: WindowBounds, y: float, scale: Scale) -> list[str]:
    """Label the bounds of an example window below its bar, as in its window clause: `NOW-5 MIN = 300`."""
    bounds = [(window.created, "NOW")]
    if window_bounds.high:
        bounds.append((window.high, window_bounds.unit.at(window_bounds.high)))
    if window_bounds.low != window_bounds.high:
        bounds.append((window.low, window_bounds.unit.at(window_bounds.low)))
    parts: list[str] = []
    off_picture: list[str] = []
    right_limit = float("inf")
    for tick, term in bounds:
        x, text = scale.at(tick), f"{term} = {tick}"
        half_width = text_width(text, 11.5) / 2
        if tick < scale.left:
            off_picture.insert(0, text)
        elif x + half_width <= right_limit:
            middle = min(max(x, EDGE + 4 + half_width), WIDTH - EDGE - 4 - half_width)
            parts.append(label(middle, y, text, size=11.5, text_anchor="middle", fill=INK, class_="bound"))
            right_limit = x - half_width - 4
    text = f"← {', '.join(off_picture)}"
    if off_picture and scale.start + text_width(text, 11.5) < right_limit:
        parts.append(label(scale.start - 10, y, text, size=11.5, fill=INK, class_="bound"))
    return parts
