"""The picture of an answer over RDF: one lane per solution or triple, one bar per validity interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from transom.model.rdf.abbreviate import abbreviate_term
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import Triple
from transom.model.time import Calendar
from transom.picture.style import BAR, FADED, FAINT, INK, LEFT, MONO, RIGHT
from transom.picture.svg import label, line, shorten, tag, text_width, tooltip
from transom.picture.timeline.boxes import LANE_GAP
from transom.picture.timeline.page import DrawnPage, draw_header, finish_document
from transom.picture.timeline.pairs import PALETTE
from transom.picture.timeline.panels import TEXT_HALO, draw_panel
from transom.picture.timeline.scale import Scale, make_scale
from transom.picture.timeline.span import DrawnSpan
from transom.picture.timeline.window_text import plural

MAX_LANES = 30
LANE_HEIGHT = 44
FADE_COUNT = 6


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """A validity interval; `label` is the text in the bar, and `hollow` bars are false."""

    start: int
    end: int | None
    label: str = ""
    hollow: bool = False


def draw_answer(
    answer: RdfAnswer,
    calendar: Calendar,
    start: int = 0,
    until: int | None = None,
    *,
    prefixes: Mapping[str, str] | None = None,
    title: str = "",
    text: str = "",
) -> str:
    """Draw when RDF rows are valid, `start` to `until` (None: last change); `prefixes` shorten IRIs; `text`: query."""
    lanes = interval_lanes(answer.during(start, until), prefixes or {})
    bars = [bar for lane_bars in lanes.values() for bar in lane_bars]
    changes = [bar.start for bar in bars] + [bar.end for bar in bars if bar.end is not None]
    last = max([start + 1, *changes]) if until is None else max(until, start + 1)
    scale = make_scale([], start, last, LEFT, RIGHT)
    parts, y = draw_header(title, text)
    bottom = y + 12 + LANE_HEIGHT * max(min(len(lanes), MAX_LANES), 1)
    parts += draw_panel(y, bottom, y, scale)
    for row, (name, lane_bars) in enumerate(list(lanes.items())[:MAX_LANES]):
        parts.append(
            _draw_interval_lane(name, lane_bars, y + 8 + row * LANE_HEIGHT, scale, PALETTE[row % len(PALETTE)])
        )
    if not lanes:
        parts.append(label(LEFT, y + 32, "nothing is valid in this span", fill=FADED, font_style="italic"))
    y = bottom
    if len(lanes) > MAX_LANES:
        y += 18
        parts.append(label(LEFT - 6, y, f"+{len(lanes) - MAX_LANES} more", fill=FADED, font_style="italic"))
    meaning = {"triples": "the statement is valid", "boolean": "the answer holds"}.get(
        answer.kind, "the solution is valid"
    )
    order_note = "; 1. is the first in order" if answer.kind == "sequences" else ""
    legend = [("alone", f"from when and up to when {meaning}{order_note}")] if bars else []
    description = f"Time runs to the right, from tick {start} to tick {last}. {plural(len(lanes), 'lane')}."
    return finish_document(
        DrawnPage(parts, y + LANE_GAP), scale, DrawnSpan(start, last, last), calendar, legend, description, title
    )


def interval_lanes(answer: RdfAnswer, prefixes: Mapping[str, str]) -> dict[str, list[IntervalBar]]:
    """The validity intervals of an RDF answer as bars, by the text of their solution or triple (one lane each)."""
    lanes: dict[str, list[IntervalBar]] = {}

    def row_text(payload: Solution | Triple) -> str:
        """The text of a solution or triple, which names its lane; unbound variables are left out."""
        if isinstance(payload, Triple):
            terms = (payload.subject, payload.predicate, payload.object)
            return " ".join(abbreviate_term(term, prefixes) for term in terms)
        bound = zip(answer.columns, answer.terms(payload), strict=True)
        return (
            ", ".join(f"?{name} {abbreviate_term(term, prefixes)}" for name, term in bound if term is not None)
            or "(nothing)"
        )

    for valid in answer.solutions:
        lanes.setdefault(row_text(valid.payload), []).append(
            IntervalBar(valid.start, valid.end, _repeat_label(valid.n))
        )
    for triple in answer.triples:
        lanes.setdefault(row_text(triple.payload), []).append(
            IntervalBar(triple.start, triple.end, _repeat_label(triple.n))
        )
    for sequence in answer.sequences:
        for position, solution in enumerate(sequence.solutions, 1):
            bars, label = lanes.setdefault(row_text(solution), []), f"{position}."
            if bars and (bars[-1].end, bars[-1].label) == (sequence.start, label):
                bars[-1] = IntervalBar(bars[-1].start, sequence.end, label)
            else:
                bars.append(IntervalBar(sequence.start, sequence.end, label))
    for truth in answer.truth:
        bar = IntervalBar(truth.start, truth.end, str(truth.value).lower(), not truth.value)
        lanes.setdefault("ASK", []).append(bar)
    return lanes


def _repeat_label(count: int) -> str:
    """The label of an interval whose row is valid several times, such as `3 times`; empty if `count` is 1."""
    return f"{count} times" if count > 1 else ""


def _draw_interval_lane(name: str, bars: list[IntervalBar], y: float, scale: Scale, colour: str) -> str:
    """Draw a lane of an RDF answer: the text of its solution or triple above the bars of its intervals."""
    level = y + 20
    inner = [
        line(LEFT - 12, level + BAR + 2, RIGHT + 12, level + BAR + 2, stroke=FAINT),
        *(_draw_interval_bar(bar, level, scale, colour) for bar in bars),
        label(LEFT - 6, y + 14, shorten(name, 130), size=12, font_family=MONO, fill=INK, **TEXT_HALO),
    ]
    return tag("g", *inner, class_="lane", data_name=name, data_bars=len(bars))


def _draw_interval_bar(bar: IntervalBar, y: float, scale: Scale, colour: str) -> str:
    """Draw the bar of a validity interval; it fades out if the interval ends right of the picture or never."""
    edge = RIGHT + 12
    begin = max(scale.at(bar.start), LEFT - 12)
    open_ended = bar.end is None or scale.at(bar.end) > edge
    end = edge if bar.end is None or open_ended else scale.at(bar.end)
    until_text = "for ever" if bar.end is None else f"up to {bar.end}"
    parts = [tooltip(f"valid from {bar.start} {until_text}" + (f": {bar.label}" if bar.label else ""))]
    width = max(end - begin, 2.0)
    fading = 24.0 if open_ended and width > 60 else 0.0
    rounded = tag(
        "rect", class_="bar hollow" if bar.hollow else "bar", x=begin, y=y, width=width - fading, height=BAR,
        rx=None if fading else 3, fill="white" if bar.hollow else colour, stroke=colour if bar.hollow else None,
        stroke_dasharray="4 2.5" if bar.hollow else None,
    )  # fmt: skip
    parts.append(rounded)
    step = fading / FADE_COUNT
    for strip in range(FADE_COUNT if fading and not bar.hollow else 0):
        opacity = 1 - (strip + 1) / (FADE_COUNT + 1)
        parts.append(
            tag("rect", x=end - fading + strip * step, y=y, width=step, height=BAR, fill=colour, opacity=opacity)
        )
    for text in (f"{bar.start} {until_text}" + (f", {bar.label}" if bar.label else ""), bar.label):
        if text and width - fading > text_width(text, 10.5) + 8:
            fill = colour if bar.hollow else "white"
            parts.append(label(begin + 5, y + 13, text, size=10.5, font_weight="bold", fill=fill))
            break
    return tag("g", *parts, class_="valid", data_start=bar.start, data_end="" if bar.end is None else bar.end)
