"""Runs the nightly tests in parts, and sums up what a gated run did.

python -m tests.gate plan                             how many tests, how long, how many shards and slices
python -m tests.gate nightly [--shard I/N]            one shard, or all of them one after another; resumes
python -m tests.gate nightly --shard today            the shard of the day: each has its turn
python -m tests.gate slice --commit HASH              the part of the nightly tests that a commit runs in CI
python -m tests.gate summary LEDGER                   one line: chosen, slice, total, skipped
python -m tests.gate record LEDGER...                 take over measured durations into tests/gate/durations.json
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

from tests.gate import ledger, partition

ROOT = Path(__file__).parents[2]
DURATIONS = Path(__file__).with_name("durations.json")
RESULTS = ROOT / "build" / "nightly"
SLICE = "slice"
EVERYTHING = ["--deep", "--kernel", "--spark", "--servers", "--browser", "--soak", "--whole"]


def durations() -> dict[str, float]:
    """Seconds per test, as recorded."""
    return dict(json.loads(DURATIONS.read_text("utf-8"))) if DURATIONS.is_file() else {}


def collected(*options: str) -> list[str]:
    """The ids of the tests that pytest selects with some options."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *options]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode not in (0, 5):
        raise SystemExit(f"the tests cannot be collected:\n{listed.stdout[-4000:]}{listed.stderr[-2000:]}")
    return [line for line in listed.stdout.splitlines() if "::" in line]


def run(tests: Iterable[str], path: Path, step: str) -> int:
    """Run tests by their ids, those of real servers in a process of their own: their Spark session has other jars."""
    groups: dict[bool, list[str]] = {False: [], True: []}
    for test in tests:
        groups[test.startswith("tests/servers/")].append(test)
    failed = 0
    for on_servers, group in groups.items():
        if not group:
            continue
        with tempfile.TemporaryDirectory() as folder:
            listed = Path(folder) / "tests.txt"
            listed.write_text("\n".join(group), "utf-8")
            files = sorted({test.split("::")[0] for test in group})
            workers = [] if on_servers else ["-n", "2", "--dist", "worksteal"]
            gate = ["--nightly", "--tests-from", str(listed), "--ledger", str(path), "--step", step]
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, *gate, *files]
            failed |= subprocess.run(command, cwd=ROOT).returncode != 0
    return int(failed)


def commit() -> str:
    """The commit that is checked out, marked if files differ from it."""
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    state = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True)
    return asked.stdout.strip() + ("-changed" if state.stdout.strip() else "")


def plan() -> int:
    """Print the size of the chosen set and of the rest."""
    known, night = durations(), collected("--nightly")
    total = len(collected(*EVERYTHING))
    seconds = sum(partition.seconds_of(test, known) for test in night)
    unknown = sum(test not in known for test in night)
    count = partition.shard_count(night, known)
    piece = partition.slice_for("", night, known)
    print(f"{total} tests: {total - len(night)} chosen, {len(night)} nightly")
    print(f"nightly: {seconds / 60:.0f} minutes in {count} shards; {unknown} tests have no recorded duration")
    print(f"{piece.count} slices cover all but {len(piece.too_long)} tests, in about {piece.landings} landings")
    return 0


