"""Pictures of windows: time to the right, one lane per window, tuples as dots, windows as bars (SVG, no library)."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.operator import Plan
from transom.model.time import Calendar
from transom.picture.lanes import lane_of, window_operators
from transom.picture.page import draw_windows
from transom.picture.passing import draw_passing
from transom.picture.span import choose
from transom.reference.sources import Inputs

__all__ = ["picture"]


def picture(plan: Plan, inputs: Inputs, calendar: Calendar, *, title: str = "", text: str = "") -> str:
    """A standalone SVG document that shows the windows of a plan over given inputs.

    Of a long run it shows the first part, and says so. `text` is the query, drawn above the lanes. A plan without
    windows is drawn as the dots of its stream, those that pass in colour.
    """
    operators = window_operators(plan)
    if not operators:
        return draw_passing(plan, inputs, calendar, title=title, text=text)
    span = choose(operators, inputs)
    part = replace(inputs, until=span.last)
    lanes = [lane_of(op, block, part, span.each) for op, block in operators]
    return draw_windows(lanes, span, calendar, title, text)
