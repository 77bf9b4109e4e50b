"""The evaluation tests of W3C over streams, on the reference engine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.conformance.as_stream import VOLATILE, every, failure, failures, now, possible, simulated, streamed
from tests.conformance.manifests import MISSING, available
from tests.rdf.stated import stated

pytestmark = pytest.mark.skipif(not available(), reason=MISSING)


def test_answers_at_tick_0() -> None:
    tests = possible()
    assert len(tests) == 489
    broken = {entry.name: why for entry, why in zip(tests, failures(tests, simulated), strict=True) if why is not None}
    assert not broken


def test_what_has_no_value_for_a_time_is_refused() -> None:
    refused = {entry.name: failure(entry) for entry in every() if entry.name in VOLATILE}
    assert set(refused) == set(VOLATILE)
    for name, why in refused.items():
        assert f"{VOLATILE[name]}() cannot be used over a stream" in (why or "")


def test_a_wrong_answer_is_noticed() -> None:
    first, second, *_ = [entry for entry in every() if entry.name.startswith("basic/list")]
    assert failure(first) is None
    assert failure(replace(first, result=second.result)) is not None
    assert failure(first, lambda query, _: simulated(query, stated({"s": []}))) is not None


def test_nothing_is_left_when_the_window_has_passed() -> None:
    one = streamed(next(entry for entry in every() if entry.name == "basic/base-prefix-1"))
    answer = simulated(one.query, one.inputs)
    assert [len(now(answer, tick).rows) for tick in (0, 9, 10)] == [2, 2, 0]
