"""Streams as files: how rows are cut into micro-batches, and the row that ends a run."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

import pyarrow.parquet as pq

import transom
from transom import Catalog
from transom.runtime.verify.micro_batches import Split, batch_rows, split_batches, write_streams
from transom.runtime.verify.verify import distinct_splits

CATALOG = Catalog.from_dict(
    {
        "extents": {
            "a": {"kind": "pushed", "attributes": ["x:integer"], "lateness": "3 s"},
            "b": {"kind": "pushed", "attributes": ["x:integer"]},
            "t": {"kind": "stored", "attributes": ["x:integer"]},
        }
    }
)
QUERY = transom.compile(
    "SELECT a.x FROM a [FROM NOW TO NOW SLIDE 1 SEC], b [FROM NOW TO NOW SLIDE 1 SEC], t [SCAN 1 SEC]", CATALOG
)
ROWS = {"a": [(0, 1), (4, 2), (4, 3), (9, 4)], "b": [(4, 5)], "t": {0: [(1,)]}}


def test_rows_come_in_the_order_of_their_ticks_and_not_after_the_last() -> None:
    found = batch_rows(QUERY.sources, QUERY.inputs(ROWS, until=5))
    names = [e.name for e in QUERY.sources]
    assert [(row.tick, names[row.source], row.row) for row in found] == [
        (0, "a", (1,)),
        (4, "a", (2,)),
        (4, "a", (3,)),
        (4, "b", (5,)),
    ]


def test_every_row_is_in_one_micro_batch() -> None:
    rows = batch_rows(QUERY.sources, QUERY.inputs(ROWS, until=5))
    for split in (Split(), Split(1), Split(3), Split(seed=5), Split(seed=5, times=2)):
        cut = split_batches(rows, split)
        assert [row for piece in cut for row in piece] == rows
        assert all(cut)
    assert [len(piece) for piece in split_batches(rows, Split(3))] == [3, 1]
    assert [len(piece) for piece in split_batches(rows, Split(1))] == [1, 1, 1, 1]


def test_the_last_file_moves_the_watermark_past_the_end(tmp_path: Path) -> None:
    """Also of a source that may be late: its watermark stays behind the latest tick by its lateness."""
    paths = write_streams(tmp_path, QUERY.sources, QUERY.inputs(ROWS, until=5), Split(2))
    ticks = {
        name: [pq.read_table(file)["tick"].to_pylist() for file in sorted(path.iterdir())]
        for name, path in paths.items()
    }
    assert ticks == {"a": [[0, 4], [4], [9]], "b": [[], [4], [6]]}


@pytest.mark.parametrize(
    ("splits", "rows", "sizes"),
    [
        ("1,7,all", 340, [17, 34, None]),
        ("1,7,all", 21, [2, 7, None]),
        ("1,7,all", 20, [1, 7, None]),
        ("1,2,3,4,5", 340, [17, 34, 68, 170]),
        ("17,1", 340, [17, 34]),
        ("1,17", 340, [17]),
        ("7,7,all,all", 30, [7, None]),
        ("1,7", 0, [1, 7]),
    ],
)
def test_verify_runs_no_size_twice(splits: str, rows: int, sizes: list[int | None]) -> None:
    """A size is enlarged to at most 20 micro-batches, and further if an earlier one has the same size."""
    chosen = distinct_splits([Split.read(text) for text in splits.split(",")], rows)
    assert chosen == [Split(size) for size in sizes]
    assert all(len(split.cut(rows)) <= 20 for split in chosen)


def test_uneven_splits_are_kept_apart_by_seed() -> None:
    uneven = [Split(seed=1), Split(seed=2)]
    assert distinct_splits([*uneven, Split(seed=1)], 1000) == uneven
