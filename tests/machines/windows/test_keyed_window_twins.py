"""Windows of a key, distances and buckets of keys in Java against their twins in Python: one script, one answer."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

from tests.machines.windows.keyed_window_cases import KINDS, Case, cases, journey, place, spec_of
from tests.machines.windows.slide_driver import Java, java, plain
from transom.machines.buckets import Bucket, TimedMachineFactory
from transom.machines.emission import TimedMachine
from transom.machines.protocol import InputRow
from transom.machines.windows.distance import PositionSpec
from transom.machines.windows.keyed_window_spec import KeyedWindowSpec
from transom.model.bag import Row

pytestmark = pytest.mark.kernel

LINEAGES, DISTANCES, BUCKETS = 3_250, 350, 400
DEEP = 4
"""So many times as many cases in the deep run."""

Task = tuple[dict[str, Any], list[Any]]
"""A script for Java, and what Python says."""
KEYS: list[Row] = [(1,), (2,), (True,), ("a",), ("é",), (None,), (2.5,)]


@pytest.fixture(scope="module")
def in_java(tmp_path_factory: pytest.TempPathFactory) -> Java:
    return java(tmp_path_factory.mktemp("classes"), "KeyedWindowTwins")


def alone(specification: str, script: list[tuple[Any, ...]]) -> list[Any]:
    """What one machine says."""
    maker = TimedMachineFactory(specification)
    machine: TimedMachine = maker.make()
    said: list[Any] = []
    for word, *rest in script:
        if word == "restart":
            machine = maker.make(machine.save())
            continue
        told = machine.take(*rest) if word == "take" else machine.advance(*rest)
        said.append((told, machine.held, machine.next_wakeup, machine.blank))
    return said


def together(specification: str, script: list[tuple[Any, ...]]) -> list[Any]:
    """What a bucket says."""
    maker = TimedMachineFactory(specification)
    bucket, said = Bucket(maker), list[Any]()
    for word, *rest in script:
        if word == "restart":
            state = bucket.save()
            said.append(state is None)
            bucket = Bucket(maker, state)
            continue
        rows = [(t, InputRow(0, 1, row is not None, 1, None, key, row or ())) for t, key, row in rest[0]]
        told = list(bucket.run(rows, rest[1]))
        said.append((told, bucket.held, bucket.keys, bucket.next_wakeup))
    return said


def bucket_case(rng: random.Random) -> tuple[str, list[tuple[Any, ...]]]:
    """Rows of several keys in portions, keys that fall silent, and a word now and then that a tick is there."""
    spec = spec_of(rng, rng.choice(KINDS))
    rows: list[tuple[int, Row, Row | None]] = []
    for key in rng.sample(KEYS, rng.randint(1, len(KEYS))):
        rows += [(tick, key, row if rng.random() < 0.97 else None) for tick, row in journey(rng)[: rng.randint(1, 9)]]
    rows.sort(key=lambda row: row[0])
    script: list[tuple[Any, ...]] = []
    while rows:
        closed = rows[0][0] + rng.choice([0, 0, 1, 3])
        script.append(("run", [row for row in rows if row[0] <= closed], closed))
        rows = [row for row in rows if row[0] > closed]
        if rng.random() < 0.5:
            script.append(("restart",))
        if rng.random() < 0.3:
            script.append(("run", [], closed))
    script.append(("run", [], script[-1][-1] + 5 if script and script[-1][0] == "run" else 60))
    return (place(rng) if rng.random() < 0.05 else spec).to_json(), script


def lineages(name: str, times: int) -> list[Task]:
    found: list[Case] = list(cases(f"twins {name}", times * LINEAGES))
    tasks: list[Task] = []
    told: Counter[str] = Counter()
    for case in found:
        document = case.spec.to_json()
        said = alone(document, case.script)
        tasks.append(({"spec": json.loads(document), "script": plain(case.script)}, said))
        told[case.kind] += any(entry[0] for entry in said)
        told["held"] += sum(entry[1] for entry in said)
    assert min(told[kind] for kind in KINDS) > times * 150
    assert told["held"] > times * 20_000
    return tasks


def distances(name: str, times: int) -> list[Task]:
    tasks: list[Task] = []
    told: Counter[int] = Counter()
    for case in cases(f"distances {name}", times * DISTANCES):
        assert case.spec.position is not None
        document = case.spec.position.to_json()
        said = alone(document, case.script)
        tasks.append(({"spec": json.loads(document), "script": plain(case.script)}, said))
        told.update(entry.seq for out, *_ in said for entry in out)
    assert told[1] > times * 1000
    assert told[0] > times * 100
    return tasks


def buckets(name: str, times: int) -> list[Task]:
    tasks: list[Task] = []
    told = 0
    for seed in range(times * BUCKETS):
        document, script = bucket_case(random.Random(f"bucket {name} {seed}"))
        said = together(document, script)
        tasks.append(({"spec": json.loads(document), "bucket": True, "script": plain(script)}, said))
        told += sum(len(entry[0]) for entry in said if isinstance(entry, tuple))
    assert told > times * 5000
    return tasks


@pytest.mark.parametrize(
    ("name", "times"), [pytest.param("plain", 1), pytest.param("deep", DEEP, marks=pytest.mark.deep)]
)
def test_twins(in_java: Java, name: str, times: int) -> None:
    """What is told, what is held, and when it wakes, after every word of a script; one JVM for all."""
    tasks = lineages(name, times) + distances(name, times) + buckets(name, times)
    for at, (said, (task, wanted)) in enumerate(zip(in_java([task for task, _ in tasks]), tasks, strict=True)):
        assert said == plain(wanted), f"case {at}: {json.dumps(task)}"


def test_there_are_enough_cases() -> None:
    assert (1 + DEEP) * (LINEAGES + DISTANCES + BUCKETS) >= 20_000


def test_other_state_is_refused(in_java: Java) -> None:
    lineage, distance = KeyedWindowSpec("arrival").to_json(), PositionSpec(0, None).to_json()
    tasks = [
        {"spec": json.loads(lineage), "script": [["load", [7, 76]]]},
        {"spec": json.loads(lineage), "script": [["load", [1, 68]]]},
        {"spec": json.loads(distance), "script": [["load", []]]},
        {"spec": json.loads(distance), "bucket": True, "script": [["load", [7, 66, 0, 0, 0, 0]]]},
    ]
    hint = "start without the old state"
    assert [said[-1]["error"] for said in in_java(tasks)] == [
        f"IllegalStateException: the state of lineage has version 7, not 1: {hint}",
        f"IllegalStateException: the state of another machine was given to lineage: {hint}",
        f"IllegalStateException: the state of distance has version nothing, not 1: {hint}",
        f"IllegalStateException: the state of a bucket has version 7, not 1: {hint}",
    ]
