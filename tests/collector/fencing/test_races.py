"""Writers of one log that are stopped, replaced and woken up: no entry is lost, and none is there twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from transom.connectors.log.segments import check_segments, open_segments
from transom.errors import Fenced

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from transom.catalog.catalog import Catalog
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.segments import SegmentLog
from transom.errors import Fenced
car = Catalog.read("car: pushed (plate:string)").extents["car"]
now = datetime(2026, 1, 1, tzinfo=UTC)
try:
    log = SegmentLog(Path(sys.argv[1]), car, segment_interval_seconds=0)
    print("begun", flush=True)
    number = 0
    while True:
        plates = [f"{sys.argv[2]}.{number + index}" for index in range(3)]
        log.append([LogRecord(LogRecordKind.ROW, 1, now, (plate,)) for plate in plates], 3)
        number += 3
        print("\\n".join(plates), flush=True)
except Fenced as error:
    sys.exit(error.exit_code)
"""


class Writer:
    """A process that appends to a log as fast as it can, and says what is in the log."""

    def __init__(self, folder: Path, number: int) -> None:
        self.said = folder.with_name(f"said-{number}")
        with self.said.open("w") as output:
            command = [sys.executable, "-c", WRITER, str(folder), str(number)]
            self.process = subprocess.Popen(command, stdout=output)

    def lines(self) -> list[str]:
        return self.said.read_text().split("\n")[:-1]

    def until(self, count: int) -> None:
        end = time.monotonic() + 300
        while len(self.lines()) < count:
            assert self.process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.002)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)


@pytest.mark.parametrize("races", [5, pytest.param(50, marks=pytest.mark.nightly)])
def test_every_acknowledged_entry_is_in_the_log_once(tmp_path: Path, races: int) -> None:
    log, rng = tmp_path / "log", Random(races)
    writers = [Writer(log, 0)]
    try:
        for number in range(1, races + 1):
            old = writers[-1]
            old.until(4)
            time.sleep(rng.uniform(0.0, 0.1))
            old.stop()
            writers.append(Writer(log, number))
            writers[-1].until(1 if rng.random() < 0.5 else 7)
            old.process.send_signal(signal.SIGCONT)
            assert old.process.wait(300) == Fenced.exit_code
    finally:
        for writer in writers:
            writer.process.kill()
            writer.process.wait()
    check_segments(log)
    plates = Counter(plate for _, file in open_segments(log) for plate in file.read().column("plate").to_pylist())
    assert set(plates.values()) == {1}
    acknowledged = [line for writer in writers for line in writer.lines() if line != "begun"]
    assert len(acknowledged) > 3 * races
    assert set(acknowledged) <= set(plates)
    for writer in range(races + 1):  # what is not acknowledged is at most the last write of each
        mine = {plate for plate in plates if plate.startswith(f"{writer}.")}
        assert len(mine) - len([plate for plate in acknowledged if plate in mine]) <= 3
