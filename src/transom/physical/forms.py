"""Forms of relations between the nodes of a plan, executors, join strategies, and decisions with reasons."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from transom.algebra.state.formula import Formula

KernelMode = Literal["auto", "on", "off"]
"""Whether machines run in the JVM: if the session allows it, always, or never."""


class Form(Enum):
    """The form in which a relation passes between nodes; `nodes/windows.py` describes each."""

    STREAM = "stream"
    INTERVALS = "intervals"
    TABLE = "table"
    SCANS = "scans"
    TICKS = "ticks"
    WINDOWS = "windows"
    CHANGES = "changes"

    def __str__(self) -> str:
        """Return the name of the relation's form, such as `stream` or `changes`, as `explain` prints it."""
        return self.value


class Executor(Enum):
    """What executes a node: Spark's own operators, or a machine inside transformWithState, in Python or in the JVM."""

    NATIVE = "native"
    MACHINE = "machine"
    KERNEL = "kernel"

    def __str__(self) -> str:
        """Return the name of the executor, such as `native` or `kernel`, as `explain` prints it."""
        return self.value


class JoinStrategy(Enum):
    """How to join validity intervals: static table, its scans, time ranges, equal time buckets, or in the kernel."""

    STATIC = "static"
    SCANS = "scans"
    TIME_RANGES = "time ranges"
    TIME_BUCKETS = "time buckets"
    PAIRS = "pairs"

    def __str__(self) -> str:
        """Return the name of the join strategy, such as `time buckets`, as `explain` prints it."""
        return self.value


@dataclass(frozen=True, slots=True)
class Decision:
    """The executor of a node with the rule that chose it, the reason, and a bound on the rows in state."""

    executor: Executor
    rule: str
    reason: str
    state: Formula
