"""The record of a gated test run: one JSON line per test, and what makes a run fail although no test failed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Entry:
    """One test of a run: how it ended and how long it took, set-up and tear-down included."""

    step: str
    test: str
    outcome: str
    seconds: float


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Append entries to a ledger."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as lines:
        lines.writelines(json.dumps(asdict(entry)) + "\n" for entry in entries)


def read(path: Path) -> Iterator[Entry]:
    """The entries of a ledger; none if there is no such file."""
    if path.is_file():
        for line in path.read_text("utf-8").splitlines():
            yield Entry(**json.loads(line))


def violations(collected: int, entries: Iterable[Entry]) -> list[str]:
    """Why a run in which no test failed is not good all the same: tests that were skipped or never ran."""
    seen = list(entries)
    found = [f"skipped: {entry.test}" for entry in seen if entry.outcome == "skipped"]
    ran = len({entry.test for entry in seen})
    if ran < collected:
        found.append(f"{collected - ran} of {collected} collected tests never ran")
    return found
