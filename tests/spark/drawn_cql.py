"""Generated questions of CQL for Spark: a plan, several streams that travel together, a way to cut them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property

from tests.oracle_cql.build import given, plan
from tests.oracle_cql.question import Question, Side, question, reports
from transom import Catalog, Query
from transom.model.answer import Answer
from transom.optimizer.pipeline import optimize
from transom.physical.plan import Kernel
from transom.query import constant
from transom.reference.evaluate import evaluate_stream
from transom.reference.sources import Inputs
from transom.runtime.recut import Split

COLUMNS = ["x:float", "y:float", "id:string", "v:integer"]
EXTENT = {"kind": "pushed", "attributes": COLUMNS, "position": {"x": "x", "y": "y", "unit": "m"}}
CATALOG = Catalog.from_dict({"extents": {"a": EXTENT, "b": EXTENT}})


@dataclass(frozen=True)
class Drawn:
    """A question on several streams."""

    question: Question
    streams: int

    @property
    def seed(self) -> int:
        return self.question.seed

    @property
    def kernel(self) -> Kernel:
        return "on" if self.seed % 2 else "off"

    @property
    def split(self) -> Split:
        """Few pieces, uneven pieces of two sizes, or all at once, by turns."""
        rows = sum(len(stream) for one in self.lanes.values() for stream in one.streams.values())
        ways = [Split(max(1, rows // 5)), Split(seed=self.seed, times=max(1, rows // 14)), Split()]
        return ways[self.seed % 3]

    @cached_property
    def query(self) -> Query:
        """The question as a compiled query; every fourth without the optimizer."""
        stream = plan(self.question)
        steps = () if self.seed % 4 == 0 else tuple(optimize(stream, constant))
        return Query("", "cql", CATALOG, None, stream, steps)  # type: ignore[arg-type]

    @cached_property
    def lanes(self) -> dict[int, Inputs]:
        """What is given to each lane: the rows of the question, and others of the same kind."""
        return {lane: given(self.on(lane)) for lane in range(self.streams)}

    def on(self, lane: int) -> Question:
        """The question on another stream."""
        if not lane:
            return self.question
        rng = random.Random(f"{self.seed} {lane}")

        def other(side: Side) -> Side:
            return replace(side, rows=tuple(reports(rng, self.question.until, side.plane)))

        right = None if self.question.right is None else other(self.question.right)
        return replace(self.question, left=other(self.question.left), right=right)

    def expected(self, lane: int) -> Answer:
        """The reference's answer to a lane."""
        elements = tuple(evaluate_stream(self.query.algebra, self.lanes[lane]))  # type: ignore[arg-type]
        return Answer(self.query.columns, self.query.gives, elements=elements)


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
