"""Which generated queries are put through Spark, with which streams and splits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, get_args

import transom
from tests.cases import catalog_of, inputs_of
from tests.oracle.streams import Streams
from tests.oracle.streams import streams as make_streams
from transom.errors import Unsupported
from transom.model.answer import Answer
from transom.physical.nodes.node import PhysicalNode, ReadClock
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import (
    Executor,
    Form,
    IntervalJoin,
    KernelMode,
    ReadStream,
    RowNode,
    WindowAggregate,
    WindowDiff,
    WindowProduct,
)
from transom.reference.sources import Inputs
from transom.runtime.verify.micro_batches import Split

FEW_ROWS = 12
"""Rows of a query whose streams are cut into single rows."""

MOST_ROWS = 500
"""Rows of the answer to a short stream that is compared; the generator makes a few with many thousands."""

MOST_LONG = 3000
"""Rows of the answer to a long stream: where there would be more, several shorter ones are made."""

LEAST_PARTS = 4
"""Streams of which a long one is made at least, however little it answers."""


@dataclass(frozen=True)
class Given:
    """What a generated query reads, and the answer of the reference engine to it."""

    inputs: Inputs
    expected: Answer

    @property
    def rows(self) -> int:
        """How many rows the streams hold."""
        return sum(len(rows) for rows in self.inputs.streams.values())


@dataclass(frozen=True)
class Drawn:
    """A generated query on its way to Spark."""

    seed: int
    streams: Streams
    query: transom.Query
    index: bool
    start: int

    @property
    def kernel(self) -> KernelMode:
        """Which path it takes: two seeds in Python, two in the JVM."""
        return "on" if self.seed // 2 % 2 else "off"

    def plan(self) -> PhysicalNode:
        return self.query.physical(start=self.start, index=self.index, kernel=self.kernel == "on")

    def given(self, inputs: dict[str, list[list[Any]]], until: int | None = None) -> Given:
        """Some inputs, up to the last tick of the question or another one."""
        rows = inputs_of(self.streams.question.schema, inputs)
        last = self.streams.until if until is None else until
        return Given(
            self.query.inputs(rows, until=last, start=self.start),
            self.query.simulate(rows, until=last, start=self.start),
        )

    @cached_property
    def short(self) -> list[Given]:
        """Every stream for itself; the first one is the question's own."""
        return [self.given(inputs) for inputs in self.streams.inputs]

    @cached_property
    def long(self) -> list[Given]:
        """All streams one after the other: as one stream, or as several where its answer is too long or says little."""
        return self._long(0, len(self.streams.inputs))

    def _long(self, first: int, last: int) -> list[Given]:
        found = self.given(*self.streams.joined(first, last))
        length, apart = _length(found.expected), sum(_length(given.expected) for given in self.short[first:last])
        telling = length >= apart // 4 or last - first <= LEAST_PARTS
        if last - first == 1 or (telling and length <= MOST_LONG):
            return [found]
        half = (first + last) // 2
        return self._long(first, half) + self._long(half, last)

    @cached_property
    def tiny(self) -> list[Given]:
        """A stream without rows, and one with one row, at the tick of the first row of the question's own."""
        schema, own = self.streams.question.schema, self.streams.inputs[0]
        stored = {name: rows for name, rows in own.items() if schema[name]["kind"] == "stored"}
        none: dict[str, list[list[Any]]] = {name: [] for name in own} | stored
        one = next((name for name in own if name not in stored and own[name]), None)
        return [self.given(none)] + ([] if one is None else [self.given(none | {one: own[one][:1]})])


def draw(seed: int, *, streams: int, index: bool, started: bool = False) -> Drawn | None:
    """The query of a seed; None where Spark does not run it yet."""
    several = make_streams(seed, streams)
    query = transom.compile(several.question.text, catalog_of(several.question.schema))
    start = several.until // 3 if started else 0
    drawn = Drawn(seed, several, query, index and query.result_kind == "tagged-tuples", start)
    try:
        drawn.plan()
    except Unsupported:
        return None
    return drawn


def is_short(drawn: Drawn) -> bool:
    """Whether the answers are short enough to be compared by the hundred."""
    return all(_length(given.expected) <= MOST_ROWS for given in drawn.short)


def _length(answer: Answer) -> int:
    return len(answer.elements) + sum(1 + len(w.rows) for w in answer.windows)


def marks(plan: PhysicalNode) -> set[str]:
    """What a plan shows of the engine: its nodes, told apart where one class has several ways."""
    found = set()
    for node in walk(plan):
        name = type(node).__name__
        found.add(name)
        if node.decision.executor is Executor.KERNEL:
            found.add(f"{name} in the kernel")
        match node:
            case WindowAggregate(panes=panes, form=form, groups=groups):
                found.add(f"{name} {'panes' if panes else form} {'groups' if groups else 'whole'}")
            case IntervalJoin(left=left, right=right):
                found.add(f"{name} {' '.join(sorted(str(side.form) for side in (left, right)))}")
                found.add(f"{name} by {node.how.value}")
            case WindowProduct(equal=equal, left=left, right=right):
                intervals = Form.INTERVALS in (left.form, right.form)
                found.add(f"{name} {'equal' if equal else 'all'} {'intervals' if intervals else 'windows'}")
            case WindowDiff(ordered=ordered, report=report):
                found.add(f"{name} {'ordered' if ordered else 'free'} {report}")
            case ReadStream(ordered=ordered):
                found.add(f"{name} {'ordered' if ordered else 'free'}")
            case _:
                pass
    if sum(isinstance(node, ReadStream | ReadClock) for node in walk(plan)) > 2:
        found.add("three sources")
    return found


WANTED = 3
"""Queries that must show each mark."""

SEARCHED = 500
"""Seeds among which they are looked for."""

RARE = (185, 4365, 8229)
"""Seeds of joins by ranges of event time: without the kernel, with equal keys, and with no state after them."""


@cache
def chosen(count: int, streams: int) -> list[Drawn]:
    """So many queries: first those that show a mark not seen often enough yet, then whatever comes; index by turns."""
    seen: Counter[str] = Counter()
    telling: list[Drawn] = []
    others: list[Drawn] = []
    for seed in [*RARE, *(seed for seed in range(SEARCHED) if seed not in RARE)]:
        drawn = draw(seed, streams=streams, index=seed % 2 == 0)
        shown = marks(drawn.plan()) if drawn is not None else set()
        if drawn is not None and any(seen[mark] < WANTED for mark in shown) and is_short(drawn):
            telling.append(drawn)
            seen.update(shown)
        elif drawn is not None and len(others) < count and is_short(drawn):
            others.append(drawn)
    return (telling + others)[:count]


def rounds(drawn: list[Drawn]) -> Iterator[tuple[Drawn, Split, list[Given]]]:
    """One split per query, in turn, and the streams that go through it: a short one row by row, long ones otherwise."""
    for place, one in enumerate(drawn):
        if place % 4 == 0 and one.short[0].rows <= FEW_ROWS:
            yield one, Split(1), one.short[:1]
        elif place % 2 == 0:
            yield one, Split(), one.long
        else:
            yield one, Split(seed=place, times=len(one.streams.inputs) // 2), one.long


ALL_NODES = {node.__name__ for node in get_args(RowNode)} - {"ReadScans", "UnionAll", "PeriodWindow"}
"""`test_scans.py` covers scans of logs that grow, and `test_calendar_windows.py` covers windows of calendar periods."""
