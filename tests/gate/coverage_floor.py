"""Fails if a package is covered less than its floor: `python -m tests.gate.coverage_floor coverage.json`.

The packages that define what a query means have the highest floor. Code that runs in processes of its own (Spark's
Python workers, the collector that tests start and kill) is not traced, so packages that hold such code have lower ones.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

FLOORS = {
    "model": 95.0,
    "algebra": 95.0,
    "catalog": 95.0,
    "languages": 95.0,
    "optimizer": 95.0,
    "reference": 95.0,
    "physical": 95.0,
    "machines": 95.0,
    "spark": 92.0,
    "runtime": 93.0,
    "connectors": 90.0,
    "collector": 80.0,
}


def shares(report: dict[str, dict[str, dict[str, dict[str, int]]]]) -> dict[str, tuple[float, int]]:
    """The share of lines covered in percent, and the number of lines, by package."""
    covered: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for name, entry in report["files"].items():
        parts = Path(name).parts
        package = parts[parts.index("transom") + 1]
        covered[package] += entry["summary"]["covered_lines"]
        total[package] += entry["summary"]["num_statements"]
    return {
        package: (100 * covered[package] / total[package] if total[package] else 0.0, total[package])
        for package in FLOORS
    }


def main(path: Path) -> int:
    """Print the coverage of each package; 1 if one is below its floor."""
    found = shares(json.loads(path.read_text("utf-8")))
    for package, (share, lines) in found.items():
        print(f"coverage of {package}: {share:.1f} % of {lines} lines, floor {FLOORS[package]:.0f} %")
    return int(any(share < FLOORS[package] for package, (share, _) in found.items()))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
