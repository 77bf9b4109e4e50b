"""Generated questions of CQL for Spark: a plan, long streams that are made of many short ones, a way to cut them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tests.oracle_cql.build import given, plan
from tests.oracle_cql.question import Question, Side, question, reports
from transom import Catalog, Query
from transom.model.answer import Answer
from transom.optimizer.pipeline import optimize
from transom.physical.nodes.windows import KernelMode
from transom.reference.evaluate import evaluate_stream
from transom.reference.expressions import constant_value
from transom.runtime.verify.micro_batches import Split

COLUMNS = ["x:float", "y:float", "id:string", "v:integer"]
EXTENT = {"kind": "pushed", "attributes": COLUMNS, "position": {"x": "x", "y": "y", "unit": "m"}}
MOST_ROWS = 4000
"""Rows of the answer to a long stream: where there would be more, several shorter ones are made."""
CATALOG = Catalog.from_dict({"extents": {"a": EXTENT, "b": EXTENT}})


@dataclass(frozen=True)
class Drawn:
    """A question on a number of streams."""

    question: Question
    streams: int

    @property
    def seed(self) -> int:
        return self.question.seed

    @property
    def kernel(self) -> KernelMode:
        return "on" if self.seed % 2 else "off"

    @property
    def split(self) -> Split:
        """Few pieces, uneven pieces of two sizes, or all at once, by turns."""
        rows = max(sum(map(len, inputs.streams.values())) for inputs in map(given, self.long))
        ways = [Split(max(2, rows // 5)), Split(seed=self.seed, times=max(1, rows // 14)), Split()]
        return ways[self.seed % 3]

    @cached_property
    def query(self) -> Query:
        """The question as a compiled query; every fourth without the optimizer."""
        stream = plan(self.question)
        steps = () if self.seed % 4 == 0 else tuple(optimize(stream, constant_value))
        return Query("", "cql", CATALOG, None, stream, steps)  # type: ignore[arg-type]

    @cached_property
    def long(self) -> list[Question]:
        """The question on all streams one after the other, as one stream, or as several with shorter answers."""
        return self._long([self.on(number) for number in range(self.streams)])

    def _long(self, parts: Sequence[Question]) -> list[Question]:
        found = _joined(parts)
        if len(parts) == 1 or len(self.expected(found).elements) <= MOST_ROWS:
            return [found]
        half = len(parts) // 2
        return self._long(parts[:half]) + self._long(parts[half:])

    @property
    def tiny(self) -> list[Question]:
        """The question on a stream without rows, and on one with one row."""
        q = self.question
        none = None if q.right is None else replace(q.right, rows=())
        return [replace(q, left=replace(q.left, rows=q.left.rows[:count]), right=none) for count in (0, 1)]

    def on(self, number: int) -> Question:
        """The question on another stream; number 0 is its own."""
        if not number:
            return self.question
        rng = random.Random(f"{self.seed} {number}")

        def other(side: Side) -> Side:
            return replace(side, rows=tuple(reports(rng, self.question.until, side.plane)))

        right = None if self.question.right is None else other(self.question.right)
        return replace(self.question, left=other(self.question.left), right=right)

    def expected(self, question: Question) -> Answer:
        """The reference's answer to the question on some streams."""
        elements = tuple(evaluate_stream(self.query.algebra, given(question)))  # type: ignore[arg-type]
        return Answer(self.query.columns, self.query.result_kind, elements=elements)


def _joined(parts: Sequence[Question]) -> Question:
    """A question on the streams of several, each after the one before."""
    first, step = parts[0], parts[0].until + 1

    def side(sides: Sequence[Side]) -> Side:
        moved = (replace(row, t=row.t + n * step) for n, side in enumerate(sides) for row in side.rows)
        return replace(sides[0], rows=tuple(moved))

    rights = [part.right for part in parts if part.right is not None]
    return replace(
        first,
        until=len(parts) * step - 1,
        left=side([part.left for part in parts]),
        right=side(rights) if rights else None,
    )


def draw(seed: int, streams: int) -> Drawn:
    """The question of a seed."""
    return Drawn(question(seed), streams)


def kinds(drawn: Drawn) -> Counter[str]:
    """What a question is made of."""
    q = drawn.question
    sides = [q.left] if q.right is None else [q.left, q.right]
    found = Counter(side.window.kind for side in sides)
    found.update(f"{side.window.kind} by key" for side in sides if side.window.by_id)
    found[q.together or "alone"] += 1
    found[f"{q.convert}Stream"] += 1
    found[q.select] += 1
    return found
