"""Driving machines the way an engine does: in random portions, with restarts from saved state."""

from __future__ import annotations

import random
from collections.abc import Sequence

from transom.machines.numbering import RowNumberMachine
from transom.machines.windows.window import WindowMachine, WindowSpec
from transom.machines.windows.window_changes import WindowChangesMachine
from transom.model.bag import Bag, Element, Row


def numbered(rows: Sequence[tuple[int, Row]], rng: random.Random) -> list[Element]:
    """Rows through the order machine."""
    machine, output = RowNumberMachine(), []
    for tick, row in rows:
        output += machine.take(tick, row)
        if rng.random() < 0.3:
            machine = RowNumberMachine.load(machine.save())
    return output


def cut(spec: WindowSpec, rows: Sequence[tuple[int, Row]], until: int, rng: random.Random) -> tuple[list[Bag], int]:
    """Rows through the window machine, ticks closed at random moments; the windows, and the rows held at most."""
    machine, output, most = WindowMachine(WindowSpec.from_json(spec.to_json())), [], 0
    for tick, row in rows:
        if rng.random() < 0.4:
            output += machine.advance(tick - rng.choice([1, 1, 2, 5]))
        output += machine.take(tick, row)
        most = max(most, machine.held)
        if rng.random() < 0.3:
            machine = WindowMachine.load(spec, machine.save())
    output += machine.advance(until)
    return output, most


def changed(report: str, windows: Sequence[Bag], rng: random.Random) -> list[Element]:
    """Windows through the change machine."""
    machine, output = WindowChangesMachine(report), []  # type: ignore[arg-type]
    for window in windows:
        output += machine.take(window)
        if rng.random() < 0.3:
            machine = WindowChangesMachine.load(machine.save())
    return output
