"""`transom run`, `replay` and `verify` on the motorway example, in this process and on its session."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.cli.test_app import QUERIES, ROOT, transom
from tests.gate.thin import thinned
from transom import Catalog, compile
from transom.reference.evaluate import evaluate_stream

UNTIL = "15 min"
JAVA = "kernel: stateful operators run in Java (transom-kernel 3)"
NATIVE = "kernel: not needed, Spark's own operators run the whole plan"
PATHS = {"q1.sneeql": NATIVE, "q2.sneeql": JAVA, "q3.sneeql": NATIVE}


@pytest.fixture
def roads(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples" / "roads", tmp_path / "roads"))


def simulated(file: Path) -> Counter[tuple[str, ...]]:
    """The values of all tuples as the reference gives them, without tags."""
    said = transom("simulate", file, "--until", UNTIL, "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(said)))
    tags = ("tick", "index", "seq", "empty")
    return Counter(tuple(v for n, v in row.items() if n not in tags) for row in rows if row.get("empty") != "true")


def written(spark: SparkSession, folder: Path) -> Counter[tuple[str, ...]]:
    frame = spark.read.json(str(folder))
    kept = [f"`{n}`" for n in frame.columns if n not in ("tick", "index", "seq", "empty")]
    if "empty" in frame.columns:
        frame = frame.where("NOT empty")
    return Counter(tuple("" if v is None else str(v) for v in row) for row in frame.select(*kept).collect())


def in_any_order(rows: Counter[tuple[str, ...]]) -> Counter[tuple[str, ...]]:
    """Spark lists the columns of JSON by name."""
    return Counter({tuple(sorted(row)): count for row, count in rows.items()})


def first_line(stderr: str) -> str:
    """The first line that is not a warning about the query."""
    return next(line for line in stderr.splitlines() if ": warning: " not in line)


@pytest.mark.nightly
@pytest.mark.parametrize("name", QUERIES)
def test_verify_says_that_all_agree(spark: SparkSession, roads: Path, name: str) -> None:
    done = transom("verify", roads / name, "--until", UNTIL, "--splits", "7,all")
    assert done.returncode == 0, done.stdout + done.stderr
    ways = [line.split(":")[0] for line in done.stdout.splitlines()[:-1]]
    assert ways == ["reference", "replay", "stream, 7 rows per micro-batch", "stream, all rows at once"]
    assert "all agree" in done.stdout.splitlines()[-1]
    assert "reference: 0 " not in done.stdout
    assert first_line(done.stderr) == PATHS[name]


def test_verify_says_where_it_does_not_agree(spark: SparkSession, roads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transom.runtime.verify import verify

    real = verify.stream_answer

    def forgetful(*given: object, **more: object) -> object:
        whole = real(*given, **more)
        return type(whole)(whole.columns, whole.kind, elements=whole.elements[1:])

    monkeypatch.setattr(verify, "stream_answer", forgetful)
    done = transom("verify", roads / "q1.sneeql", "--until", UNTIL, "--splits", "all")
    assert done.returncode == 1
    assert "DIFFERS" in done.stdout
    assert "first difference: tuple 1" in done.stdout
    assert "they do not agree" in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("name", thinned(QUERIES, 3))
def test_run_once_until(spark: SparkSession, roads: Path, tmp_path: Path, name: str) -> None:
    words = ["run", roads / name, "--checkpoint", tmp_path / "k", "--output", f"jsonl:{tmp_path / 'out'}"]
    words += ["--once", "--until", UNTIL]
    done = transom(*words)
    assert done.returncode == 0, done.stderr
    expected = in_any_order(simulated(roads / name))
    assert in_any_order(written(spark, tmp_path / "out")) == expected
    assert sum(expected.values()) > 0
    assert first_line(done.stderr) == PATHS[name]
    again = transom(*words)
    assert again.returncode == 0, again.stderr
    assert "going on from" in again.stderr
    assert in_any_order(written(spark, tmp_path / "out")) == expected
    changed = transom(*words[:-1], "20 min")
    assert changed.returncode == 3
    assert "changed is until" in changed.stderr


def test_replay_into_files(spark: SparkSession, roads: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = transom("replay", roads / "q1.sneeql", "--output", f"jsonl:{out}", "--until", UNTIL, "--index")
    assert done.returncode == 0, done.stderr
    assert "written" in done.stdout
    assert in_any_order(written(spark, out)) == in_any_order(simulated(roads / "q1.sneeql"))
    lines = [json.loads(line) for file in sorted(out.glob("*.json")) for line in file.read_text().splitlines()]
    said = transom("simulate", roads / "q1.sneeql", "--until", UNTIL, "--format", "csv").stdout
    assert [str(line["index"]) for line in lines] == [row["index"] for row in csv.DictReader(io.StringIO(said))]
    assert len(lines) > 1
    twice = transom("replay", roads / "q1.sneeql", "--output", f"jsonl:{out}", "--until", UNTIL)
    assert twice.returncode == 2
    assert "is there already" in twice.stderr


@pytest.mark.parametrize("command", thinned(["run", "replay", "verify"], 3))
def test_a_fallback_is_said(
    spark: SparkSession, roads: Path, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transom.runtime.kernel.load_kernel", lambda spark: "no jar today")
    more = {
        "run": ["--once", "--checkpoint", tmp_path / "k", "--output", f"jsonl:{tmp_path / 'out'}"],
        "replay": ["--output", f"jsonl:{tmp_path / 'out'}"],
        "verify": ["--splits", "all"],
    }
    done = transom(command, roads / "q2.sneeql", "--until", "2 min", *more[command])
    assert done.returncode == 0, done.stderr
    assert first_line(done.stderr) == "kernel: off, stateful operators run in Python: no jar today"


def test_run_refuses_a_wrong_sink(spark: SparkSession, roads: Path, tmp_path: Path) -> None:
    done = transom("run", roads / "q1.sneeql", "--checkpoint", tmp_path / "k", "--output", "kafka:topic")
    assert done.returncode == 2
    assert "no sink is called kafka:topic" in done.stderr


def test_rejected_rows_are_said(spark: SparkSession, tmp_path: Path) -> None:
    """As many as the reference leaves out, by `replay`, `verify` and `run`."""
    fleet = Path(shutil.copytree(ROOT / "examples" / "fleet", tmp_path / "fleet"))
    query = compile((fleet / "leaving.cql").read_text(), Catalog.load(fleet / "catalog.yaml"), language="cql")
    seen: list[int] = []
    inputs = replace(query.inputs(None, until=3600), on_rejected=lambda _, __, rows: seen.append(len(rows)))
    evaluate_stream(query.optimized, inputs)  # type: ignore[arg-type]
    read = len(inputs.elements_of("Stream_car"))
    balance = f"Stream_car: {read} read = {read - sum(seen)} used + 0 late + {sum(seen)} rejected"
    words = f"warning: {balance} ({sum(seen)} beyond max_speed)"
    assert sum(seen) > 1
    replayed = transom("replay", fleet / "leaving.cql", "--until", "1 h", "--output", f"jsonl:{tmp_path / 'a'}")
    assert (replayed.returncode, replayed.stderr.splitlines()) == (0, [JAVA, words])
    verified = transom("verify", fleet / "leaving.cql", "--until", "1 h", "--splits", "all")
    assert (verified.returncode, verified.stderr.splitlines()) == (0, [JAVA, words])
    out, kept = f"jsonl:{tmp_path / 'b'}", tmp_path / "k"
    ran = transom("run", fleet / "leaving.cql", "--until", "1 h", "--once", "--output", out, "--checkpoint", kept)
    assert ran.returncode == 0, ran.stderr
    assert f"({sum(seen)} beyond max_speed)" in ran.stderr


def test_run_once_answers_up_to_the_last_closed_tick(spark: SparkSession, tmp_path: Path) -> None:
    """Files that Spark reads whole: each line counts as a row in, and the last tick stays open."""
    fleet = Path(shutil.copytree(ROOT / "examples" / "fleet", tmp_path / "fleet"))
    with (fleet / "data" / "cars.csv").open(encoding="utf-8") as file:
        ticks = [int(row["tick"]) for row in csv.DictReader(file)]
    query = compile((fleet / "everyone.cql").read_text(), Catalog.load(fleet / "catalog.yaml"), language="cql")
    expected = Counter(e.row for e in query.simulate(until=max(ticks) - 1).elements)
    out = tmp_path / "out"
    ran = transom("run", fleet / "everyone.cql", "--once", "--output", f"jsonl:{out}", "--checkpoint", tmp_path / "k")
    assert ran.returncode == 0, ran.stderr
    said = ran.stderr.splitlines()
    assert f"{len(ticks):,} rows in, {expected.total():,} out, 0 late" in said
    assert said[-1] == f"last closed tick: {max(ticks) - 1}, which ended at 2026-03-02 08:59:37 UTC"
    found = spark.read.json(str(out)).select("ID", "speed", "seconds").collect()
    assert Counter(map(tuple, found)) == expected
    assert len(found) > 9


def test_run_once_names_the_clock_if_rows_are_ahead_of_it(spark: SparkSession, tmp_path: Path) -> None:
    """The clock ends windows that may be empty; with --until, windows of rows in the future are answered."""
    (tmp_path / "a.csv").write_text("at,x\n" + "".join(f"2200-01-01T00:00:{s},1\n" for s in range(10, 40)), "utf-8")
    began = (datetime.now(UTC) - timedelta(seconds=60)).replace(microsecond=0).isoformat()
    source = "{files: {path: a.csv, time: at}}"
    catalog = f"epoch: {began}\nextents: {{a: {{declare: 'pushed (x:integer)', source: {source}}}}}"
    (tmp_path / "catalog.yaml").write_text(catalog, "utf-8")
    query = tmp_path / "q.sneeql"
    query.write_text("RSTREAM(SELECT COUNT(*) AS n FROM a [FROM NOW-9 TO NOW SLIDE 10 SEC])", "utf-8")
    ran = transom("run", query, "--once", "--output", f"jsonl:{tmp_path / 'out'}", "--checkpoint", tmp_path / "k")
    assert ran.returncode == 0, ran.stderr
    said = ran.stderr.splitlines()
    assert said[-2].startswith("last closed tick: ")
    assert said[-1].startswith("warning: the clock is at 20")
    assert "the newest row is at 2200-01-01 00:00:39 UTC; the clock ends windows that may be empty, so pass" in said[-1]
