"""A map as SVG: regions as areas, tracks by object or speed, the current window, and the rows of the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from textwrap import shorten as shorten_words

from transom.model.time import Calendar
from transom.picture.map.answer_marks import draw_answers, label_answers
from transom.picture.map.colours import Colour, TrackColours
from transom.picture.map.content import MapContent, Track
from transom.picture.map.frame import LEFT, PLOT_WIDTH, MapFrame, draw_grid, fit_frame, scale_bar
from transom.picture.map.labels import LabelBoard, beside, inside
from transom.picture.map.legend import cross, diamond, draw_legend
from transom.picture.quantities import Clock
from transom.picture.style import EDGE, FADED, INK, SANS, WIDTH
from transom.picture.svg import Attribute, escape, label, number, shorten, tag, tooltip
from transom.picture.timeline.window_text import plural

REGION_FILL, REGION_EDGE, REGION_TEXT = "#dcebe4", "#5f9d86", "#2f6b55"
MAX_DOTS = 4000
MAX_NAMES = 16
MAX_CAPTION_LINES = 4


def map_frame(content: MapContent, calendar: Calendar) -> MapFrame:
    """Compute the frame of a map, which maps coordinates to pixels below the map's title and caption."""
    return fit_frame(content, 44.0 + 17 * len(caption_lines(content, map_clock(content, calendar))))


def draw_map(content: MapContent, frame: MapFrame, calendar: Calendar, colour: Colour, title: str) -> str:
    """Draw tracks and regions as a standalone SVG document; `colour` says whether colours mean objects or speeds."""
    clock = map_clock(content, calendar)
    caption = caption_lines(content, clock)
    colours = TrackColours.of(content, calendar, colour)
    dense = is_dense(content)
    board = LabelBoard(frame)
    pixels = [frame.pixels(track.points) for track in content.tracks]
    for track, points in zip(content.tracks, pixels):
        board.add_line(points)
        board.add_symbol(points[-1], 6)
        for rejected in track.rejected:
            board.add_symbol(frame.pixel(rejected.x, rejected.y), 4)
    answers = draw_answers(frame, content, clock, board)
    bar = min(scale_bar(frame, content).corners(frame), key=lambda corner: board.crossed(corner.box))
    board.add_box(bar.box)
    labels = [
        *_name_tracks(content, pixels, colours, board),
        *_name_regions(frame, content, board),
        *label_answers(frame, content, clock, board),
    ]
    tracks = [
        draw_track(content, track, points, index, colours, dense)
        for index, (track, points) in enumerate(zip(content.tracks, pixels))
    ]
    legend, bottom = draw_legend(content, frame, colours, frame.bottom + 40, only_window_dots=dense)
    body = [
        *draw_grid(frame, content, clock),
        tag("g", *_draw_regions(frame, content), clip_path="url(#plot)"),
        tag("g", *tracks, clip_path="url(#plot)"),
        tag("g", *_draw_slide_marks(frame, content), *_draw_rejected(frame, content, clock), clip_path="url(#plot)"),
        tag("g", *_draw_ends(content, pixels, colours), clip_path="url(#plot)"),
        tag("g", *answers, clip_path="url(#plot)"),
        bar.draw(),
        tag("g", *labels, class_="labels"),
        tag("g", *legend, class_="legend"),
        label(EDGE, 27, shorten(title or "map", 80), size=17, fill=INK, font_weight="600"),
    ]
    for number_of_line, text in enumerate(caption):
        class_ = "caption time" if number_of_line == 0 else "caption"
        body.append(label(EDGE, 46 + 17 * number_of_line, text, size=12.5, fill=FADED, class_=class_))
    clip = tag("clipPath", tag("rect", x=LEFT, y=frame.plot_top, width=PLOT_WIDTH, height=frame.height), id="plot")
    return tag(
        "svg",
        tag("title", escape(title or "map")),
        tag("desc", escape(". ".join([*caption, _describe(content)]))),
        tag("rect", width=WIDTH, height=bottom, fill="#ffffff"),
        tag("defs", clip),
        *body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {number(bottom)}",
        width=WIDTH,
        height=bottom,
        role="img",
        aria_label=title or "map",
        font_family=SANS,
        style="max-width: 100%; height: auto",
    )


