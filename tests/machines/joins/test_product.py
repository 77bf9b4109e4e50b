"""The product machine and the common face of all machines against the reference engine, with restarts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from transom.algebra.relations import WindowCrossProduct
from transom.errors import PlanError
from transom.machines.joins.product import ProductMachine
from transom.machines.protocol import Emission, InputRow, create_machine, sort_inputs
from transom.model.bag import Bag, Row, row_identity
from transom.reference.relations import window_cross_product

OP: Any = None
"""The reference function reads nothing of its operator."""

UNTIL = 12


def random_windows(rng: random.Random, kind: str) -> list[Bag]:
    """Windows of a side; those of stays come one per tick, at regular ticks, as a time window's do."""
    if kind == "intervals":
        period, first = rng.randint(1, 4), rng.choice([0, 0, rng.randint(0, 6)])
        ticks = [t for t in range(first, UNTIL + 1) if t % period == 0]
    else:
        ticks = sorted(rng.choice(range(UNTIL + 1)) for _ in range(rng.randrange(9)))
    return [Bag(t, tuple((rng.randrange(3), rng.choice([1, 2, None])) for _ in range(rng.randrange(4)))) for t in ticks]


def arrivals(windows: Sequence[Bag], side: int, kind: str, keyed: bool) -> dict[int, list[InputRow]]:
    """What a side hands to the machine, by tick: whole windows, or comings and goings."""
    found: dict[int, list[InputRow]] = {}

    def say(tick: int, seq: int, sign: int, order: Any, row: Row | None) -> None:
        key = (row[0],) if keyed and row is not None else ()
        present = row is not None
        found.setdefault(tick, []).append(InputRow(side, seq, present, sign, order, key, row or (None, None)))

    if kind == "windows":
        seqs: Counter[int] = Counter()
        for window in windows:
            seqs[window.tick] += 1
            say(window.tick, seqs[window.tick], 1, None, None)
            for place, row in enumerate(window.rows):
                say(window.tick, seqs[window.tick], 1, (place,), row)
        return found
    before: tuple[int, tuple[Row, ...]] = (0, ())
    for window in windows:
        # rows that stay for one window only: each goes when the next window comes
        for place, row in enumerate(before[1]):
            say(window.tick, 1, -1, (before[0], place), row)
        say(window.tick, 1, 1, None, None)
        for place, row in enumerate(window.rows):
            say(window.tick, 1, 1, (window.tick, place), row)
        before = (window.tick, window.rows)
    return found


def drive(
    kinds: tuple[str, str], sides: Sequence[Sequence[Bag]], keyed: bool, rng: random.Random
) -> list[tuple[int, Emission]]:
    """Everything through the machine as the runner does it: tick by tick, shuffled, saved and loaded at random."""
    specification = f'{{"machine": "product", "left": "{kinds[0]}", "right": "{kinds[1]}"}}'
    given = [arrivals(windows, side, kinds[side], keyed) for side, windows in enumerate(sides)]
    machine = create_machine(specification)
    out: list[tuple[int, Emission]] = []
    for tick in sorted({*given[0], *given[1]}):
        rows = [*given[0].get(tick, ()), *given[1].get(tick, ())]
        rng.shuffle(rows)
        out += [(tick, departure) for departure in machine.feed(tick, sort_inputs(rows))]
        if rng.random() < 0.4:
            machine = create_machine(specification, machine.save())
    return out


def as_windows(out: Sequence[tuple[int, Emission]]) -> list[Bag]:
    """Departures as windows; the word that a window exists comes before its rows."""
    windows: dict[tuple[int, int], list[Row]] = {}
    for tick, departure in out:
        if departure.present:
            assert departure.row is not None
            windows[tick, departure.seq].append(departure.row)
        else:
            assert (tick, departure.seq) not in windows
            windows[tick, departure.seq] = []
    return [Bag(tick, tuple(rows)) for (tick, _), rows in sorted(windows.items())]


def plain(windows: Sequence[Bag]) -> list[tuple[int, list[Any]]]:
    return [(w.tick, [row_identity(row) for row in w.rows]) for w in windows]


