"""The hand-derived cases of CQL on Spark, with the kernel and without: as a stream and as a replay.

`just golden` cuts the stream in four ways on both paths; else one cut with the kernel, and replays, a third without it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.cases import Case, catalog_of, golden_cases, inputs_of
from tests.spark.test_golden import WHOLE
from tests.spark.trying import SPLITS, replay, side_by_side, stream
from transom.model.answer import Answer
from transom.physical.plan import Kernel
from transom.reference.sources import Inputs
from transom.runtime.answers import difference

CASES = [c for c in golden_cases("cql") if c.expected["kind"] != "error"]


def asked(case: Case) -> tuple[transom.Query, Inputs, Answer]:
    """The query, what it reads, and the reference's answer, which another test holds against the one in the file."""
    query = transom.compile(case.text, catalog_of(case.schema), language="cql")
    rows = inputs_of(case.schema, case.inputs)
    return query, query.inputs(rows, until=case.until), query.simulate(rows, until=case.until)


def test_no_case_is_lost() -> None:
    assert len(CASES) == 24
    assert len(SPLITS) == 4


@pytest.mark.parametrize(
    ("case", "kernel"),
    [(case, way) for n, case in enumerate(CASES) for way in ("on", "off") if WHOLE or way == "on" or n % 3 == 0],
    ids=lambda given: getattr(given, "name", given),
)
def test_stream_and_replay(spark: Any, case: Case, kernel: Kernel) -> None:
    query, inputs, expected = asked(case)
    wanted = SPLITS if WHOLE else ("uneven-3",) if kernel == "on" else ()
    splits = {name: split for name, split in SPLITS.items() if name in wanted}
    jobs = {name: partial(stream, query, spark, {0: inputs}, split, kernel=kernel) for name, split in splits.items()}
    jobs["replay"] = partial(replay, query, spark, {0: inputs}, kernel=kernel)
    found = dict(zip(jobs, side_by_side(list(jobs.values())), strict=True))
    assert {name: difference(expected, one[0], index=False) for name, one in found.items()} == dict.fromkeys(jobs)


def test_a_wrong_answer_is_noticed(spark: Any) -> None:
    case = next(c for c in CASES if c.name.startswith("c09"))
    query, inputs, expected = asked(case)
    assert len(expected.elements) == 4
    found = replay(query, spark, {0: inputs})[0]
    assert difference(expected, found, index=False) is None
    less = Answer(found.columns, found.kind, elements=found.elements[1:])
    assert difference(expected, less, index=False) is not None
