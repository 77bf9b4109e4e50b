"""The windows of a lane as bars from bound to bound, each with the mark of its creation."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from transom.picture.lanes import Lane, Shown
from transom.picture.look import BAR, EDGE, FADED, INK, PANEL, RIGHT, ROW, WIDTH
from transom.picture.pairs import Pairing
from transom.picture.scale import Scale
from transom.picture.svg import hint, label, line, tag, width_of
from transom.picture.words import Reach, plural

FADE = 3.0
STEPS = tuple(place / 13 for place in range(1, 13))


@dataclass(frozen=True, slots=True)
class Extent:
    """From which pixel to which a bar reaches; `open` if it goes on to the left of the picture."""

    start: float
    end: float
    open: bool

    @property
    def middle(self) -> float:
        """Where the number of tuples is written."""
        return (self.start + self.end) / 2


def extent_of(lane: Lane, window: Shown, scale: Scale) -> Extent:
    """Where the bar of a window lies: over both its end ticks, since both belong to it (S4)."""
    low, high = lane.ticks(window) or (window.created, window.created)
    low, high = min(low, high), max(low, high)
    edge = scale.start - 12
    start, end = scale.at(low) - scale.pad, scale.at(high) + scale.pad
    if low >= scale.left:
        return Extent(start, end, False)
    return Extent(edge, max(end, edge + FADE * 13), True)


def draw_window(
    lane: Lane, window: Shown, y: float, scale: Scale, colour: str, pairing: Pairing, drawn: Collection[int]
) -> str:
    """One row of a lane: the bar, the way from its end to the creation tick, the mark and what it says."""
    extent = extent_of(lane, window, scale)
    x = scale.at(window.created)
    parts = [hint(_spoken(lane, window))]
    if pairing.is_product:
        parts += _validity(window, y, scale, pairing, colour)
    if x > extent.end + 1:
        middle = y + BAR / 2
        parts.append(line(extent.end, middle, x, middle, stroke=colour, stroke_width=1.6, stroke_dasharray="1.5 3.5"))
        parts.append(line(x, y + 1, x, y + BAR, stroke=INK, stroke_width=1.6))
    parts += _bar(extent, y, colour, hollow=not window.rows)
    parts += _inside(window, extent, y, scale, colour, drawn)
    parts.append(_mark(x, y + BAR))
    beside = max(x + 7, extent.end + 5)
    words = next((w for w in _beside(lane, window) if beside + width_of(w) < WIDTH - EDGE), "")
    parts.append(label(beside, y + BAR / 2 + 4, words, fill=FADED))
    return tag(
        "g",
        *parts,
        class_="window",
        data_low=window.low,
        data_high=window.high,
        data_created=window.created,
        data_rows=window.rows,
        data_colour=colour,
    )


def _bar(extent: Extent, y: float, colour: str, *, hollow: bool) -> list[str]:
    parts, start = [], extent.start
    if extent.open and not hollow:
        for opacity in STEPS:
            parts.append(tag("rect", x=start, y=y, width=FADE, height=BAR, fill=colour, opacity=opacity))
            start += FADE
    width = max(extent.end - start, 2.0)
    if hollow:
        parts.append(
            tag(
                "rect",
                class_="bar hollow",
                x=start + 0.8,
                y=y + 0.8,
                width=width - 1.6,
                height=BAR - 1.6,
                rx=4,
                fill="white",
                stroke=colour,
                stroke_width=1.6,
                stroke_dasharray="4 2.5",
            )
        )
        if extent.open:
            parts.append(label(start + 4, y + 12.5, "←", fill=colour))
    else:
        rounded = None if extent.open else 4
        parts.append(tag("rect", class_="bar", x=start, y=y, width=width, height=BAR, rx=rounded, fill=colour))
    return parts


def _inside(window: Shown, extent: Extent, y: float, scale: Scale, colour: str, drawn: Collection[int]) -> list[str]:
    """The number of tuples, and below it a speck for each tick that gave one."""
    parts, free = [], float("-inf")
    for tick in sorted({e.tick for e in window.members if e.index in drawn}):
        if scale.at(tick) >= free:
            parts.append(tag("circle", cx=scale.at(tick), cy=y + BAR - 3.1, r=1.8, fill="white", class_="member"))
            free = scale.at(tick) + 3
    count = str(window.rows)
    where = max(extent.start + FADE * 9, extent.middle) if extent.open else extent.middle
    fill = "white" if window.rows else colour
    drop = 10.9 if window.rows else 12.8
    parts.append(
        label(where, y + drop, count, size=10.5, font_weight="bold", text_anchor="middle", fill=fill, class_="count")
    )
    return parts


def _mark(x: float, y: float) -> str:
    """The creation mark: a triangle that points up to the bar."""
    points = f"{x:.1f},{y:.1f} {x - 4.5:.1f},{y + 7:.1f} {x + 4.5:.1f},{y + 7:.1f}"
    return tag("polygon", points=points, fill=INK, class_="creation")


def _validity(window: Shown, y: float, scale: Scale, pairing: Pairing, colour: str) -> list[str]:
    """How long a window stays the current one, with a dot wherever it is paired again."""
    level = y + BAR + 4.5
    end = RIGHT + 12 if window.superseded is None else scale.at(window.superseded)
    parts = [line(scale.at(window.created), level, end, level, stroke=colour, stroke_width=2, opacity=0.45)]
    for tick in pairing.ticks_of(window):
        parts.append(pair_dot(scale.at(tick), level, pairing.colours[tick], tick))
    return parts


def pair_dot(x: float, y: float, colour: str, tick: int) -> str:
    """Here a window that is already there is paired with a new one of another lane."""
    return tag(
        "circle",
        hint(f"paired again at tick {tick}"),
        cx=x,
        cy=y,
        r=4,
        fill=colour,
        stroke=PANEL,
        stroke_width=1.2,
        class_="pair",
        data_tick=tick,
    )


def _beside(lane: Lane, window: Shown) -> list[str]:
    """What is said beside a window, the longest first."""
    created = f"created at {window.created}"
    if not lane.counts_rows:
        return [created]
    rows = "no row"
    if window.members:
        first, last = window.members[0].index, window.members[-1].index
        rows = f"row {first}" if first == last else f"rows {first} to {last}"
    return [f"{rows}, {created}", rows]


def _spoken(lane: Lane, window: Shown) -> str:
    of = "rows" if lane.counts_rows else "ticks"
    held = plural(window.rows, "tuple")
    return f"window created at tick {window.created}, {of} {window.low} to {window.high}, holds {held}"


def draw_scans(lane: Lane, y: float, scale: Scale, pairing: Pairing) -> list[str]:
    """Scans as diamonds on one row; a light line shows how long each content holds."""
    parts = []
    level = y + ROW / 2
    for place, window in enumerate(lane.windows):
        colour = pairing.colour_of(window, place)
        x, end = scale.at(window.created), RIGHT + 12 if window.superseded is None else scale.at(window.superseded)
        inner = [hint(f"scanned at tick {window.created}: {plural(window.rows, 'row')}")]
        inner.append(line(x, level, end, level, stroke=colour, stroke_width=5, opacity=0.35))
        inner += [pair_dot(scale.at(t), level, pairing.colours[t], t) for t in pairing.ticks_of(window)]
        points = f"{x:.1f},{level - 9:.1f} {x + 9:.1f},{level:.1f} {x:.1f},{level + 9:.1f} {x - 9:.1f},{level:.1f}"
        inner.append(
            tag(
                "polygon",
                points=points,
                fill=colour if window.rows else "white",
                stroke=colour,
                stroke_width=1.6,
                class_="bar" if window.rows else "bar hollow",
            )
        )
        words = plural(window.rows, "row")
        if end - x > width_of(words) + 16:
            inner.append(label(x + 12, level - 7, words, fill=FADED))
        parts.append(
            tag(
                "g",
                *inner,
                class_="window scan",
                data_low=window.low,
                data_high=window.high,
                data_created=window.created,
                data_rows=window.rows,
                data_colour=colour,
            )
        )
    return parts


def draw_bounds(lane: Lane, window: Shown, form: Reach, y: float, scale: Scale) -> list[str]:
    """Below the bar of the example: which word of the window stands where."""
    places = [(window.created, "NOW")]
    if form.high:
        places.append((window.high, form.unit.at(form.high)))
    if form.low != form.high:
        places.append((window.low, form.unit.at(form.low)))
    parts: list[str] = []
    beyond: list[str] = []
    free = float("inf")
    for tick, words in places:
        x, full = scale.at(tick), f"{words} = {tick}"
        room = width_of(full, 10.5) / 2
        if tick < scale.left:
            beyond.insert(0, full)
        elif x + room <= free:
            middle = max(x, EDGE + 4 + room)
            parts.append(label(middle, y, full, size=10.5, text_anchor="middle", fill=INK, class_="bound"))
            free = x - room - 4
    full = f"← {', '.join(beyond)}"
    if beyond and scale.start + width_of(full, 10.5) < free:
        parts.append(label(scale.start - 10, y, full, size=10.5, fill=INK, class_="bound"))
    return parts
