"""Draw the tuples of a lane as dots at their ticks, stacked within a tick; table versions as squares."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from transom.model.answer import show
from transom.model.bag import Element, TableVersion
from transom.model.schema import Schema
from transom.picture.style import FADED, GREY, INK
from transom.picture.svg import label, shorten, tag, tooltip
from transom.picture.timeline.scale import Scale
from transom.picture.timeline.window_text import plural

MAX_DOTS = 300
MAX_NUMBERED_DOTS = 60


@dataclass(frozen=True, slots=True)
class Dots:
    """The drawn elements by tick, and the radius of their dots; large dots show the row number.

    `highest` is the most dots of a stack, `unseen` the number of elements that are left out.
    """

    stacks: dict[int, list[Element]]
    radius: float
    highest: int
    unseen: int

    @property
    def numbered(self) -> bool:
        """Whether dots are large enough to show the row numbers of their tuples."""
        return self.radius > 5

    @property
    def pitch(self) -> float:
        """The vertical distance of two dots stacked at one tick, in pixels."""
        return 2 * self.radius + 1.5

    @property
    def height(self) -> float:
        """The height of the tallest stack of dots in pixels."""
        tallest = max(map(len, self.stacks.values()), default=1)
        return min(tallest, self.highest) * self.pitch + (13 if tallest > self.highest else 2)

    @property
    def drawn(self) -> set[int]:
        """The indexes of the tuples that have a dot, or that are counted in the number above a stack."""
        return {element.index for stack in self.stacks.values() for element in stack}


def layout_dots(elements: Sequence[Element], scale: Scale, *, show_row_numbers: bool) -> Dots:
    """Stack a lane's tuples as dots by tick, every n-th of many; `show_row_numbers`: large dots if they are few.

    If `show_row_numbers`, the dots are large if there are few.
    """
    step = -(-len(elements) // MAX_DOTS) or 1
    drawn = elements[::step]
    stacks: dict[int, list[Element]] = {}
    for element in drawn:
        stacks.setdefault(element.tick, []).append(element)
    closest = min((after - before for before, after in pairwise(sorted(stacks))), default=10**6) * scale.cell
    large = show_row_numbers and step == 1 and len(drawn) <= MAX_NUMBERED_DOTS and closest >= 15
    return Dots(stacks, 7.5 if large else 4.2, 6 if large else 8, len(elements) - len(drawn))


def draw_dots(dots: Dots, base: float, scale: Scale, schema: Schema, chosen: Collection[int], colour: str) -> list[str]:
    """Draw stacks of dots from y pixel `base` upwards; tuples with an index in `chosen` are coloured, others grey.

    `chosen` are the indexes of these tuples.
    """
    parts = []
    for tick, stack in dots.stacks.items():
        x = scale.at(tick)
        for level, element in enumerate(stack[: dots.highest]):
            parts.append(_draw_dot(element, x, base - dots.radius - level * dots.pitch, dots, schema, chosen, colour))
        if len(stack) > dots.highest:
            y = base - dots.highest * dots.pitch - 2
            parts.append(label(x, y, f"+{len(stack) - dots.highest}", size=11, text_anchor="middle", fill=FADED))
    return parts


def _draw_dot(
    element: Element, x: float, y: float, dots: Dots, schema: Schema, chosen: Collection[int], colour: str
) -> str:
    """Draw a tuple as a dot at (x, y), with its values as tooltip; it is grey unless its index is in `chosen`."""
    fill = colour if element.index in chosen else GREY
    values = ", ".join(f"{attribute.name} {shorten(show(value), 60)}" for attribute, value in zip(schema, element.row))
    circle = tag("circle", cx=x, cy=y, r=dots.radius, fill=fill)
    number = ""
    if dots.numbered:
        size = 9 if element.index < 100 else 7
        number = label(x, y + size * 0.36, str(element.index), size=size, text_anchor="middle", fill="white")
    return tag(
        "g",
        tooltip(f"tick {element.tick}, row {element.index}: {values}"),
        circle,
        number,
        class_="tuple chosen" if element.index in chosen else "tuple",
        data_tick=element.tick,
        data_index=element.index,
    )


def draw_versions(versions: Sequence[TableVersion], base: float, scale: Scale) -> list[str]:
    """Draw the versions of a stored table as squares at their ticks, on the line at y pixel `base`."""
    parts = []
    for version in versions[:MAX_DOTS]:
        x = scale.at(max(version.tick, scale.first))
        row_count = plural(len(version.rows), "row")
        square = tag("rect", x=x - 4.5, y=base - 10, width=9, height=9, fill=GREY, stroke=INK, stroke_width=0.8)
        parts.append(
            tag(
                "g",
                tooltip(f"from tick {version.tick} on the table holds {row_count}"),
                square,
                class_="version",
                data_tick=version.tick,
            )
        )
    return parts
