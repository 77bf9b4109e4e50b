"""The hand-derived cases on Spark: as streams cut in four ways and as a replay, with the index and without."""

from __future__ import annotations

import os
from dataclasses import replace as changed
from functools import partial
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.cases import Case, catalog_of, golden_cases, inputs_of
from tests.oracle.compare import same
from tests.spark.trying import SPLITS, replay, side_by_side, stream
from transom.model.answer import Answer
from transom.physical.plan import Kernel
from transom.reference.sources import Inputs
from transom.runtime.recut import Split

CASES = [c for c in golden_cases() if c.expected["kind"] != "error"]
KERNEL = ("off", "on")
TUPLES = [c for c in CASES if c.expected["kind"] == "tagged-tuples"]
WHOLE = os.environ.get("TRANSOM_GOLDEN") == "whole"
"""`just golden`: all cases and splits on both paths. Else the path without the kernel takes one cut of a third."""


def splits_of(kernel: Kernel) -> dict[str, Split]:
    return {name: split for name, split in SPLITS.items() if WHOLE or kernel == "on" or name == "uneven-8"}


def asked(case: Case) -> tuple[transom.Query, Inputs]:
    query = transom.compile(case.text, catalog_of(case.schema))
    return query, query.inputs(inputs_of(case.schema, case.inputs), until=case.until)


def differs(case: Case, answer: Answer, *, index: bool) -> str | None:
    """The answer against the one that was derived by hand: the first difference."""
    found: list[Any]
    expected = dict(case.expected)
    if answer.kind == "windows":
        found = [[w.tick, [list(row) for row in w.rows]] for w in answer.windows]
    else:
        found = [[e.tick, e.index, *e.row] for e in answer.elements]
        if not index:
            found, expected["rows"] = _without_index(found), _without_index(expected["rows"])
    return same({"kind": answer.kind, "columns": list(answer.columns), "rows": found}, expected)


def _without_index(rows: list[Any]) -> list[Any]:
    """Tuples as a bag: in one order, whatever order they came in."""
    plain = ([tick, *values] for tick, _, *values in rows)
    return sorted(plain, key=lambda row: [(value is not None, value) for value in row])


BOTH_PATHS = pytest.mark.parametrize(
    ("case", "kernel"),
    [(case, way) for n, case in enumerate(CASES) for way in KERNEL if WHOLE or way == "on" or n % 3 == 0],
    ids=lambda given: getattr(given, "name", given),
)


def test_no_case_is_lost() -> None:
    assert len(CASES) >= 35
    assert len(TUPLES) >= 14
    assert len(SPLITS) == len(splits_of("on")) == 4
    assert len(splits_of("off")) == (4 if WHOLE else 1)


@BOTH_PATHS
def test_stream(spark: Any, case: Case, kernel: Kernel) -> None:
    query, inputs = asked(case)
    index = query.gives == "tagged-tuples"
    splits = splits_of(kernel)
    jobs = [partial(stream, query, spark, {0: inputs}, split, index=index, kernel=kernel) for split in splits.values()]
    found = zip(splits, side_by_side(jobs), strict=True)
    assert {name: differs(case, answers[0], index=index) for name, answers in found} == dict.fromkeys(splits)


@BOTH_PATHS
def test_replay(spark: Any, case: Case, kernel: Kernel) -> None:
    query, inputs = asked(case)
    index = query.gives == "tagged-tuples"
    assert differs(case, replay(query, spark, {0: inputs}, index=index, kernel=kernel)[0], index=index) is None


@pytest.mark.parametrize(
    ("case", "kernel"),
    [(case, way) for n, case in enumerate(TUPLES) for way in (KERNEL if WHOLE else KERNEL[n % 2 :][:1])],
    ids=lambda given: getattr(given, "name", given),
)
def test_without_the_index(spark: Any, case: Case, kernel: Kernel) -> None:
    """Without the index other plans are chosen, mostly native ones; a query for windows has no index to leave out."""
    query, inputs = asked(case)
    jobs = [
        partial(stream, query, spark, {0: inputs}, SPLITS["uneven-3"], kernel=kernel),
        partial(replay, query, spark, {0: inputs}, kernel=kernel),
    ]
    assert [differs(case, answers[0], index=False) for answers in side_by_side(jobs)] == [None, None]


def test_a_wrong_answer_is_noticed(spark: Any) -> None:
    case = next(c for c in CASES if c.name.startswith("s17"))
    query, inputs = asked(case)
    found = replay(query, spark, {0: inputs}, index=True)[0]
    assert differs(case, found, index=True) is None
    for place, element in enumerate(found.elements):
        others = found.elements[:place] + found.elements[place + 1 :]
        late = changed(element, tick=element.tick + 1)
        assert differs(case, Answer(found.columns, found.kind, elements=others), index=True) is not None
        assert differs(case, Answer(found.columns, found.kind, elements=(*others, late)), index=False) is not None
