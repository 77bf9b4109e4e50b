"""The machines of changes behind the common face: gaps against its definition, meet against the machine alone."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from transom.machines.gaps import GapsMachine
from transom.machines.meet import Change, MeetMachine
from transom.machines.steps import Arrival, in_order, step
from transom.model.bag import Row

GAPS, MEET = '{"machine": "gaps"}', '{"machine": "meet"}'


def change(side: int, count: int, row: Row) -> Arrival:
    return Arrival(side, 1, True, count, None, (), row)


def test_gaps() -> None:
    """At every tick the row is out as often as it is there if no piece covers it; only differences come out."""
    told: Counter[str] = Counter()
    for seed in range(1000):
        rng = random.Random(seed)
        machine, there, shown = step(GAPS), [0, 0], 0
        for tick in range(rng.randint(1, 12)):
            arrivals = []
            for side in (0, 1):
                for now in [rng.randrange(3) for _ in range(rng.choice([0, 0, 1, 2]))]:
                    arrivals.append(change(side, now - there[side], (7, None) if side == 0 else ()))
                    there[side] = now
            rng.shuffle(arrivals)
            out = list(machine.feed(tick, in_order(arrivals)))
            wanted = 0 if there[1] else there[0]
            assert [(d.seq, d.present, d.place, d.row) for d in out] == (
                [(1, True, wanted - shown, (7, None))] if wanted != shown else []
            )
            told["out"] += wanted > shown
            told["in"] += wanted < shown
            shown = wanted
            assert machine.held == (there != [0, 0])
            if rng.random() < 0.4:
                machine = step(GAPS, machine.save())
    assert min(told.values()) > 500


def test_what_never_came_cannot_go() -> None:
    with pytest.raises(ValueError, match="a row goes that never came"):
        list(GapsMachine().take(1, [(-1, (7,))], 0))
    with pytest.raises(ValueError, match="a piece ends that never began"):
        list(GapsMachine().take(1, [], -1))


def test_gaps_forget_a_row_that_has_gone() -> None:
    machine = GapsMachine()
    assert list(machine.take(1, [(2, (7,))], 0)) == [Change(1, 2, (7,))]
    assert list(machine.take(2, [(-2, (7,))], 0)) == [Change(2, -2, (7,))]
    assert machine.row is None
    assert machine.save() == GapsMachine().save()


def test_meet_behind_the_common_face() -> None:
    """All changes of a tick in, the changes of pairs of that tick out, with their counts as places."""
    told = 0
    for seed in range(500):
        rng = random.Random(seed)
        face, machine = step(MEET), MeetMachine()
        for tick in range(8):
            arrivals = []
            for _ in range(rng.randrange(4)):
                arrivals.append(change(rng.randrange(2), rng.choice([1, 1, 2, -1]), (rng.randrange(3),)))
            expected: list[Change] = []
            for a in in_order(arrivals):
                expected += machine.take("right" if a.side else "left", Change(tick, a.sign, a.row))
            expected += machine.advance(tick)
            word = Arrival(0, 1, False, 1, None, (), (9,))
            out = list(face.feed(tick, in_order([*arrivals, word])))
            assert [(d.seq, d.present, d.place, d.row) for d in out] == [(1, True, c.count, c.row) for c in expected]
            assert face.held == machine.held
            told += len(out)
            if rng.random() < 0.4:
                face = step(MEET, face.save())
    assert told > 1000
