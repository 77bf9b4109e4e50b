"""Checkpoints as a run leaves them behind, without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from transom.model.time import Calendar
from transom.runtime.checkpoint.checkpoint import Checkpoint
from transom.runtime.checkpoint.logs.spark_files import LocalFolder
from transom.runtime.checkpoint.notes import ANSWERS_CLOSED_TICKS
from transom.runtime.checkpoint.remembered import PLAN_FILE
from transom.runtime.checkpoint.sealed import write_sealed

SESSION: Any = SimpleNamespace()
"""A session without a JVM, by which folders are local."""
CALENDAR = Calendar()


def write(file: Path, *lines: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines))


def begun(
    folder: Path,
    *,
    planned: int = 3,
    seconds: int = 10,
    state: bool = True,
    calendar: Calendar = CALENDAR,
    **entries: Any,
) -> Path:
    """A checkpoint with `planned` micro-batches, of which the fourth is not committed; each takes the watermark on."""
    spark = folder / "spark"
    ticks = {"the length of a tick": calendar.length, "the epoch": calendar.epoch.isoformat()}
    recorded = {"start": 0, "until": None, **ticks, "about": {ANSWERS_CLOSED_TICKS: True}, **entries}
    folder.mkdir(parents=True, exist_ok=True)
    write_sealed(folder / PLAN_FILE, {"query": "q", "made by": {"transom": "0.3"}, **recorded})
    write(spark / "metadata", '{"id":"330d8449-c6e9-4f21-87e0-37000c7d620c"}')
    (spark / "state").mkdir(exist_ok=True) if state else None
    origin = (calendar.epoch.timestamp()) * 1000
    for number in range(planned):
        about = {"batchWatermarkMs": int(number and seconds and origin + 1000 * seconds * number), "conf": {}}
        write(spark / "offsets" / str(number), "v1", json.dumps(about), "-")
        after = int(seconds and origin + 1000 * seconds * (number + 1))
        if number < 3:
            write(spark / "commits" / str(number), "v1", json.dumps({"nextBatchWatermarkMs": after}))
    checkpoint = Checkpoint(folder, LocalFolder(folder / "nothing"))
    checkpoint.run_id()
    checkpoint.record_digests()
    return folder
