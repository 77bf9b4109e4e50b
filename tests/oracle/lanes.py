"""Several streams of rows for one generated query, to be put through it side by side."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from .generate import _Maker
from .inputs import Filler, last_tick
from .question import Question


@dataclass(frozen=True)
class Lanes:
    """A generated question, more inputs of the same kind, and a last tick for all of them."""

    question: Question
    inputs: tuple[dict[str, list[list[Any]]], ...]
    until: int


def lanes(seed: int, count: int) -> Lanes:
    """The question of a seed with so many streams; the first one is the question's own."""
    maker = _Maker(seed)
    question = maker.question()
    pools = {name: [field.pool for field in fields] for name, fields in maker.fields.items()}
    given = [question.inputs]
    until = question.until
    for lane in range(1, count):
        rng = Random(seed * 1000 + lane)
        horizon = max(question.until, maker.base)
        rows = Filler(rng, question.spec, horizon, maker.base, maker.cap).fill(question.schema, pools)
        given.append(rows)
        until = max(until, last_tick(rng, question.spec, rows, horizon))
    return Lanes(question, tuple(given), until)
