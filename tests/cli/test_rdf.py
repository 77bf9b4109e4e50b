"""The command line on the wind park: every verb that takes SPARQL, and every format of answers."""

from __future__ import annotations

import csv
import json
import runpy
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pyoxigraph
import pytest

from tests.cli.test_app import ROOT, transom
from transom.cli.replay import write_lines

PARK = ROOT / "examples" / "windpark"
QUERIES = ["listing1.rq", "listing2.rq", "listing3.rq", "restless.rq"]


@pytest.fixture
def park(tmp_path: Path) -> Path:
    """A copy of the wind park."""
    return Path(shutil.copytree(PARK, tmp_path / "windpark"))


def test_lines_go_into_a_new_file(tmp_path: Path) -> None:
    write_lines(tmp_path / "new" / "answer.csv", iter(["s", "http://ex/a"]))
    assert (tmp_path / "new" / "answer.csv").read_text("utf-8") == "s\nhttp://ex/a\n"


def test_the_data_are_what_the_generator_writes() -> None:
    files = runpy.run_path(str(PARK / "generate.py"))["files"](1, 60)
    assert files == {path.name: path.read_text("utf-8") for path in (PARK / "data").iterdir()}


@pytest.mark.parametrize("name", QUERIES)
def test_every_verb_on_every_query(name: str, park: Path) -> None:
    checked = transom("check", park / name)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "fine" in checked.stdout
    for stage in ("syntax", "algebra", "optimized", "plan"):
        assert transom("explain", park / name, "--stage", stage).returncode == 0
    assert transom("explain", park / name).stdout == transom("explain", park / name, "--stage", "plan").stdout
    assert json.loads(transom("explain", park / name, "--format", "json").stdout)
    simulated = transom("simulate", park / name)
    assert simulated.stdout.startswith("start ")
    assert ("rejected messages of td: 1 not RDF" in simulated.stderr) == (name in ("listing1.rq", "restless.rq"))
    drawn = transom("picture", park / name, "-o", park / "out.svg")
    assert drawn.returncode == 0, drawn.stderr
    lanes = [e for e in ET.parse(park / "out.svg").iter() if e.get("class") == "lane"]  # noqa: S314 - we wrote it
    rows = transom("simulate", park / name, "--format", "jsonl").stdout.splitlines()
    assert sum(int(lane.get("data-bars", "")) for lane in lanes) == len(rows)


def test_format_in_place(park: Path) -> None:
    assert transom("fmt", "--check", park / "restless.rq").returncode == 0
    assert transom("fmt", "--check", park / "listing1.rq").returncode == 1
    before = transom("simulate", park / "listing1.rq", "--format", "csv").stdout
    assert transom("fmt", park / "listing1.rq").returncode == 0
    assert transom("fmt", "--check", park / "listing1.rq").returncode == 0
    assert transom("simulate", park / "listing1.rq", "--format", "csv").stdout == before


def in_ticks(file: Path, form: str, *options: str) -> list[str]:
    """The lines of an answer in a format, with ticks as times."""
    return transom("simulate", file, "--format", form, "--time", "tick", *options).stdout.splitlines()


def test_rows_as_csv_and_json_lines(park: Path) -> None:
    rows = list(csv.reader(in_ticks(park / "listing3.rq", "csv")))
    assert rows[:2] == [
        ["start", "end", "n", "w", "x", "y", "z"],
        ["574", "1574", "1", "<http://src.net/turbine/1>", '"Ada"', "", ""],
    ]
    lines = [json.loads(line) for line in in_ticks(park / "listing3.rq", "jsonl")]
    assert [[str(one["start"]), str(one["end"])] for one in lines] == [row[:2] for row in rows[1:]]
    assert lines[0]["row"] == {"w": "<http://src.net/turbine/1>", "x": '"Ada"'}
    stored = json.loads(in_ticks(park / "listing2.rq", "jsonl")[0])
    assert (stored["start"], stored["end"]) == (0, None)


def test_sparql_results_are_those_of_every_instant(park: Path) -> None:
    printed = in_ticks(park / "listing3.rq", "json")
    documents = [json.loads(line) for line in printed]
    assert [one["start"] for one in documents[1:]] == [one["end"] for one in documents[:-1]]
    assert documents[-1]["end"] is None
    for text, one in zip(printed, documents, strict=True):
        results = pyoxigraph.parse_query_results(text, format=pyoxigraph.QueryResultsFormat.JSON)
        assert isinstance(results, pyoxigraph.QuerySolutions)
        assert sum(1 for _ in results) == len(one["results"]["bindings"])
    assert in_ticks(park / "listing3.rq", "json", "--until", "1 s") == printed[:3]
    assert [json.loads(line)["end"] for line in printed[1:3]] == [898, 1157]


def test_statements_before_the_start_do_not_count(park: Path) -> None:
    """The answer is that over a stream without them, and what is stored is there from the start on."""
    (park / "stored.rq").write_text("ASK FROM <http://src.net/graph.rdf> WHERE { ?w my:name ?x }")
    part = [in_ticks(park / name, "csv", "--start", "600") for name in ("listing3.rq", "stored.rq")]
    told = park / "data" / "told.csv"
    header, *lines = told.read_text("utf-8").splitlines()
    later = [line for line in lines if int(line.split(",")[0]) >= 600]
    assert 0 < len(later) < len(lines)
    told.write_text("\n".join([header, *later]))
    assert part[0] == in_ticks(park / "listing3.rq", "csv")
    assert part[1] == ["start,end,n,ask", "600,,1,true"]


