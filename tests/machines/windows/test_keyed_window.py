"""Windows of one key against their definition, with restarts between any two rows."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import pytest

from tests.machines.windows.keyed_window_cases import KINDS, Case, cases
from tests.machines.windows.keyed_window_naive import expected, lives, needed
from tests.machines.windows.slide_driver import plain
from transom.errors import DataError, PlanError
from transom.machines import codec
from transom.machines.aggregates.sliding import SlidingAggregateSpec
from transom.machines.emission import TimedEmission
from transom.machines.windows.distance import PositionSpec
from transom.machines.windows.keyed_window import KeyedWindowMachine
from transom.machines.windows.keyed_window_spec import KeyedWindowSpec, RangeSpec

CASES = 520
PLACE = PositionSpec(0, None, False, 1)


def driven(case: Case) -> list[TimedEmission]:
    """What a machine tells, driven by the script of a case."""
    spec = KeyedWindowSpec.from_json(case.spec.to_json())
    assert spec == case.spec
    machine, told = KeyedWindowMachine(spec), []
    for word, *rest in case.script:
        if word == "take":
            told += machine.take(*rest)
        elif word == "close":
            told += machine.advance(*rest)
        else:
            due = machine.next_wakeup
            machine = KeyedWindowMachine.load(spec, machine.save())
            assert machine.next_wakeup == due
    return told


@pytest.mark.parametrize("times", [1, pytest.param(24, marks=pytest.mark.deep)])
def test_windows_are_what_their_definition_says(times: int) -> None:
    """Rejected rows are told with the windows of their tick; what a key tells comes in the order of its ticks."""
    seen: Counter[str] = Counter()
    for place, case in enumerate(cases(f"naive {times}", times * CASES)):
        wanted = expected(case.spec, case.rows, case.script[-1][1])
        found = driven(case)
        assert [t.tick for t in found] == sorted(t.tick for t in found), f"case {place}"
        assert plain(found) == plain(wanted), f"case {place}: {case.spec}"
        seen[case.kind] += bool(wanted)
        seen[case.spec.output] += bool(wanted)
        seen["rejected"] += any(t.seq == 0 and t.number for t in found)
        seen["over"] += any(t.seq == 0 and not t.number for t in found)
        seen["forgotten"] += len(lives(case.spec, case.rows)[0]) > 1
        ticks = [len(list(rows)) for _, rows in groupby(tick for tick, _ in case.rows)]
        seen["several rows of a tick"] += bool(ticks) and max(ticks) > 1
        seen["empty"] += any(t.present and t.row == (0,) for t in found)
        seen["gone"] += any(t.present and t.number == -1 for t in found)
    for what in (
        *KINDS,
        "content",
        "changes",
        "aggregates",
        "rejected",
        "forgotten",
        "over",
        "several rows of a tick",
        "gone",
    ):
        assert seen[what] > times * 14, (what, seen)
    assert seen["empty"] > times * 3


def test_only_what_a_coming_window_may_hold_is_remembered() -> None:
    tried = 0
    for place, case in enumerate(cases("held", CASES // 2)):
        if case.spec.forget_after is not None or case.spec.until is not None:
            continue
        machine = KeyedWindowMachine(case.spec)
        rows = []
        for word, *rest in case.script:
            if word == "take":
                tick, found = rest
                machine.take(tick, found)
                rows += [(tick, row) for row in found]
                wanted = needed(case.spec, rows, tick)
                if case.spec.output == "content":
                    assert machine.held == wanted, f"case {place}: {case.spec}"
                elif case.spec.output == "aggregates":
                    assert machine.held <= wanted, f"case {place}: {case.spec}"
                tried += 1
    assert tried > 600


def test_aggregates_keep_panes_and_not_rows() -> None:
    """Rows between two marks come and go together, and so do all rows that never go."""
    count = (SlidingAggregateSpec("count", "integer", None), SlidingAggregateSpec("path", "integer", None))
    reach = (RangeSpec("distance", (100, -500), (100, 0)),)
    moving = KeyedWindowMachine(
        KeyedWindowSpec("distance", reach, 100, position=PLACE, output="aggregates", aggregates=count)
    )
    for tick in range(5000):
        moving.take(tick, [(tick * 3,)])
        assert moving.held <= 12
    [told] = moving.take(5000, [(15_000,)])
    assert told == TimedEmission(5000, 1, True, 0, (167, 498))
    region = KeyedWindowMachine(
        KeyedWindowSpec("inside", flag=1, position=PLACE, output="aggregates", aggregates=count)
    )
    for tick in range(100):
        [told] = region.take(tick, [(tick, True), (0, False)])
    assert region.held == 1
    assert told.row == (100, 99)
    changes = KeyedWindowMachine(KeyedWindowSpec("inside", flag=1, output="changes"))
    changes.take(0, [(0, True)] * 100)
    assert changes.held == 0


def test_what_is_refused() -> None:
    for words, entries in (
        ("unknown", {"slide": "wheel"}),
        ("unknown", {"slide": "tick", "output": "noise"}),
        ("at least 1", {"slide": "tick", "step": 0}),
        ("need a position", {"slide": "distance"}),
        ("need a position", {"slide": "tick", "tags": ("distance",)}),
        ("where a flag says so", {"slide": "inside"}),
        ("up to now", {"slide": "change", "ranges": (RangeSpec("tick", (2, -4), (1, 0)),)}),
        ("do not go together", {"slide": "tick", "eager": True, "forget_after": 3}),
        ("if these are told", {"slide": "tick", "output": "aggregates"}),
    ):
        with pytest.raises(PlanError, match=words):
            KeyedWindowSpec(**entries)  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="tick, index or distance"):
        RangeSpec("weight", (1, 0), (1, 0))
    with pytest.raises(PlanError, match="longitude and a latitude"):
        PositionSpec(0, None, True)
    with pytest.raises(PlanError, match="at least 1"):
        PositionSpec(0, None, False, 0)
    spec = KeyedWindowSpec("arrival")
    state = KeyedWindowMachine(spec).save()
    with pytest.raises(DataError, match="the state of lineage has version 7, not 1"):
        KeyedWindowMachine.load(spec, bytes([7]) + state[1:])
    with pytest.raises(DataError, match="was given to lineage"):
        KeyedWindowMachine.load(spec, codec.save("order", 1))
