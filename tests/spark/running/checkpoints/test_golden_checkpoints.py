"""Checkpoints of earlier releases: resumed with the right answers, or refused in words if their format is another."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.running.checkpoints.golden_checkpoints import (
    BATCHES,
    BEFORE,
    FOLDER,
    KEPT,
    UNTIL,
    answers,
    resume,
    unpack,
)
from tests.spark.running.test_running import ROWS, expected
from transom.errors import CheckpointError
from transom.runtime.checkpoint.fingerprint import FINGERPRINT_FORMAT

FILES = sorted(FOLDER.glob("*.tar.xz"))
NAME = re.compile(r"format-(\d+)-([\w-]+)\.tar\.xz")


def test_this_format_has_checkpoints() -> None:
    assert any(file.name.startswith(f"format-{FINGERPRINT_FORMAT}-") for file in FILES)
    assert sum(file.stat().st_size for file in FILES) < 300_000


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_kept_checkpoint_is_resumed_or_refused(spark: SparkSession, tmp_path: Path, file: Path) -> None:
    named = NAME.fullmatch(file.name)
    assert named is not None
    kept = KEPT[named[2]]
    unpack(file, tmp_path)
    recorded = json.loads((tmp_path / "checkpoint" / "plan.json").read_text())
    assert recorded["format"] == int(named[1])
    if recorded["format"] != FINGERPRINT_FORMAT:
        with pytest.raises(CheckpointError, match="cannot continue it"):
            resume(spark, kept, tmp_path, BATCHES[BEFORE:], BEFORE)
        return
    before, whole = answers(spark, kept, tmp_path), expected(kept.query, ROWS, UNTIL)
    assert Counter() < before < whole, "the kept run has answered a part"
    resume(spark, kept, tmp_path, BATCHES[BEFORE:], BEFORE)
    assert answers(spark, kept, tmp_path) == whole
