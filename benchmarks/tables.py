"""Markdown tables of measured results: the section "Results" of docs/benchmarks.md comes from `results.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results.jsonl"
"""The lines that the benchmarks printed with `--results`."""

Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Comparison:
    """A row of the table of ratios: one contestant of Transom and one other contestant of a benchmark's line."""

    what: str
    ours: str
    other: str
    other_name: str
    line: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_target(self) -> bool:
        """Whether the target of the line is about this pair of contestants."""
        return self.other not in ("by hand, messages", "by hand, statements", "format 1")

    def matches(self, entry: Entry) -> bool:
        """Whether an entry holds this measurement."""
        return all(entry.get(key) == value for key, value in self.line.items())

    def row(self, entry: Entry) -> list[str]:
        """The cells of the table."""
        ours, other = entry["rows/s"][self.ours], entry["rows/s"][self.other]
        cells = [self.what, self.other_name, f"{ours:,}", f"{other:,}", f"{ours / other:.2f}"]
        return [*cells, _target(ours / other, entry["wanted"]) if self.has_target else "–"]


def _sliding(windows: int, keys: int) -> Comparison:
    width = "1 s, every second" if windows == 1 else f"{windows} s, every second"
    per = ", 1,000 keys" if keys > 1 else ""
    line = {"bench": "sliding", "range/slide": windows, "keys": keys}
    return Comparison(f"SUM and COUNT over {width}{per}", "ours", "by hand", "`window()` of Spark", line)


def _kernel(windows: int) -> Comparison:
    line = {"bench": "kernel", "range/slide": windows}
    what = f"SUM, COUNT, AVG and MAX over {windows} s, every second, 1,000 keys, in the kernel"
    return Comparison(what, "kernel", "by hand", "`window()` of Spark", line)


_STAR = {"bench": "triples", "contest": "star"}
COMPARISONS = (
    *(_sliding(windows, keys) for windows, keys in ((1, 1), (60, 1), (120, 1), (120, 1000))),
    *(_kernel(windows) for windows in (1, 10, 60, 120)),
    Comparison("Join of two windows of 60 s", "kernel", "by hand", "interval join of Spark", {"bench": "join"}),
    Comparison(
        "SUM, COUNT, AVG and MAX over 10 s of a Kafka topic, every second",
        "ours",
        "by hand",
        "`from_json` and `window()`",
        {"bench": "kafka", "range/slide": 10},
    ),
    Comparison(
        "Speed of 100,000 objects over 50 km, every 10 km",
        "kernel",
        "by hand",
        "NumPy in `transformWithStateInPandas`",
        {"bench": "objects"},
    ),
    Comparison("Star of six triples, `subjects: local`", "local", "by hand, pivoted", "a pivoted table", _STAR),
    Comparison("Star of six triples, `subjects: local`", "local", "by hand, messages", "the same messages", _STAR),
    Comparison("Star of six triples, single triples", "not local", "by hand, statements", "single triples", _STAR),
    Comparison(
        "Star of six triples, every second over 60 s",
        "ours",
        "oxigraph",
        "Oxigraph, evaluated anew",
        {"bench": "triples", "contest": "snapshots"},
    ),
    Comparison(
        "SUM and COUNT over 120 s, every second, 1,000 keys, state format 2",
        "format 2",
        "format 1",
        "the same, state format 1",
        {"bench": "settings"},
    ),
)


@cache
def entries(path: Path = RESULTS) -> tuple[Entry, ...]:
    """The lines of a file of results."""
    return tuple(json.loads(line) for line in path.read_text().splitlines())


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows])


def circumstances(lines: Sequence[Entry]) -> str:
    """The machines, days, load and commands of the measurements."""
    machines = sorted({entry["machine"] for entry in lines})
    days = sorted({entry["date"] for entry in lines})
    loads = sorted(entry["load"] for entry in lines)
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    commands = dict.fromkeys(entry["command"] for entry in lines)
    listed = "\n".join(commands)
    return (
        f"Date: {when}. Machine: {'; '.join(machines)}. "
        f"Load at the end of a measurement: {loads[0]} to {loads[-1]}.\n\n"
        f"```text\n{listed}\n```"
    )


def ratios(lines: Sequence[Entry]) -> str:
    """The rows per second of each pair of contestants, their ratio and the target."""
    found = [comparison.row(_last(lines, comparison)) for comparison in COMPARISONS if _all(lines, comparison)]
    return table(("measurement", "compared with", "Transom, rows/s", "other, rows/s", "ratio", "target"), found)


def start(lines: Sequence[Entry]) -> str:
    """The seconds from the start of a query to its last answer, in two versions."""
    rows = []
    for entry in (entry for entry in lines if entry["bench"] == "start" and "query" in entry):
        before, after = entry["before"]["seconds"], entry["after"]["seconds"]
        rows.append([f"`{entry['query']}`", f"{before:.1f}", f"{after:.1f}", f"{after / before:.2f}"])
    for entry in (entry for entry in lines if entry["bench"] == "start" and "queries" in entry):
        sums = entry["seconds"]
        rows.append(
            [
                "all queries, with the median ratio",
                f"{sums['before']:.1f}",
                f"{sums['after']:.1f}",
                f"{entry['ratio']:.2f}",
            ]
        )
    return table(("query", "before, s", "now, s", "ratio"), rows)


TABLES: Mapping[str, Callable[[Sequence[Entry]], str]] = {
    "circumstances": circumstances,
    "ratios": ratios,
    "start": start,
}
"""The tables by the markers in docs/benchmarks.md."""


def _target(ratio: float, target: float) -> str:
    return f"{target:g}" if ratio >= target else f"{target:g} (missed)"


def _all(lines: Sequence[Entry], comparison: Comparison) -> list[Entry]:
    return [entry for entry in lines if comparison.matches(entry)]


def _last(lines: Sequence[Entry], comparison: Comparison) -> Entry:
    return _all(lines, comparison)[-1]
