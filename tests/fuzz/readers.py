"""All readers by turns, so many inputs each: `python -m tests.fuzz.readers --count 1000000 --seed 1`.

Only Transom's own errors may come, and no input may take longer than a second. The readers are those of SNEEql, CQL,
SPARQL, catalogs, messages and RDF. With `--state FILE` a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from multiprocessing import Pool
from pathlib import Path

from . import fuzz, messages, rdf_payloads, sparql
from .fuzz import Tally, shown

CHUNK = 500
READERS: dict[str, Callable[[int, range], Tally]] = {
    "SNEEql": lambda seed, numbers: fuzz.check_all(seed, range(4 * numbers.start, 4 * numbers.stop, 4)),
    "CQL": lambda seed, numbers: fuzz.check_all(seed, range(4 * numbers.start + 2, 4 * numbers.stop + 2, 4)),
    "catalogs": lambda seed, numbers: fuzz.check_all(seed, range(2 * numbers.start + 1, 2 * numbers.stop + 1, 2)),
    "SPARQL": sparql.check_all,
    "messages": messages.check_all,
    "RDF": rdf_payloads.check_all,
}
"""What checks inputs of each reader, by the numbers that `--only` of its own module takes."""


def _chunk(job: tuple[str, int, range]) -> tuple[str, Tally]:
    reader, seed, numbers = job
    return reader, READERS[reader](seed, numbers)


def run(seed: int, count: int, processes: int, totals: dict[str, Tally], after: Callable[[], None]) -> None:
    """Check inputs of all readers by turns; `after` is called after each chunk."""
    done = {reader: totals[reader].count for reader in READERS}
    starts = range(0, count, CHUNK)
    jobs = [
        (reader, seed, range(start, min(start + CHUNK, count)))
        for start in starts
        for reader in READERS
        if start >= done[reader]
    ]
    if processes == 1:
        for job in jobs:
            totals[job[0]].add(_chunk(job)[1])
            after()
        return
    with Pool(processes) as pool:
        for reader, tally in pool.imap(_chunk, jobs):
            totals[reader].add(tally)
            after()


def report(totals: dict[str, Tally]) -> str:
    """One line for each reader."""
    lines = []
    for reader, total in totals.items():
        took, number, text = total.slowest
        outcomes = ", ".join(f"{total.outcomes[name]:,} {name}" for name in sorted(total.outcomes))
        slowest = f"slowest {took:.2f} s for {number} {shown(text, 60)}"
        lines.append(f"{reader}: {total.count:,} inputs ({outcomes}); {slowest}; {len(total.failures)} failed")
    return "\n".join(lines)


def _kept(file: Path | None) -> dict[str, Tally]:
    """What a run before had done."""
    totals = {reader: Tally() for reader in READERS}
    if file is not None and file.exists():
        for reader, (outcomes, failures, slowest) in json.loads(file.read_text("utf-8")).items():
            totals[reader].outcomes.update(outcomes)
            totals[reader].failures = [tuple(one) for one in failures]
            totals[reader].slowest = tuple(slowest)
    return totals


def main() -> int:
    """Fuzz from the command line; 1 if anything failed."""
    parser = argparse.ArgumentParser(description="Fuzz all readers by turns.")
    parser.add_argument("--count", type=int, default=200_000, help="inputs for each reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--state", type=Path, help="a file that keeps what was done")
    options = parser.parse_args()
    totals = _kept(options.state)
    last = time.monotonic()

    def keep() -> None:
        nonlocal last
        if options.state is not None and time.monotonic() - last > 5:
            last = time.monotonic()
            save()

    def save() -> None:
        content = {name: (one.outcomes, one.failures, one.slowest) for name, one in totals.items()}
        half = options.state.with_suffix(".half")
        half.write_text(json.dumps(content), "utf-8")
        half.replace(options.state)

    run(options.seed, options.count, options.processes, totals, keep)
    if options.state is not None:
        save()
    for reader, total in totals.items():
        different = {why.splitlines()[-1]: (number, text, why) for number, text, why in reversed(total.failures)}
        for number, text, why in list(different.values())[:20]:
            print(f"{reader} {number} ({len(text)} characters): {shown(text)}\n{why}")
    print(report(totals))
    return 1 if any(total.failures for total in totals.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
