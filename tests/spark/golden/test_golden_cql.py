"""The hand-derived cases of CQL on Spark: as streams that are cut in several ways and as replays; see `golden.py`."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.cases import catalog_of, inputs_of
from tests.covering import cases
from tests.spark.golden.cases import KERNEL, REPLAYS, replayed, splits_of, streams
from tests.spark.together import Relational, differences
from tests.spark.trying import SPLITS, replay
from transom.model.answer import Answer
from transom.physical.nodes.windows import KernelMode
from transom.runtime.results.rows import row_difference

CASES = cases("cql")


@cache
def asked(name: str) -> tuple[Relational, Answer]:
    """A case, and the reference's answer, which another test compares with the one in the file."""
    case = next(case for case in CASES if case.name == name)
    query = transom.compile(case.text, catalog_of(case.schema), language="cql")
    rows = inputs_of(case.schema, case.inputs)
    inputs = query.inputs(rows, until=case.until)
    return Relational(case.name, query, inputs), query.simulate(rows, until=case.until)


def wrong(name: str, answer: Answer) -> str | None:
    return row_difference(asked(name)[1], answer, index=False)


def test_no_case_is_lost() -> None:
    assert len(CASES) == 25
    assert all(set(splits_of("cql", CASES, kernel)) == set(SPLITS) for kernel in KERNEL)
    ways = splits_of("cql", CASES, "on")
    assert {case.name for some in ways.values() for case in some} == {case.name for case in CASES}


@pytest.mark.parametrize(("kernel", "split"), streams("cql", CASES))
def test_stream(spark: Any, kernel: KernelMode, split: str) -> None:
    some = [asked(case.name)[0] for case in splits_of("cql", CASES, kernel)[split]]
    assert differences(spark, some, SPLITS[split], kernel, wrong) == {}


@pytest.mark.parametrize("kernel", REPLAYS)
def test_replay(spark: Any, kernel: KernelMode) -> None:
    some = [asked(case.name)[0] for case in replayed(CASES, kernel)]
    assert differences(spark, some, None, kernel, wrong) == {}


def test_a_wrong_answer_is_noticed(spark: Any) -> None:
    name = next(case.name for case in CASES if case.name.startswith("c09"))
    case, expected = asked(name)
    assert len(expected.elements) == 4
    found = replay(case.query, spark, case.inputs)
    assert row_difference(expected, found, index=False) is None
    less = Answer(found.columns, found.kind, elements=found.elements[1:])
    assert row_difference(expected, less, index=False) is not None
