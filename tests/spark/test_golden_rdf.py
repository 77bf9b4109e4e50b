"""The hand-derived cases of Streaming SPARQL on Spark: as streams cut in four ways and as a replay."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.cases import Case
from tests.rdf.build import rows, wanted
from tests.spark.trying import AT_ONCE, SPLITS, patiently, plain, side_by_side
from tests.sparql.test_golden import ANSWERS, catalog_of
from transom.connectors.statements import graph_statements, stream_statements
from transom.model.rdf.answer import RdfAnswer
from transom.physical.plan import Kernel
from transom.rdf_query import RdfQuery
from transom.reference.rdf.statements import Inputs
from transom.runtime.rdf_trial import try_replay, try_stream
from transom.runtime.recut import Split

WHOLE = os.environ.get("TRANSOM_GOLDEN") == "whole"
KERNEL: tuple[Kernel, ...] = ("off", "on")


def asked(case: Case) -> tuple[RdfQuery, Inputs]:
    query = transom.compile(case.text, catalog_of(case), language="sparql")
    streams: dict[str, Any] = {}
    graphs: dict[str, Any] = {}
    for extent in query.reads:
        if extent.is_stream:
            streams[extent.name] = stream_statements(extent, case.inputs[extent.name], query.catalog)
        else:
            graphs[extent.name] = graph_statements(extent, case.inputs[extent.name], query.catalog)
    return query, Inputs(streams, graphs)


def shown(answer: RdfAnswer) -> list[Any]:
    return sorted(rows(answer), key=str)


def expected(case: Case) -> list[Any]:
    return sorted(wanted(case.expected["kind"], case.expected["rows"]), key=str)


def last_change(case: Case, inputs: Inputs) -> int:
    """The last tick at which an answer changes, or at which a statement comes."""
    ends = [end for row in case.expected["rows"] for end in row[:2] if end != "inf"]
    return max([0, *ends, *(tick for given in inputs.streams.values() for tick, _ in given)])


def stream(spark: Any, case: Case, query: RdfQuery, inputs: Inputs, split: Split, kernel: Kernel) -> RdfAnswer:
    session = spark if split == AT_ONCE else plain(spark)
    until = last_change(case, inputs)
    return patiently(lambda: try_stream(query, session, {0: inputs}, split, until, kernel))[0]


def pairs() -> list[tuple[Case, Kernel]]:
    return [(c, way) for n, c in enumerate(ANSWERS) for way in KERNEL if WHOLE or (way == "on") == (n % 6 != 0)]


def splits_of(kernel: Kernel, number: int) -> dict[str, Split]:
    """All of them with `just golden`, else one each, in turn."""
    return dict(SPLITS if WHOLE else [list(SPLITS.items())[number % len(SPLITS)]])


@pytest.mark.parametrize(("case", "kernel"), pairs(), ids=lambda given: getattr(given, "name", given))
def test_stream(spark: Any, case: Case, kernel: Kernel) -> None:
    query, inputs = asked(case)
    if not inputs.streams:
        pytest.skip("it reads no stream")
    splits = splits_of(kernel, ANSWERS.index(case))
    jobs = [partial(stream, spark, case, query, inputs, split, kernel) for split in splits.values()]
    found = dict(zip(splits, map(shown, side_by_side(jobs)), strict=True))
    assert found == dict.fromkeys(splits, expected(case))


@pytest.mark.parametrize(("case", "kernel"), pairs(), ids=lambda given: getattr(given, "name", given))
def test_replay(spark: Any, case: Case, kernel: Kernel) -> None:
    query, inputs = asked(case)
    assert shown(patiently(lambda: try_replay(query, spark, {0: inputs}, kernel))[0]) == expected(case)
