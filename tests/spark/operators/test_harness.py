"""The harness that `verify` uses, on what golden cases do not have."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.spark.trying import stream
from transom import Catalog
from transom.runtime.results.rows import row_difference
from transom.runtime.verify.micro_batches import Split


def test_the_last_ticks_of_a_late_source_are_closed(spark: Any) -> None:
    """The watermark of a source stays behind by its lateness, so the run must end that much later."""
    extents = {"cars": {"kind": "pushed", "attributes": ["v:integer"], "lateness": "4 s"}}
    query = transom.compile(
        "SELECT COUNT(v) FROM cars [FROM NOW-1 TO NOW SLIDE 2 SEC]", Catalog.from_dict({"extents": extents})
    )
    rows = {"cars": [(0, 1), (3, 2), (8, 3), (9, 4)]}
    expected = query.simulate(rows, until=9)
    assert expected.windows[-1].tick == 8
    found = stream(query, spark, query.inputs(rows, until=9), Split(2))
    assert row_difference(expected, found, index=False) is None
