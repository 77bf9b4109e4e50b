"""Several streams of rows for one generated query, and long streams that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm
from random import Random
from typing import Any

from .generate import _Maker
from .inputs import Filler, items_of, last_tick
from .question import Question, Scan, Window

Inputs = dict[str, list[list[Any]]]

MOST_WINDOWS = 4000
"""Windows of a long stream: streams that last longer overlap in it."""


@dataclass(frozen=True)
class Streams:
    """A generated question, more inputs of the same kind, and a last tick for all of them."""

    question: Question
    inputs: tuple[Inputs, ...]
    until: int

    def joined(self, first: int, last: int) -> tuple[Inputs, int]:
        """The inputs from number `first` up to `last` as one, each after the one before, and the last tick of all.

        Each begins at a tick at which windows and scans fire, so that its rows lie on their bounds as before. Where
        that would make too many windows, the streams overlap.
        """
        parts = self.inputs[first:last]
        step = self._step(len(parts))
        schema = self.question.schema
        found = {name: _joined(schema[name]["kind"], [part[name] for part in parts], step) for name in schema}
        return found, (len(parts) - 1) * step + self.until

    def _step(self, parts: int) -> int:
        periods = [period for item in items_of(self.question.spec) if (period := _period(item.window)) is not None]
        sensed = lcm(*(extent.get("interval", 1) for extent in self.question.schema.values()))
        most = MOST_WINDOWS * min(periods) // parts if periods else self.until + 1
        unit = lcm(sensed, *periods)
        if unit > most:
            unit = sensed
        apart = self.until + 1 if sensed > 1 else min(self.until + 1, most)
        return -(-max(1, apart) // unit) * unit


def _period(window: Any) -> int | None:
    """After how many ticks a window or a scan fires again; None for windows by rows."""
    if isinstance(window, Scan):
        return window.ticks
    if isinstance(window, Window) and not window.rows:
        return window.slide * window.scale
    return None


def _joined(kind: str, parts: Sequence[list[list[Any]]], step: int) -> list[list[Any]]:
    moved = [
        [tick + number * step, *cells]
        for number, rows in enumerate(parts)
        for tick, *cells in rows
        if kind != "sensed" or tick < step or number == len(parts) - 1  # a site has one reading per interval
    ]
    if kind == "stored":
        return [[tick, rows] for tick, rows in sorted(dict(moved).items())]
    moved.sort(key=lambda row: row[0])
    return [[tick, index, *values] for index, (tick, _, *values) in enumerate(moved, 1)]


def streams(seed: int, count: int) -> Streams:
    """The question of a seed with a number of streams; the first one is the question's own."""
    maker = _Maker(seed)
    question = maker.question()
    pools = {name: [field.pool for field in fields] for name, fields in maker.fields.items()}
    given = [question.inputs]
    until = question.until
    for number in range(1, count):
        rng = Random(seed * 1000 + number)
        horizon = max(question.until, maker.base)
        rows = Filler(rng, question.spec, horizon, maker.base, maker.cap).fill(question.schema, pools)
        given.append(rows)
        until = max(until, last_tick(rng, question.spec, rows, horizon))
    return Streams(question, tuple(given), until)
