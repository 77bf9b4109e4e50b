"""The machine of paths, against the paths of the reference engine at every tick."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from tests.faults import Fault, seeded
from tests.machines.twin_cases import comings
from transom.algebra.rdf.patterns import OneOrMorePath, PredicatePath, PropertyPath, ZeroOrMorePath, ZeroOrOnePath
from transom.machines import path_closure as machine_of_paths
from transom.machines import protocol
from transom.machines.path_closure import PathClosureMachine
from transom.machines.protocol import sort_inputs
from transom.model.bag import Row
from transom.model.rdf.terms import IRI, Triple
from transom.reference.rdf.patterns import evaluate_path

P = IRI("http://ex/p")
FAULTS = [
    Fault(
        "not followed back",
        machine_of_paths.PathClosureMachine._affected_starts,
        "A_ |= _reachable(A_, B_)",
        "pass",
    ),
    Fault("an edge goes with its first copy", machine_of_paths.PathClosureMachine.take, "A_ <= 0", "A_ <= 1"),
    Fault(
        "no step leads nowhere",
        machine_of_paths.PathClosureMachine._end_terms,
        "A_ if (start,) in nodes else B_",
        "A_",
    ),
    Fault("terms are forgotten", machine_of_paths.PathClosureMachine.load, "machine.nodes", "Counter()"),
]
PATHS: dict[str, PropertyPath] = {
    "+": OneOrMorePath(PredicatePath(P)),
    "*": ZeroOrMorePath(PredicatePath(P)),
    "?": ZeroOrOnePath(PredicatePath(P)),
}


def paths(sign: str, edges: list[Row], start: str | None) -> set[Row]:
    """The pairs that the reference engine finds; a path of no step from a start is told elsewhere."""
    statements = [Triple(IRI(str(one)), P, IRI(str(other))) for one, other in edges]
    found = evaluate_path(PATHS[sign], None if start is None else IRI(start), None, statements)
    pairs = {(one.value, other.value) for one, other in found if isinstance(one, IRI) and isinstance(other, IRI)}
    return pairs if start is None else {pair for pair in pairs if pair[1] != start}


@pytest.mark.parametrize("sign", list(PATHS))
@pytest.mark.parametrize("start", [None, "a"])
def test_emitted_changes_add_up_to_the_paths(sign: str, start: str | None) -> None:
    assert check(sign, start, 120) > 150


def check(sign: str, start: str | None, seeds: int) -> int:
    """Compare the pairs of random edges at every tick; how many changes there were."""
    told = 0
    for seed in range(seeds):
        rng = random.Random(f"{sign} {start} {seed}")
        spec = json.dumps({"machine": "paths", "repeats": sign != "?", "start": start})
        machine, shown = protocol.create_machine(spec), Counter[Row]()
        there: list[Row] = []
        for tick in range(8):
            arrivals = comings(rng, 0, lambda: (rng.choice("abcde"), rng.choice("abcde")), there)  # noqa: B023
            if sign != "+" and start is None:
                arrivals += [a._replace(side=1) for a in arrivals]
            try:
                changes = list(machine.feed(tick, sort_inputs(arrivals)))
            except ValueError:
                break  # a row that was never added, which `comings` draws at times
            for one in changes:
                assert one.row is not None
                shown[one.row] += one.number
                told += 1
            assert set(shown.values()) <= {0, 1}
            now = {row for row, n in shown.items() if n and (start is None or row[1] != start)}
            assert now == paths(sign, there, start)
            if rng.random() < 0.4:
                machine = protocol.create_machine(spec, machine.save())
    return told


def test_it_holds_edges_and_forgets_them() -> None:
    machine = PathClosureMachine(repeats=True)
    assert list(machine.take([(0, 2, ("a", "b")), (0, 1, ("b", "c"))])) == [
        (1, 1, ("a", "b")),
        (1, 1, ("a", "c")),
        (1, 1, ("b", "c")),
    ]
    assert machine.held == 3
    assert list(machine.take([(0, -1, ("a", "b"))])) == []
    assert list(machine.take([(0, 1, ("c", "a"))])) == [
        *((1, 1, ("a", "a")), (1, 1, ("b", "a")), (1, 1, ("b", "b"))),
        *((1, 1, ("c", "a")), (1, 1, ("c", "b")), (1, 1, ("c", "c"))),
    ]
    gone = list(machine.take([(0, -1, ("a", "b")), (0, -1, ("b", "c")), (0, -1, ("c", "a"))]))
    assert len(gone) == 9
    assert machine.save() == PathClosureMachine(repeats=True).save()
    with pytest.raises(ValueError, match="a row is retracted that was never added"):
        list(machine.take([(0, -1, ("a", "b"))]))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_is_noticed(fault: Fault) -> None:
    with seeded(fault), pytest.raises((AssertionError, KeyError)):
        sum(check(sign, None, 60) for sign in PATHS)
