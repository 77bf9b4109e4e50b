"""Cases for twins: what a machine is told and given.

They are made of corners: ties, NULLs, empty ticks, several windows of a tick, restarts.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from transom.machines.protocol import InputRow
from transom.model.bag import Row
from transom.model.types import Value, normalize_decimal


class Tick(NamedTuple):
    """All that arrives for a tick; for windows, up to which tick all is closed after it."""

    tick: int
    arrivals: list[InputRow]
    closed: int | None = None


class Case(NamedTuple):
    """A specification, what arrives, and after which ticks the machine is saved and loaded again."""

    spec: dict[str, Any]
    ticks: list[Tick]
    restart: list[int]


WHOLE = [0, 1, 2, -1, 63, 64, -65, 2**53, 2**53 + 1, -(2**63), 2**63 - 1]
FLOAT = [0.0, -0.0, 0.1, 1.0, -1.5, 1e300, -1e300, 5e-324, 1e16, 2.0**53, 1e-7, 2.0**63]
DECIMAL = [
    normalize_decimal(Decimal(digits))
    for digits in ("0", "1.50", "-1.5", "100", "1E+20", "1E-30", "0.000001", "9" * 38, f"-{'1' * 30}.12345678")
]
TEXT = ["", "a", "ab", "b", "é", "\xff", "ΑΒΓ", "\ud7ff", "\ue000", "\uffff", "\U0001f600", "\U0001f601", "\U0010ffff"]
TEXT += ["a\U0001f600", "a\uffff", "\x00", "'\"\\\n", "\ud800", "\ud83dx", "\udc00", "long " * 40]
NUMBER = [0, -0.0, Decimal(0), 1, 1.0, Decimal(1), 0.5, Decimal("0.5"), 0.1, Decimal("0.1"), 2**53 + 1, 2.0**53]
NUMBER += [Decimal(2**53 + 1), 2**63 - 1, 2.0**63, Decimal(2**63)]
KINDS: list[list[Any]] = [WHOLE, FLOAT, DECIMAL, TEXT, [True, False], NUMBER]

Make = Callable[[], Row]


def column(rng: random.Random) -> list[Value]:
    """Some values of one type, NULL often among them; few, so that many are equal."""
    kind = rng.choice(KINDS)
    chosen: list[Value] = rng.sample(kind, min(len(kind), rng.choice([1, 2, 2, 3, 5])))
    return chosen + [None] * (rng.random() < 0.4)


def rows(rng: random.Random, most: int = 3) -> Make:
    """A maker of rows of one schema."""
    columns = [column(rng) for _ in range(rng.randrange(most + 1))]
    return lambda: tuple(rng.choice(values) for values in columns)


def orders(rng: random.Random) -> Callable[[], Any]:
    """A maker of what puts rows in order: nothing, a value, a tuple, or tuples in a tuple."""
    values, others = column(rng), column(rng)
    return rng.choice(
        [
            lambda: None,
            lambda: rng.choice(values),
            lambda: (rng.choice(values), rng.choice(others)),
            lambda: ((rng.choice(values),), rng.randrange(3)),
            lambda: rng.choice([None, rng.choice(values), (rng.choice(others),), ()]),
        ]
    )


def times(rng: random.Random) -> list[int]:
    """Ticks in order, some far from 0, with gaps."""
    tick = rng.choice([0, 0, 0, 1, -5, 7, 10**9])
    found = []
    for _ in range(rng.randint(1, 7)):
        found.append(tick)
        tick += rng.choice([1, 1, 1, 2, 5])
    return found


def restarts(rng: random.Random, ticks: list[Tick]) -> list[int]:
    """Places after which there is a restart."""
    share = rng.choice([0, 0.3, 1])
    return [place for place in range(len(ticks)) if rng.random() < share]


def plain(rng: random.Random, make: Make, order: Callable[[], Any], most: int = 4) -> list[InputRow]:
    """Rows of a stream, often none."""
    return [InputRow(0, 1, True, 1, order(), (), make()) for _ in range(rng.randrange(most + 1))]


def order_case(rng: random.Random) -> Case:
    make, order = rows(rng), orders(rng)
    ticks = [Tick(tick, plain(rng, make, order)) for tick in times(rng)]
    return Case({"machine": "order"}, ticks, restarts(rng, ticks))


def window_spec(rng: random.Random, start: int) -> dict[str, Any]:
    """Any slide and range, also ranges that are empty, lie ahead, or have ends with different steps."""
    step = rng.randint(1, 5)
    slide = rng.choice(["tick", "index", "index", "index", "arrival"])
    ends = [rng.choice([1, step, rng.randint(1, 4)]) for _ in range(2)]
    low = rng.choice([-rng.randint(0, 9), -rng.randint(0, 9), 1 - step, 1, -(10**12)])
    high = rng.choice([0, 0, -1, -3, 2, low - 1])
    return {
        "slide": slide,
        "step": 1 if slide == "arrival" else step,
        "first": rng.choice([0, 1, step, step, 3]),
        "range": rng.choice(["tick", "index"]),
        "low": [ends[0], low],
        "high": [rng.choice(ends), high],
        "start": start,
        "tags": rng.choice([[], [], ["tick"], ["index"], ["index", "tick"]]),
    }


def window_case(rng: random.Random) -> Case:
    make, order = rows(rng), orders(rng)
    found = times(rng)
    start = found[0] if abs(found[0]) > 100 else rng.choice([0, 0, 3, -4])
    spec = window_spec(rng, start)
    ticks = []
    for tick in found:
        closed = rng.choice([None, None, tick, tick - 1, tick - 3])
        ticks.append(Tick(tick, plain(rng, make, order, 5), closed))
    ticks.append(Tick(found[-1] + 1, [], found[-1] + rng.choice([0, 1, 6])))
    return Case({"machine": "window", "window": spec}, ticks, restarts(rng, ticks))


def windows(rng: random.Random, side: int, key: Make, make: Make, order: Callable[[], Any]) -> list[InputRow]:
    """What a side of windows says about a tick: some windows, in no order, with or without the word that they exist."""
    found = []
    for seq in rng.sample([1, 2, 3, 5], rng.choice([0, 1, 1, 2, 3])):
        if rng.random() < 0.8:
            found.append(InputRow(side, seq, False, 1, None, key(), make()))
        found += [InputRow(side, seq, True, 1, order(), key(), make()) for _ in range(rng.randrange(4))]
    rng.shuffle(found)
    return found


def change_case(rng: random.Random) -> Case:
    make, order = rows(rng), orders(rng)
    ticks = [Tick(tick, windows(rng, 0, tuple, make, order)) for tick in times(rng)]
    return Case(
        {"machine": "change", "report": rng.choice(["inserted", "deleted", "both", "extended"])},
        ticks,
        restarts(rng, ticks),
    )


class Stays:
    """What a side of stays says: rows come, and only rows that came go, but for a rare one."""

    def __init__(self, rng: random.Random, side: int, key: Make) -> None:
        self.rng, self.side, self.key = rng, side, key
        self.make, self.order = rows(rng), orders(rng)
        self.most = rng.choice([3, 3, 7])
        if self.most == 7:  # many that are the same, among others with the same order
            same = column(rng)[:2]
            self.make, self.order = (lambda: (rng.choice(same),)), (lambda: None)
        self.there: list[tuple[tuple[Any, Row, Row], int]] = []

    def say(self) -> list[InputRow]:
        rng, found = self.rng, []
        rng.shuffle(self.there)
        for _ in range(rng.randrange(min(len(self.there), 3) + 1)):
            entry, count = self.there.pop()
            retracted = rng.randint(1, count)
            if retracted < count:
                self.there.append((entry, count - retracted))
            found.append(InputRow(self.side, 1, True, -retracted, *entry))
        if rng.random() < 0.01:
            found.append(InputRow(self.side, 1, True, -1, self.order(), self.key(), self.make()))
        for _ in range(rng.randrange(self.most + 1)):
            entry, count = (self.order(), self.key(), self.make()), rng.choice([1, 1, 1, 3])
            self.there.append((entry, count))
            found.append(InputRow(self.side, 1, True, count, *entry))
        if rng.random() < 0.7:
            found.append(InputRow(self.side, 1, False, 1, None, (), ()))
        rng.shuffle(found)
        return found


def product_case(rng: random.Random) -> Case:
    width, shared = rng.choice([0, 1, 1, 2]), rng.random() < 0.7
    columns = [column(rng) for _ in range(width)]
    kinds, sides, widths = [], [], []
    how = rng.choice(["windows", "windows", "pairs", "partners", "both"])
    for side in range(2):
        own = columns if shared else [rng.sample(NUMBER, 6) for _ in range(width)]

        def key(own: list[list[Value]] = own) -> Row:
            return tuple(rng.choice(values) for values in own)

        kinds.append(rng.choice(["windows", "intervals"]) if how == "windows" else "intervals")
        if kinds[-1] == "intervals":
            stays = Stays(rng, side, key)
            widths.append(len(stays.make()))
            sides.append(stays.say)
        else:
            make, order = rows(rng), orders(rng)
            sides.append(lambda side=side, key=key, make=make, order=order: windows(rng, side, key, make, order))
    ticks = [Tick(tick, [a for say in sides if rng.random() < 0.8 for a in say()]) for tick in times(rng)]
    spec: dict[str, Any] = {"machine": "product", "left": kinds[0], "right": kinds[1]}
    if how != "windows":
        spec |= {"how": how, "widths": widths}
    return Case(spec, ticks, restarts(rng, ticks))


def comings(rng: random.Random, side: int, make: Make, there: list[Row]) -> list[InputRow]:
    """Rows of a side that come and go, several copies at once as well; rarely one goes that never came."""
    found = []
    for _ in range(rng.choice([0, 0, 1, 2, 3])):
        row, count = make(), rng.choice([1, 1, 1, 2])
        there += [row] * count
        found.append(InputRow(side, 1, True, count, None, (), row))
    rng.shuffle(there)
    for _ in range(rng.randrange(min(len(there), 4) + 1)):
        found.append(InputRow(side, 1, True, -1, None, (), there.pop()))
    if rng.random() < 0.005:
        found.append(InputRow(side, 1, True, -1, None, (), make()))
    return found


def join_case(rng: random.Random) -> Case:
    """Two to four relations of one key."""
    places = rng.choice([2, 2, 2, 3, 4])
    emit = rng.choice(["inner", "left", "anti", "semi", "mark", "candidates"]) if places == 2 else "inner"
    makes = [rows(rng, 2) for _ in range(places)]
    there: list[list[Row]] = [[] for _ in range(places)]
    ticks = []
    for tick in times(rng):
        sides = [side for side in range(places) if rng.random() < 0.6]
        found = [a for side in sides for a in comings(rng, side, makes[side], there[side])]
        found += [InputRow(rng.randrange(places), 1, False, 1, None, (), ())] * rng.choice([0, 0, 0, 1, 2])
        rng.shuffle(found)
        ticks.append(Tick(tick, found))
    spec = {"machine": "join", "emit": emit, "widths": [len(make()) for make in makes]}
    return Case(spec, ticks, restarts(rng, ticks))


def join_tree_case(rng: random.Random) -> Case:
    """Three to five relations of one key, and joins of two or three of them and of earlier joins, in any shape."""
    count = rng.choice([3, 3, 4, 5])
    makes = [rows(rng, 2) for _ in range(count)]
    widths = [len(make()) for make in makes]
    there: list[list[Row]] = [[] for _ in range(count)]
    ticks = []
    for tick in times(rng):
        sides = [side for side in range(count) if rng.random() < 0.6]
        found = [a for side in sides for a in comings(rng, side, makes[side], there[side])]
        rng.shuffle(found)
        ticks.append(Tick(tick, found))
    joins: list[dict[str, Any]] = []
    unread = list(range(count))
    while len(unread) > 1:
        inputs = [unread.pop(rng.randrange(len(unread))) for _ in range(min(len(unread), rng.choice([2, 2, 2, 3])))]
        emit = rng.choice(["inner", "left", "anti", "semi"]) if len(inputs) == 2 else "inner"
        of = [widths[number] for number in inputs]
        width = sum(of) if emit in ("inner", "left") else of[0]
        columns = rng.sample(range(width), rng.randint(min(1, width), width))
        joins.append({"emit": emit, "inputs": inputs, "widths": of, "columns": columns})
        unread.append(len(widths))
        widths.append(len(columns))
    spec = {"machine": "join tree", "sides": count, "joins": joins}
    return Case(spec, ticks, restarts(rng, ticks))


def matches_case(rng: random.Random) -> Case:
    """One row and the pairs that match it."""
    row, more = rows(rng)(), rows(rng, 2)
    emit = rng.choice(["left", "anti", "semi", "mark", "distinct", "numbered"])
    there: list[list[Row]] = [[], []]
    ticks = []
    for tick in times(rng):
        found = comings(rng, 0, lambda: row, there[0]) if rng.random() < 0.6 else []
        if emit not in ("distinct", "numbered") and rng.random() < 0.6:
            found += comings(rng, 1, lambda: row + more(), there[1])
        rng.shuffle(found)
        ticks.append(Tick(tick, found))
    padding = len(more()) if emit == "left" else 0
    return Case({"machine": "matches", "emit": emit, "padding": padding}, ticks, restarts(rng, ticks))


def paths_case(rng: random.Random) -> Case:
    """Edges between a few terms, and statements that mention them."""
    terms = rng.sample(TEXT, rng.choice([2, 3, 4, 6]))

    def edge() -> Row:
        return rng.choice(terms), rng.choice(terms)

    there: list[list[Row]] = [[], []]
    start = rng.choice([None, None, rng.choice(terms)])
    sides = (0, 1) if rng.random() < 0.5 and start is None else (0,)
    ticks = []
    for tick in times(rng):
        found = [a for side in sides for a in comings(rng, side, edge, there[side]) if rng.random() < 0.999]
        rng.shuffle(found)
        ticks.append(Tick(tick, found))
    spec = {"machine": "paths", "repeats": rng.random() < 0.8, "start": start}
    return Case(spec, ticks, restarts(rng, ticks))


CASES: dict[str, tuple[int, Callable[[random.Random], Case]]] = {
    "order": (1500, order_case),
    "window": (7000, window_case),
    "change": (4000, change_case),
    "product": (6000, product_case),
    "join": (1500, join_case),
    "join tree": (1500, join_tree_case),
    "matches": (1000, matches_case),
    "paths": (1000, paths_case),
}
"""How many cases of each machine, and how they are made."""
