"""Random questions: streams of moving objects, windows on them, and what is asked of the windows."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

METRE = 1_000_000
KINDS = (
    "time",
    "rows",
    "unbounded",
    "region",
    "region every ticks",
    "region every way",
    "region and time",
    "region and time every ticks",
    "way every way",
    "way every ticks",
    "time every way",
)
"""Every row of the table of windows that CQL has, C27 and C28 among them."""

ZONES = {
    "square": [(0, 0), (6, 0), (6, 6), (0, 6)],
    "triangle": [(0, 0), (9, 0), (0, 9)],
    "corner": [(0, 0), (8, 0), (8, 3), (3, 3), (3, 8), (0, 8)],
}
"""Corners of the regions; the oracle knows them as conditions on the coordinates."""


@dataclass(frozen=True)
class Row:
    """One report: when, where (in metres, or nowhere), who, and a value that may be missing."""

    t: int
    place: tuple[float, float] | None
    id: str
    v: int | None


@dataclass(frozen=True)
class Win:
    """A window: its kind, per object or not, its range and slide in ticks, metres or rows, its region."""

    kind: str
    by_id: bool
    range: int
    slide: int
    zone: str


@dataclass(frozen=True)
class Condition:
    """A WHERE clause: the value of a row, its region, its object or its time against something."""

    what: str
    value: int | str


@dataclass(frozen=True)
class Side:
    """A stream in a window, with a condition on its rows."""

    rows: tuple[Row, ...]
    plane: bool
    window: Win
    condition: Condition | None = None


@dataclass(frozen=True)
class Question:
    """One side or two with a way to put them together, what is selected, and the converter around it."""

    seed: int
    left: Side
    until: int
    select: str
    convert: str
    right: Side | None = None
    together: str = ""
    met: set[str] = field(default_factory=set, compare=False)


SELECTS = ("values", "stamps", "count", "groups", "distinct", "speed", "way")
TOGETHER = (
    "join",
    "left join",
    "semi join",
    "anti join",
    "union all",
    "union",
    "except all",
    "except",
    "intersect all",
    "intersect",
)


def question(seed: int) -> Question:
    """The question of a seed."""
    rng = random.Random(seed)
    until = rng.randint(4, 24)
    left = side(rng, until, KINDS[seed % len(KINDS)])
    if rng.random() < 0.3:
        right = side(rng, until, rng.choice(KINDS), left if rng.random() < 0.3 else None)
        together = rng.choice(TOGETHER)
        select = rng.choice(("values", "count", "groups", "distinct")) if "join" in together else "values"
        return Question(seed, left, until, select, rng.choice("RID"), right, together)
    return Question(seed, left, until, rng.choice(SELECTS), rng.choice("RRID"))


def side(rng: random.Random, until: int, kind: str, like: Side | None = None) -> Side:
    """A stream, or one that is there already, in a window of a kind."""
    plane = like.plane if like else rng.random() < 0.6
    rows = like.rows if like else tuple(reports(rng, until, plane))
    condition = None
    if rng.random() < 0.4:
        what = rng.choice(("v", "zone", "id", "t"))
        options: dict[str, int | str] = {
            "v": rng.randint(0, 3),
            "zone": rng.choice(list(ZONES)),
            "id": rng.choice("ab"),
            "t": rng.randint(0, until),
        }
        condition = Condition(what, options[what])
    return Side(rows, plane, window(rng, kind), condition)


def window(rng: random.Random, kind: str) -> Win:
    """A window of a kind with a small range and slide."""
    by_id = rng.random() < 0.45
    reach = rng.randint(0, 7) if kind.startswith(("time", "region")) else rng.randint(1, 9)
    return Win(kind, by_id, reach, rng.randint(1, 5), rng.choice(list(ZONES)))


def reports(rng: random.Random, until: int, plane: bool) -> list[Row]:
    """What objects report while they stand, go on, turn back, leap, and meet."""
    objects = "abc"[: rng.randint(1, 3)]
    places = {name: (float(rng.randint(0, 4)), float(rng.randint(0, 4))) for name in objects}
    quiet = rng.choice((0.2, 0.5, 0.8))
    found: list[Row] = []
    for t in range(rng.choice((0, 0, 1, 5)), until + 1):
        for name in rng.sample(objects, len(objects)):
            while rng.random() > quiet:
                places[name] = move(rng, places[name], places)
                x, y = places[name]
                place = None if rng.random() < 0.04 else (x, y if plane else 0.0)
                found.append(Row(t, place, name, rng.choice((0, 1, 2, 3, 3, None))))
                if len(found) >= 40:
                    return found
    return found


def move(rng: random.Random, place: tuple[float, float], places: dict[str, tuple[float, float]]) -> tuple[float, float]:
    """Where an object is next."""
    x, y = place
    match rng.choice(("stand", "on", "on", "back", "leap", "meet", "aslant")):
        case "stand":
            return place
        case "on":
            return x + rng.choice((0.5, 1.0, 2.0)), y
        case "back":
            return x - rng.choice((1.0, 3.0)), y
        case "leap":
            return x + rng.choice((-20.0, 13.0, 20.0)), y + rng.choice((0.0, 9.0))
        case "meet":
            return rng.choice(sorted(places.values()))
        case _:
            return x + rng.choice((1.0, -1.0, 3.0)), y + rng.choice((1.0, -4.0, 0.1))
