"""The hand-derived cases of Streaming SPARQL on Spark: as streams that are cut in several ways and as replays.

`golden.py` says which case runs in which way.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.cases import Case
from tests.covering import cases
from tests.rdf.build import rows, wanted
from tests.spark.golden.cases import KERNEL, REPLAYS, replayed, splits_of, streams
from tests.spark.together import OverRdf, differences
from tests.spark.trying import SPLITS
from tests.sparql.test_golden import catalog_of
from transom.model.rdf.answer import RdfAnswer
from transom.physical.nodes.windows import KernelMode
from transom.reference.sources import Inputs

ANSWERS = cases("sparql")


@cache
def asked(name: str) -> OverRdf:
    case = case_of(name)
    query = transom.compile(case.text, catalog_of(case), language="sparql")
    inputs = query.inputs(case.inputs)
    return OverRdf(case.name, query, inputs, last_change(case, inputs))


def case_of(name: str) -> Case:
    return next(case for case in ANSWERS if case.name == name)


def shown(answer: RdfAnswer) -> list[Any]:
    return sorted(rows(answer), key=str)


def expected(case: Case) -> list[Any]:
    return sorted(wanted(case.expected["kind"], case.expected["rows"]), key=str)


def last_change(case: Case, inputs: Inputs) -> int:
    """The last tick at which an answer changes, or at which a statement comes."""
    ends = [end for row in case.expected["rows"] for end in row[:2] if end != "inf"]
    return max([0, *ends, *(one.tick for given in inputs.streams.values() for one in given)])


def wrong(name: str, answer: RdfAnswer) -> str | None:
    found, right = shown(answer), expected(case_of(name))
    return None if found == right else f"expected {right}, found {found}"


STREAMED = [case for case in ANSWERS if any(entry.get("kind") == "rdf-stream" for entry in case.schema.values())]


def test_no_case_is_lost() -> None:
    assert len(ANSWERS) == 42
    assert {case.name for case in STREAMED} == {case.name for case in ANSWERS if asked(case.name).inputs.streams}
    assert all(set(splits_of("sparql", STREAMED, kernel)) == set(SPLITS) for kernel in KERNEL)
    ways = splits_of("sparql", STREAMED, "on")
    assert {case.name for some in ways.values() for case in some} == {case.name for case in STREAMED}


@pytest.mark.parametrize(("kernel", "split"), streams("sparql", STREAMED))
def test_stream(spark: Any, kernel: KernelMode, split: str) -> None:
    some = [asked(case.name) for case in splits_of("sparql", STREAMED, kernel)[split]]
    assert differences(spark, some, SPLITS[split], kernel, wrong) == {}


@pytest.mark.parametrize("kernel", REPLAYS)
def test_replay(spark: Any, kernel: KernelMode) -> None:
    some = [asked(case.name) for case in replayed(ANSWERS, kernel)]
    assert differences(spark, some, None, kernel, wrong) == {}
