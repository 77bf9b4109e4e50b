"""Checkpoints as this release leaves them behind, kept in `tests/golden/checkpoints` for later releases to resume.

`python -m tests.spark.running.checkpoints.golden_checkpoints` makes those that are missing. A release that cannot
resume one of them increases the format of checkpoints and adds its own; the old ones stay, and are then refused in
words.
"""

from __future__ import annotations

import re
import shutil
import tarfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession

import transom
from tests.spark.running.test_running import BY_ROW, GROUPS, ROWS, Rows, catalog, cut, finished, read, source, write
from transom import Query
from transom.physical.nodes.windows import KernelMode
from transom.runtime.checkpoint.fingerprint import FINGERPRINT_FORMAT
from transom.runtime.checkpoint.settings import STATE_FORMAT

FOLDER = Path(__file__).parents[3] / "golden" / "checkpoints"
BATCHES = cut(ROWS, 7, end=20)
BEFORE = 2
"""Micro-batches that the kept run has answered; the resumed run answers the others."""
UNTIL = 19


@dataclass(frozen=True)
class Kept:
    """A query whose checkpoint is kept: its text, and the format of the state."""

    text: str
    state_format: str = "2"
    kernel: KernelMode = "on"

    @property
    def query(self) -> Query:
        return transom.compile(self.text, catalog())


KEPT: Mapping[str, Kept] = {
    "rows": Kept(BY_ROW),
    "groups": Kept(GROUPS),
    "groups-state-1": Kept(GROUPS, "1"),
    "native": Kept(GROUPS, kernel="off"),
}


def resume(spark: SparkSession, kept: Kept, folder: Path, batches: list[Rows], first: int) -> None:
    """Run the query over new files until it has answered them."""
    write(folder / "in", batches, first=first)
    frames = {"traffic": source(spark, folder / "in")}
    sink = f"parquet:{folder / 'out'}"
    finished(kept.query.start(spark, sink, folder / "checkpoint", sources=frames, until=UNTIL, kernel=kept.kernel))


def keep(spark: SparkSession, kept: Kept, file: Path) -> None:
    """Run a query over the first rows, and keep its checkpoint and its sink as an archive."""
    with TemporaryDirectory(prefix="golden") as name:
        folder = Path(name)
        before = spark.conf.get(STATE_FORMAT, None)
        spark.conf.set(STATE_FORMAT, kept.state_format)
        try:
            resume(spark, kept, folder, BATCHES[:BEFORE], 0)
        finally:
            if before is None:
                spark.conf.unset(STATE_FORMAT)
        file.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(file, "w:xz") as archive:
            for part in ("checkpoint", "out"):
                archive.add(folder / part, part, filter=_anonymous)


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leave out who made an archive and when, and the lock, which holds the number of a process."""
    if entry.name == "checkpoint/lock":
        return None
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def unpack(file: Path, folder: Path) -> None:
    """Unpack an archive; the state then names the folder that the checkpoint has now, and not where it was made."""
    with tarfile.open(file) as archive:
        archive.extractall(folder, filter="data")
    for description in folder.glob("checkpoint/spark/state/[0-9]*/_metadata/v2/[0-9]*"):
        made = re.sub(r"file:/[^\"]*(?=/checkpoint/spark/)", f"file:{folder}", description.read_text())
        description.write_text(made)
        description.with_name(f".{description.name}.crc").unlink(missing_ok=True)


def answers(spark: SparkSession, kept: Kept, folder: Path) -> Counter[tuple[Any, ...]]:
    return read(spark, kept.query, folder / "out")


def main() -> None:
    from tests.spark.conftest import SETTINGS

    builder = SparkSession.builder.master("local[2]").appName("golden checkpoints")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    for name, kept in KEPT.items():
        file = FOLDER / f"format-{FINGERPRINT_FORMAT}-{name}.tar.xz"
        if not file.exists():
            keep(spark, kept, file)
    spark.stop()
    shutil.rmtree("spark-warehouse", ignore_errors=True)


if __name__ == "__main__":
    main()
