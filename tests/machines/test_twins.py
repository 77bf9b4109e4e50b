"""The machines in Java against their twins in Python: the same arrivals, the same departures, as many rows held.

Needs a JDK and the Jackson jars that pyspark brings, but no Spark. Whoever asks for them with --kernel and lacks one of
these sees them fail.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.machines.group_cases import group_case
from tests.machines.twin_cases import CASES as OTHERS
from tests.machines.twin_cases import Case
from transom.errors import DataError
from transom.machines import codec
from transom.machines.protocol import create_machine, sort_inputs
from transom.machines.windows.window import WindowMachine, WindowSpec
from transom.model.bag import Bag

pytestmark = pytest.mark.kernel

CASES = {**OTHERS, "groups": (2000, group_case)}
KERNEL = Path(__file__).resolve().parents[2] / "kernel" / "src"
SPECS: dict[str, dict[str, Any]] = {
    "order": {"machine": "order"},
    "window": {"machine": "window", "window": json.loads(WindowSpec("tick", 1, 0, "tick", (1, -3), (1, 0)).to_json())},
    "change": {"machine": "change", "report": "inserted"},
    "product": {"machine": "product", "left": "intervals", "right": "windows"},
    "join": {"machine": "join", "emit": "inner", "widths": [1, 1]},
    "join tree": {
        "machine": "join tree",
        "sides": 2,
        "joins": [{"emit": "inner", "inputs": [0, 1], "widths": [1, 1], "columns": [0, 1]}],
    },
    "matches": {"machine": "matches", "emit": "distinct", "padding": 0},
    "paths": {"machine": "paths", "repeats": True},
    "groups": {"machine": "groups", "keys": 0, "whole": False, "aggregates": []},
}

Twins = Callable[[Sequence[str]], list[Any]]


def jackson() -> list[str]:
    """The jars that read specifications."""
    found = importlib.util.find_spec("pyspark")
    folders = found.submodule_search_locations if found else None
    given = os.environ.get("TRANSOM_SPARK_JARS") or (folders and str(Path(folders[0]) / "jars"))
    names = ("annotations", "core", "databind")
    return [str(jar) for name in names for jar in Path(given).glob(f"jackson-{name}-2.*.jar")] if given else []


def missing() -> str | None:
    """What these tests lack."""
    if not shutil.which("javac") or not shutil.which("java"):
        return "there is no JDK"
    return None if len(jackson()) == 3 else "there are no Jackson jars"


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Twins:
    """The machines in Java: lines of cases in, answers out."""
    lacking = missing()
    assert lacking is None, lacking
    folder, jars = tmp_path_factory.mktemp("classes"), os.pathsep.join(jackson())
    main, driver = KERNEL / "main" / "java", KERNEL / "test" / "java" / "transom" / "kernel" / "MachineTwins.java"
    command = ["javac", "--release", "17", "-proc:none", "-implicit:class", "-encoding", "UTF-8", "-cp", jars]
    built = subprocess.run(
        [*command, "-sourcepath", str(main), "-d", str(folder), str(driver)], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr

    def ask(lines: Sequence[str]) -> list[Any]:
        path = os.pathsep.join([str(folder), jars])
        run = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path, "transom.kernel.MachineTwins"]
        done = subprocess.run(run, input="\n".join(lines) + "\n", capture_output=True, text=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        answers = done.stdout.splitlines()
        assert len(answers) == len(lines), done.stderr
        return list(map(json.loads, answers))

    return ask


class WindowTwin:
    """Windows by tick and by arrival, which come when their tick is closed: at most one per tick."""

    def __init__(self, spec: WindowSpec, machine: WindowMachine | None = None) -> None:
        self.spec = spec
        self.machine = machine or WindowMachine(spec)

    @property
    def held(self) -> int:
        return self.machine.held

    def feed(self, tick: int, arrivals: Sequence[Any]) -> list[Any]:
        return [line for a in arrivals for window in self.machine.take(tick, a.row) for line in self.lines(window)]

    def advance(self, closed: int) -> list[Any]:
        return [line for window in self.machine.advance(closed) for line in self.lines(window)]

    def again(self) -> WindowTwin:
        return WindowTwin(self.spec, WindowMachine.load(self.spec, self.machine.save()))

    @staticmethod
    def lines(window: Bag) -> list[Any]:
        rows = [[window.tick, 1, True, place, row] for place, row in enumerate(window.rows, 1)]
        return [[window.tick, 1, False, 0, None], *rows]


class StepTwin:
    """Any machine behind the common face."""

    def __init__(self, spec: str, state: bytes | None = None) -> None:
        self.spec = spec
        self.machine = create_machine(spec, state)

    @property
    def held(self) -> int:
        return self.machine.held

    def feed(self, tick: int, arrivals: Sequence[Any]) -> list[Any]:
        return [[tick, *departure] for departure in self.machine.feed(tick, arrivals)]

    def advance(self, closed: int) -> list[Any]:
        return []

    def again(self) -> StepTwin:
        return StepTwin(self.spec, self.machine.save())


def answer(case: Case) -> Any:
    """What the Python machine makes of a case, as the Java driver says it."""
    machine: WindowTwin | StepTwin = StepTwin(json.dumps(case.spec))
    if case.spec["machine"] == "window" and case.spec["window"]["slide"] != "index":
        machine = WindowTwin(WindowSpec.from_json(json.dumps(case.spec["window"])))
    said = []
    try:
        for place, (tick, arrivals, closed) in enumerate(case.ticks):
            out = machine.feed(tick, sort_inputs(arrivals))
            if closed is not None:
                out += machine.advance(closed)
            said.append([out, machine.held])
            if place in case.restart:
                machine = machine.again()
    except ValueError as refusal:
        return {"error": str(refusal)}
    return said


def line(case: Case) -> str:
    """A case for the Java driver."""
    ticks = [[tick, arrivals, *([] if closed is None else [closed])] for tick, arrivals, closed in case.ticks]
    return codec.encode_json({"spec": case.spec, "ticks": ticks, "restart": case.restart})


@pytest.mark.parametrize("machine", list(CASES))
def test_twins(twins: Twins, machine: str) -> None:
    """Every departure with its tick, window, place and values in their types, and the rows held after every tick."""
    count, make = CASES[machine]
    cases = [make(random.Random(f"{machine} {seed}")) for seed in range(count)]
    told: Counter[str] = Counter()
    for seed, (case, found) in enumerate(zip(cases, twins(list(map(line, cases))), strict=True)):
        expected = answer(case)
        assert json.dumps(found, separators=(",", ":")) == codec.encode_json(expected), f"seed {seed}: {line(case)}"
        if isinstance(expected, dict):
            told["refused"] += 1
            continue
        told["departures"] += sum(len(out) for out, _ in expected)
        told["held"] += any(held for _, held in expected)
        told["silent"] += any(not out for out, _ in expected)
        told["several"] += any(seq > 1 for out, _ in expected for _, seq, *_ in out)
        told["restarts"] += bool(case.restart)
    assert told["departures"] > count
    assert told["silent"] > count // 10
    assert told["restarts"] > count // 3
    assert told["held"] > count // 3 or machine == "order"
    assert told["several"] > count // 20 or machine not in ("window", "product")
    assert (told["refused"] >= 5) == (machine in ("product", "join", "join tree", "matches", "groups", "paths"))
    assert told["refused"] < count // 5


def test_there_are_enough_cases() -> None:
    assert sum(count for count, _ in CASES.values()) >= 20_000
    assert set(CASES) == set(SPECS)


@pytest.mark.parametrize("machine", list(SPECS))
def test_other_state_is_refused(twins: Twins, machine: str) -> None:
    """State of another version, no state, and the state of another machine: both twins say what to do."""
    spec = SPECS[machine]
    spoils = [[0, 7], [-1, 0], [1, ord("?")]]
    found = twins([json.dumps({"spec": spec, "spoil": spoil}) for spoil in spoils])
    hint = "start without the old state"
    assert found == [
        {"error": f"the state of {machine} has version 7, not 1: {hint}"},
        {"error": f"the state of {machine} has version nothing, not 1: {hint}"},
        {"error": f"the state of another machine was given to {machine}: {hint}"},
    ]
    state = create_machine(json.dumps(spec)).save()
    for other, words in ((bytes([7]) + state[1:], "version 7, not 1"), (b"", "version nothing, not 1")):
        with pytest.raises(DataError, match=f"the state of {machine} has {words}") as refusal:
            create_machine(json.dumps(spec), other)
        assert refusal.value.hint == hint


def test_an_unknown_machine_is_refused(twins: Twins) -> None:
    assert twins(['{"spec": {"machine": "wheel"}, "ticks": []}']) == [{"error": "no machine is called wheel"}]
