"""The events: one file of lines `time in ms, key, value`, and for micro-batches the same lines cut into ten."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

KEYS, FILES, WIDTH = 1000, 10, 60
SECONDS = 1_767_225_600


def write(folder: Path, rows: int) -> None:
    """So many events 1 ms apart; the last of the parts has one event an hour later, which closes all windows."""
    rng = np.random.default_rng(7)
    at = np.arange(rows, dtype=np.int64) + SECONDS * 1000
    table = pa.table({"ts": at, "k": rng.integers(0, KEYS, rows), "v": rng.integers(-(10**10), 10**10, rows)})
    plain = csv.WriteOptions(include_header=False)
    parts = folder / "parts"
    parts.mkdir(parents=True)
    csv.write_csv(table, folder / "events.csv", plain)
    for number, part in enumerate(np.array_split(np.arange(rows), FILES)):
        csv.write_csv(table.take(part), parts / f"{number:04}.csv", plain)
    last = pa.table({"ts": [int(at[-1]) + 3_600_000], "k": [0], "v": [0]})
    csv.write_csv(last, parts / "9999.csv", plain)


def closed(rows: int) -> int:
    """The end in ms of the last window that the events themselves close: no event is behind it."""
    return (SECONDS + (rows - 1) // 1000) * 1000
