"""The evaluation tests of W3C on Spark, as streams: all data at tick 0, and one window that holds it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.as_stream import failures, on_spark, possible, streamed
from tests.conformance.manifests import MISSING, available
from tests.gate.thin import thinned
from transom.errors import Unsupported

pytestmark = pytest.mark.skipif(not available(), reason=MISSING)

SHARDS = 60


def planned() -> list[Any]:
    """The tests that Spark has a plan for."""
    found = []
    for entry in possible():
        try:
            streamed(entry).query.physical()
        except Unsupported:
            continue
        found.append(entry)
    return found


def test_spark_has_a_plan_for_every_test() -> None:
    assert planned() == possible()


@pytest.mark.spark
@pytest.mark.parametrize("shard", thinned(range(SHARDS), SHARDS))
def test_answers_at_tick_0(spark: Any, shard: int) -> None:
    tests = planned()[shard::SHARDS]
    assert len(tests) > 5
    broken = {entry.name: why for entry, why in zip(tests, failures(tests, on_spark(spark), 2), strict=True) if why}
    assert not broken
