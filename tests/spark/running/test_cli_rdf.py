"""`transom run`, `replay` and `verify` on the wind park, in this process and on its session."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.cli.test_app import ROOT, transom
from transom import Catalog, compile
from transom.model.rdf.formats import rows
from transom.runtime.results.rdf import rdf_answer_from_rows

TOLD = "FROM STREAM <http://src.net/graph.rdf> WINDOW RANGE 1000 SLIDE WHERE { ?w my:power ?z }"
ASIDE = "warning: rejected messages of td: 1 not RDF; the first is "
MORE = {
    "ask.rq": f"ASK {TOLD.replace('?z', '3000')}",
    "order.rq": f"SELECT ?w {TOLD} ORDER BY DESC(?z)",
    "stored.rq": "ASK FROM <http://src.net/graph.rdf> WHERE { ?w my:name ?x }",
    "last.rq": f"SELECT ?w ?z {TOLD.replace('RANGE 1000 SLIDE', 'ELEMS 3')}",
}


@pytest.fixture
def park(tmp_path: Path) -> Path:
    """A copy of the wind park, with more queries."""
    folder = Path(shutil.copytree(ROOT / "examples" / "windpark", tmp_path / "windpark"))
    for name, text in MORE.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.mark.nightly
def test_a_replay_shows_what_a_simulation_shows(spark: Any, park: Path) -> None:
    for name in ("listing1.rq", "listing2.rq", "restless.rq", *MORE):
        for more in ([], ["--start", "600", "--until", "2 s"]) if name == "order.rq" else ([],):
            wanted = transom("simulate", park / name, *more)
            asked = "off" if name == "last.rq" else "auto"
            found = transom("replay", park / name, *more, "--kernel", asked)
            assert found.returncode == 0, found.stderr
            assert found.stdout == wanted.stdout, name
            path, *rest = found.stderr.splitlines()
            assert path.startswith("kernel: off, " if asked == "off" else ("kernel: stateful", "kernel: not needed"))
            assert rest == wanted.stderr.splitlines(), name
            assert len(found.stdout.splitlines()) > 2


def test_a_bad_line_is_rejected_on_spark_as_in_the_reference(spark: Any, tmp_path: Path) -> None:
    lines = ['<http://ex/a> <http://ex/t> "10" .', "no statement", "<http://ex/a> <http://ex/p> _:x .", "neither"]
    (tmp_path / "s.nt").write_text("\n".join(lines), "utf-8")
    (tmp_path / "catalog.yaml").write_text(
        "prefixes: {'': 'http://ex/'}\nrdf: {s: {stream: 'http://ex/s', files: s.nt, time: 'http://ex/t'}}\n", "utf-8"
    )
    query = tmp_path / "q.rq"
    query.write_text("SELECT ?y FROM STREAM <http://ex/s> WINDOW RANGE 9 S SLIDE WHERE { ?x :p ?y }", "utf-8")
    simulated, replayed = transom("simulate", query), transom("replay", query)
    assert (replayed.returncode, replayed.stdout) == (0, simulated.stdout)
    (warning,) = simulated.stderr.splitlines()
    assert warning.startswith(f"warning: rejected messages of s: 2 not RDF; the first is {tmp_path / 's.nt'}:2: ")
    assert replayed.stderr.splitlines()[1:] == [warning]
    out = f"jsonl:{tmp_path / 'out'}"
    ran = transom("run", query, "--once", "--until", "99", "--checkpoint", tmp_path / "k", "--output", out)
    assert (ran.returncode, ran.stderr.splitlines()[-1]) == (0, "s: 4 read = 2 used + 0 late + 2 rejected (2 not RDF)")


def test_replays_into_files(spark: Any, park: Path, tmp_path: Path) -> None:
    for name, kind in (("restless.rq", "nq"), ("listing3.rq", "json")):
        done = transom("replay", park / name, "--output", f"{kind}:{tmp_path / kind}", "--until", "45 min")
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"{tmp_path / kind}: written\n"
        wanted = transom("simulate", park / name, "--format", kind, "--until", "45 min").stdout
        assert (tmp_path / kind / f"answer.{kind}").read_text("utf-8") == wanted
    done = transom("replay", park / "listing3.rq", "--output", f"jsonl:{tmp_path / 'rows'}")
    assert done.returncode == 0, done.stderr
    files = sorted((tmp_path / "rows").glob("*.json"))
    lines = [json.loads(one) for file in files for one in file.read_text("utf-8").splitlines()]
    wanted = [
        json.loads(one)
        for one in transom("simulate", park / "listing3.rq", "--format", "jsonl", "--time", "tick").stdout.splitlines()
    ]
    assert lines == [{**{name: one[name] for name in ("start", "end", "n")}, **one["row"]} for one in wanted]
    twice = transom("replay", park / "listing3.rq", "--output", f"jsonl:{tmp_path / 'rows'}")
    assert twice.returncode == 2
    assert "is there already" in twice.stderr


@pytest.mark.parametrize(
    ("name", "count"), [("listing1.rq", "solutions"), pytest.param("order.rq", "sequences", marks=pytest.mark.nightly)]
)
def test_verify_says_that_all_agree(spark: Any, park: Path, name: str, count: str) -> None:
    done = transom("verify", park / name, "--until", "20 min", "--splits", "3,all")
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.splitlines()
    ways = ["reference", "replay", "stream, 3 rows per micro-batch", "stream, all rows at once"]
    assert [line.split(":")[0] for line in said[:-1]] == ways
    assert all(count in line for line in said[:-1])
    assert "all agree" in said[-1]
    assert "reference: 0 " not in done.stdout
    assert (ASIDE in done.stderr) == (name == "listing1.rq")


def test_verify_says_where_it_does_not_agree(spark: Any, park: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transom.runtime.verify import verify

    real = verify.stream_answer

    def forgetful(*given: Any, **more: Any) -> Any:
        whole = real(*given, **more)
        return type(whole)(whole.kind, whole.columns, solutions=whole.solutions[1:])

    monkeypatch.setattr(verify, "stream_answer", forgetful)
    done = transom("verify", park / "listing3.rq", "--splits", "all")
    assert done.returncode == 1
    assert "stream, all rows at once: 7 solutions, DIFFERS" in done.stdout
    assert 'first difference: missing: 574 to 1574, 1 x (<http://src.net/turbine/1>, "Ada", , )' in done.stdout
    assert "they do not agree" in done.stdout.splitlines()[-1]


def test_run_once_until(spark: Any, park: Path, tmp_path: Path) -> None:
    """The changes up to a tick add up to what the reference says is valid, and going on adds nothing."""
    file, until = park / "listing1.rq", 1_200_000
    words = ["run", file, "--once", "--until", str(until), "--checkpoint", tmp_path / "k"]
    words += ["--output", f"parquet:{tmp_path / 'out'}"]
    query = compile(file.read_text("utf-8"), Catalog.load(park / "catalog.yaml"), language="sparql")
    wanted = Counter(rows(query.simulate().up_to(until)))
    for said in ("18 statements in, ", "going on from"):
        done = transom(*words)
        assert done.returncode == 0, done.stderr
        assert said in done.stderr
        rejected = [line for line in done.stderr.splitlines() if "(1 not RDF)" in line]
        assert [line.split(":")[0] for line in rejected] == ["td" if "18" in said else "td, since the first start"]
        told = spark.read.parquet(str(tmp_path / "out")).selectExpr(
            "(unix_millis(tick) - 1717221600001) AS tick_number", "change", "x AS c0", "y AS c1", "z AS c2"
        )
        plan = query.physical()
        assert Counter(rows(rdf_answer_from_rows(told.collect(), plan, query.result_kind, query.columns))) == wanted
    assert len(wanted) > 5
    changed = transom(*words[:4], str(until + 1), *words[5:])
    assert changed.returncode == 3
    assert "changed is until" in changed.stderr


@pytest.mark.nightly
def test_a_start_is_the_same_everywhere(spark: Any, park: Path, tmp_path: Path) -> None:
    """Statements before it do not count, in a run, a replay and a stream; a stored graph is there from it on."""
    file, until = park / "from.rq", 2000
    file.write_text(
        "SELECT ?w ?x ?z FROM <http://src.net/graph.rdf> FROM NAMED STREAM <http://src.net/graph.rdf> "
        "WINDOW RANGE 1000 SLIDE WHERE { ?w my:name ?x OPTIONAL { GRAPH <http://src.net/graph.rdf> { ?w my:power ?z } "
        "FILTER (?z > ?least) } }"
    )
    words: list[Any] = ["--start", "600", "--until", str(until), "--parameter", "least=1000"]
    done = transom("verify", file, *words, "--splits", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all agree" in done.stdout
    done = transom(
        "run", file, *words, "--once", "--checkpoint", tmp_path / "k", "--output", f"parquet:{tmp_path / 'out'}"
    )
    assert done.returncode == 0, done.stderr
    assert "told: 8 read = 4 used + 0 late + 0 rejected + 4 outside of --start and --until" in done.stderr
    text, catalog = file.read_text("utf-8"), Catalog.load(park / "catalog.yaml")
    query = compile(text, catalog, language="sparql", parameters={"least": 1000})
    wanted = Counter(rows(query.simulate(start=600).up_to(until)))
    told = spark.read.parquet(str(tmp_path / "out")).selectExpr(
        "(unix_millis(tick) - 1717221600001) AS tick_number", "change", "w AS c0", "x AS c1", "z AS c2"
    )
    assert (
        Counter(rows(rdf_answer_from_rows(told.collect(), query.physical(), query.result_kind, query.columns)))
        == wanted
    )
    plan = transom("explain", file, "--stage", "spark", "--parameter", "least=1000")
    assert plan.returncode == 0, plan.stderr
    assert re.match(r"stateful operators: [12], shuffles: \d\n== Physical Plan ==", plan.stdout)


def test_messages_that_hold_all_about_their_subjects(spark: Any, park: Path, tmp_path: Path) -> None:
    """A star is matched inside messages of files, and an element window counts their statements in order."""
    catalog = (park / "catalog.yaml").read_text("utf-8")
    (park / "catalog.yaml").write_text(
        catalog.replace("files: data/told.csv", "files: data/told.csv\n    subjects: local")
    )
    rows = "t,s,p,o\n1,wt:1,my:a,1\n1,wt:2,my:a,2\n1,wt:1,my:b,3\n5,wt:1,my:a,4\n5,wt:1,my:b,5\n5,wt:1,my:b,6\n"
    (park / "data" / "told.csv").write_text(rows)
    told = "FROM STREAM <http://src.net/graph.rdf> WINDOW"
    (park / "star.rq").write_text(f"SELECT * {told} RANGE 3 SLIDE WHERE {{ ?s my:a ?a ; my:b ?b }}")
    (park / "both.rq").write_text(
        f"SELECT * {told} RANGE 3 SLIDE WHERE {{ {{ ?s my:a ?a ; my:b ?b }} UNION {{ ?s my:b ?c WINDOW ELEMS 2 }} }}"
    )
    assert "subjects: local" in transom("explain", park / "star.rq").stdout
    for name in ("star.rq", "both.rq"):
        done = transom("verify", park / name, "--splits", "1" if name == "star.rq" else "all")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "all agree" in done.stdout
    words = ["--once", "--until", "20", "--checkpoint", tmp_path / "k", "--output", f"jsonl:{tmp_path / 'out'}"]
    done = transom("run", park / "star.rq", *words)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[1:] == [
        "6 statements in, 6 changes out, 0 late",
        "told: 6 read = 6 used + 0 late + 0 rejected",
    ]


def test_errors_of_data_come_as_they_are(spark: Any, park: Path, tmp_path: Path) -> None:
    with (park / "data" / "told.csv").open("a") as told:
        told.write("2900,wt:5,nobody:name,1\n")
    words: list[Any] = ["run", park / "listing3.rq", "--once", "--checkpoint", tmp_path / "k"]
    for given in (["replay", park / "listing3.rq"], words):
        done = transom(*given)
        assert done.returncode == 1
        assert "told.csv" in done.stderr
        assert "nobody" in done.stderr
        assert "Traceback" not in done.stderr
