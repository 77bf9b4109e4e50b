"""Driving the slide and pairs machines by scripts, in Python and in Java.

A script is a list of words with what belongs to them: `take` a row, `feed` the rows of a tick, `close` a tick,
`restart` from saved state. The answer has an entry for every word that says something; both languages answer alike.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from transom.machines.protocol import InputRow, create_machine
from transom.machines.windows.slide import SlidingWindowMachine, SlidingWindowSpec

KERNEL = Path(__file__).resolve().parents[3] / "kernel" / "src"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Script = list[tuple[Any, ...]]
Java = Callable[[Sequence[dict[str, Any]]], list[Any]]


def slide_in_python(spec: SlidingWindowSpec, script: Script) -> list[Any]:
    """What the slide machine says."""
    spec = SlidingWindowSpec.from_json(spec.to_json())
    machine, said = SlidingWindowMachine(spec), []
    for word, *rest in script:
        if word == "take":
            machine.take(*rest)
        elif word == "close":
            rows = list(machine.advance(*rest))
            said.append((rows, machine.next, machine.held))
        else:
            state = machine.save()
            said.append(state is None)
            machine = SlidingWindowMachine.load(spec, state)
    return said


def pairs_in_python(script: Script) -> list[Any]:
    """What the pairs machine says."""
    spec = json.dumps({"machine": "pairs"})
    machine, said = create_machine(spec), []
    for word, *rest in script:
        if word == "feed":
            tick, rows = rest
            out = machine.feed(tick, [InputRow(side, 1, True, 1, None, (), row) for side, row in rows])
            said.append(([(tick, departure.row) for departure in out], machine.held))
        elif word == "close":
            machine.machine.evict(*rest)  # type: ignore[attr-defined]
            said.append(machine.held)
        else:
            machine = create_machine(spec, machine.save())
    return said


def plain(value: Any) -> Any:
    """What Python says, as both languages write it."""
    match value:
        case float():
            return {"f": value.hex()}
        case Decimal():
            return {"d": str(value)}
        case datetime():
            return (value - EPOCH) // timedelta(microseconds=1)
        case tuple() | list():
            return [plain(part) for part in value]
        case _:
            return value


def told(value: Any) -> Any:
    """What Java says, as Python writes it."""
    match value:
        case {"f": digits}:
            return {"f": float.fromhex(digits).hex()}
        case {"d": digits}:
            return {"d": str(Decimal(digits))}
        case list():
            return [told(part) for part in value]
        case _:
            return value


def _jackson() -> list[str]:
    found = importlib.util.find_spec("pyspark")
    folders = found.submodule_search_locations if found else None
    given = os.environ.get("TRANSOM_SPARK_JARS") or (folders and str(Path(folders[0]) / "jars"))
    names = ("annotations", "core", "databind")
    return [str(jar) for name in names for jar in Path(given).glob(f"jackson-{name}-2.*.jar")] if given else []


def java(folder: Path, name: str = "SlidingWindowTwins") -> Java:
    """The machines in Java, compiled into a folder; without a JDK the test fails."""
    jars = _jackson()
    if not shutil.which("javac") or not shutil.which("java") or len(jars) != 3:
        pytest.fail("there is no JDK, or there are no Jackson jars")
    path = os.pathsep.join(jars)
    sources = os.pathsep.join(str(KERNEL / side / "java") for side in ("main", "test"))
    driver = KERNEL / "test" / "java" / "transom" / "kernel" / f"{name}.java"
    command = ["javac", "--release", "17", "-proc:none", "-implicit:class", "-encoding", "UTF-8", "-cp", path]
    places = ["-sourcepath", sources, "-d", str(folder), str(driver)]
    built = subprocess.run([*command, *places], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr

    def ask(tasks: Sequence[dict[str, Any]]) -> list[Any]:
        run = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", os.pathsep.join([str(folder), path])]
        lines = "".join(json.dumps(task) + "\n" for task in tasks)
        command = [*run, f"transom.kernel.{name}"]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        answers = [told(json.loads(line)) for line in done.stdout.splitlines()]
        assert len(answers) == len(tasks), done.stderr
        return answers

    return ask
