"""One lane on the page: its panel and heading, its dots, the tint of the example, its windows."""

from __future__ import annotations

from transom.model.time import Calendar
from transom.picture.bars import draw_bounds, draw_scans, draw_window, extent_of
from transom.picture.boxes import Box, meaning_of
from transom.picture.dots import draw_dots, draw_versions
from transom.picture.lanes import Lane
from transom.picture.look import BAR, BEFORE, EDGE, FADED, FAINT, GREY, INK, LEFT, MONO, PANEL, RIGHT, WIDTH
from transom.picture.pairs import Example, Pairing
from transom.picture.scale import Scale
from transom.picture.svg import Attribute, escape, label, line, shortened, tag, width_of
from transom.picture.words import plural, written


def draw_panel(top: float, bottom: float, zone: float, scale: Scale) -> list[str]:
    """The ground of a lane; from `zone` down the time before the first tick is darker."""
    parts = [tag("rect", x=EDGE, y=top, width=WIDTH - 2 * EDGE, height=bottom - top, rx=6, fill=PANEL, stroke=FAINT)]
    if scale.left < scale.first:
        end = scale.at(scale.first) - scale.pad
        parts.append(tag("rect", x=EDGE + 0.5, y=zone, width=end - EDGE, height=bottom - zone - 0.5, fill=BEFORE))
    return parts


def draw_heading(lane: Lane, top: float, calendar: Calendar, example: Example | None) -> list[str]:
    """The name of the extent, its window as written and in a sentence, and what the coloured dots are."""
    words = shortened(written(lane.op, calendar), 70)
    parts = [heading(top, shortened(lane.name, 40), words, font_family=MONO, font_size=12.5)]
    if meaning := meaning_of(lane, calendar):
        parts.append(label(LEFT - 6, top + 34, meaning, size=11.5, fill=FADED, **HALO))
    if example is not None and any(lane.windows[place].members for place in example.places):
        end = WIDTH - EDGE - 10
        parts.append(label(end, top + 18, f"● {example.words}", text_anchor="end", fill=example.colour, **HALO))
    return parts


def heading(top: float, name: str, words: str, **attributes: Attribute) -> str:
    """The first line of a lane: its name and something about it."""
    content = [
        tag("tspan", escape(name), font_weight="bold"),
        tag("tspan", escape(words), dx=12, **{"font_size": 11.5, **attributes}),
    ]
    return tag("text", *content, x=LEFT - 6, y=top + 18, font_size=14, fill=INK, **HALO)


HALO: dict[str, Attribute] = {"paint_order": "stroke", "stroke": PANEL, "stroke_width": 3, "stroke_linejoin": "round"}
"""For text that lines run through."""


def draw_lane(box: Box, scale: Scale, pairing: Pairing, example: Example | None, calendar: Calendar) -> str:
    """Everything inside the panel of a lane."""
    lane = box.lane
    parts = draw_heading(lane, box.top, calendar, example)
    if lane.problem is not None:
        parts.append(label(LEFT, box.base, f"not drawn yet: {lane.problem}", size=12, fill=FADED, font_style="italic"))
        return tag("g", *parts, class_="lane", data_name=lane.name)
    chosen: set[int] = set()
    colour = GREY
    if example is not None:
        chosen = {e.index for place in example.places for e in lane.windows[place].members}
        colour = example.colour
        parts += _tints(box, example, scale)
    parts.append(line(LEFT - 12, box.base + 1, RIGHT + 12, box.base + 1, stroke=FAINT))
    if lane.is_scan:
        parts += draw_versions(lane.versions, box.base, scale)
        parts += draw_scans(lane, box.rows[0], scale, pairing) if box.rows else []
    else:
        parts += draw_dots(box.dots, box.base, scale, lane.op.input.schema, chosen, colour)
        parts += _windows(box, scale, pairing)
    parts += [label(x, y, words, fill=FADED, font_style="italic") for x, y, words in _notes(box)]
    return tag("g", *parts, class_="lane", data_name=lane.name, data_windows=len(lane.windows))


