"""The whole document: title and query on top, lanes, pairs, the axis, the legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, gcd
from textwrap import wrap

from transom.algebra.windows import Every
from transom.model.time import Calendar
from transom.picture.axis import LEGEND_LINE, draw_axis, draw_legend
from transom.picture.boxes import GAP, Box, box_of
from transom.picture.frames import draw_guides, draw_lane, draw_pairs, draw_panel
from transom.picture.lanes import Lane
from transom.picture.look import EDGE, INK, LEFT, MONO, RIGHT, SANS, WIDTH
from transom.picture.pairs import Pairing, examples, pairings
from transom.picture.scale import Scale, scale_of
from transom.picture.span import Span
from transom.picture.svg import escape, label, shortened, tag
from transom.picture.words import plural, sentence, written

MOST_LINES = 24


def draw_windows(lanes: Sequence[Lane], span: Span, calendar: Calendar, title: str, text: str) -> str:
    """The picture of the windows of a query."""
    scale = _scale(lanes, span)
    blocks = pairings(lanes)
    shown = {place: found for block in blocks for place, found in examples(block, lanes, span.first).items()}
    parts, y = draw_header(title, text)
    boxes: dict[int, Box] = {}
    grounds: list[str] = []
    contents: list[str] = []
    for block in blocks:
        for place in block.lanes:
            box = boxes[place] = box_of(lanes[place], y, scale, shown.get(place), calendar)
            y = box.bottom + GAP
            grounds += draw_panel(box.top, box.bottom, box.zone, scale)
            contents.append(draw_lane(box, scale, block, shown.get(place), calendar))
        bottom = boxes[block.lanes[-1]].bottom
        if block.is_product:
            strip, end = draw_pairs(block, y, scale)
            grounds += draw_panel(y, end, y + 26, scale)
            contents += strip
            bottom = y + 30
            y = end + GAP
        grounds += draw_guides(block, boxes[block.lanes[0]].base, bottom, scale)
    parts += grounds + contents
    numbered = any(box.dots.numbered for box in boxes.values())
    sheet = Sheet(parts, y, gcd(*(tick for block in blocks for tick in block.created)))
    legend = _legend(lanes, blocks, numbered)
    return finish(sheet, scale, span, calendar, legend, _described(lanes, span, calendar), title)


def _scale(lanes: Sequence[Lane], span: Span) -> Scale:
    reaches = [lane.ticks(window) for lane in lanes for window in lane.windows]
    return scale_of([min(ticks) for ticks in reaches if ticks], span.first, span.last, LEFT, RIGHT)


def draw_header(title: str, text: str) -> tuple[list[str], float]:
    """The title and the text of the query, and how far down they reach."""
    parts: list[str] = []
    y = float(EDGE)
    if title:
        y += 18
        parts.append(label(LEFT - 14, y, shortened(title, 100), size=17, font_weight="bold", fill=INK))
        y += 8
    lines = [piece for line in text.strip("\n").splitlines() for piece in _wrapped(line) or [""]]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], "…"]
    for words in lines if text.strip() else []:
        y += 17
        parts.append(label(LEFT - 14, y, words, size=13, font_family=MONO, fill=INK, xml__space="preserve"))
    return parts, y + (14 if parts else 0)


def _wrapped(words: str) -> list[str]:
    return wrap(words, 118, drop_whitespace=False, replace_whitespace=False)


@dataclass(frozen=True, slots=True)
class Sheet:
    """What has been drawn, how far down it reaches, and the greatest step that meets all creations of windows."""

    parts: Sequence[str]
    bottom: float
    rhythm: int = 0


def finish(
    sheet: Sheet,
    scale: Scale,
    span: Span,
    calendar: Calendar,
    legend: Sequence[tuple[str, str]],
    description: str,
    title: str,
) -> str:
    """The document around what has been drawn: ground, axis and legend."""
    axis, y = draw_axis(sheet.bottom + 2, scale, span, calendar, sheet.rhythm)
    y += 26
    signs, lines = draw_legend(y, legend)
    height = ceil(y + lines * LEGEND_LINE if legend else y)
    name = title or "windows of a query"
    return tag(
        "svg",
        tag("title", escape(name)),
        tag("desc", escape(description)),
        tag("rect", width=WIDTH, height=height, fill="white"),
        *sheet.parts,
        axis,
        tag("g", *signs, class_="legend"),
        xmlns="http://www.w3.org/2000/svg",
        width=WIDTH,
        height=height,
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_label=name,
        font_family=SANS,
        style="max-width: 100%; height: auto",
    )


def _legend(lanes: Sequence[Lane], blocks: Sequence[Pairing], numbered: bool) -> list[tuple[str, str]]:
    windows = [(lane, window) for lane in lanes if not lane.is_scan for window in lane.windows]
    entries: list[tuple[str, str]] = []
    if any(lane.elements for lane in lanes):
        entries.append(("dot", "a tuple, at its tick" + (" (in it: its row number)" if numbered else "")))
    if any(window.rows for _, window in windows):
        entries.append(("bar", "a window with 3 tuples, from its lower to its upper bound"))
    if any(not window.rows for _, window in windows):
        entries.append(("hollow", "an empty window"))
    if windows:
        entries.append(("created", "its creation: this is NOW"))
    if any((ticks := lane.ticks(window)) and max(ticks) < window.created for lane, window in windows):
        entries.append(("gap", "from TO to NOW"))
    if any(lane.is_scan for lane in lanes):
        again = any(lane.is_scan and isinstance(lane.op.slide, Every) for lane in lanes)
        entries.append(
            ("scan", f"the table is read; this content holds {'until the next time' if again else 'from now on'}")
        )
        entries.append(("version", "the table changes"))
    if any(block.colours for block in blocks):
        if any(tick not in block.colours for block in blocks if block.is_product for tick in block.created):
            entries.append(("alone", "created when another lane had no window yet"))
        entries.append(("pair", "still current, and paired again with a new window of another lane"))
    return entries


def _described(lanes: Sequence[Lane], span: Span, calendar: Calendar) -> str:
    said = [
        f"{lane.name} {written(lane.op, calendar)}: {sentence(lane.op, calendar)}; "
        f"{plural(len(lane.windows), 'window')} drawn."
        for lane in lanes
    ]
    return f"Time runs to the right, from tick {span.first} to tick {span.last}. " + " ".join(said)
