"""The machine of several joins against the same joins one by one, each fed with what the ones before it emit."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

from tests.faults import Fault, seeded
from tests.machines.twin_cases import join_tree_case
from transom.machines.joins.delta_join import DeltaJoin
from transom.machines.joins.join_tree import JoinStep, JoinTree
from transom.machines.protocol import InputRow, create_machine, drops_empty_state, sort_inputs
from transom.model.bag import Row

OPTIONALS: dict[str, Any] = {
    "machine": "join tree",
    "sides": 3,
    "joins": [
        {"emit": "left", "inputs": [0, 1], "widths": [1, 2], "columns": [0, 2]},
        {"emit": "left", "inputs": [3, 2], "widths": [2, 2], "columns": [0, 1, 3]},
    ],
}
"""`?a :p ?b OPTIONAL { ?a :q ?c } OPTIONAL { ?a :r ?d }` for one ?a."""

FAULTS = [
    Fault("every join reads the first one", JoinTree.take, "outputs[source]", "outputs[min(source, self.sides)]"),
    Fault("the result keeps all columns", JoinTree.take, "row[column]", "row[min(column, 1)]"),
    Fault("copies count once", JoinTree.take, "(count, tuple(A_))", "(1 if count > 0 else -1, tuple(A_))"),
    Fault("the first input takes all changes", JoinTree.take, "(side, *change)", "(0, *change)"),
    Fault(
        "rows are forgotten",
        JoinTree.load,
        "codec.load(A_, B_)",
        "[DeltaJoin(step.widths, step.emit).save().decode('latin-1') for step in steps]",
    ),
]


def one_by_one(spec: dict[str, Any], joins: list[DeltaJoin], changes: list[tuple[int, int, Row]]) -> Counter[Row]:
    """The net changes of the last join, if each join is a machine of its own."""
    outputs: list[Counter[Row]] = [Counter() for _ in range(spec["sides"])]
    for side, count, row in changes:
        outputs[side][row] += count
    for entry, join in zip(spec["joins"], joins, strict=True):
        arrivals = [(side, n, row) for side, source in enumerate(entry["inputs"]) for row, n in outputs[source].items()]
        result: Counter[Row] = Counter()
        for _, count, row in join.take(arrivals):
            result[tuple(row[column] for column in entry["columns"])] += count
        outputs.append(result)
    return outputs[-1]


def check(seeds: int) -> Counter[str]:
    """Compare trees that restart now and then with their joins; returns how often something occurred."""
    occurred: Counter[str] = Counter()
    for seed in range(seeds):
        case = join_tree_case(random.Random(f"one by one {seed}"))
        spec = json.dumps(case.spec)
        joins = [DeltaJoin(entry["widths"], entry["emit"]) for entry in case.spec["joins"]]
        machine = create_machine(spec)
        for number, tick in enumerate(case.ticks):
            arrivals = sort_inputs(tick.arrivals)
            try:
                expected = one_by_one(case.spec, joins, [(a.side, a.sign, a.row) for a in arrivals])
            except ValueError:
                with pytest.raises(ValueError, match="a row is retracted that was never added"):
                    list(machine.feed(tick.tick, arrivals))
                occurred["refused"] += 1
                break
            emitted: Counter[Row] = Counter()
            for emission in machine.feed(tick.tick, arrivals):
                assert emission.row is not None
                emitted[emission.row] += emission.number
            assert {row: n for row, n in emitted.items() if n} == {row: n for row, n in expected.items() if n}
            occurred["changes"] += len(emitted)
            occurred["of several copies"] += sum(abs(n) > 1 for n in emitted.values())
            if number % 3 == 2:
                machine = create_machine(spec, machine.save())
        else:
            assert machine.held == sum(join.held for join in joins)
        occurred["joins"] += len(joins)
    return occurred


def test_tree_gives_what_its_joins_give_one_by_one() -> None:
    occurred = check(600)
    assert occurred["changes"] > 400
    assert occurred["of several copies"] > 20
    assert occurred["joins"] > 1000
    assert occurred["refused"] > 2


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_is_noticed(fault: Fault) -> None:
    with seeded(fault), pytest.raises((AssertionError, IndexError, ValueError, pytest.fail.Exception)):
        check(200)


def test_optionals_of_one_subject() -> None:
    machine = create_machine(json.dumps(OPTIONALS))

    def changes(tick: int, *arrivals: tuple[int, int, Row]) -> dict[Row | None, int]:
        rows = [InputRow(side, 1, True, count, None, (), row) for side, count, row in arrivals]
        return {emission.row: emission.number for emission in machine.feed(tick, sort_inputs(rows))}

    assert changes(1, (0, 1, ("b",)), (2, 1, ("a", "d"))) == {("b", None, "d"): 1}
    assert changes(2, (1, 1, ("a", "c"))) == {("b", "c", "d"): 1, ("b", None, "d"): -1}
    machine = create_machine(json.dumps(OPTIONALS), machine.save())
    assert changes(3, (2, -1, ("a", "d"))) == {("b", "c", "d"): -1, ("b", "c", None): 1}
    assert machine.held == 3
    assert changes(4, (0, -1, ("b",)), (1, -1, ("a", "c"))) == {("b", "c", None): -1}
    assert machine.held == 0
    assert machine.save() == create_machine(json.dumps(OPTIONALS)).save()
    assert drops_empty_state(json.dumps(OPTIONALS))


def test_joins_without_changes_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[int] = []
    take = DeltaJoin.take
    monkeypatch.setattr(DeltaJoin, "take", lambda self, changes: fed.append(len(changes)) or take(self, changes))
    tree = JoinTree(3, [JoinStep.from_entries(entry) for entry in OPTIONALS["joins"]])
    assert list(tree.take([(2, 1, ("a", "d"))])) == []
    assert fed == [1]
