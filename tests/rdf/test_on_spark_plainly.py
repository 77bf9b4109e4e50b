"""Parts of running over RDF that need no JVM: files as rows, intervals as answers, what is compared and counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from transom import Catalog, compile
from transom.catalog.extent import Extent
from transom.catalog.sources import Files
from transom.connectors import open_stream
from transom.connectors.files.spark_statements import _read
from transom.connectors.rdf.spark import DecodedStatements, statement_rows
from transom.model.rdf.answer import RejectedMessage
from transom.model.rdf.formats import rows
from transom.runtime.results.rdf import last_change, rdf_answer_from_intervals, rdf_difference

PARK = Path(__file__).parents[2] / "examples" / "windpark"
CATALOG = Catalog.load(PARK / "catalog.yaml")
WIDTH = 10


def part_of(extent: Extent, path: Path, place: int = 3) -> DecodedStatements:
    source = extent.source
    assert isinstance(source, Files)
    return _read(extent, source, CATALOG.calendar, {str(path): "called"}, {"part": place, "file": f"file:{path}"})


def test_a_file_gives_what_the_plain_reader_gives() -> None:
    for name in ("td", "told"):
        extent = CATALOG.rdf.extents[name]
        assert isinstance(extent.source, Files)
        path = (PARK / extent.source.paths[0]).absolute()
        found = [tuple(row) for row in statement_rows(part_of(extent, path), local=False)]
        aside: list[RejectedMessage] = []
        statements = open_stream(extent, CATALOG.calendar, CATALOG.folder, rejected=aside)
        assert {len(row) for row in found} == {WIDTH}
        told = [(one.tick, *one.row) for one in statements]
        assert [(row[0], *row[4:7]) for row in found if row[7] is None] == told
        assert [row[:4] for row in found[:2]] == [(told[n][0], 3, str(path), n) for n in range(2)]
        dead = [(one.reason.value, one.detail, "called:" + one.origin.rpartition(":")[2]) for one in aside]
        assert [row[7:] for row in found if row[7] is not None] == dead
        assert len(dead) == (name == "td")


def test_messages_hold_what_is_said_of_a_subject_at_a_tick(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("t,s,p,o\n1,:a,:p,1\n1,:b,:p,2\n1,:a,:q,3\n2,:a,:p,4\n")
    entries = {"s": {"stream": "http://ex/s", "files": "s.csv", "subjects": "local"}}
    catalog = Catalog.from_dict({"tick": "1 s", "prefixes": {"": "http://ex/"}, "rdf": entries}, folder=tmp_path)
    found: list[Any] = list(statement_rows(part_of(catalog.rdf.extents["s"], tmp_path / "s.csv"), local=True))
    assert [(row[0], row[3], [one["row"] for one in row[4]]) for row in found] == [
        (1, 0, [0, 2]),
        (1, 1, [1]),
        (2, 3, [3]),
    ]
    assert found[1][4] == [
        {"s": "<http://ex/b>", "p": "<http://ex/p>", "o": '"2"^^<http://www.w3.org/2001/XMLSchema#integer>', "row": 1}
    ]


@pytest.mark.parametrize("name", ["listing1.rq", "listing2.rq", "restless.rq"])
def test_rows_of_intervals_are_the_answer(name: str) -> None:
    query = compile((PARK / name).read_text("utf-8"), CATALOG, language="sparql")
    answer = query.simulate()
    told = [(s, e, n, *(None if t is None else str(t) for t in terms)) for s, e, n, terms in rows(answer)]
    assert rdf_answer_from_intervals(reversed(told), query.result_kind, query.columns) == answer
    assert rdf_difference(answer, rdf_answer_from_intervals(told, query.result_kind, query.columns)) is None
    assert "missing: " in (
        rdf_difference(answer, rdf_answer_from_intervals(told[1:], query.result_kind, query.columns)) or ""
    )
    assert "not expected: " in (
        rdf_difference(rdf_answer_from_intervals(told[1:], query.result_kind, query.columns), answer) or ""
    )


def test_sequences_and_truth() -> None:
    lists = [(0, 5, 2, "<http://ex/b>"), (0, 5, 1, "<http://ex/a>"), (7, None, 1, "<http://ex/a>")]
    answer = rdf_answer_from_intervals(lists, "sequences", ("x",))
    assert [(one.start, one.end, len(one.solutions)) for one in answer.sequences] == [(0, 5, 2), (7, None, 1)]
    assert [str(one) for one in answer.sequences[0].solutions] == ["{?x = <http://ex/a>}", "{?x = <http://ex/b>}"]
    swapped = [(s, e, 3 - place if e else place, x) for s, e, place, x in lists]
    assert rdf_difference(answer, rdf_answer_from_intervals(swapped, "sequences", ("x",))) == "the order is another"
    truth = rdf_answer_from_intervals([(3, None, False), (0, 3, True)], "boolean", ("ask",))
    assert [(one.start, one.value) for one in truth.truth] == [(0, True), (3, False)]


def test_what_lasts_longer_than_a_run_has_no_end() -> None:
    query = compile((PARK / "listing3.rq").read_text("utf-8"), CATALOG, language="sparql")
    answer = query.simulate()
    assert last_change(answer) == 3808
    assert answer.up_to(3808) == answer
    ends = [(one.start, one.end) for one in answer.up_to(1574).solutions]
    assert ends == [(574, 1574), (898, None), (1157, None)]
