"""The picture of an answer over RDF: one lane per solution or triple, one bar per validity interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from transom.model.rdf.abbreviate import display_term
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import Triple
from transom.model.time import Calendar
from transom.picture.quantities import Clock
from transom.picture.style import BAR, FADED, FAINT, INK, LEFT, MONO, RIGHT, TEXT_HALO
from transom.picture.svg import label, line, shorten, tag, text_width, tooltip
from transom.picture.timeline.axis import draw_time_axis
from transom.picture.timeline.boxes import LANE_GAP
from transom.picture.timeline.page import DrawnPage, draw_header, finish_document
from transom.picture.timeline.pairs import PALETTE
from transom.picture.timeline.panels import draw_panel
from transom.picture.timeline.scale import Scale, make_scale
from transom.picture.timeline.window_text import plural

MAX_LANES = 30
LANE_HEIGHT = 44
GROUP_GAP = 8
FADE_COUNT = 6


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """A validity interval; `label` is the text in the bar, and `hollow` bars are false."""

    start: int
    end: int | None
    label: str = ""
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class IntervalLane:
    """A lane of an answer over RDF: its subject, the text of the solution or triple, and its intervals.

    The subject is that of a triple, or the value of a solution's first bound variable.
    """

    subject: str
    name: str
    bars: list[IntervalBar]


def draw_answer(
    answer: RdfAnswer,
    calendar: Calendar,
    start: int = 0,
    until: int | None = None,
    *,
    prefixes: Mapping[str, str] | None = None,
    title: str = "",
    query_text: str = "",
) -> str:
    """Draw as SVG when the rows of an RDF answer are valid, from tick `start` to `until` (None: the last change).

    `prefixes` shorten IRIs; `query_text` is the query.
    """
    lanes = interval_lanes(answer.during(start, until), prefixes or {})
    bars = [bar for lane in lanes for bar in lane.bars]
    changes = [bar.start for bar in bars] + [bar.end for bar in bars if bar.end is not None]
    last = max([start + 1, *changes]) if until is None else max(until, start + 1)
    scale, clock = make_scale([], start, last, LEFT, RIGHT), Clock(calendar, start, last)
    parts, y = draw_header(title, query_text)
    subjects = list(dict.fromkeys(lane.subject for lane in lanes))
    lanes.sort(key=lambda lane: subjects.index(lane.subject))
    drawn, level = [], y + 8
    for number, lane in enumerate(lanes[:MAX_LANES]):
        if number and lane.subject != lanes[number - 1].subject:
            level += GROUP_GAP
        colour = PALETTE[subjects.index(lane.subject) % len(PALETTE)]
        drawn.append(_draw_interval_lane(lane, level, scale, clock, colour))
        level += LANE_HEIGHT
    bottom = max(level, y + LANE_HEIGHT) + 4
    parts += [*draw_panel(y, bottom, y, scale), *drawn]
    if not lanes:
        parts.append(label(LEFT, y + 32, "nothing is valid in this span", fill=FADED, font_style="italic"))
    y = bottom
    if len(lanes) > MAX_LANES:
        y += 18
        parts.append(label(LEFT - 6, y, f"+{len(lanes) - MAX_LANES} more", fill=FADED, font_style="italic"))
    meaning = {"triples": "the triple is valid", "boolean": "the answer holds"}.get(
        answer.kind, "the solution is valid"
    )
    order_note = "; 1. is the first in order" if answer.kind == "sequences" else ""
    colour_note = "; one colour for each subject" if len(subjects) > 1 else ""
    legend = [("alone", f"when {meaning}{colour_note}{order_note}")] if bars else []
    description = (
        f"Time runs to the right, from {clock.full(start)} to {clock.full(last)}. {plural(len(lanes), 'lane')}."
    )
    page = DrawnPage(parts, *draw_time_axis(y + LANE_GAP + 2, scale, clock))
    return finish_document(page, legend, description, title)


def interval_lanes(answer: RdfAnswer, prefixes: Mapping[str, str]) -> list[IntervalLane]:
    """Convert validity intervals of an RDF answer to bars, in a lane per distinct solution; `prefixes` shorten IRIs."""
    lanes: dict[str, IntervalLane] = {}

    def bars_of(payload: Solution | Triple) -> list[IntervalBar]:
        """Return the list of bars in the timeline lane of a solution or triple; create a missing lane.

        Unbound variables are left out of the name of the lane.
        """
        if isinstance(payload, Triple):
            terms = [display_term(term, prefixes) for term in (payload.subject, payload.predicate, payload.object)]
            subject, name = terms[0], " ".join(terms)
        else:
            bound = zip(answer.columns, answer.terms(payload), strict=True)
            values = {column: display_term(term, prefixes) for column, term in bound if term is not None}
            subject = next(iter(values.values()), "")
            name = ", ".join(f"?{column} {value}" for column, value in values.items()) or "(nothing)"
        return lanes.setdefault(name, IntervalLane(subject, name, [])).bars

    for valid in answer.solutions:
        bars_of(valid.payload).append(IntervalBar(valid.start, valid.end, _repeat_label(valid.n)))
    for triple in answer.triples:
        bars_of(triple.payload).append(IntervalBar(triple.start, triple.end, _repeat_label(triple.n)))
    for sequence in answer.sequences:
        for position, solution in enumerate(sequence.solutions, 1):
            bars, label = bars_of(solution), f"{position}."
            if bars and (bars[-1].end, bars[-1].label) == (sequence.start, label):
                bars[-1] = IntervalBar(bars[-1].start, sequence.end, label)
            else:
                bars.append(IntervalBar(sequence.start, sequence.end, label))
    for truth in answer.truth:
        bar = IntervalBar(truth.start, truth.end, str(truth.value).lower(), not truth.value)
        lanes.setdefault("ASK", IntervalLane("ASK", "ASK", [])).bars.append(bar)
    return list(lanes.values())


def _repeat_label(count: int) -> str:
    """Return the label of an interval whose row is valid several times, such as `3 times`; empty if `count` is 1."""
    return f"{count} times" if count > 1 else ""


def _draw_interval_lane(lane: IntervalLane, y: float, scale: Scale, clock: Clock, colour: str) -> str:
    """Draw a lane of an RDF answer: the text of its solution or triple above the bars of its intervals."""
    level = y + 20
    inner = [
        line(LEFT - 12, level + BAR + 2, RIGHT + 12, level + BAR + 2, stroke=FAINT),
        *(_draw_interval_bar(bar, level, scale, clock, colour) for bar in lane.bars),
        label(LEFT - 6, y + 14, shorten(lane.name, 108), size=12.5, font_family=MONO, fill=INK, **TEXT_HALO),
    ]
    return tag("g", *inner, class_="lane", data_name=lane.name, data_subject=lane.subject, data_bars=len(lane.bars))


def _draw_interval_bar(bar: IntervalBar, y: float, scale: Scale, clock: Clock, colour: str) -> str:
    """Draw the bar of a validity interval; it fades out if the interval ends right of the picture or never."""
    edge = RIGHT + 12
    begin = max(scale.at(bar.start), LEFT - 12)
    open_ended = bar.end is None or scale.at(bar.end) > edge
    end = edge if bar.end is None or open_ended else scale.at(bar.end)
    span = f"from {clock.text(bar.start)}" if bar.end is None else f"{clock.text(bar.start)} – {clock.text(bar.end)}"
    ticks = f"from tick {bar.start} " + ("for ever" if bar.end is None else f"up to {bar.end}")
    parts = [tooltip(f"{span}, {ticks}" + (f": {bar.label}" if bar.label else ""))]
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
    for text in (span + (f", {bar.label}" if bar.label else ""), span if not bar.label else "", bar.label):
        if text and width - fading > text_width(text, 11.5) + 8:
            fill = colour if bar.hollow else "white"
            parts.append(label(begin + 5, y + 13, text, size=11.5, font_weight="bold", fill=fill))
            break
    return tag("g", *parts, class_="valid", data_start=bar.start, data_end="" if bar.end is None else bar.end)