def map_clock(content: MapContent, calendar: Calendar) -> Clock:
    """Create the clock that formats a map's times, from its first row to the tick that it shows."""
    first = min((track.points[0].tick for track in content.tracks), default=content.at)
    return Clock(calendar, min(first, content.at), content.at)


def is_dense(content: MapContent) -> bool:
    """Whether a map has so many rows that only those in the window get a dot."""
    return sum(len(track.points) for track in content.tracks) > MAX_DOTS


def caption_lines(content: MapContent, clock: Clock) -> list[str]:
    """Return the lines below a map's title: the time shown, and the windows of the query in words."""
    lines = [f"as of {clock.full(content.at)}", *content.windows]
    if len(lines) > MAX_CAPTION_LINES:
        rest = len(lines) - MAX_CAPTION_LINES + 1
        lines = [*lines[: MAX_CAPTION_LINES - 1], f"and {plural(rest, 'more window')}"]
    return [shorten_words(text, 125, placeholder=" …") for text in lines]


def _describe(content: MapContent) -> str:
    """Describe a map in text, for screen readers: its numbers of objects, regions and answer rows."""
    parts = [plural(len(content.tracks), "object"), plural(len(content.regions), "region")]
    return f"The map shows {', '.join(parts)} and {plural(len(content.answers), 'answer row')}"


def _draw_regions(frame: MapFrame, content: MapContent) -> Iterator[str]:
    """Draw the regions of a map as SVG elements; regions that the query does not name are pale."""
    for region in content.regions:
        outlines = [frame.outline(ring) for polygon in region.polygons for ring in polygon]
        path = "".join("M" + "L".join(f"{number(x)} {number(y)}" for x, y in outline) + "Z" for outline in outlines)
        opacity = 0.95 if region.in_query else 0.45
        yield tag(
            "path",
            tooltip(region.name),
            d=path,
            fill=REGION_FILL,
            fill_rule="evenodd",
            stroke=REGION_EDGE,
            opacity=opacity,
        )


def _name_regions(frame: MapFrame, content: MapContent, board: LabelBoard) -> Iterator[str]:
    """Write the name of each region inside or beside the region, where no other label is."""
    for region in content.regions:
        outline = max((frame.outline(polygon[0]) for polygon in region.polygons), key=len)
        weight = "600" if region.in_query else "400"
        style: dict[str, Attribute] = {"fill": REGION_TEXT, "font_style": "italic", "font_weight": weight}
        text = shorten(region.name, 40)
        if name := board.write(text, inside(outline, text, 12.5), style, font_size=12.5):
            yield name


def _name_tracks(
    content: MapContent, pixels: Sequence[Sequence[tuple[float, float]]], colours: TrackColours, board: LabelBoard
) -> Iterator[str]:
    """Write the name of each object beside its latest row, unless there are many objects."""
    for index, (track, points) in enumerate(zip(content.tracks[:MAX_NAMES], pixels)):
        text = shorten(track.name, 24)
        fill = colours.of_object(index) if colours.mode == "object" else INK
        style: dict[str, Attribute] = {"fill": fill, "font_weight": "600", "class_": "track-name", "data_track": index}
        if name := board.write(text, beside(points[-1], text, 13, 9), style, font_size=12, max_crossed_share=0.35):
            yield name


