"""Row counts of a checkpoint: every micro-batch once, however often it is repeated. Nothing here needs Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from transom.errors import CheckpointError, LostRows
from transom.model.balance import Balance
from transom.runtime.checkpoint.balances import BALANCE_FILE, LAST_BATCHES, BalanceRecord, RowTotals
from transom.runtime.checkpoint.logs.spark_files import LocalFolder
from transom.runtime.checkpoint.logs.spark_logs import topic_positions


def write(file: Path, text: str) -> None:
    file.write_text(text)


def counts(rows: int, late: int = 0) -> RowTotals:
    return RowTotals(1, {"road": Balance(rows, rows - late, late)}, rows, {"road": rows})


def test_a_repeated_micro_batch_counts_once(tmp_path: Path) -> None:
    record = BalanceRecord(tmp_path, write, -1)
    for batch in range(3):
        record.record(batch, counts(10, batch))
    record.record(2, counts(10, 2))
    again = BalanceRecord(tmp_path, write, 1)  # killed before micro-batch 2 was committed
    assert again.earlier.sources == {"road": Balance(20, 19, 1)}
    again.record(2, counts(10, 2))
    done = BalanceRecord(tmp_path, write, 2)
    assert (done.earlier.batches, done.uncounted, done.first) == (3, 0, 0)
    assert done.earlier.sources == {"road": Balance(30, 27, 3)}


def test_a_repair_by_hand_takes_micro_batches_back(tmp_path: Path) -> None:
    """The newest commit and offsets are deleted, so that two micro-batches are done again, the first with more rows."""
    record = BalanceRecord(tmp_path, write, -1)
    for batch in range(4):
        record.record(batch, counts(10))
    again = BalanceRecord(tmp_path, write, 1)
    again.record(2, counts(15))
    assert BalanceRecord(tmp_path, write, 2).earlier.sources == {"road": Balance(35, 35)}


def test_the_file_stays_small(tmp_path: Path) -> None:
    record = BalanceRecord(tmp_path, write, -1)
    for batch in range(3 * LAST_BATCHES):
        record.record(batch, counts(7))
    content = json.loads((tmp_path / BALANCE_FILE).read_text())
    assert len(content["batches"]) == LAST_BATCHES
    earlier = BalanceRecord(tmp_path, write, 3 * LAST_BATCHES - 1).earlier
    assert (earlier.batches, earlier.rows_out, earlier.sources["road"].used) == (48, 336, 336)


def test_micro_batches_without_counts_are_named(tmp_path: Path) -> None:
    """Spark's own sinks commit before the counts are written; an earlier version counted nothing."""
    upgraded = BalanceRecord(tmp_path, write, 6)
    assert (upgraded.first, upgraded.uncounted, upgraded.earlier) == (7, 0, RowTotals())
    upgraded.record(7, counts(1))
    killed = BalanceRecord(tmp_path, write, 8)
    assert (killed.first, killed.uncounted) == (7, 1)


@pytest.mark.parametrize("used", [9, 11])
def test_counts_that_do_not_add_up_stop_the_next_start(tmp_path: Path, used: int) -> None:
    record = BalanceRecord(tmp_path, write, -1)
    record.record(0, counts(10))
    file = tmp_path / BALANCE_FILE
    file.write_text(file.read_text().replace('"used": 10', f'"used": {used}'))
    with pytest.raises(LostRows, match=rf"rows of road since the first start do not add up: 10 read = {used} used"):
        BalanceRecord(tmp_path, write, 0)
    file.write_text("{")
    with pytest.raises(CheckpointError, match=r"balance\.json is not what Transom wrote"):
        BalanceRecord(tmp_path, write, 0)


def test_offsets_of_a_topic_in_sparks_logs(tmp_path: Path) -> None:
    """The first offsets are in the list of the source, after a zero byte; a topic that is read twice is left out."""
    (tmp_path / "sources" / "0").mkdir(parents=True)
    (tmp_path / "offsets").mkdir()
    (tmp_path / "sources/0/0").write_bytes(b'\0v1\n{"road":{"0":5,"1":0}}')
    about = '{"batchWatermarkMs":0}'
    (tmp_path / "offsets/0").write_text(f'v1\n{about}\n{{"road":{{"0":7,"1":2}}}}\n{{"logOffset":0}}')
    (tmp_path / "offsets/1").write_text(f'v1\n{about}\n{{"road":{{"0":7}}}}\n{{"road":{{"0":8}}}}')
    files = LocalFolder(tmp_path)
    assert topic_positions(files, -1) == {"road": {"0": 5, "1": 0}}
    assert topic_positions(files, 0) == {"road": {"0": 7, "1": 2}}
    assert topic_positions(files, 1) == {}


def test_more_rows_than_offsets() -> None:
    """Offsets without a row are of markers, aborted or deleted messages; rows without an offset were read twice."""
    fewer = RowTotals(1, {"road": Balance(10, 10)}, 10, {"road": 12})
    assert fewer.lost_rows("") is None
    assert fewer.unread("road") == 2
    doubled = RowTotals(1, {"road": Balance(13, 13)}, 13, {"road": 12})
    assert "13 read from 12 offsets" in str(doubled.lost_rows("in micro-batch 0"))
