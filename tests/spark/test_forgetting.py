"""Objects that fall silent and come again on Spark: the answer is the reference's, however the stream is cut.

`just golden` cuts the stream in two ways on both paths; else in one way without the kernel.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.forgetting import CATALOG, QUESTIONS, given
from tests.spark.test_golden import WHOLE
from tests.spark.trying import AT_ONCE, side_by_side, stream
from transom.physical.plan import Kernel
from transom.runtime.answers import difference
from transom.runtime.recut import Split

UNTIL = 27
SPLITS = (AT_ONCE, Split(seed=4, times=8))


@pytest.mark.parametrize("kernel", ["on", "off"])
def test_as_the_reference(spark: Any, kernel: Kernel) -> None:
    lanes = {lane: {"cars": given(lane)} for lane in range(6)}
    jobs, wanted = [], []
    for name, text in QUESTIONS.items():
        query = transom.compile(text, CATALOG, language="cql")
        rows = {lane: query.inputs(one, until=UNTIL) for lane, one in lanes.items()}
        expected = {lane: query.simulate(one, until=UNTIL) for lane, one in lanes.items()}
        assert all(len(answer) for answer in expected.values()), name
        for split in SPLITS if WHOLE or kernel == "on" else SPLITS[1:]:
            jobs.append(partial(stream, query, spark, rows, split, kernel=kernel))
            wanted.append((f"{name}, {split}", expected))
    for (name, expected), found in zip(wanted, side_by_side(jobs), strict=True):
        differs = {lane: difference(expected[lane], found[lane], index=False) for lane in lanes}
        assert differs == dict.fromkeys(lanes), name