def draw_track(
    content: MapContent,
    track: Track,
    points: Sequence[tuple[float, float]],
    index: int,
    colours: TrackColours,
    only_window_dots: bool,
) -> str:
    """Draw the track of object `index` through pixels `points`; `only_window_dots`: no dots outside the window.

    If `only_window_dots`, only rows in the window have dots. `index` is the number of its object, which chooses its
    colour.
    """
    faint = 0.45 if content.windows else 0.9
    rejected_note = f"; {len(track.rejected)} rejected" if track.rejected else ""
    parts = []
    for segment_colour, in_window, segment in _track_segments(track, points, index, colours):
        parts.append(_polyline(segment, segment_colour, 3.2 if in_window else 1.6, 0.95 if in_window else faint))
    for dot, point, (x, y) in zip(colours.of_points(index, track), track.points, points):
        if point.in_window:
            parts.append(tag("circle", tooltip(f"{track.name}, tick {point.tick}"), cx=x, cy=y, r=3.4,
                             fill=dot, stroke="#ffffff", data_tick=point.tick))  # fmt: skip
        elif not only_window_dots:
            parts.append(tag("circle", cx=x, cy=y, r=1.7, fill=dot, opacity=faint, data_tick=point.tick))
    name = tooltip(f"{track.name}: {len(track.points)} rows, {track.points[-1].distance / 1e9:.3f} km{rejected_note}")
    return tag("g", name, tag("g", *parts, class_="lines"), class_="track")


def _track_segments(
    track: Track, points: Sequence[tuple[float, float]], index: int, colours: TrackColours
) -> Iterator[tuple[str, bool, list[tuple[float, float]]]]:
    """Yield a track's parts (colour, whether in the window, pixels); `index` is the number of its object.

    A part is (colour, whether it is in the window, pixels).
    """
    appearance: tuple[str, bool] | None = None
    segment: list[tuple[float, float]] = []
    for (before, after), (start, end) in zip(pairwise(track.points), pairwise(points)):
        next_appearance = colours.of_piece(index, before, after), before.in_window and after.in_window
        if next_appearance != appearance:
            if appearance is not None:
                yield (*appearance, segment)
            appearance, segment = next_appearance, [start]
        segment.append(end)
    if appearance is not None:
        yield (*appearance, segment)


def _polyline(points: Iterable[tuple[float, float]], colour_code: str, width: float, opacity: float) -> str:
    """Draw an SVG polyline through pixels in a colour such as `#1f77b4`, for a part of a track."""
    path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return tag("polyline", points=path, fill="none", stroke=colour_code, stroke_width=width, stroke_linejoin="round",
               stroke_linecap="round", opacity=opacity)  # fmt: skip


def _draw_ends(
    content: MapContent, pixels: Sequence[Sequence[tuple[float, float]]], colours: TrackColours
) -> Iterator[str]:
    """Yield the SVG of a white dot with a coloured border at the last point of each track, given in `pixels`."""
    for index, (track, points) in enumerate(zip(content.tracks, pixels)):
        x, y = points[-1]
        edge = colours.of_object(index) if colours.mode == "object" else INK
        note = tooltip(f"{track.name}, latest row, tick {track.points[-1].tick}")
        yield tag("circle", note, cx=x, cy=y, r=4.4, fill="#ffffff", stroke=edge, stroke_width=2.4,
                  class_="end", data_track=index)  # fmt: skip


def _draw_rejected(frame: MapFrame, content: MapContent, clock: Clock) -> Iterator[str]:
    """Draw a small grey cross at each row that is beyond the speed limit of its object."""
    for track in content.tracks:
        for point in track.rejected:
            note = f"{track.name}, {clock.text(point.tick)}, tick {point.tick}: beyond max_speed"
            yield cross(*frame.pixel(point.x, point.y), tooltip(note), data_tick=point.tick)


def _draw_slide_marks(frame: MapFrame, content: MapContent) -> Iterator[str]:
    """Draw a diamond at each position where a window that slides by distance was created."""
    for mark in content.marks:
        yield diamond(*frame.pixel(mark.x, mark.y), tooltip(mark.label), data_tick=mark.tick)