def _windows(box: Box, scale: Scale, pairing: Pairing) -> list[str]:
    lane, drawn, parts = box.lane, box.dots.drawn, []
    for place, (window, y) in enumerate(zip(lane.windows, box.rows)):
        parts.append(draw_window(lane, window, y, scale, pairing.colour_of(window, place), pairing, drawn))
        if place == box.explained and box.bounds is not None:
            parts += draw_bounds(lane, window, box.bounds, y + BAR + 19, scale)
    return parts


def _tints(box: Box, example: Example, scale: Scale) -> list[str]:
    """A light band from the dots of an example down to its bar."""
    if box.lane.is_scan or not box.rows:
        return []
    parts = []
    top = box.base - box.dots.height
    for place in (place for place in example.places if box.lane.windows[place].rows):
        extent = extent_of(box.lane, box.lane.windows[place], scale)
        height = box.rows[place] + BAR - top
        parts.append(
            tag(
                "rect", class_="example", x=extent.start, y=top, width=extent.end - extent.start, height=height,
                fill=example.colour, opacity=0.13,
            )
        )  # fmt: skip
    return parts


def _notes(box: Box) -> list[tuple[float, float, str]]:
    """What a reader should know about what is missing."""
    lane = box.lane
    notes: list[tuple[float, float, str]] = []
    beside = RIGHT + 22
    if lane.is_scan:
        if not lane.versions:
            notes.append((LEFT, box.base - 4, "the table is empty"))
    elif not lane.elements:
        notes.append((LEFT, box.base - 4, "no tuples in this span"))
    elif box.dots.unseen:
        notes.append((beside, box.base - 4, f"+{box.dots.unseen} more tuples"))
    if not lane.windows:
        notes.append((LEFT + 150, box.base - 4, "no windows in this span"))
    if lane.unseen:
        notes.append((LEFT, box.bottom - 9, f"+{plural(lane.unseen, 'more window')}"))
    return notes


def draw_guides(pairing: Pairing, top: float, bottom: float, scale: Scale) -> list[str]:
    """A thin line through the lanes of a block at each tick that has a new window."""
    parts = []
    for tick in pairing.created[:60]:
        x = scale.at(tick)
        colour = pairing.colours.get(tick, GREY)
        opacity = 0.55 if pairing.is_product else 0.35
        parts.append(
            line(x, top, x, bottom, stroke=colour, stroke_width=1, opacity=opacity, class_="guide", data_tick=tick)
        )
    return parts


def draw_pairs(pairing: Pairing, top: float, scale: Scale) -> tuple[list[str], float]:
    """A strip below the lanes of a product, an answer at every output tick; and how far down it reaches."""
    parts = [heading(top, "pairs", PAIRS_MEAN, fill=FADED)]
    level, free = top + 36, [float("-inf"), float("-inf")]
    for tick, colour in pairing.colours.items():
        x, many = scale.at(tick), pairing.together[tick]
        words = f"at {tick}" if many == 1 else f"at {tick}: {many} pairs"
        room = width_of(words) / 2 + 3
        parts.append(tag("circle", cx=x, cy=level, r=6, fill=colour, class_="output", data_tick=tick, data_pairs=many))
        place = next((place for place in (0, 1) if x - room >= free[place]), None)
        if place is not None:
            parts.append(label(x, level + 19 + 13 * place, words, text_anchor="middle", fill=INK))
            free[place] = x + room
    if not pairing.colours:
        parts.append(label(LEFT, level + 4, "nothing is paired in this span", fill=FADED, font_style="italic"))
    return parts, level + (29 if free[1] < 0 else 42)


PAIRS_MEAN = (
    "an answer at each tick with a new window, from the current windows of all lanes; same colour = same answer"
)
