"""Startup time: from `start` to the last answer over ten statements, for the slowest queries, in two checkouts.

    python -m benchmarks.start --before PATH [--after .] [--times 3] [--slowest 12] [--queries name,name]

The queries are the golden cases of SPARQL and the W3C tests of SPARQL as streams, cut down to ten statements. Those
with the most machines in the plans of the first checkout are timed there once, and the slowest are compared. A round
starts a new process for each checkout and runs one query as a warm-up; then each query runs once in both checkouts.
`ratio` is the time after to the time before. The ratio of a query is that of the medians of its rounds; the final line
has the median of these ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.as_stream import possible, streamed
from tests.covering import cases
from tests.sparql.test_golden import catalog_of

import transom
from benchmarks.measure import say
from transom.model.bag import Row
from transom.reference.sources import Inputs

ROWS = 10
WANTED = 0.5
CHILD = Path(__file__).with_name("start_child.py")

Question = dict[str, Any]


def golden() -> Iterator[Question]:
    """Yield the golden cases of SPARQL that read a stream."""
    kinds = {"rdf-stream": "stream", "rdf-graph": "graph"}
    for case in cases("sparql"):
        rdf = {name: {kinds[e["kind"]]: e["iri"]} for name, e in case.schema.items() if name != "prefixes"}
        catalog = {"tick": "1 ms", "prefixes": case.schema["prefixes"], "rdf": rdf}
        with warnings.catch_warnings(action="ignore"):
            query = transom.compile(case.text, catalog_of(case), language="sparql")
            inputs = query.inputs({extent.name: case.inputs[extent.name] for extent in query.sources})
        if inputs.streams:
            yield _question(f"golden {case.name}", case.text, catalog, inputs)


def w3c() -> Iterator[Question]:
    """Yield the W3C tests of SPARQL as streams, with all statements at tick 0."""
    for entry in possible():
        test = streamed(entry)
        rdf = {extent.name: {"stream": extent.iri} for extent in test.query.sources}
        catalog = {"tick": "1 ms", "rdf": rdf}
        yield _question(f"w3c {entry.name}", test.query.text, catalog, test.inputs)


def _question(name: str, text: str, catalog: Any, inputs: Inputs) -> Question:
    """A query in JSON for the child process, with the first ten statements of its streams."""
    rows = [(one.tick, own, one.row) for own, elements in inputs.streams.items() for one in elements]
    first = sorted(rows, key=_tick)[:ROWS]
    streams = {own: [[tick, *terms] for tick, of, terms in first if of == own] for own in inputs.streams}
    graphs = {own: [list(row) for version in held for row in version.rows] for own, held in inputs.tables.items()}
    return {"name": name, "text": text, "catalog": catalog, "streams": streams, "graphs": graphs}


def _tick(row: tuple[int, str, Row]) -> int:
    return row[0]


class Child:
    """A child process that runs queries with the code of a checkout."""

    def __init__(self, checkout: Path) -> None:
        path = os.pathsep.join(map(str, (checkout / "src", checkout)))
        self.process = subprocess.Popen(  # noqa: S603 - a script of ours
            [sys.executable, str(CHILD)],
            env={**os.environ, "PYTHONPATH": path},
            cwd=checkout,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, question: Question, *, run: bool = True) -> dict[str, Any]:
        """Send a query, to run or only to plan, and return the reply; SystemExit if the process has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({**question, "run": run}) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("child: "):
                return dict(json.loads(line.removeprefix("child: ")))
        raise SystemExit(f"the process for {question['name']} ended")

    def end(self) -> None:
        """Close the input of the process and wait until it ends."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def survey(checkout: Path, questions: list[Question], candidates: int, slowest: int) -> list[Question]:
    """The slowest queries of a checkout among the `candidates` with the largest plans."""
    child = Child(checkout)
    sizes = [(child.ask(one, run=False).get("size", []), at) for at, one in enumerate(questions)]
    asked = [questions[at] for size, at in sorted(sizes, reverse=True)[:candidates] if size]
    print([one["name"] for one in asked], file=sys.stderr, flush=True)
    child.ask(asked[0])
    taken = []
    for one in asked:
        taken.append((child.ask(one), one))
        print(one["name"], taken[-1][0], file=sys.stderr, flush=True)
    child.end()
    timed = [(found["seconds"], one) for found, one in taken if "seconds" in found]
    return [one for _, one in sorted(timed, key=lambda pair: -pair[0])[:slowest]]


def rounds(checkouts: dict[str, Path], questions: list[Question], times: int) -> dict[str, dict[str, list[Any]]]:
    """The replies to each query by checkout, one per round."""
    found: dict[str, dict[str, list[Any]]] = {one["name"]: {own: [] for own in checkouts} for one in questions}
    for number in range(times):
        children = {own: Child(path) for own, path in checkouts.items()}
        for one in [questions[-1], *questions]:
            for own in sorted(checkouts, reverse=number % 2 == 1):
                found[one["name"]][own].append(children[own].ask(one))
                print(number, own, one["name"], found[one["name"]][own][-1], file=sys.stderr, flush=True)
        for own, child in children.items():
            found[questions[-1]["name"]][own].pop(-2)
            child.end()
    return found


def compared(name: str, said: dict[str, list[Any]]) -> dict[str, Any]:
    """The medians of a query in both checkouts and their ratio, or the problem if it failed or answers differ."""
    problems = [f"{own}: {one['problem']}" for own, each in said.items() for one in each if "problem" in one]
    if problems:
        return {"bench": "start", "query": name, "problem": problems[0]}
    if len({(one["rows"], one["answer"]) for each in said.values() for one in each}) > 1:
        return {"bench": "start", "query": name, "problem": "the answers differ"}
    entry: dict[str, Any] = {"bench": "start", "query": name}
    for own, each in said.items():
        middle = {key: round(statistics.median(one[key] for one in each), 2) for key in ("seconds", "until started")}
        counts = {key: each[-1][key] for key in ("micro-batches", "spent", "stateful operators", "shuffles", "rows")}
        entry[own] = {**middle, **counts}
    entry["ratio"] = round(entry["after"]["seconds"] / entry["before"]["seconds"], 2)
    return entry


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="the checkout of the version before")
    parser.add_argument("--after", type=Path, default=Path(), help="the checkout of the version after")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--slowest", type=int, default=12)
    parser.add_argument("--candidates", type=int, default=24, help="how many of the largest plans are timed first")
    parser.add_argument("--queries", help="the names of the queries to compare, in place of the slowest")
    parser.add_argument("--survey", action="store_true", help="only name the slowest")
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    questions = [*golden(), *w3c()]
    checkouts = {"before": given.before.absolute(), "after": given.after.absolute()}
    if given.queries:
        wanted = given.queries.split(",")
        questions = [one for one in questions if one["name"] in wanted]
    else:
        questions = survey(checkouts["before"], questions, given.candidates, given.slowest)
    if given.survey:
        print(",".join(one["name"] for one in questions))
        return
    entries = [compared(name, said) for name, said in rounds(checkouts, questions, given.times).items()]
    for entry in entries:
        say(entry, given.results)
    ratios = [entry["ratio"] for entry in entries if "ratio" in entry]
    sums = {own: round(sum(e[own]["seconds"] for e in entries if "ratio" in e), 1) for own in checkouts}
    middle = round(statistics.median(ratios), 2) if ratios else None
    say({"bench": "start", "queries": len(ratios), "seconds": sums, "ratio": middle, "wanted": WANTED}, given.results)


if __name__ == "__main__":
    main()
