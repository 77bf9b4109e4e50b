"""Objects that fall silent and come again on Spark: the answer is the reference's, however the stream is cut.

`just golden` cuts the stream in two ways; else it is cut in one.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.reference.forgetting import CATALOG, QUESTIONS, given
from tests.spark.golden.cases import WHOLE
from tests.spark.trying import AT_ONCE, side_by_side, stream
from transom.physical.nodes.windows import KernelMode
from transom.runtime.results.rows import row_difference
from transom.runtime.verify.micro_batches import Split

ROUND, ROUNDS = 28, 6
UNTIL = ROUND * ROUNDS - 1
SPLITS = (AT_ONCE, Split(seed=4, times=8))


@pytest.mark.nightly
@pytest.mark.parametrize("kernel", ["on", "off"])
def test_as_the_reference(spark: Any, kernel: KernelMode) -> None:
    rows = [(tick + number * ROUND, *cells) for number in range(ROUNDS) for tick, *cells in given(number)]
    jobs, wanted = [], []
    for name, text in QUESTIONS.items():
        query = transom.compile(text, CATALOG, language="cql")
        inputs = query.inputs({"cars": rows}, until=UNTIL)
        expected = query.simulate({"cars": rows}, until=UNTIL)
        assert len(expected) >= ROUNDS, name
        for split in SPLITS if WHOLE else SPLITS[1:]:
            jobs.append(partial(stream, query, spark, inputs, split, kernel=kernel))
            wanted.append((f"{name}, {split}", expected))
    for (name, expected), found in zip(wanted, side_by_side(jobs), strict=True):
        assert row_difference(expected, found, index=False) is None, name
