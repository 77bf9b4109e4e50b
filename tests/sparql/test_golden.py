"""The hand-derived cases of Streaming SPARQL, from text to answer."""

from __future__ import annotations

from typing import Any

import pytest

import transom
from tests.cases import Case, golden_cases
from tests.rdf.build import rows, wanted
from transom.catalog.catalog import Catalog
from transom.errors import QueryError

CASES = golden_cases("streaming-sparql")
ANSWERS = [case for case in CASES if case.expected["kind"] != "error"]
REJECTIONS = [case for case in CASES if case.expected["kind"] == "error"]
PLACES = {"x08": (2, 58, "10"), "x09": (2, 37, "WHERE"), "x10": (2, 50, "0")}
"""Line, column and offending words of every rejection."""


def catalog_of(case: Case) -> Catalog:
    """The catalog that a case declares; its tick is a millisecond."""
    kinds = {"rdf-stream": "stream", "rdf-graph": "graph"}
    rdf = {name: {kinds[entry["kind"]]: entry["iri"]} for name, entry in case.schema.items() if name != "prefixes"}
    return Catalog.from_dict({"tick": "1 ms", "prefixes": case.schema["prefixes"], "rdf": rdf})


def run(case: Case, text: str | None = None) -> dict[str, Any]:
    """The answer to a case, in the form of the golden file."""
    query = transom.compile(text or case.text, catalog_of(case), language="sparql")
    answer = query.simulate(case.inputs)
    assert query.result_kind == answer.kind
    assert query.columns == answer.columns
    return {"kind": answer.kind, "columns": list(answer.columns), "rows": sorted(rows(answer), key=str)}


def test_no_case_is_lost() -> None:
    assert {case.name[:3] for case in ANSWERS} >= {f"r{number:02}" for number in range(1, 43)}
    assert {case.name[:3] for case in REJECTIONS} == set(PLACES)


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: case.name)
def test_answer(case: Case) -> None:
    kind, columns = case.expected["kind"], case.expected["columns"]
    assert run(case) == {"kind": kind, "columns": columns, "rows": sorted(wanted(kind, case.expected["rows"]), key=str)}


@pytest.mark.parametrize("case", REJECTIONS, ids=lambda case: case.name)
def test_rejection_names_the_place(case: Case) -> None:
    with pytest.raises(QueryError) as caught:
        transom.compile(case.text, catalog_of(case), language="sparql")
    line, column, words = PLACES[case.name[:3]]
    span = caught.value.span
    assert span is not None
    assert caught.value.position == (line, column)
    assert case.text[span.start : span.end] == words
    assert caught.value.hint


@pytest.mark.parametrize("name", ["r09", "r10"])
def test_listings_run_verbatim_with_prefixes_of_the_catalog(name: str) -> None:
    case = next(case for case in ANSWERS if case.name.startswith(name))
    listing = case.text.replace("PREFIX my: <http://my/>\n", "")
    assert listing != case.text
    assert run(case, listing) == run(case)


def test_a_wrong_answer_is_noticed() -> None:
    case = ANSWERS[0]
    assert run(case, case.text.replace("30 MINUTE", "29 MINUTE")) != run(case)
