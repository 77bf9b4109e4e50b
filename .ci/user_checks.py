"""What .ci/user asks: the lines of a page that install Transom, and whether two answers have the same rows.

user_checks.py installs README.md            prints the commands of its console blocks that begin with pip install
user_checks.py rows CATALOG FOLDER ANSWER    compares Parquet files that `run` wrote with the CSV of `simulate`
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def installs(page: str) -> list[str]:
    """The commands of the console blocks of a page that install something with pip, word for word."""
    lines = [line for block in CONSOLE.findall(page) for line in block.splitlines()]
    return [line.removeprefix("$ ").rstrip() for line in lines if line.startswith("$ pip install ")]


def found_rows(catalog: Path, folder: Path) -> Counter[tuple[str, ...]]:
    """The rows of Parquet files as the CSV of `simulate` writes them; `tick` is the end of a tick there."""
    import pyarrow.parquet

    from transom import Catalog

    calendar = Catalog.load(catalog).calendar

    def text(name: str, value: Any) -> str:
        if name == "tick":
            return str(calendar.tick_of(value) - 1)
        if value is None:
            return ""
        return str(value).lower() if isinstance(value, bool) else str(value)

    return Counter(
        tuple(text(name, value) for name, value in zip(table.column_names, row, strict=True))
        for file in sorted(folder.glob("*.parquet"))
        for table in [pyarrow.parquet.read_table(file)]
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True)
    )


def expected_rows(answer: Path) -> Counter[tuple[str, ...]]:
    """The rows of the CSV of `simulate`."""
    with answer.open(encoding="utf-8", newline="") as lines:
        return Counter(tuple(row) for row in list(csv.reader(lines))[1:])


def compare(expected: Counter[tuple[str, ...]], found: Counter[tuple[str, ...]]) -> list[str]:
    """What is wrong, in words; no rows at all are wrong, too."""
    wrong = [f"missing: {','.join(row)}" for row in expected - found]
    wrong += [f"not expected: {','.join(row)}" for row in found - expected]
    return wrong or ([] if expected else ["there are no rows to compare"])


def main(arguments: list[str]) -> int:
    """Run the command that the arguments name."""
    match arguments:
        case ["installs", page]:
            print("\n".join(installs(Path(page).read_text("utf-8"))))
            return 0
        case ["rows", catalog, folder, answer]:
            expected, found = expected_rows(Path(answer)), found_rows(Path(catalog), Path(folder))
            wrong = compare(expected, found)
            print("\n".join(wrong[:20]) or f"{found.total()} rows, as simulate gives them")
            return bool(wrong)
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
