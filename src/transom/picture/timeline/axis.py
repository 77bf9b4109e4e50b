"""The time axis at the bottom of a picture, and the legend below it."""

from __future__ import annotations

from collections.abc import Sequence

from transom.model.time import Calendar
from transom.picture.quantities import Clock, format_ticks
from transom.picture.style import BAR, FADED, GREY, INK, LEFT, RIGHT, WIDTH
from transom.picture.svg import label, line, tag, text_width
from transom.picture.timeline.pairs import PALETTE, UNPAIRED_COLOUR
from transom.picture.timeline.scale import Scale
from transom.picture.timeline.span import DrawnSpan

LEGEND_LINE_HEIGHT = 20


def draw_axis(y: float, scale: Scale, span: DrawnSpan, calendar: Calendar, rhythm: int = 0) -> tuple[str, float]:
    """Draw the tick axis at y pixel `y`, numbered in step with `rhythm` ticks (0: any); return SVG and the y below.

    `rhythm` is the greatest common divisor of windows' creation ticks. A long axis has times below its numbers.
    """
    clock = Clock(calendar, span.first, span.last)
    by_clock = calendar.length != 1_000_000 or span.last - span.first > 120
    parts = _axis_line(y)
    spacing = max(76 if by_clock else 44, text_width(str(scale.right), 12.5) + 14)
    for tick in scale.numbers(calendar, spacing, rhythm):
        x = scale.at(tick)
        colour = INK if tick >= scale.first else FADED
        parts.append(line(x, y, x, y + 5, stroke=INK, class_="tick", data_tick=tick))
        parts.append(label(x, y + 18, str(tick), size=12.5, text_anchor="middle", fill=colour))
        if by_clock and (tick != span.first or clock.has_instants):
            text = clock.text(tick) if clock.has_instants else format_ticks(tick - span.first, calendar)
            parts.append(label(x, y + 33, text, size=11, text_anchor="middle", fill=FADED))
    bottom = y + (51 if by_clock else 36)
    note = f"ticks {span.first} to {span.last} of {span.until}" if not span.is_complete else "the whole run"
    day = f", {clock.day(span.first)}" if by_clock and clock.has_instants else ""
    text = f"{note}; 1 tick = {format_ticks(1, calendar)}{day}"
    parts.append(label(RIGHT + 14, bottom, text, text_anchor="end", fill=FADED, class_="note"))
    if scale.left < scale.first:
        middle = (LEFT - 12 + scale.at(scale.first)) / 2
        text = "before the start"
        if scale.at(scale.first) - LEFT > text_width(text, 11):
            parts.append(label(middle, bottom, text, size=11, text_anchor="middle", fill=FADED, font_style="italic"))
    return tag("g", *parts, class_="axis"), bottom


def draw_time_axis(y: float, scale: Scale, clock: Clock) -> tuple[str, float]:
    """Draw an axis with round times at y pixel `y`; return SVG and the y below it."""
    parts = _axis_line(y)
    width = max(text_width(clock.text(tick), 12.5) for tick in (clock.first, clock.last)) + 24
    for tick in clock.round_ticks(scale.left, scale.right, max(2, int((RIGHT - LEFT) / max(width, 70)))):
        x = scale.at(tick)
        parts.append(line(x, y, x, y + 5, stroke=INK, class_="tick", data_tick=tick))
        parts.append(label(x, y + 18, clock.text(tick), size=12.5, text_anchor="middle", fill=INK))
    text = "time since tick 0"
    if clock.has_instants:
        text = f"UTC, {clock.day(clock.first)}" if clock.is_one_day else "UTC"
    parts.append(label(RIGHT + 14, y + 36, text, text_anchor="end", fill=FADED, class_="note"))
    return tag("g", *parts, class_="axis"), y + 36


def _axis_line(y: float) -> list[str]:
    """Draw the line of a time axis at y pixel `y`, with its arrow head."""
    arrow = f"{RIGHT + 16},{y:.1f} {RIGHT + 8},{y - 4:.1f} {RIGHT + 8},{y + 4:.1f}"
    return [line(LEFT - 12, y, RIGHT + 8, y, stroke=INK, stroke_width=1.2), tag("polygon", points=arrow, fill=INK)]


def draw_legend(y: float, entries: Sequence[tuple[str, str]]) -> tuple[list[str], int]:
    """Draw legend entries (symbol such as "dot", meaning) from y pixel `y` on; return SVG and the number of lines."""
    parts: list[str] = []
    x, lines = float(LEFT - 6), 1
    for symbol, meaning in entries:
        width = _SYMBOL_WIDTHS[symbol] + 7 + text_width(meaning) + 18
        if x + width > WIDTH - 14 and x > LEFT:
            x, lines = float(LEFT - 6), lines + 1
            y += LEGEND_LINE_HEIGHT
        parts += [*_legend_symbol(symbol, x, y), label(x + _SYMBOL_WIDTHS[symbol] + 6, y + 4, meaning, fill=FADED)]
        x += width
    return parts, lines


_SYMBOL_WIDTHS = {
    "dot": 9,
    "passes": 9,
    "bar": 34,
    "hollow": 34,
    "created": 9,
    "gap": 24,
    "pair": 26,
    "scan": 26,
    "version": 9,
    "alone": 34,
}


def _legend_symbol(symbol: str, x: float, y: float) -> list[str]:
    """Draw one symbol of the legend, such as "dot" (a tuple) or "hollow" (an empty window), at (x, y)."""
    colour, top, width = PALETTE[0], y - BAR / 2 + 1, _SYMBOL_WIDTHS[symbol]
    match symbol:
        case "dot":
            return [tag("circle", cx=x + 4.5, cy=y, r=4.2, fill=GREY)]
        case "passes":
            return [tag("circle", cx=x + 4.5, cy=y, r=4.2, fill=colour)]
        case "alone":
            return [tag("rect", x=x, y=top, width=width, height=BAR - 2, rx=4, fill=UNPAIRED_COLOUR)]
        case "bar":
            number = label(x + 17, y + 3.6, "3", size=11.5, font_weight="bold", text_anchor="middle", fill="white")
            return [tag("rect", x=x, y=top, width=width, height=BAR - 2, rx=4, fill=colour), number]
        case "hollow":
            return [
                tag("rect", x=x, y=top, width=width, height=BAR - 2, rx=4, fill="white", stroke=colour,
                    stroke_width=1.4, stroke_dasharray="4 2.5"),
                label(x + 17, y + 3.8, "0", size=11.5, font_weight="bold", text_anchor="middle", fill=colour),
            ]  # fmt: skip
        case "created":
            return [tag("polygon", points=f"{x + 4.5},{y - 4} {x},{y + 4} {x + 9},{y + 4}", fill=INK)]
        case "gap":
            return [line(x, y, x + width, y, stroke=colour, stroke_width=1.6, stroke_dasharray="1.5 3.5")]
        case "pair":
            return [
                line(x, y, x + width, y, stroke=colour, stroke_width=2, opacity=0.45),
                tag("circle", cx=x + 17, cy=y, r=4, fill=PALETTE[1]),
            ]
        case "scan":
            return [
                line(x + 6, y, x + width, y, stroke=colour, stroke_width=5, opacity=0.35),
                tag("polygon", points=f"{x},{y} {x + 7},{y - 7} {x + 14},{y} {x + 7},{y + 7}", fill=colour),
            ]
        case _:
            return [tag("rect", x=x, y=y - 4.5, width=9, height=9, fill=GREY, stroke=INK, stroke_width=0.8)]