def nightly(shard: str | None, results: Path) -> int:
    """Run a shard, or all; what has passed at this commit is not run again."""
    known, night = durations(), collected("--nightly")
    path = results / f"{commit()}.jsonl"
    if shard == "today":
        shard = partition.shard_of(date.today(), partition.shard_count(night, known))
    count = int(shard.split("/")[1]) if shard else partition.shard_count(night, known)
    parts = partition.shards(night, known, count)
    asked = [int(shard.split("/")[0])] if shard else list(range(1, count + 1))
    if any(not 1 <= number <= count for number in asked):
        raise SystemExit(f"there is no shard {shard}")
    for number in asked:
        passed = {entry.test for entry in ledger.read(path) if entry.outcome in ("passed", "xfailed")}
        left = [test for test in parts[number - 1] if test not in passed]
        minutes = sum(partition.seconds_of(test, known) for test in left) / 60
        print(f"shard {number} of {count}: {len(left)} tests to run, about {minutes:.0f} minutes", flush=True)
        run(left, path, f"shard {number}/{count}")
    last = {entry.test: entry.outcome for entry in ledger.read(path)}
    outcomes = Counter(last.get(test, "not run") for test in night)
    print(", ".join([f"nightly at {path.stem[:12]}: {len(night)} tests", *(f"{n} {o}" for o, n in outcomes.items())]))
    wanted = [test for number in asked for test in parts[number - 1]]
    bad = [test for test in wanted if last.get(test) not in ("passed", "xfailed")]
    print("\n".join(f"  {last.get(test, 'not run')}: {test}" for test in bad) or "  nothing failed")
    return int(bool(bad))


def slice_of(revision: str, path: Path) -> int:
    """Run the slice of a commit."""
    known, night = durations(), collected("--nightly")
    piece = partition.slice_for(revision, night, known)
    seconds = sum(partition.seconds_of(test, known) for test in piece.tests)
    print(f"slice {piece.number + 1} of {piece.count}: {len(piece.tests)} of {len(night)} nightly tests, ", end="")
    print(f"about {seconds:.0f} s of one core; about {piece.landings} landings cover all ", end="")
    print(f"but {len(piece.too_long)} tests that are longer than a slice", flush=True)
    return run(piece.tests, path, SLICE)


def summary(path: Path) -> int:
    """The line that CI prints last; 1 if a test was skipped or failed, or a chosen test has no entry."""
    entries = list(ledger.read(path))
    chosen = {entry.test for entry in entries if entry.step != SLICE}
    extra = {entry.test for entry in entries if entry.step == SLICE}
    outcomes = Counter(entry.outcome for entry in entries)
    every, night = set(collected(*EVERYTHING)), set(collected("--nightly"))
    lost = sorted(every - night - chosen)
    print(f"chosen {len(chosen)}, slice {len(extra)}, total {len(every)}, skipped {outcomes['skipped']}")
    for test in lost:
        print(f"  chosen and not run: {test}")
    return int(bool(lost or outcomes["skipped"] or outcomes["failed"] or not chosen))


def record(paths: Sequence[Path]) -> int:
    """Take over the durations of passed tests; tests that are gone lose theirs."""
    known = durations()
    known |= {e.test: round(e.seconds, 1) for path in paths for e in ledger.read(path) if e.outcome == "passed"}
    every = set(collected(*EVERYTHING))
    kept = {test: seconds for test, seconds in sorted(known.items()) if test in every}
    DURATIONS.write_text(json.dumps(kept, indent=0) + "\n", "utf-8")
    print(f"{len(kept)} durations in {DURATIONS.relative_to(ROOT)}")
    return 0


def main() -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("plan")
    night = verbs.add_parser("nightly")
    night.add_argument("--shard", help="I/N: the I-th of N parts; today: the one whose turn it is")
    night.add_argument("--results", type=Path, default=RESULTS, help="the folder of the ledgers, one per commit")
    piece = verbs.add_parser("slice")
    piece.add_argument("--commit", required=True)
    piece.add_argument("--ledger", type=Path, required=True)
    verbs.add_parser("summary").add_argument("ledger", type=Path)
    verbs.add_parser("record").add_argument("ledgers", type=Path, nargs="+")
    asked = parser.parse_args()
    match asked.verb:
        case "plan":
            return plan()
        case "nightly":
            return nightly(asked.shard, asked.results)
        case "slice":
            return slice_of(asked.commit, asked.ledger)
        case "summary":
            return summary(asked.ledger)
        case _:
            return record(asked.ledgers)


if __name__ == "__main__":
    sys.exit(main())
