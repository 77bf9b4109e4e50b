"""The axis of time at the bottom of a picture, and the legend below it."""

from __future__ import annotations

from collections.abc import Sequence

from transom.model.time import Calendar
from transom.picture.look import BAR, EDGE, FADED, GREY, INK, LEFT, RIGHT, WIDTH
from transom.picture.pairs import ALONE, PALETTE
from transom.picture.scale import Scale
from transom.picture.span import Span
from transom.picture.svg import label, line, tag, width_of
from transom.picture.words import clock

LEGEND_LINE = 20


def draw_axis(y: float, scale: Scale, span: Span, calendar: Calendar, rhythm: int = 0) -> tuple[str, float]:
    """Numbers in ticks, below them lengths of time where those say more; and how far down it reaches."""
    by_clock = calendar.length != 1_000_000 or span.last - span.first > 120
    parts = [line(LEFT - 12, y, RIGHT + 24, y, stroke=INK, stroke_width=1.2)]
    parts.append(
        tag("polygon", points=f"{RIGHT + 32},{y:.1f} {RIGHT + 24},{y - 4:.1f} {RIGHT + 24},{y + 4:.1f}", fill=INK)
    )
    room = max(76 if by_clock else 44, width_of(str(scale.right), 11.5) + 14)
    for tick in scale.numbers(calendar, room, rhythm):
        x = scale.at(tick)
        colour = INK if tick >= scale.first else FADED
        parts.append(line(x, y, x, y + 5, stroke=INK, class_="tick", data_tick=tick))
        parts.append(label(x, y + 17, str(tick), size=11.5, text_anchor="middle", fill=colour))
        if by_clock and tick != span.first:
            words = clock(tick - span.first, calendar)
            parts.append(label(x, y + 31, words, size=10, text_anchor="middle", fill=FADED))
    bottom = y + (31 if by_clock else 19)
    words = f"tick (1 tick = {clock(1, calendar)})"
    parts.append(label(RIGHT + 38, y + 4, words, size=11.5, fill=INK))
    note = f"ticks {span.first} to {span.last} of {span.until}" if not span.is_whole else "the whole run"
    beside = min(RIGHT + 38, WIDTH - EDGE - width_of(note))
    parts.append(label(beside, y + 19, note, fill=FADED, class_="note"))
    if scale.left < scale.first:
        middle = (LEFT - 12 + scale.at(scale.first)) / 2
        words = "before the start"
        if scale.at(scale.first) - LEFT > width_of(words, 10):
            bottom += 13
            parts.append(label(middle, bottom, words, size=10, text_anchor="middle", fill=FADED, font_style="italic"))
    return tag("g", *parts, class_="axis"), bottom


def draw_legend(y: float, entries: Sequence[tuple[str, str]]) -> tuple[list[str], int]:
    """Signs with their meaning from left to right, and how many lines they take."""
    parts: list[str] = []
    x, lines = float(LEFT - 6), 1
    for sign, words in entries:
        width = _WIDTHS[sign] + 7 + width_of(words) + 18
        if x + width > WIDTH - 14 and x > LEFT:
            x, lines = float(LEFT - 6), lines + 1
            y += LEGEND_LINE
        parts += [*_sign(sign, x, y), label(x + _WIDTHS[sign] + 6, y + 4, words, fill=FADED)]
        x += width
    return parts, lines


_WIDTHS = {
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


def _sign(sign: str, x: float, y: float) -> list[str]:
    colour, top, width = PALETTE[0], y - BAR / 2 + 1, _WIDTHS[sign]
    match sign:
        case "dot":
            return [tag("circle", cx=x + 4.5, cy=y, r=4.2, fill=GREY)]
        case "passes":
            return [tag("circle", cx=x + 4.5, cy=y, r=4.2, fill=colour)]
        case "alone":
            return [tag("rect", x=x, y=top, width=width, height=BAR - 2, rx=4, fill=ALONE)]
        case "bar":
            number = label(x + 17, y + 3.6, "3", size=10.5, font_weight="bold", text_anchor="middle", fill="white")
            return [tag("rect", x=x, y=top, width=width, height=BAR - 2, rx=4, fill=colour), number]
        case "hollow":
            return [
                tag("rect", x=x, y=top, width=width, height=BAR - 2, rx=4, fill="white", stroke=colour,
                    stroke_width=1.4, stroke_dasharray="4 2.5"),
                label(x + 17, y + 3.8, "0", size=10.5, font_weight="bold", text_anchor="middle", fill=colour),
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
