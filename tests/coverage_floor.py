"""Checks that the packages that carry the meaning are covered: `python -m tests.coverage_floor coverage.json`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

FLOOR = 95.0
PACKAGES = ("model", "algebra", "catalog", "languages", "optimizer", "reference")


def main(report: Path) -> int:
    """Print the share of lines covered, by package; 1 if one is below the floor."""
    covered: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for name, entry in json.loads(report.read_text("utf-8"))["files"].items():
        parts = Path(name).parts
        package = parts[parts.index("transom") + 1]
        covered[package] += entry["summary"]["covered_lines"]
        total[package] += entry["summary"]["num_statements"]
    shares = {package: 100 * covered[package] / total[package] if total[package] else 0.0 for package in PACKAGES}
    for package, share in shares.items():
        print(f"coverage of {package}: {share:.1f} % of {total[package]} lines")
    return int(any(share < FLOOR for share in shares.values()))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
