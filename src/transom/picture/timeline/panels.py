"""Draw lanes: panel, heading, dots, example tint and windows; and the strip of pairs below a product."""

from __future__ import annotations

from transom.model.time import Calendar
from transom.picture.style import BAR, BEFORE, EDGE, FADED, FAINT, GREY, INK, LEFT, MONO, PANEL, RIGHT, TEXT_HALO, WIDTH
from transom.picture.svg import Attribute, escape, label, line, shorten, tag, text_width
from transom.picture.timeline.bars import bar_bounds, draw_bounds, draw_scans, draw_window
from transom.picture.timeline.boxes import LaneBox, lane_meaning
from transom.picture.timeline.dots import draw_dots, draw_versions
from transom.picture.timeline.lanes import Lane
from transom.picture.timeline.pairs import ExampleWindows, JoinedLanes
from transom.picture.timeline.scale import Scale
from transom.picture.timeline.window_text import plural, window_syntax


def draw_panel(top: float, bottom: float, zone: float, scale: Scale) -> list[str]:
    """Draw a lane's background from `top` to `bottom`; below y pixel `zone`, ticks before the run are darker."""
    parts = [tag("rect", x=EDGE, y=top, width=WIDTH - 2 * EDGE, height=bottom - top, rx=6, fill=PANEL, stroke=FAINT)]
    if scale.left < scale.first:
        end = scale.at(scale.first) - scale.pad
        parts.append(tag("rect", x=EDGE + 0.5, y=zone, width=end - EDGE, height=bottom - zone - 0.5, fill=BEFORE))
    return parts


def draw_heading(lane: Lane, top: float, calendar: Calendar, example: ExampleWindows | None) -> list[str]:
    """Draw a lane's heading: its input, its window as syntax and as a sentence, and the example's caption."""
    name = shorten(lane.name, 40)
    caption = f"● {example.caption}" if example is not None else ""
    room = WIDTH - 2 * EDGE - 50 - text_width(name, 14) - text_width(caption)
    syntax = shorten(window_syntax(lane.op, calendar), max(20, int(room / 7.6)))
    parts = [lane_heading(top, name, syntax, font_family=MONO, font_size=12.5)]
    if meaning := lane_meaning(lane, calendar):
        parts.append(label(LEFT - 6, top + 34, meaning, size=11.5, fill=FADED, **TEXT_HALO))
    if example is not None and any(lane.windows[number].members for number in example.windows):
        end = WIDTH - EDGE - 10
        parts.append(label(end, top + 18, caption, text_anchor="end", fill=example.colour, **TEXT_HALO))
    return parts


def lane_heading(top: float, name: str, description: str, **attributes: Attribute) -> str:
    """Draw the first line of a lane's heading: its name in bold, then the description with SVG attributes."""
    content = [
        tag("tspan", escape(name), font_weight="bold"),
        tag("tspan", escape(description), dx=12, **{"font_size": 11.5, **attributes}),
    ]
    return tag("text", *content, x=LEFT - 6, y=top + 18, font_size=14, fill=INK, **TEXT_HALO)


def draw_lane(
    box: LaneBox, scale: Scale, joined_lanes: JoinedLanes, example: ExampleWindows | None, calendar: Calendar
) -> str:
    """Draw a lane: its heading, tuples as dots, windows or scans, and notes; the example's dots are coloured."""
    lane = box.lane
    parts = draw_heading(lane, box.top, calendar, example)
    chosen: set[int] = set()
    colour = GREY
    if example is not None:
        chosen = {element.index for number in example.windows for element in lane.windows[number].members}
        colour = example.colour
        parts += _example_tints(box, example, scale)
    parts.append(line(LEFT - 12, box.base + 1, RIGHT + 12, box.base + 1, stroke=FAINT))
    if lane.is_scan:
        parts += draw_versions(lane.versions, box.base, scale)
        parts += draw_scans(lane, box.rows[0], scale, joined_lanes) if box.rows else []
    else:
        parts += draw_dots(box.dots, box.base, scale, lane.op.input.schema, chosen, colour)
        parts += _draw_lane_windows(box, scale, joined_lanes)
    if box.dots.unseen and not lane.is_scan:
        note = f"+{box.dots.unseen} more tuples"
        end = WIDTH - EDGE - 10
        parts.append(label(end, box.top + 34, note, text_anchor="end", fill=FADED, font_style="italic", **TEXT_HALO))
    parts += [label(x, y, note, fill=FADED, font_style="italic") for x, y, note in _lane_notes(box)]
    return tag("g", *parts, class_="lane", data_name=lane.name, data_windows=len(lane.windows))


