"""Pictures of windows as SVG: time to the right, one lane per window operator, tuples as dots, windows as bars."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.operator import Plan
from transom.errors import UsageError
from transom.model.time import Calendar
from transom.picture.timeline.lanes import build_lane, undrawable_part, window_operators
from transom.picture.timeline.page import draw_windows
from transom.picture.timeline.span import choose_span
from transom.picture.timeline.streams import draw_stream
from transom.reference.sources import Inputs

__all__ = ["draw_picture"]


def draw_picture(
    plan: Plan,
    inputs: Inputs,
    calendar: Calendar,
    *,
    title: str = "",
    query_text: str = "",
    has_positions: bool = False,
) -> str:
    """Draw a plan's windows, or else tuples, as SVG below `query_text`; errors suggest a map if it `has_positions`.

    Windows of keys, by distance, by region or without bounds are not windows on one time axis: UsageError, which names
    the map instead if the query `has_positions`. Of a long run only the first part is drawn, and a note says so. A plan
    without windows is drawn as the dots of its streams, with the tuples that pass in colour.
    """
    operators = window_operators(plan)
    if not operators:
        return draw_stream(plan, inputs, calendar, title=title, query_text=query_text)
    for op, _ in operators:
        if refused_part := undrawable_part(op):
            hint = "`transom map` draws the objects, the window and the answer"
            raise UsageError(
                f"a picture shows windows by time or by rows, and cannot show {refused_part}",
                hint=hint if has_positions else "`transom simulate` prints the answer",
            )
    span = choose_span(operators, inputs)
    part = replace(inputs, until=span.last)
    lanes = [build_lane(op, block, part, span.each) for op, block in operators]
    return draw_windows(lanes, span, calendar, title, query_text)
