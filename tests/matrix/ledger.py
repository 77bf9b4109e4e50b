"""The record of the matrix: one JSON line per run of a cell, with the commit of the code that was tested."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEDGER = Path(__file__).with_name("ledger.jsonl")


@dataclass(frozen=True)
class Record:
    """What one run of a cell showed.

    `expected` and `outcome` are both texts of `faults.Expected`; `wrong` says what is wrong, if anything. `rows` were
    compared, and `balance` is the balance of each source since the first start.
    """

    plan: str
    fault: str
    expected: str
    outcome: str
    wrong: str | None
    rows: int
    balance: str
    seconds: float
    kills: int = 0
    """How many times a run of this plan was killed with SIGKILL and had still work to do."""
    message: str = ""
    commit: str = field(default_factory=lambda: tested_commit())
    date: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d"))

    @property
    def cell(self) -> tuple[str, str]:
        """The plan and the fault."""
        return self.plan, self.fault

    @property
    def good(self) -> bool:
        """Whether the outcome is the expected one, and no row is wrong, lost or doubled."""
        return self.wrong is None and self.outcome == self.expected


def tested_commit() -> str:
    """The last commit that changed the code under test or the matrix itself; with a + if that code is not committed."""
    paths = ["src", "kernel", "tests/matrix/*.py", "tests/matrix/*/*.py", "tests/spark/kills"]
    log = ["git", "log", "-1", "--format=%h", "--abbrev=9", "--", *paths]
    commit = subprocess.run(log, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", *paths], cwd=ROOT, check=False).returncode
    return f"{commit}+" if changed else commit


def write(records: Iterable[Record], path: Path = LEDGER) -> None:
    """Append records."""
    with path.open("a", encoding="utf-8") as lines:
        lines.writelines(json.dumps(asdict(record), ensure_ascii=False) + "\n" for record in records)


def read(path: Path = LEDGER) -> list[Record]:
    """All records, the oldest first; none if there is no ledger yet."""
    if not path.is_file():
        return []
    return [Record(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def newest(records: Iterable[Record]) -> dict[tuple[str, str], Record]:
    """The last record of each cell."""
    return {record.cell: record for record in records}
