"""The tuples of a lane as dots at their ticks, those of one tick on top of each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from transom.model.answer import show
from transom.model.bag import Element, Version
from transom.model.schema import Schema
from transom.picture.look import FADED, GREY, INK
from transom.picture.scale import Scale
from transom.picture.svg import hint, label, shortened, tag
from transom.picture.words import plural

MOST_DOTS = 300
MOST_NUMBERED = 60


@dataclass(frozen=True, slots=True)
class Dots:
    """The elements that are drawn, by tick, and how large: large ones carry their row number."""

    stacks: dict[int, list[Element]]
    radius: float
    highest: int
    unseen: int

    @property
    def numbered(self) -> bool:
        """Whether the dots carry row numbers."""
        return self.radius > 5

    @property
    def pitch(self) -> float:
        """The distance of two dots of one tick."""
        return 2 * self.radius + 1.5

    @property
    def height(self) -> float:
        """How much space the stacks take."""
        tallest = max(map(len, self.stacks.values()), default=1)
        return min(tallest, self.highest) * self.pitch + (13 if tallest > self.highest else 2)

    @property
    def drawn(self) -> set[int]:
        """The indexes of the elements that are drawn, or counted on top of a stack."""
        return {e.index for stack in self.stacks.values() for e in stack}


def dots_of(elements: Sequence[Element], scale: Scale, *, numbered: bool) -> Dots:
    """A few hundred dots, spread over the span when there are more tuples than that."""
    step = -(-len(elements) // MOST_DOTS) or 1
    kept = elements[::step]
    stacks: dict[int, list[Element]] = {}
    for element in kept:
        stacks.setdefault(element.tick, []).append(element)
    closest = min((b - a for a, b in pairwise(sorted(stacks))), default=10**6) * scale.cell
    large = numbered and step == 1 and len(kept) <= MOST_NUMBERED and closest >= 15
    return Dots(stacks, 7.5 if large else 4.2, 6 if large else 8, len(elements) - len(kept))


def draw_dots(dots: Dots, base: float, scale: Scale, schema: Schema, chosen: Collection[int], colour: str) -> list[str]:
    """Dots upwards from a base line; the chosen ones, by index, in colour."""
    parts = []
    for tick, stack in dots.stacks.items():
        x = scale.at(tick)
        for place, element in enumerate(stack[: dots.highest]):
            parts.append(_dot(element, x, base - dots.radius - place * dots.pitch, dots, schema, chosen, colour))
        if len(stack) > dots.highest:
            y = base - dots.highest * dots.pitch - 2
            parts.append(label(x, y, f"+{len(stack) - dots.highest}", size=10, text_anchor="middle", fill=FADED))
    return parts


def _dot(element: Element, x: float, y: float, dots: Dots, schema: Schema, chosen: Collection[int], colour: str) -> str:
    fill = colour if element.index in chosen else GREY
    values = ", ".join(f"{a.name} {shortened(show(value), 60)}" for a, value in zip(schema, element.row))
    circle = tag("circle", cx=x, cy=y, r=dots.radius, fill=fill)
    number = ""
    if dots.numbered:
        size = 9 if element.index < 100 else 7
        number = label(x, y + size * 0.36, str(element.index), size=size, text_anchor="middle", fill="white")
    return tag(
        "g",
        hint(f"tick {element.tick}, row {element.index}: {values}"),
        circle,
        number,
        class_="tuple chosen" if element.index in chosen else "tuple",
        data_tick=element.tick,
        data_index=element.index,
    )


def draw_versions(versions: Sequence[Version], base: float, scale: Scale) -> list[str]:
    """The changes of a table as squares."""
    parts = []
    for version in versions[:MOST_DOTS]:
        x = scale.at(max(version.tick, scale.first))
        words = plural(len(version.rows), "row")
        square = tag("rect", x=x - 4.5, y=base - 10, width=9, height=9, fill=GREY, stroke=INK, stroke_width=0.8)
        parts.append(
            tag(
                "g",
                hint(f"from tick {version.tick} on the table holds {words}"),
                square,
                class_="version",
                data_tick=version.tick,
            )
        )
    return parts
