"""Draw the rows of an answer on a map: a ring at each position, with the time, and a line between two objects."""

from __future__ import annotations

from collections.abc import Iterator

from transom.model.answer import show
from transom.picture.map.content import AnswerRow, MapContent, StopRanges
from transom.picture.map.frame import MapFrame
from transom.picture.map.labels import LabelBoard, beside
from transom.picture.quantities import Clock
from transom.picture.style import FADED, INK
from transom.picture.svg import Attribute, number, shorten, tag, tooltip

RADIUS, EARLIER_RADIUS, CROWDED_RADIUS = 8.0, 5.5, 4.0
MAX_LARGE_RINGS = 60
"""The most rings of the latest answer that are large; more of them are small, so that the track stays visible."""
MAX_LABELS = 40
MAX_TOOLTIP_ROWS = 6

Pixel = tuple[float, float]


def draw_answers(frame: MapFrame, content: MapContent, clock: Clock, board: LabelBoard) -> list[str]:
    """Draw an answer's rows as rings on a map, dark for the latest answer, else pale; `board` keeps labels off them.

    The rings are noted on `board`, so that labels leave them visible.
    """
    rings_by_pixel = _rows_by_pixel(frame, content)
    parts = [_pair_line(frame, row) for row in content.answers if len(row.positions) > 1]
    rings = [(any(row.is_current for row in rows), point, rows) for point, rows in rings_by_pixel.items()]
    is_crowded = sum(is_current for is_current, _, _ in rings) > MAX_LARGE_RINGS
    for is_current, point, rows in sorted(rings, key=lambda ring: ring[0]):
        parts.append(_ring(point, rows, clock, is_current=is_current, is_crowded=is_crowded))
        board.add_symbol(point, RADIUS if is_current else EARLIER_RADIUS)
    return parts


def _rows_by_pixel(frame: MapFrame, content: MapContent) -> dict[Pixel, list[AnswerRow]]:
    """Group the answer rows by the pixels at which they are marked on the map."""
    rings_by_pixel: dict[Pixel, list[AnswerRow]] = {}
    for row in content.answers:
        for x, y in row.positions:
            px, py = frame.pixel(x, y)
            rings_by_pixel.setdefault((round(px, 1), round(py, 1)), []).append(row)
    return rings_by_pixel


def _pair_line(frame: MapFrame, row: AnswerRow) -> str:
    """Draw the line that connects the objects of an answer row."""
    points = [frame.pixel(x, y) for x, y in row.positions]
    path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)
    ground = tag("path", d=path, fill="none", stroke="#ffffff", stroke_width=4, opacity=0.8)
    dashes = tag("path", d=path, fill="none", stroke=INK, stroke_width=1.4, stroke_dasharray="4 3")
    return tag("g", ground, dashes, class_="answer pair", data_tick=row.ticks[0])


def _ring(point: Pixel, rows: list[AnswerRow], clock: Clock, *, is_current: bool, is_crowded: bool) -> str:
    """Draw the ring at a pixel with answer rows, dark for the latest answer, small on a crowded map, with a tooltip."""
    x, y = point
    is_large = is_current and not is_crowded
    radius = RADIUS if is_large else CROWDED_RADIUS if is_crowded else EARLIER_RADIUS
    lines = [answer_text(row, clock) for row in rows[:MAX_TOOLTIP_ROWS]]
    if len(rows) > MAX_TOOLTIP_ROWS:
        lines.append(f"and {len(rows) - MAX_TOOLTIP_ROWS} more")
    shapes = [tag("circle", cx=x, cy=y, r=radius, fill="#ffffff", fill_opacity=0.01, stroke="#ffffff",
                  stroke_width=4.6 if is_large else 2.6, opacity=0.85, class_="halo")]  # fmt: skip
    shapes.append(tag("circle", cx=x, cy=y, r=radius, fill="none", stroke=INK if is_current else FADED,
                      stroke_width=2.2 if is_large else 1.2, class_="ring"))  # fmt: skip
    stops = sorted({stop for row in rows for stop in row.current})
    return tag(
        "g",
        tooltip("\n".join(lines)),
        *shapes,
        class_=f"answer{' crowded' if is_crowded else ''}{'' if is_current else ' earlier'}",
        data_tick=min(row.ticks[0] for row in rows),
        data_current=_range_text(tuple(stops)) or None,
    )


def _range_text(ranges: StopRanges) -> str:
    """Format ranges of slider stops as the text of an SVG attribute, such as `0-4 7-7`."""
    return " ".join(f"{first}-{last}" for first, last in ranges)


def answer_text(row: AnswerRow, clock: Clock) -> str:
    """Format an answer row as text: its time, tick and values."""
    values = ", ".join(f"{name} {shorten(show(value), 40)}" for name, value in row.values)
    tick = row.ticks[-1]
    time = f"tick {tick}" if not clock.has_instants else f"{clock.text(tick)}, tick {tick}"
    times = "" if len(row.ticks) == 1 else f" (and {len(row.ticks) - 1} times before)"
    return f"answer at {time}{times}: {values}"


def label_answers(frame: MapFrame, content: MapContent, clock: Clock, board: LabelBoard) -> Iterator[str]:
    """Write the time beside the rings of the latest answer, once for each object and time, if there is room."""
    labelled: set[tuple[tuple[str, ...], int]] = set()
    rings_by_pixel = [
        (point, [row for row in rows if row.is_current])
        for point, rows in reversed(_rows_by_pixel(frame, content).items())
    ]
    for point, rows in rings_by_pixel:
        if not rows or (rows[-1].names, rows[-1].ticks[-1]) in labelled:
            continue
        labelled.add((rows[-1].names, rows[-1].ticks[-1]))
        ticks = sorted({row.ticks[-1] for row in rows})
        text = clock.text(ticks[0]) if clock.has_instants else f"tick {ticks[0]}"
        text += f" +{len(ticks) - 1}" if len(ticks) > 1 else ""
        style: dict[str, Attribute] = {"fill": INK, "class_": "answer-time", "data_tick": ticks[0]}
        time = board.write(text, beside(point, text, 11.5, RADIUS + 3), style, font_size=11.5, max_crossed_share=0.5)
        if time is not None:
            yield time
        if len(labelled) >= MAX_LABELS:
            return