def test_statements_as_quads_and_json_ld(park: Path) -> None:
    quads = transom("simulate", park / "restless.rq", "--format", "nq").stdout
    linked = transom("simulate", park / "restless.rq", "--format", "jsonld").stdout.splitlines()
    read = set(pyoxigraph.parse(quads, pyoxigraph.RdfFormat.N_QUADS))
    assert len(read) == len(quads.splitlines()) == 8
    assert {quad for line in linked for quad in pyoxigraph.parse(line, pyoxigraph.RdfFormat.JSON_LD)} == read
    assert "urn:transom:interval:1559133:2400000" in {quad.graph_name.value for quad in read}  # type: ignore[union-attr]


def test_formats_that_do_not_fit(park: Path) -> None:
    for name, format in (("listing1.rq", "nq"), ("listing1.rq", "jsonld"), ("restless.rq", "json")):
        refused = transom("simulate", park / name, "--format", format)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "error:" in refused.stderr
    roads = ROOT / "examples" / "roads" / "q1.sneeql"
    assert "only answers to SPARQL" in transom("simulate", roads, "--format", "nq").stderr


def test_a_map_takes_no_sparql(park: Path) -> None:
    refused = transom("map", park / "listing1.rq", "-o", "m.svg")
    assert refused.returncode == 2
    assert "`map` takes no SPARQL" in refused.stderr


@pytest.mark.parametrize("verb", ["run", "replay", "verify"])
def test_what_spark_does_not_run_is_underlined(verb: str, park: Path) -> None:
    """Before a session is started."""
    stored = "FROM <http://src.net/graph.rdf> WHERE"
    texts = {
        f"SELECT ?w {stored} {{ ?w ?p ?x BIND (RAND() AS ?r) }}": ("NOW(), RAND()", "RAND()"),
        f"SELECT ?w {stored} {{ ?w ?p ?x FILTER REGEX(?x, STR(?p)) }}": ("REGEX or REPLACE", "REGEX(?x, STR(?p))"),
    }
    more = ["--checkpoint", "c", "--log-format", "text"] if verb == "run" else []
    for text, (construct, words) in texts.items():
        (park / "gap.rq").write_text(text)
        refused = transom(verb, park / "gap.rq", *more)
        assert refused.returncode == 1
        place = text.rindex(words)
        assert f"gap.rq:1:{place + 1}: cannot run on Spark: {construct}" in refused.stderr
        assert f"| {' ' * place}{'^' * len(words)}\n" in refused.stderr


def test_options_that_do_not_fit(park: Path) -> None:
    """Before a session is started."""
    run = ["run", park / "listing1.rq", "--checkpoint", "c"]
    replay = ["replay", park / "listing1.rq"]
    wrong: list[tuple[list[str | Path], str]] = [
        ([*run, "--index"], "--index is not for SPARQL"),
        ([*run, "--approximate-sums"], "--approximate-sums is not for SPARQL"),
        ([*replay, "--index"], "--index is not for SPARQL"),
        ([*replay, "--output", f"nq:{park}/new"], "only statements can be written as N-Quads"),
        ([*replay, "--output", f"jsonld:{park}/new"], "only statements can be written as JSON-LD"),
        (["replay", park / "restless.rq", "--output", f"json:{park}/new"], "statements are no SPARQL results"),
        (["replay", park / "restless.rq", "--output", f"nq:{park}"], "is there already"),
        ([*replay, "--output", "nowhere"], "no sink is called nowhere"),
        ([*run, "--parameter", "a=1"], "the query has no parameter a"),
        ([*run, "--parameter", "x=1"], "a pattern of the query binds ?x"),
    ]
    for words, said in wrong:
        refused = transom(*words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert said in refused.stderr
        assert not (park / "new").exists()


def test_truth_and_order(park: Path) -> None:
    told = "FROM STREAM <http://src.net/graph.rdf> WINDOW RANGE 1000 SLIDE WHERE { ?w my:power ?z }"
    (park / "ask.rq").write_text(f"ASK {told.replace('?z', '3000')}")
    (park / "order.rq").write_text(f"SELECT ?w {told} ORDER BY DESC(?z)")
    truth = transom("simulate", park / "ask.rq", "--format", "json").stdout.splitlines()
    assert [json.loads(one)["boolean"] for one in truth] == [False, True, False]
    assert json.loads(transom("simulate", park / "ask.rq", "--format", "jsonl").stdout.splitlines()[1])["ask"] is True
    order = [json.loads(line) for line in in_ticks(park / "order.rq", "jsonl")]
    assert [one["row"]["w"][-2] for one in order if one["start"] == 1603] == ["2", "1"]
    for name in ("ask.rq", "order.rq"):
        assert transom("picture", park / name, "-o", park / "out.svg").returncode == 0


def test_errors_point_into_the_query(park: Path) -> None:
    (park / "wrong.rq").write_text(
        "SELECT ?x FROM STREAM <http://src.net/nothing> WINDOW ELEMS 3 WHERE { ?x my:name 1 }"
    )
    refused = transom("check", park / "wrong.rq")
    assert refused.returncode == 1
    assert "wrong.rq:1:23: no stream <http://src.net/nothing>" in refused.stderr
