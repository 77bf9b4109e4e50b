"""The hand-derived cases on Spark: as streams that are cut in several ways and as replays; see `golden.py`."""

from __future__ import annotations

from dataclasses import replace as changed
from functools import cache
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.cases import Case, catalog_of, inputs_of
from tests.covering import cases
from tests.oracle.compare import same
from tests.spark.golden.cases import KERNEL, REPLAYS, WHOLE, replayed, splits_of, streams
from tests.spark.together import Relational, differences, found_answers
from tests.spark.trying import AT_ONCE, SPLITS, replay
from transom.model.answer import Answer
from transom.physical.nodes.windows import KernelMode

CASES = cases("sneeql")
TUPLES = [case for case in CASES if case.expected["kind"] == "tagged-tuples"]


@cache
def asked(case_name: str) -> Relational:
    """A case, with the index of its tuples."""
    case = case_of(case_name)
    query = transom.compile(case.text, catalog_of(case.schema))
    inputs = query.inputs(inputs_of(case.schema, case.inputs), until=case.until)
    return Relational(case.name, query, inputs, query.result_kind == "tagged-tuples")


def case_of(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def wrong(name: str, answer: Answer) -> str | None:
    """The first difference of an answer with its index, if the case has one."""
    return differs(case_of(name), answer, index=asked(name).index)


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


def test_no_case_is_lost() -> None:
    assert len(CASES) >= 35
    assert len(TUPLES) >= 14
    for kernel in KERNEL:
        ways = splits_of("sneeql", CASES, kernel)
        assert set(ways) == set(SPLITS)
        assert all(len(ways[name]) >= 3 for name in SPLITS)
        assert len(replayed(CASES, kernel)) >= len(CASES) // 3
    assert {case.name for some in splits_of("sneeql", CASES, "on").values() for case in some} == {
        case.name for case in CASES
    }


@pytest.mark.parametrize(("kernel", "split"), streams("sneeql", CASES))
def test_stream(spark: Any, kernel: KernelMode, split: str) -> None:
    some = [asked(case.name) for case in splits_of("sneeql", CASES, kernel)[split]]
    assert differences(spark, some, SPLITS[split], kernel, wrong) == {}


@pytest.mark.parametrize("kernel", REPLAYS)
def test_replay(spark: Any, kernel: KernelMode) -> None:
    some = [asked(case.name) for case in replayed(CASES, kernel)]
    assert differences(spark, some, None, kernel, wrong) == {}


@pytest.mark.nightly
@pytest.mark.parametrize("kernel", KERNEL)
def test_without_the_index(spark: Any, kernel: KernelMode) -> None:
    """Without the index other plans are chosen, mostly native ones; a query for windows has no index to leave out."""
    some = [case.name for case in (TUPLES if WHOLE else TUPLES[KERNEL.index(kernel) :: 2])]
    plain = [changed(asked(name), index=False) for name in some]
    for split in (SPLITS["uneven-3"], None):
        found = differences(spark, plain, split, kernel, lambda name, got: differs(case_of(name), got, index=False))
        assert found == {}


@pytest.mark.nightly
def test_a_failing_case_of_a_group_is_named(spark: Any) -> None:
    """One case gives a wrong answer, and one cannot be run at all; the others of their groups are right."""
    right, other, third = (asked(case.name) for case in TUPLES[:3])
    lost = changed(other, inputs=changed(other.inputs, streams={name: [] for name in other.inputs.streams}))
    for split in (AT_ONCE, None):
        assert set(differences(spark, [right, lost], split, "on", wrong)) == {other.name}

    class Broken(Relational):
        def replay(self, *given: Any) -> Any:
            return super().replay(*given).selectExpr("*", "CAST(raise_error('broken') AS INT) AS more")

    broken = Broken(third.name, third.query, third.inputs, third.index)
    found = found_answers(spark, [right, broken], None, "on")
    assert "broken" in str(found[third.name])
    assert wrong(right.name, found[right.name]) is None  # type: ignore[arg-type]


def test_a_wrong_answer_is_noticed(spark: Any) -> None:
    case = next(c for c in CASES if c.name.startswith("s17"))
    found = replay(asked(case.name).query, spark, asked(case.name).inputs, index=True)
    assert differs(case, found, index=True) is None
    for place, element in enumerate(found.elements):
        others = found.elements[:place] + found.elements[place + 1 :]
        late = changed(element, tick=element.tick + 1)
        assert differs(case, Answer(found.columns, found.kind, elements=others), index=True) is not None
        assert differs(case, Answer(found.columns, found.kind, elements=(*others, late)), index=False) is not None
