"""How relations travel in a plan for Spark, who does the work, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from transom.algebra.state import Formula

Kernel = Literal["auto", "on", "off"]
"""Whether machines run in the JVM: where the session allows it, always, or never."""


class Form(Enum):
    """How a relation travels."""

    STREAM = "stream"
    STAYS = "stays"
    TABLE = "table"
    SCANS = "scans"
    TICKS = "ticks"
    WINDOWS = "windows"
    CHANGES = "changes"

    def __str__(self) -> str:
        return self.value


class Path(Enum):
    """Who does the work: Spark's own operators, or a machine inside transformWithState, in Python or in the JVM."""

    NATIVE = "native"
    MACHINE = "machine"
    KERNEL = "kernel"

    def __str__(self) -> str:
        return self.value


class Meeting(Enum):
    """How stays are joined: with a table, with its scans, by ranges of time or equality on spans, in the kernel."""

    STATIC = "static"
    SCANS = "scans"
    RANGES = "ranges"
    SPANS = "spans"
    PAIRS = "pairs"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Choice:
    """A path with the rule that chose it, its reason, and the most rows that are remembered on it."""

    path: Path
    rule: str
    reason: str
    state: Formula
