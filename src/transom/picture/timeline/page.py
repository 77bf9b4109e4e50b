"""The page of a picture: title and query on top, then lanes, pairs, axis and legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, gcd
from textwrap import wrap

from transom.algebra.windows import Every
from transom.model.time import Calendar
from transom.picture.style import EDGE, INK, LEFT, MONO, RIGHT, SANS, WIDTH
from transom.picture.svg import escape, label, shorten, tag
from transom.picture.timeline.axis import LEGEND_LINE_HEIGHT, draw_axis, draw_legend
from transom.picture.timeline.boxes import LANE_GAP, LaneBox, layout_lane
from transom.picture.timeline.lanes import Lane
from transom.picture.timeline.pairs import JoinedLanes, choose_examples, pair_lanes
from transom.picture.timeline.panels import draw_guides, draw_lane, draw_pairs, draw_panel
from transom.picture.timeline.scale import Scale, make_scale
from transom.picture.timeline.span import DrawnSpan
from transom.picture.timeline.window_text import plural, window_sentence, window_syntax

MAX_QUERY_LINES = 24


def draw_windows(lanes: Sequence[Lane], span: DrawnSpan, calendar: Calendar, title: str, query_text: str) -> str:
    """Draw lanes of windows as a standalone SVG document; the `query_text` is written above the lanes."""
    scale = _page_scale(lanes, span)
    blocks = pair_lanes(lanes)
    examples = {
        number: windows for block in blocks for number, windows in choose_examples(block, lanes, span.first).items()
    }
    parts, y = draw_header(title, query_text)
    boxes: dict[int, LaneBox] = {}
    grounds: list[str] = []
    contents: list[str] = []
    for block in blocks:
        for number in block.lanes:
            box = boxes[number] = layout_lane(lanes[number], y, scale, examples.get(number), calendar)
            y = box.bottom + LANE_GAP
            grounds += draw_panel(box.top, box.bottom, box.zone, scale)
            contents.append(draw_lane(box, scale, block, examples.get(number), calendar))
        bottom = boxes[block.lanes[-1]].bottom
        if block.is_product:
            strip, end = draw_pairs(block, y, scale)
            grounds += draw_panel(y, end, y + 26, scale)
            contents += strip
            bottom = y + 30
            y = end + LANE_GAP
        grounds += draw_guides(block, boxes[block.lanes[0]].base, bottom, scale)
    parts += grounds + contents
    numbered = any(box.dots.numbered for box in boxes.values())
    rhythm = gcd(*(tick for block in blocks for tick in block.created))
    page = DrawnPage(parts, *draw_axis(y + 2, scale, span, calendar, rhythm))
    return finish_document(page, _legend(lanes, blocks, numbered), _description(lanes, span, calendar), title)


def _page_scale(lanes: Sequence[Lane], span: DrawnSpan) -> Scale:
    """Create the time scale of a page, which begins early enough for the lower bounds of all its windows."""
    reaches = [lane.ticks(window) for lane in lanes for window in lane.windows]
    return make_scale([min(ticks) for ticks in reaches if ticks], span.first, span.last, LEFT, RIGHT)


def draw_header(title: str, query_text: str) -> tuple[list[str], float]:
    """Draw the title and the text of the query at the top of a page; return SVG and the y below it."""
    parts: list[str] = []
    y = float(EDGE)
    if title:
        y += 18
        parts.append(label(LEFT - 14, y, shorten(title, 80), size=17, font_weight="bold", fill=INK))
        y += 8
    lines = [piece for line in query_text.strip("\n").splitlines() for piece in _wrap_line(line) or [""]]
    if len(lines) > MAX_QUERY_LINES:
        lines = [*lines[:MAX_QUERY_LINES], "…"]
    for query_line in lines if query_text.strip() else []:
        y += 17
        parts.append(label(LEFT - 14, y, query_line, size=13, font_family=MONO, fill=INK, xml__space="preserve"))
    return parts, y + (14 if parts else 0)


def _wrap_line(text: str) -> list[str]:
    """Split a line of the query's text into lines that fit the page."""
    return wrap(text, 104, drop_whitespace=False, replace_whitespace=False)


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """The drawn elements above the axis, the axis, and the y below it."""

    parts: Sequence[str]
    axis: str
    bottom: float


def finish_document(page: DrawnPage, legend: Sequence[tuple[str, str]], description: str, title: str) -> str:
    """Complete a drawn page to an SVG document, with a legend, a title and a description for blind readers."""
    y = page.bottom + 24
    symbols, lines = draw_legend(y, legend)
    height = ceil(y + lines * LEGEND_LINE_HEIGHT if legend else y)
    name = title or "windows of a query"
    return tag(
        "svg",
        tag("title", escape(name)),
        tag("desc", escape(description)),
        tag("rect", width=WIDTH, height=height, fill="white"),
        *page.parts,
        page.axis,
        tag("g", *symbols, class_="legend"),
        xmlns="http://www.w3.org/2000/svg",
        width=WIDTH,
        height=height,
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_label=name,
        font_family=SANS,
        style="max-width: 100%; height: auto",
    )


def _legend(lanes: Sequence[Lane], pairings: Sequence[JoinedLanes], show_row_numbers: bool) -> list[tuple[str, str]]:
    """Return a page's legend entries (symbol, meaning); `show_row_numbers`: dots contain their tuples' row numbers."""
    windows = [(lane, window) for lane in lanes if not lane.is_scan for window in lane.windows]
    entries: list[tuple[str, str]] = []
    if any(lane.elements for lane in lanes):
        entries.append(("dot", "a tuple, at its tick" + (" (in it: its row number)" if show_row_numbers else "")))
    if any(window.rows for _, window in windows):
        entries.append(("bar", "a window with 3 tuples, from its lower to its upper bound"))
    if any(not window.rows for _, window in windows):
        entries.append(("hollow", "an empty window"))
    if windows:
        entries.append(("created", "its creation: this is NOW"))
    if any((ticks := lane.ticks(window)) and max(ticks) < window.created for lane, window in windows):
        entries.append(("gap", "from TO to NOW"))
    if any(lane.is_scan for lane in lanes):
        repeated = any(lane.is_scan and isinstance(lane.op.slide, Every) for lane in lanes)
        entries.append(
            ("scan", f"the table is read; this content holds {'until the next time' if repeated else 'from now on'}")
        )
        entries.append(("version", "the table changes"))
    if any(block.colours for block in pairings):
        if any(tick not in block.colours for block in pairings if block.is_product for tick in block.created):
            entries.append(("alone", "created when another lane had no window yet"))
        entries.append(("pair", "still current, and paired again with a new window of another lane"))
    return entries


def _description(lanes: Sequence[Lane], span: DrawnSpan, calendar: Calendar) -> str:
    """Describe a picture in text, for screen readers: the span of ticks, and a sentence per lane."""
    sentences = [
        f"{lane.name} {window_syntax(lane.op, calendar)}: {window_sentence(lane.op, calendar)}; "
        f"{plural(len(lane.windows), 'window')} drawn."
        for lane in lanes
    ]
    return f"Time runs to the right, from tick {span.first} to tick {span.last}. " + " ".join(sentences)
