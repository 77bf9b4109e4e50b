"""A star of six triple patterns over the last minute, every second: Transom against PySpark by hand and Oxigraph.

    python -m benchmarks.triples [--rows 2000000] [--times 3] [--contests star,snapshots] [--snapshots 20]

`star` compares with PySpark by hand, in `benchmarks/triples_by_hand.py`. A message has six statements about a subject;
one message in ten lacks one of them. Ours is timed with and without `subjects: local` in the catalog. By hand there are
three versions: on a table that is already pivoted, on the same messages, and on the same statements one by one. `ratio`
is our rate with `subjects: local` divided by that of the pivoted table.

`snapshots` compares with Oxigraph in Python: an in-memory store to which statements are added and from which they are
removed, queried every second. Statements are 1 ms apart, so our subjects are not local. Oxigraph computes `--snapshots`
snapshots, of full windows if there are enough rows, and its time is extrapolated to all rows.

One line of JSON for each. All answers are compared first.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import transom
from benchmarks.measure import Plan, Spent, agreed, compare, figures, options, ratio, say, session, stream, streamed
from benchmarks.triples_by_hand import Store, of_messages, of_pivoted, of_statements
from transom.query import Query

FILES = 10
SPACE = "http://example.org/"
STREAM = f"{SPACE}readings"
PREDICATES = ("sensor", "property", "value", "unit", "quality", "room")
NAMES = ("x", *PREDICATES)
WIDTH, SLIDE = 60_000, 1_000
EACH = len(PREDICATES)
HOUR = 3_600_000
STAR = "?x " + " ; ".join(f":{name} ?{name}" for name in PREDICATES)
SELECT = "SELECT " + " ".join(f"?{name}" for name in NAMES)
TEXT = f"{SELECT} FROM STREAM <{STREAM}> WINDOW RANGE 60 S SLIDE 1 S WHERE {{ {STAR} }}"
SNAPSHOT = f"PREFIX : <{SPACE}> {SELECT} WHERE {{ {STAR} }}"
WANTED = {"star": 0.8, "snapshots": 10.0}
KINDS = {
    "messages": "tick bigint, statements array<struct<s: string, p: string, o: string>>",
    "statements": "tick bigint, s string, p string, o string",
    "pivoted": "tick bigint, x string, " + ", ".join(f"{name} string" for name in PREDICATES),
}

Statement = tuple[str, str, str]


def name(local: str) -> str:
    """An IRI in N-Triples notation."""
    return f"<{SPACE}{local}>"


def messages(count: int) -> Iterator[list[Statement]]:
    """Yield messages of six statements about one subject; every tenth has another predicate in place of one."""
    rng = np.random.default_rng(11)
    whole = "<http://www.w3.org/2001/XMLSchema#integer>"
    drawn = rng.integers(0, [1000, 10, 100_000, 5, 4, 200], (count, EACH))
    for number, (sensor, kind, value, unit, quality, room) in enumerate(drawn.tolist()):
        subject = name(f"reading/{number}")
        objects = [
            name(f"sensor/{sensor}"),
            name(f"property/{kind}"),
            f'"{value}"^^{whole}',
            f'"unit {unit}"@en',
            f'"{quality}"^^{whole}',
            name(f"room/{room}"),
        ]
        found = [(subject, name(own), term) for own, term in zip(PREDICATES, objects)]
        if number % 10 == 9:
            found[number // 10 % EACH] = (subject, name("note"), '"checked"')
        yield found


@dataclass(frozen=True)
class Triples:
    """Statements as files in several forms; `apart` is the milliseconds between the statements of a message."""

    folder: Path
    rows: int
    apart: int

    def write(self, *forms: str) -> Triples:
        """Write ten files in each form, and one an hour later that closes all windows; returns itself."""
        given = messages(self.rows // EACH)
        for number, part in enumerate(np.array_split(np.arange(self.rows // EACH), FILES)):
            self._write(number, int(part[0]) if len(part) else 0, list(islice(given, len(part))), forms)
        end = (name("end"), name("end"), name("end"))
        self._write(FILES, self.rows // EACH + HOUR // EACH, [[end]], forms)
        return self

    def _write(self, number: int, first: int, part: list[list[Statement]], forms: tuple[str, ...]) -> None:
        ticks = [EACH * (first + at) for at in range(len(part))]
        for form in forms:
            (self.folder / form).mkdir(parents=True, exist_ok=True)
            pq.write_table(self._table(form, ticks, part), self.folder / form / f"{number:03}.parquet")

    def _table(self, form: str, ticks: list[int], part: list[list[Statement]]) -> pa.Table:
        if form == "messages":
            kind = pa.list_(pa.struct([(place, pa.string()) for place in "spo"]))
            told = [[dict(zip("spo", one)) for one in several] for several in part]
            return pa.table({"tick": pa.array(ticks, pa.int64()), "statements": pa.array(told, kind)})
        if form == "pivoted":
            found = [{p: o for _, p, o in several} for several in part]
            columns: dict[str, list[str | None]] = {"x": [several[0][0] for several in part]}
            columns |= {own: [one.get(name(own)) for one in found] for own in PREDICATES}
        else:
            rows = [one for several in part for one in several]
            ticks = [tick + self.apart * at for tick, several in zip(ticks, part) for at in range(len(several))]
            columns = {place: [row[at] for row in rows] for at, place in enumerate("spo")}
        terms = {own: pa.array(cells, pa.string()) for own, cells in columns.items()}
        return pa.table({"tick": pa.array(ticks, pa.int64()), **terms})

    def stream(self, spark: SparkSession, form: str) -> DataFrame:
        """One form as a stream, one file per micro-batch."""
        reader = spark.readStream.schema(KINDS[form]).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(self.folder / form))

    def statements(self, start: int, end: int) -> Iterator[tuple[int, Statement]]:
        """Yield the statements from tick `start` up to but not including `end`, with their ticks."""
        for number, part in enumerate(messages(self.rows // EACH)):
            for at, one in enumerate(part):
                if start <= EACH * number + self.apart * at < end:
                    yield EACH * number + self.apart * at, one


def query(*, local: bool) -> Query:
    """The compiled query, over a stream with or without `subjects: local`."""
    rdf = {"readings": {"stream": STREAM, **({"subjects": "local"} if local else {})}}
    catalog = transom.Catalog.from_dict({"tick": "1 ms", "prefixes": {"": SPACE}, "rdf": rdf})
    found = transom.compile(TEXT, catalog, language="sparql")
    assert isinstance(found, Query)
    return found


def ours(spark: SparkSession, triples: Triples, *, local: bool) -> DataFrame:
    """Our DataFrame of the query: over messages if subjects are local, otherwise over statements."""
    form = "messages" if local else "statements"
    return query(local=local).to_df(spark, {"readings": triples.stream(spark, form)})


def star(spark: SparkSession, place: Path, rows: int, times: int) -> dict[str, Any]:
    """Compare with PySpark by hand."""
    triples = Triples(place, rows, apart=0).write("messages", "statements", "pivoted")
    names = {own: name(own) for own in PREDICATES}
    plans: dict[str, Plan] = {
        "local": partial(ours, spark, triples, local=True),
        "by hand, pivoted": lambda: of_pivoted(triples.stream(spark, "pivoted"), PREDICATES, WIDTH, SLIDE),
        "by hand, messages": lambda: of_messages(triples.stream(spark, "messages"), names, WIDTH, SLIDE),
        "not local": partial(ours, spark, triples, local=False),
        "by hand, statements": lambda: of_statements(triples.stream(spark, "statements"), names, WIDTH, SLIDE),
    }
    answers, _ = agreed(spark, plans, ["tick", "change", *NAMES])
    results = compare({own: streamed(plan) for own, plan in plans.items()}, times)
    others = {
        "local to messages by hand": ratio(results, "local", "by hand, messages", rows),
        "not local to pivoted by hand": ratio(results, "not local", "by hand, pivoted", rows),
        "not local to statements by hand": ratio(results, "not local", "by hand, statements", rows),
    }
    found = ratio(results, "local", "by hand, pivoted", rows)
    return {**figures(results, rows), "ratio": found, "other ratios": others, "answers": answers}


def snapshots(spark: SparkSession, place: Path, rows: int, times: int, count: int) -> dict[str, Any]:
    """Compare with Oxigraph, which evaluates the query again every second."""
    triples = Triples(place, rows, apart=1).write("statements")
    last = rows // EACH * EACH // SLIDE
    first = max(last - count, 0)
    peer = Store.of(triples.statements(first * SLIDE - WIDTH, last * SLIDE), SNAPSHOT, WIDTH, SLIDE)
    stream(ours(spark, triples, local=False), str(place / "out"))
    answers = checked(place / "out", peer, first, last)

    def oxigraph() -> Spent:
        filled = peer.filled(first)
        used, began = time.process_time(), time.perf_counter()
        for solutions in peer.snapshots(filled, first, last):
            deque(solutions, maxlen=0)
        share = (last - first) * SLIDE / rows
        return Spent((time.perf_counter() - began) / share, (time.process_time() - used) / share)

    results = compare({"ours": streamed(partial(ours, spark, triples, local=False)), "oxigraph": oxigraph}, times)
    return {
        **figures(results, rows),
        "ratio": ratio(results, "ours", "oxigraph", rows),
        "snapshots": last - first,
        "of": rows // SLIDE,
        "whole windows": first * SLIDE >= WIDTH,
        "answers": answers,
    }


def checked(out: Path, peer: Store, first: int, last: int) -> int:
    """The total solutions of the snapshots; SystemExit if our changes do not add up to a snapshot of Oxigraph."""
    changes = pq.read_table(out, columns=["tick", "change", *NAMES]).sort_by("tick")
    ends = changes["tick"].cast(pa.timestamp("us")).cast(pa.int64())
    columns = [ends.to_pylist(), *(changes[own].to_pylist() for own in ("change", *NAMES))]
    rows = zip(*columns)
    waiting = next(rows, None)
    valid: Counter[tuple[str, ...]] = Counter()
    found = 0
    for at, solutions in enumerate(peer.snapshots(peer.filled(first), first, last), first):
        while waiting is not None and waiting[0] <= (at + 1) * peer.slide * 1000:
            valid[waiting[2:]] += waiting[1]
            waiting = next(rows, None)
        valid = +valid
        told = Counter(tuple(map(str, solution)) for solution in solutions)
        if valid != told:
            raise SystemExit(
                f"the answers differ at slide {at}: {valid.total()} solutions, and {told.total()} of Oxigraph"
            )
        found += told.total()
    if not found:
        raise SystemExit("the answers are empty")
    return found


def main() -> None:
    """Measure and print."""
    parser = options(__doc__, 2_000_000)
    parser.add_argument("--contests", default=",".join(WANTED))
    parser.add_argument("--snapshots", type=int, default=20, help="how many snapshots Oxigraph is asked for")
    given = parser.parse_args()
    spark = session()
    for contest in given.contests.split(","):
        with tempfile.TemporaryDirectory() as place:
            if contest == "star":
                found = star(spark, Path(place), given.rows, given.times)
            else:
                found = snapshots(spark, Path(place), given.rows, given.times, given.snapshots)
        say(
            {"bench": "triples", "contest": contest, **found, "wanted": WANTED[contest], "rows": given.rows},
            given.results,
        )


if __name__ == "__main__":
    main()
