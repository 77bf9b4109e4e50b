"""The elements of a window are found by binary search. They must be those that the definition gives."""

from __future__ import annotations

from random import Random

from transom.algebra.windows import Bound, Coordinate, CoordinateRange, Range, RangeIntersection, UnboundedRange
from transom.model.bag import Element
from transom.reference.windows import CoordinateValues, PositionedElement, elements_in_window, is_in_window

TICK, INDEX, DISTANCE = Coordinate.TICK, Coordinate.INDEX, Coordinate.DISTANCE


def drawn_elements(rng: Random) -> list[PositionedElement]:
    """Up to 12 elements of a key; several may have the same tick or distance."""
    elements: list[PositionedElement] = []
    tick = distance = 0
    for index in range(1, rng.randrange(13)):
        tick, distance = tick + rng.randrange(3), distance + rng.choice((0, 0, 4, 9))
        at = {TICK: tick, INDEX: index, DISTANCE: distance}
        elements.append(PositionedElement(Element(tick, index, (index,)), at, None))
    return elements


def drawn_range(rng: Random) -> Range:
    """A range on one coordinate, on two, or on none."""
    drawn = [
        CoordinateRange(
            rng.choice((TICK, INDEX, DISTANCE)), *(Bound(rng.choice((1, 1, 3)), rng.randrange(-9, 2)) for _ in "lh")
        )
        for _ in range(2)
    ]
    return rng.choice((drawn[0], RangeIntersection(tuple(drawn)), UnboundedRange()))


def test_search_finds_the_elements_of_the_definition() -> None:
    rng, found, nonempty = Random(7), 0, 0
    for _ in range(4000):
        elements, window_range = drawn_elements(rng), drawn_range(rng)
        at: CoordinateValues = {TICK: rng.randrange(14), INDEX: rng.randrange(14), DISTANCE: rng.randrange(60)}
        expected = [e for e in elements if is_in_window(window_range, e, at)]
        assert elements_in_window(window_range, elements, at) == expected
        found, nonempty = found + len(expected), nonempty + (0 < len(expected) < len(elements))
    assert found > 2000
    assert nonempty > 500