@pytest.mark.parametrize(
    "kinds", [("windows", "windows"), ("windows", "intervals"), ("intervals", "windows"), ("intervals", "intervals")]
)
@pytest.mark.parametrize("keyed", [False, True], ids=["all-pairs", "by-key"])
def test_product(kinds: tuple[str, str], keyed: bool) -> None:
    """Pairs, empty windows and the order of rows, left-major, on random windows."""
    rng = random.Random(str((kinds, keyed)))
    told: Counter[str] = Counter()
    for _ in range(200):
        sides = [random_windows(rng, kind) for kind in kinds]
        wanted = window_cross_product(OP, *sides)
        if keyed:
            wanted = [Bag(w.tick, tuple(row for row in w.rows if row[0] == row[2])) for w in wanted]
        out = drive(kinds, sides, keyed, rng)
        assert plain(as_windows(out)) == plain(wanted)
        for tick in {t for t, _ in out}:
            places = [d.number for t, d in out if t == tick]
            assert places == list(range(1, len(places) + 1))
        told["rows"] += any(w.rows for w in wanted)
        told["empty"] += any(not w.rows for w in wanted)
        told["several"] += len({w.tick for w in wanted}) < len(wanted)
        told["nothing"] += not wanted
    assert told["rows"] > 100
    assert told["empty"] > 50
    assert told["nothing"] > 0 or kinds == ("intervals", "intervals")
    assert told["several"] > 50 or "windows" not in kinds


def test_changes_of_several_copies_insert_and_retract_that_many_rows() -> None:
    """A join of changes emits multiplicities as counts: 2 x 2 pairs at first, 1 x 2 after one copy is retracted."""
    machine = create_machine(
        '{"machine": "product", "left": "intervals", "right": "intervals", "how": "pairs", "widths": [1, 1]}'
    )

    def rows(tick: int, *changes: tuple[int, int, str]) -> list[Row | None]:
        inputs = [InputRow(side, 1, True, copies, None, (), (value,)) for side, copies, value in changes]
        marker = InputRow(0, 1, False, 1, None, (), (None,))
        return [emission.row for emission in machine.feed(tick, sort_inputs([*inputs, marker]))][1:]

    assert rows(1, (0, 2, "l"), (1, 2, "r")) == [("l", "r")] * 4
    assert machine.held == 4
    assert rows(2, (0, -1, "l")) == [("l", "r")] * 2
    with pytest.raises(ValueError, match="never inserted"):
        rows(3, (1, -3, "r"))


def test_a_product_remembers_the_current_windows_only() -> None:
    rng = random.Random(5)
    machine = ProductMachine("windows", "windows")
    sides = [random_windows(rng, "windows") for _ in range(2)]
    for number in range(200):
        for place, windows in enumerate(sides):
            for tick, rows in arrivals(windows, place, "windows", False).items():
                fed = create_machine('{"machine": "product", "left": "windows", "right": "windows"}', machine.save())
                list(fed.feed(tick + 100 * number, sort_inputs(rows)))
                machine = ProductMachine.load(fed.save())
    last = [sum(len(w.rows) for w in side if w.tick == side[-1].tick) for side in sides]
    assert machine.held == sum(last)


def test_deleting_a_row_that_was_never_inserted_is_refused() -> None:
    machine = create_machine('{"machine": "product", "left": "intervals", "right": "windows"}')
    with pytest.raises(ValueError, match="never inserted"):
        list(machine.feed(1, [InputRow(0, 1, True, -1, None, (), (1,))]))


def test_an_unknown_machine_is_refused() -> None:
    with pytest.raises(PlanError, match="no machine is called wheel"):
        create_machine('{"machine": "wheel"}')


def test_goings_come_before_comings() -> None:
    """A row that goes and an equal one that comes at one tick must not cancel the wrong way round."""
    going, coming = (InputRow(0, 1, True, sign, (3,), (), (7, 7)) for sign in (-1, 1))
    word = InputRow(0, 1, False, 1, None, (), (None, None))
    assert [a.sign for a in sort_inputs([coming, word, going])] == [-1, 1, 1]
    assert sort_inputs([coming, word, going])[0] is going


def test_the_reference_reads_nothing_of_its_operator() -> None:
    """What allows the tests above to leave the operator out."""
    assert window_cross_product.__annotations__["op"] == WindowCrossProduct.__name__
