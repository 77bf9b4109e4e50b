"""Which generated queries are put through Spark, with which streams and splits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import transom
from tests.cases import catalog_of, inputs_of
from tests.oracle.lanes import Lanes, lanes
from transom.errors import Unsupported
from transom.model.answer import Answer
from transom.physical.plan import NODES, Clock, Compare, Form, Group, Kernel, Meet, Path, Physical, Product, Read
from transom.physical.walk import walk
from transom.reference.sources import Inputs
from transom.runtime.recut import Split

FEW_ROWS = 12
"""Rows of a query whose streams are cut into single rows."""

MOST_ROWS = 500
"""Rows of an answer that is compared; the generator makes a few with many thousands."""


@dataclass(frozen=True)
class Drawn:
    """A generated query on its way to Spark."""

    seed: int
    lanes: Lanes
    query: transom.Query
    index: bool
    start: int

    @property
    def kernel(self) -> Kernel:
        """Which path it takes: two seeds in Python, two in the JVM."""
        return "on" if self.seed // 2 % 2 else "off"

    def plan(self) -> Physical:
        return self.query.physical(start=self.start, index=self.index, kernel=self.kernel == "on")

    def given(self, lane: int) -> Inputs:
        rows = inputs_of(self.lanes.question.schema, self.lanes.inputs[lane])
        return self.query.inputs(rows, until=self.lanes.until, start=self.start)

    def expected(self, lane: int) -> Answer:
        rows = inputs_of(self.lanes.question.schema, self.lanes.inputs[lane])
        return self.query.simulate(rows, until=self.lanes.until, start=self.start)

    @property
    def rows(self) -> int:
        """How many rows the streams of the first lane hold."""
        return sum(len(rows) for rows in self.given(0).streams.values())


def draw(seed: int, *, streams: int, index: bool, started: bool = False) -> Drawn | None:
    """The query of a seed; None where Spark does not run it yet."""
    several = lanes(seed, streams)
    query = transom.compile(several.question.text, catalog_of(several.question.schema))
    start = several.until // 3 if started else 0
    drawn = Drawn(seed, several, query, index and query.gives == "tagged-tuples", start)
    try:
        drawn.plan()
    except Unsupported:
        return None
    return drawn


def is_short(drawn: Drawn) -> bool:
    """Whether the answers are short enough to be compared by the hundred."""
    return all(_length(drawn.expected(lane)) <= MOST_ROWS for lane in range(len(drawn.lanes.inputs)))


def _length(answer: Answer) -> int:
    return len(answer.elements) + sum(1 + len(w.rows) for w in answer.windows)


def marks(plan: Physical) -> set[str]:
    """What a plan shows of the engine: its nodes, told apart where one class has several ways."""
    found = set()
    for node in walk(plan):
        name = type(node).__name__
        found.add(name)
        if node.choice.path is Path.KERNEL:
            found.add(f"{name} in the kernel")
        match node:
            case Group(panes=panes, form=form, groups=groups):
                found.add(f"{name} {'panes' if panes else form} {'groups' if groups else 'whole'}")
            case Meet(left=left, right=right):
                found.add(f"{name} {' '.join(sorted(str(side.form) for side in (left, right)))}")
                found.add(f"{name} by {node.how.value}")
            case Product(equal=equal, left=left, right=right):
                stays = Form.STAYS in (left.form, right.form)
                found.add(f"{name} {'equal' if equal else 'all'} {'stays' if stays else 'windows'}")
            case Compare(ordered=ordered, report=report):
                found.add(f"{name} {'ordered' if ordered else 'free'} {report}")
            case Read(ordered=ordered):
                found.add(f"{name} {'ordered' if ordered else 'free'}")
            case _:
                pass
    if sum(isinstance(node, Read | Clock) for node in walk(plan)) > 2:
        found.add("three sources")
    return found


WANTED = 3
"""Queries that must show each mark."""

SEARCHED = 500
"""Seeds among which they are looked for."""


@cache
def chosen(count: int, streams: int) -> list[Drawn]:
    """So many queries: first those that show a mark not seen often enough yet, then whatever comes; index by turns."""
    seen: Counter[str] = Counter()
    telling: list[Drawn] = []
    others: list[Drawn] = []
    for seed in range(SEARCHED):
        drawn = draw(seed, streams=streams, index=seed % 2 == 0)
        shown = marks(drawn.plan()) if drawn is not None else set()
        if drawn is not None and any(seen[mark] < WANTED for mark in shown) and is_short(drawn):
            telling.append(drawn)
            seen.update(shown)
        elif drawn is not None and len(others) < count and is_short(drawn):
            others.append(drawn)
    return (telling + others)[:count]


def rounds(drawn: list[Drawn]) -> Iterator[tuple[Drawn, Split, int]]:
    """One split per query, in turn, and the number of lanes that go through it."""
    for place, one in enumerate(drawn):
        every = len(one.lanes.inputs)
        if place % 4 == 0 and one.rows <= FEW_ROWS:
            yield one, Split(1), 1
        elif place % 2 == 0:
            yield one, Split(), every
        else:
            yield one, Split(seed=place, times=every // 2), every


# what only CQL and SPARQL need stands in files of its own, and is met by their own questions
OTHERS = ("transom.physical.lines", "transom.physical.rdf_plan")
ALL_NODES = {node.__name__ for node in NODES if node.__module__ not in OTHERS} - {"ReadScans"}
"""Scans come from logs that grow, and are met by `test_scans.py`."""
