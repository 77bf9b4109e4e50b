"""How cases are put into groups that run as one job."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from tests.spark.together import groups


def test_groups_are_of_almost_equal_size_and_keep_the_order() -> None:
    assert groups(list(range(9)), 4) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert groups(list(range(8)), 4) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert groups([], 4) == []
