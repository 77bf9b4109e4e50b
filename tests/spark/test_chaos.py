"""Two kills per shape; `just chaos` makes ten."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.spark.chaos import is_inside, last_entry, try_shape
from tests.spark.shapes import SHAPES


@pytest.mark.parametrize("shape", SHAPES)
def test_a_killed_query_goes_on_as_if_nothing_had_been(spark: object, shape: str) -> None:
    seed = int(os.environ.get("TRANSOM_CHAOS_SEED", "1"))
    outcome = try_shape(spark, shape, seed, kills=2, files=10)
    print(outcome)
    assert outcome.wrong is None
    assert outcome.kills == 2
    assert outcome.tuples > 5


def test_a_kill_inside_a_micro_batch_is_told_from_one_between_two(tmp_path: Path) -> None:
    for log, entries in (("offsets", (0, 1)), ("commits", (0,))):
        (tmp_path / "spark" / log).mkdir(parents=True)
        for entry in entries:
            (tmp_path / "spark" / log / str(entry)).touch()
            (tmp_path / "spark" / log / f".{entry}.crc").touch()
    assert is_inside(tmp_path)
    (tmp_path / "spark" / "commits" / "1").touch()
    assert not is_inside(tmp_path)
    assert last_entry(tmp_path / "nowhere") == -1
