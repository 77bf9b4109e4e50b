"""Pictures of windows as SVG: time to the right, one lane per window operator, tuples as dots, windows as bars."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.operator import Plan
from transom.model.time import Calendar
from transom.picture.timeline.lanes import build_lane, window_operators
from transom.picture.timeline.page import draw_windows
from transom.picture.timeline.span import choose_span
from transom.picture.timeline.streams import draw_stream
from transom.reference.sources import Inputs

__all__ = ["draw_picture"]


def draw_picture(plan: Plan, inputs: Inputs, calendar: Calendar, *, title: str = "", text: str = "") -> str:
    """Draw a plan's windows over `inputs` as SVG, or tuples if it has no windows; `text` is the query to show.

    Of a long run only the first part is drawn, and a note says so. A plan
    without windows is drawn as the dots of its streams, with the tuples that pass in colour.
    """
    operators = window_operators(plan)
    if not operators:
        return draw_stream(plan, inputs, calendar, title=title, text=text)
    span = choose_span(operators, inputs)
    part = replace(inputs, until=span.last)
    lanes = [build_lane(op, block, part, span.each) for op, block in operators]
    return draw_windows(lanes, span, calendar, title, text)