def _draw_lane_windows(box: LaneBox, scale: Scale, joined_lanes: JoinedLanes) -> list[str]:
    """Draw the windows of a lane as bars; the bounds of one example window are labelled."""
    lane, drawn, parts = box.lane, box.dots.drawn, []
    for number, (window, y) in enumerate(zip(lane.windows, box.rows)):
        parts.append(draw_window(lane, window, y, scale, joined_lanes.colour_of(window, number), joined_lanes, drawn))
        if number == box.explained and box.bounds is not None:
            parts += draw_bounds(lane, window, box.bounds, y + BAR + 19, scale)
    return parts


def _example_tints(box: LaneBox, example: ExampleWindows, scale: Scale) -> list[str]:
    """Draw a light band from the dots of each example window of a lane down to its bar."""
    if box.lane.is_scan or not box.rows:
        return []
    parts = []
    top = box.base - box.dots.height
    for number in (number for number in example.windows if box.lane.windows[number].rows):
        bar = bar_bounds(box.lane, box.lane.windows[number], scale)
        height = box.rows[number] + BAR - top
        parts.append(
            tag(
                "rect", class_="example", x=bar.start, y=top, width=bar.end - bar.start, height=height,
                fill=example.colour, opacity=0.13,
            )
        )  # fmt: skip
    return parts


def _lane_notes(box: LaneBox) -> list[tuple[float, float, str]]:
    """Return the notes on a lane, as (x, y, text): that it has no tuples or windows, or how many are not drawn."""
    lane = box.lane
    notes: list[tuple[float, float, str]] = []
    if lane.is_scan:
        if not lane.versions:
            notes.append((LEFT, box.base - 4, "the table is empty"))
    elif not lane.elements:
        notes.append((LEFT, box.base - 4, "no tuples in this span"))
    if not lane.windows:
        notes.append((LEFT + 150, box.base - 4, "no windows in this span"))
    if lane.unseen:
        notes.append((LEFT, box.bottom - 9, f"+{plural(lane.unseen, 'more window')}"))
    return notes


def draw_guides(joined_lanes: JoinedLanes, top: float, bottom: float, scale: Scale) -> list[str]:
    """Return thin vertical SVG lines from `top` to `bottom` at a FROM clause's first 60 ticks with new windows."""
    parts = []
    for tick in joined_lanes.created[:60]:
        x = scale.at(tick)
        colour = joined_lanes.colours.get(tick, GREY)
        opacity = 0.55 if joined_lanes.is_product else 0.35
        parts.append(
            line(x, top, x, bottom, stroke=colour, stroke_width=1, opacity=opacity, class_="guide", data_tick=tick)
        )
    return parts


def draw_pairs(joined_lanes: JoinedLanes, top: float, scale: Scale) -> tuple[list[str], float]:
    """Draw a strip below lanes whose windows are joined, a dot per tick with an answer; return SVG and the y below."""
    parts = [lane_heading(top, "pairs", PAIRS_CAPTION, fill=FADED)]
    level, line_ends = top + 36, [float("-inf"), float("-inf")]
    for tick, colour in joined_lanes.colours.items():
        x, count = scale.at(tick), joined_lanes.together[tick]
        text = f"at {tick}" if count == 1 else f"at {tick}: {count} pairs"
        half_width = text_width(text) / 2 + 3
        parts.append(tag("circle", cx=x, cy=level, r=6, fill=colour, class_="output", data_tick=tick, data_pairs=count))
        line = next((line for line in (0, 1) if x - half_width >= line_ends[line]), None)
        if line is not None:
            parts.append(label(x, level + 19 + 13 * line, text, text_anchor="middle", fill=INK))
            line_ends[line] = x + half_width
    if not joined_lanes.colours:
        parts.append(label(LEFT, level + 4, "nothing is paired in this span", fill=FADED, font_style="italic"))
    return parts, level + (29 if line_ends[1] < 0 else 42)


PAIRS_CAPTION = (
    "an answer at each tick with a new window, from the current windows of all lanes; same colour = same answer"
)
