"""The picture of a query without windows: which tuples of its stream pass."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.operator import Operator, Plan, Stream
from transom.algebra.sources import StreamAcquire, StreamReceive
from transom.algebra.streams import Renumber, StreamSelect
from transom.algebra.tree import walk, with_inputs
from transom.model.time import Calendar
from transom.picture.boxes import GAP, HEAD
from transom.picture.dots import dots_of, draw_dots
from transom.picture.frames import draw_panel, heading
from transom.picture.look import FADED, FAINT, LEFT, RIGHT
from transom.picture.page import Sheet, draw_header, finish
from transom.picture.pairs import PALETTE
from transom.picture.scale import scale_of
from transom.picture.span import Span
from transom.picture.svg import label, line, tag
from transom.picture.words import plural
from transom.reference.evaluate import evaluate_stream
from transom.reference.sources import Inputs

MOST_TUPLES = 120


def draw_passing(plan: Plan, given: Inputs, calendar: Calendar, title: str, text: str) -> str:
    """One lane per source, with the tuples that the answer keeps in colour (tick and index are kept, S2)."""
    sources = [op for op in walk(plan) if isinstance(op, StreamAcquire | StreamReceive)]
    delivered = {op: evaluate_stream(op, given) for op in sources}
    last = min((e[MOST_TUPLES - 1].tick for e in delivered.values() if len(e) >= MOST_TUPLES), default=given.until)
    span = Span(given.start, last, given.until)
    scale = scale_of([], span.first, span.last, LEFT, RIGHT)
    passed = {e.index for e in evaluate_stream(_numbered(plan), replace(given, until=last))}
    parts, y = draw_header(title, text)
    said = []
    for op, elements in delivered.items():
        shown = [e for e in elements if e.tick <= last]
        kept = sum(e.index in passed for e in shown)
        words = f"in the answer: {kept} of {plural(len(shown), 'tuple')}" if shown else ""
        said.append(f"{op.extent}: {words}.")
        dots = dots_of(shown, scale, numbered=False)
        base = y + HEAD + 8 + dots.height
        bottom = base + 12
        parts += draw_panel(y, bottom, base, scale)
        inner = [
            heading(y, op.extent, words, fill=FADED),
            line(LEFT - 12, base + 1, RIGHT + 12, base + 1, stroke=FAINT),
            *draw_dots(dots, base, scale, op.schema, passed, PALETTE[0]),
        ]
        if not shown:
            inner.append(label(LEFT, base - 4, "no tuples in this span", fill=FADED, font_style="italic"))
        if dots.unseen:
            inner.append(label(RIGHT + 22, base - 4, f"+{dots.unseen} more tuples", fill=FADED, font_style="italic"))
        parts.append(tag("g", *inner, class_="lane", data_name=op.extent))
        y = bottom + GAP
    selects = any(isinstance(op, StreamSelect) for op in walk(plan))
    legend = [("dot", "a tuple that does not pass"), ("passes", "dots in colour pass the WHERE")]
    if not selects:
        legend = [("passes", "every tuple is in the answer")]
    described = f"Time runs to the right, from tick {span.first} to tick {span.last}. {' '.join(said)}"
    return finish(Sheet(parts, y), scale, span, calendar, legend, described, title)


def _numbered(plan: Plan) -> Stream:
    """The plan without its renumberings, so that a result has the index of the tuple it comes from."""

    def change(op: Operator) -> Operator:
        return change(op.input) if isinstance(op, Renumber) else with_inputs(op, change)

    return change(plan)  # type: ignore[return-value]
