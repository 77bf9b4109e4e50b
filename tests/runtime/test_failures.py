"""Errors of Spark about files of a checkpoint: full disks and damaged state. No Spark is started."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from transom.runtime import failures
from transom.runtime.failures import translate_error


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the folder does not exist yet; disks with room are not named."""
    text = "java.io.IOException: No space left on device"
    folders = [tmp_path / "state", tmp_path]
    assert translate_error(RuntimeError(text), folders).message == "a disk is full"
    monkeypatch.setattr(failures, "NEARLY_FULL", sys.maxsize)
    found = translate_error(RuntimeError(text), folders)
    assert re.fullmatch(
        rf"a disk is full: {tmp_path}/state has [\d,]+ bytes left; {tmp_path} has [\d,]+ bytes left", found.message
    )
    assert found.hint == "make room and start the query again"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            "[CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED] File: file:/k/spark/state/1/0/5.changelog",
            "/k/spark/state/1/0/5.changelog",
        ),
        (
            "[CANNOT_LOAD_STATE_STORE.UNEXPECTED_FILE_SIZE] StateStoreId[ operatorId=2, partitionId=1 ]",
            "{}/spark/state/2/1",
        ),
        ("[CANNOT_LOAD_STATE_STORE.INVALID_CHECKPOINT_LINEAGE] (opId=2,partId=1,name=default)", "{}/spark/state/2/1"),
        ("[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error\norg.rocksdb.RocksDBException: x", "{}/spark/state"),
        ("[CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE] x", "{}/spark/state"),
        ("[STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED] x", "{}/spark/state"),
    ],
)
def test_a_damaged_state_is_named(tmp_path: Path, text: str, place: str) -> None:
    found = translate_error(RuntimeError(text), [tmp_path])
    assert found.message == f"the state in the checkpoint is damaged: {place.format(tmp_path)}"
    assert "put back a copy of the whole checkpoint" in (found.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        "[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error\nCaused by: org.apache.spark.rpc."
        "RpcEndpointNotFoundException: Cannot find endpoint: spark://StateStoreCoordinator@127.0.0.1:39471",
        "[CANNOT_LOAD_STATE_STORE.ROCKSDB_STORE_PROVIDER_OUT_OF_MEMORY] Could not load RocksDB state store",
        "[CANNOT_LOAD_STATE_STORE.UNRELEASED_THREAD_ERROR] RocksDB instance could not be acquired",
        "[STATE_STORE_INVALID_PROVIDER] The given State Store Provider x",
        "[STATE_STORE_UNSUPPORTED_OPERATION] x",
        "[STREAMING_SHUFFLE_CHECKSUM_VERIFICATION_FAILED] x",
    ],
)
def test_an_error_about_no_file_is_not_damage(tmp_path: Path, text: str) -> None:
    assert translate_error(RuntimeError(text), [tmp_path]) is None
