"""One file of events through several engines: events per second, and per CPU second.

    python -m benchmarks.peers [--rows 2000000] [--times 3] [--peers transom,bare,flink,flink-rocksdb,esper,duckdb]

1,000 keys, events 1 ms apart, windows of 60 s that slide by 1 s; SUM, COUNT, AVG and MAX per key. Every engine has a
process of its own that stays warm; runs are interleaved. All read the same lines of text, and `reading` says what that
alone costs. The answers for closed windows are compared before time counts. A peer that cannot be had says why.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb

from benchmarks.measure import Answer, Contestant, Result, Spent, compare, options, say
from benchmarks.peers import events, install
from benchmarks.peers.install import Problem
from benchmarks.peers.process import Peer

KEEPS = {
    "transom": "exactly once: state and offsets at every micro-batch (RocksDB, change logs)",
    "bare": "exactly once: state and offsets at every micro-batch (RocksDB, change logs)",
    "flink": "exactly once: a checkpoint every second (state on the heap)",
    "flink-rocksdb": "exactly once: an incremental checkpoint every second (RocksDB)",
    "esper": "nothing: state is gone with the process",
    "duckdb": "nothing: a replay of all events at once, not a stream",
}
"""What each promises if it is killed."""


def command(name: str, folder: Path, rows: int, place: Path) -> list[str]:
    """How a peer is started; its environment is made if need be."""
    match name:
        case "transom" | "bare":
            return [sys.executable, "-m", "benchmarks.peers.on_spark", name, str(folder), str(rows)]
        case "flink":
            return [*install.flink(place), "hashmap", str(folder)]
        case "flink-rocksdb":
            return [*install.flink(place), "rocksdb", str(folder)]
        case "esper":
            return [*install.esper(place), str(folder)]
        case "duckdb":
            return [sys.executable, "-m", "benchmarks.peers.on_duckdb", str(folder)]
    raise Problem("no such peer")


def answer(folder: Path, rows: int) -> Answer:
    """What a peer wrote, closed windows alone."""
    found = [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.stat().st_size and all(n[0] not in "._" for n in path.relative_to(folder).parts)
    ]
    if not found:
        raise Problem("it gave no answer")
    names = ("tick", "k", "total", "n", "mean", "top")
    types = ", ".join(f"'{name}': '{'double' if name == 'mean' else 'bigint'}'" for name in names)
    listed = ", ".join(f"'{path}'" for path in found)
    parquet = found[0].suffix == ".parquet"
    table = f"read_parquet([{listed}])" if parquet else f"read_csv([{listed}], header = false, columns = {{{types}}})"
    query = f"select count(*), sum(hash({', '.join(names)})) from {table} where tick <= {events.closed(rows)}"
    first = duckdb.connect().execute(query).fetchone()
    assert first is not None
    return Answer(int(first[0]), int(first[1] or 0))


class Field:
    """The peers that take part; one that fails is out, and its reason is said."""

    def __init__(self, tell: Callable[[str, str], None]) -> None:
        self.tell = tell
        self.peers: dict[str, Peer] = {}

    def out(self, name: str, why: object) -> None:
        """One peer less."""
        self.tell(name, str(why))
        if name in self.peers:
            self.peers.pop(name).close()

    def spend(self, name: str, what: str) -> Spent:
        """A run; of a peer that is out, nothing."""
        if name not in self.peers:
            return Spent(float("inf"))
        try:
            return self.peers[name].spend(what)
        except Problem as problem:
            self.out(name, problem)
            return Spent(float("inf"))

    def measured(self, what: str, times: int) -> dict[str, Result]:
        """All peers, interleaved; those that are left at the end."""
        runs: dict[str, Contestant] = {name: partial(self.spend, name, what) for name in self.peers}
        results = compare(runs, times)
        return {name: result for name, result in results.items() if name in self.peers}


def main() -> None:
    """Measure and print."""
    parser = options(__doc__, 2_000_000)
    parser.add_argument("--peers", default=",".join(KEEPS))
    parser.add_argument("--limit", type=float, default=900.0, help="seconds that one run may take")
    parser.add_argument("--place", type=Path, default=install.PLACE, help="where the environments are")
    given = parser.parse_args()

    def tell(name: str, why: str) -> None:
        say({"bench": "peers", "peer": name, "problem": why}, given.results)

    field = Field(tell)
    given.place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        events.write(folder, given.rows)
        abouts: dict[str, str] = {}
        answers: dict[str, Answer] = {}
        try:
            for name in given.peers.split(","):
                try:
                    started = command(name, folder, given.rows, given.place.resolve())
                    field.peers[name] = Peer(started, folder / f"{name}.log", given.limit)
                    abouts[name] = field.peers[name].ask("about")
                    field.peers[name].ask(f"answer {folder / name}")
                    answers[name] = answer(folder / name, given.rows)
                except Problem as problem:
                    field.out(name, problem)
            first = answers.get("bare") or next(iter(answers.values()), None)
            for name, found in answers.items():
                if found != first:
                    field.out(name, f"its answer differs: {found} instead of {first}")
            results = field.measured("run", given.times)
            reading = field.measured("read", 1)
        finally:
            for peer in field.peers.values():
                peer.close()
    mine = results["transom"].per_cpu(given.rows) if "transom" in results else None
    for name, result in results.items():
        per_cpu = result.per_cpu(given.rows)
        entry = {
            "bench": "peers",
            "peer": name,
            "engine": abouts[name],
            "events/s": round(result.rate(given.rows)),
            "events/cpu s": round(per_cpu) if per_cpu else None,
            "cpu s": result.cpu and round(result.cpu, 2),
            "reading, cpu s": round(reading[name].cpu or 0, 2) if name in reading else None,
            "ratio": round(mine / per_cpu, 2) if mine and per_cpu and name != "transom" else None,
            **({"wanted": 1.0} if name.startswith("flink") else {}),
            "keeps": KEEPS[name],
            "rows": given.rows,
            "answers": answers[name].rows,
        }
        say(entry, given.results)


if __name__ == "__main__":
    main()
