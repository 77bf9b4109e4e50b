"""Twenty random points at which a run begins or a query is changed, over six plan shapes and four kinds of change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from tests.spark.history.changes import TICKS, Change, Story

SEED = 24
POINTS_PER_GROUP = 4
SHAPES: Mapping[str, Change] = {
    shape.name: shape
    for shape in (
        Change(
            "groups",
            "RSTREAM(SELECT site, {aggregate}(weight) AS total FROM traffic "
            "[FROM NOW-{range} TO NOW SLIDE {slide} SEC] WHERE weight > {least} GROUP BY site)",
            "",
        ),
        Change(
            "empty windows",
            "SELECT COUNT(weight) AS n, {aggregate}(weight) AS total FROM traffic "
            "[FROM NOW-{range} TO NOW SLIDE {slide} SEC] WHERE weight > {least}",
            "",
        ),
        Change(
            "join",
            "RSTREAM(SELECT traffic.id, {aggregate}(air.temp) AS total FROM traffic "
            "[FROM NOW-{range} TO NOW SLIDE {slide} SEC], air [FROM NOW-3 TO NOW SLIDE 4 SEC] "
            "WHERE traffic.id = air.id AND traffic.weight > {least} GROUP BY traffic.id)",
            "",
            ("traffic", "air"),
        ),
        Change(
            "scan",
            "RSTREAM(SELECT band.name, {aggregate}(traffic.id) AS total FROM traffic "
            "[FROM NOW-{range} TO NOW SLIDE {slide} SEC], band [SCAN 5 SEC] "
            "WHERE traffic.weight = band.weight AND traffic.weight > {least} GROUP BY band.name)",
            "",
            stored=True,
        ),
        Change(
            "nested",
            "SELECT COUNT(top) AS n, SUM(top) AS total FROM (RSTREAM(SELECT site, {aggregate}(weight) AS top "
            "FROM traffic [FROM NOW-{range} TO NOW SLIDE {slide} SEC] WHERE weight > {least} GROUP BY site)) "
            "[FROM NOW-9 TO NOW SLIDE 2 SEC]",
            "",
        ),
        Change(
            "cql",
            "SELECT RStream(id, {aggregate}(weight) AS total) FROM traffic "
            "[RANGE '{range} seconds' SLIDE '{slide} seconds'] WHERE weight > {least} GROUP BY id",
            "",
            language="cql",
        ),
    )
}
"""Texts with gaps for what changes, as the old text of a change."""
BEFORE: Mapping[str, object] = {"aggregate": "SUM", "range": 6, "slide": 2, "least": 0}
KINDS: Mapping[str, Mapping[str, object]] = {
    "predicate": {"least": 4},
    "aggregate": {"aggregate": "MAX"},
    "range": {"range": 11},
    "slide": {"slide": 3},
}


@dataclass(frozen=True)
class Seam:
    """A change of a shape, the seed of its rows, the tick for `since`, and which part of the files comes afterwards."""

    change: Change
    seed: int
    since: int
    part: float

    def hidden_from(self, story: Story) -> int:
        """The number of the first file that the old query does not see."""
        return max(2, min(story.files - 2, int(self.part * story.files)))


def _seams() -> list[Seam]:
    """Twenty of the twenty-four shapes with a kind of change, each with random rows at a random point."""
    rng = Random(SEED)
    pairs = [(shape, kind) for shape in SHAPES for kind in KINDS]
    found = []
    for shape, kind in sorted(rng.sample(pairs, 20)):
        made = SHAPES[shape]
        old, new = made.old.format(**BEFORE), made.old.format(**{**BEFORE, **KINDS[kind]})
        change = Change(f"{shape}, {kind}", old, new, made.streams, made.stored, made.language)
        found.append(Seam(change, rng.randrange(1000), rng.randrange(8, TICKS - 8), rng.uniform(0.2, 0.9)))
    rng.shuffle(found)
    return found


SEAMS = _seams()
BY_NAME = {seam.change.name: seam for seam in SEAMS}
GROUPS = [SEAMS[first : first + POINTS_PER_GROUP] for first in range(0, len(SEAMS), POINTS_PER_GROUP)]
