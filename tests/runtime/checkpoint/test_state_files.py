"""A checkpoint whose state names another folder is refused before Spark stops in its first micro-batch."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tests.runtime.checkpoint.test_checkpoint import write
from transom.errors import CheckpointError
from transom.runtime.checkpoint.logs.spark_files import LocalFolder
from transom.runtime.checkpoint.state_files import check_not_moved


def test_checkpoint_that_was_moved_is_refused_with_the_folder(tmp_path: Path) -> None:
    spark = tmp_path / "made" / "spark"
    state = spark / "state" / "0"
    schema = state / "_stateSchema" / "default" / "0_3fc4"
    write(schema, "v3")
    write(state / "_metadata" / "v2" / "0", "v2", '{"stateStoreInfo":[{"stateSchemaFilePaths":["file:/gone"]}]}')
    named = json.dumps({"stateStoreInfo": [{"stateSchemaFilePaths": [f"file:{schema}"]}, {"storeName": "other"}]})
    write(state / "_metadata" / "v2" / "3", "v2", named)
    check_not_moved(LocalFolder(spark))
    moved = spark.parent.rename(tmp_path / "moved") / "spark"
    with pytest.raises(CheckpointError, match=re.escape(f"{schema} is missing")) as caught:
        check_not_moved(LocalFolder(moved))
    assert f"this folder of Spark is {spark} again" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "content", ["[]", "{", '{"stateStoreInfo":[7]}', '{"stateStoreInfo":[{"storeName":"default"}]}']
)
def test_descriptions_that_are_not_as_expected_are_left_to_spark(tmp_path: Path, content: str) -> None:
    write(tmp_path / "state" / "0" / "_metadata" / "v2" / "0", "v2", content)
    write(tmp_path / "state" / "1" / "_metadata" / "metadata", "v1", content)
    check_not_moved(LocalFolder(tmp_path))


def test_paths_on_other_file_systems_are_left_to_spark(tmp_path: Path) -> None:
    content = '{"stateStoreInfo":[{"stateSchemaFilePaths":["hdfs://name/gone"]}]}'
    write(tmp_path / "state" / "0" / "_metadata" / "v2" / "0", "v2", content)
    check_not_moved(LocalFolder(tmp_path))
