"""The picture of a query without windows: the tuples of its streams, with those in the answer in colour."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.operator import Operator, Plan, Stream
from transom.algebra.sources import StreamAcquire, StreamReceive
from transom.algebra.streams import Renumber, StreamSelect
from transom.algebra.tree import walk, with_inputs
from transom.model.time import Calendar
from transom.picture.style import FADED, FAINT, LEFT, RIGHT
from transom.picture.svg import label, line, tag
from transom.picture.timeline.axis import draw_axis
from transom.picture.timeline.boxes import HEADING_HEIGHT, LANE_GAP
from transom.picture.timeline.dots import draw_dots, layout_dots
from transom.picture.timeline.page import DrawnPage, draw_header, finish_document
from transom.picture.timeline.pairs import PALETTE
from transom.picture.timeline.panels import draw_panel, lane_heading
from transom.picture.timeline.scale import make_scale
from transom.picture.timeline.span import DrawnSpan
from transom.picture.timeline.window_text import plural
from transom.reference.evaluate import evaluate_stream
from transom.reference.sources import Inputs

MAX_TUPLES = 120


def draw_stream(plan: Plan, inputs: Inputs, calendar: Calendar, title: str, query_text: str) -> str:
    """Draw a plan without windows as SVG: a lane per source, in which the answer's tuples are coloured.

    `query_text` is the query, written above the lanes.
    """
    sources = [op for op in walk(plan) if isinstance(op, StreamAcquire | StreamReceive)]
    delivered = {op: evaluate_stream(op, inputs) for op in sources}
    last = min(
        (element[MAX_TUPLES - 1].tick for element in delivered.values() if len(element) >= MAX_TUPLES),
        default=inputs.until,
    )
    span = DrawnSpan(inputs.start, last, inputs.until)
    scale = make_scale([], span.first, span.last, LEFT, RIGHT)
    passed = {element.index for element in evaluate_stream(_without_renumbering(plan), replace(inputs, until=last))}
    parts, y = draw_header(title, query_text)
    sentences = []
    for op, elements in delivered.items():
        drawn = [element for element in elements if element.tick <= last]
        passing = sum(element.index in passed for element in drawn)
        caption = f"in the answer: {passing} of {plural(len(drawn), 'tuple')}" if drawn else ""
        sentences.append(f"{op.extent}: {caption}.")
        dots = layout_dots(drawn, scale, show_row_numbers=False)
        base = y + HEADING_HEIGHT + 8 + dots.height
        bottom = base + 12
        parts += draw_panel(y, bottom, base, scale)
        inner = [
            lane_heading(y, op.extent, caption, fill=FADED),
            line(LEFT - 12, base + 1, RIGHT + 12, base + 1, stroke=FAINT),
            *draw_dots(dots, base, scale, op.schema, passed, PALETTE[0]),
        ]
        if not drawn:
            inner.append(label(LEFT, base - 4, "no tuples in this span", fill=FADED, font_style="italic"))
        if dots.unseen:
            note = f"+{dots.unseen} more tuples"
            inner.append(label(RIGHT + 14, y + 18, note, text_anchor="end", fill=FADED, font_style="italic"))
        parts.append(tag("g", *inner, class_="lane", data_name=op.extent))
        y = bottom + LANE_GAP
    selects = any(isinstance(op, StreamSelect) for op in walk(plan))
    legend = [("dot", "a tuple that does not pass"), ("passes", "dots in colour pass the WHERE")]
    if not selects:
        legend = [("passes", "every tuple is in the answer")]
    description = f"Time runs to the right, from tick {span.first} to tick {span.last}. {' '.join(sentences)}"
    page = DrawnPage(parts, *draw_axis(y + 2, scale, span, calendar))
    return finish_document(page, legend, description, title)


def _without_renumbering(plan: Plan) -> Stream:
    """Remove the operators that number tuples anew, so that an answer's tuples keep their index in the source."""

    def change(op: Operator) -> Operator:
        """Remove the operators that number tuples anew from an operator and its inputs."""
        return change(op.input) if isinstance(op, Renumber) else with_inputs(op, change)

    return change(plan)  # type: ignore[return-value]
