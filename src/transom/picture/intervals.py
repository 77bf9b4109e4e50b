"""The answer to a question over RDF: one lane per solution or statement, a bar for each time in which it is valid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.short import short
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import Triple
from transom.model.time import Calendar
from transom.picture.boxes import GAP
from transom.picture.frames import HALO, draw_panel
from transom.picture.look import BAR, FADED, FAINT, INK, LEFT, MONO, RIGHT
from transom.picture.page import Sheet, draw_header, finish
from transom.picture.pairs import PALETTE
from transom.picture.scale import Scale, scale_of
from transom.picture.span import Span
from transom.picture.svg import hint, label, line, shortened, tag, width_of
from transom.picture.words import plural

MOST_LANES = 30
HEIGHT = 44
FADING = 6


@dataclass(frozen=True, slots=True)
class Bar:
    """A time in which something is valid; `words` stand in the bar, `hollow` ones say what is not."""

    start: int
    end: int | None
    words: str = ""
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
    """The picture of an answer from one instant to another; without `until`, to where nothing changes any more."""
    lanes = lanes_of(answer.during(start, until), prefixes or {})
    bars = [bar for found in lanes.values() for bar in found]
    changes = [bar.start for bar in bars] + [bar.end for bar in bars if bar.end is not None]
    last = max([start + 1, *changes]) if until is None else max(until, start + 1)
    scale = scale_of([], start, last, LEFT, RIGHT)
    parts, y = draw_header(title, text)
    bottom = y + 12 + HEIGHT * max(min(len(lanes), MOST_LANES), 1)
    parts += draw_panel(y, bottom, y, scale)
    for row, (name, found) in enumerate(list(lanes.items())[:MOST_LANES]):
        parts.append(_lane(name, found, y + 8 + row * HEIGHT, scale, PALETTE[row % len(PALETTE)]))
    if not lanes:
        parts.append(label(LEFT, y + 32, "nothing is valid in this span", fill=FADED, font_style="italic"))
    y = bottom
    if len(lanes) > MOST_LANES:
        y += 18
        parts.append(label(LEFT - 6, y, f"+{len(lanes) - MOST_LANES} more", fill=FADED, font_style="italic"))
    what = {"triples": "the statement is valid", "boolean": "the answer holds"}.get(
        answer.kind, "the solution is valid"
    )
    place = "; 1. is the first in order" if answer.kind == "sequences" else ""
    legend = [("alone", f"from when and up to when {what}{place}")] if bars else []
    said = f"Time runs to the right, from tick {start} to tick {last}. {plural(len(lanes), 'lane')}."
    return finish(Sheet(parts, y + GAP), scale, Span(start, last, last), calendar, legend, said, title)


def lanes_of(answer: RdfAnswer, prefixes: Mapping[str, str]) -> dict[str, list[Bar]]:
    """The bars of every solution or statement, in order of the first one."""
    lanes: dict[str, list[Bar]] = {}

    def named(payload: Solution | Triple) -> str:
        if isinstance(payload, Triple):
            terms = (payload.subject, payload.predicate, payload.object)
            return " ".join(short(term, prefixes) for term in terms)
        bound = zip(answer.columns, answer.terms(payload), strict=True)
        return ", ".join(f"?{name} {short(term, prefixes)}" for name, term in bound if term is not None) or "(nothing)"

    for one in answer.solutions:
        lanes.setdefault(named(one.payload), []).append(Bar(one.start, one.end, _often(one.n)))
    for stated in answer.triples:
        lanes.setdefault(named(stated.payload), []).append(Bar(stated.start, stated.end, _often(stated.n)))
    for sequence in answer.sequences:
        for place, solution in enumerate(sequence.solutions, 1):
            bars, words = lanes.setdefault(named(solution), []), f"{place}."
            if bars and (bars[-1].end, bars[-1].words) == (sequence.start, words):
                bars[-1] = Bar(bars[-1].start, sequence.end, words)
            else:
                bars.append(Bar(sequence.start, sequence.end, words))
    for truth in answer.truth:
        bar = Bar(truth.start, truth.end, str(truth.value).lower(), not truth.value)
        lanes.setdefault("ASK", []).append(bar)
    return lanes


def _often(n: int) -> str:
    return f"{n} times" if n > 1 else ""


def _lane(name: str, bars: list[Bar], y: float, scale: Scale, colour: str) -> str:
    level = y + 20
    inner = [
        line(LEFT - 12, level + BAR + 2, RIGHT + 12, level + BAR + 2, stroke=FAINT),
        *(_bar(bar, level, scale, colour) for bar in bars),
        label(LEFT - 6, y + 14, shortened(name, 130), size=12, font_family=MONO, fill=INK, **HALO),
    ]
    return tag("g", *inner, class_="lane", data_name=name, data_bars=len(bars))


def _bar(bar: Bar, y: float, scale: Scale, colour: str) -> str:
    """From the first instant up to the end, which does not belong to it; what has no end fades out."""
    edge = RIGHT + 12
    begin = max(scale.at(bar.start), LEFT - 12)
    open_ended = bar.end is None or scale.at(bar.end) > edge
    end = edge if bar.end is None or open_ended else scale.at(bar.end)
    reach = "for ever" if bar.end is None else f"up to {bar.end}"
    parts = [hint(f"valid from {bar.start} {reach}" + (f": {bar.words}" if bar.words else ""))]
    width = max(end - begin, 2.0)
    fading = 24.0 if open_ended and width > 60 else 0.0
    rounded = tag(
        "rect", class_="bar hollow" if bar.hollow else "bar", x=begin, y=y, width=width - fading, height=BAR,
        rx=None if fading else 3, fill="white" if bar.hollow else colour, stroke=colour if bar.hollow else None,
        stroke_dasharray="4 2.5" if bar.hollow else None,
    )  # fmt: skip
    parts.append(rounded)
    step = fading / FADING
    for n in range(FADING if fading and not bar.hollow else 0):
        opacity = 1 - (n + 1) / (FADING + 1)
        parts.append(tag("rect", x=end - fading + n * step, y=y, width=step, height=BAR, fill=colour, opacity=opacity))
    for words in (f"{bar.start} {reach}" + (f", {bar.words}" if bar.words else ""), bar.words):
        if words and width - fading > width_of(words, 10.5) + 8:
            fill = colour if bar.hollow else "white"
            parts.append(label(begin + 5, y + 13, words, size=10.5, font_weight="bold", fill=fill))
            break
    return tag("g", *parts, class_="valid", data_start=bar.start, data_end="" if bar.end is None else bar.end)
