"""Runs that are stopped, replaced and woken up: the first is fenced, and every answer is in the folder once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.kills.races import folder_rows, race
from transom.errors import Fenced


@pytest.mark.parametrize("races", [1, pytest.param(50, marks=pytest.mark.nightly)])
def test_stopped_run_is_fenced(tmp_path: Path, races: int) -> None:
    out = tmp_path / "out"
    result = race(tmp_path, f"parquet:{out}", lambda: folder_rows(out), races)
    assert result.codes == [Fenced.exit_code] * races
    assert result.wrong is None, result
    assert result.answers > 0
